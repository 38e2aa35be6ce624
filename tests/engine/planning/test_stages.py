import math

import numpy as np
import pytest

from engine.errors import BadData, InvalidRequest
from engine.planning.stages import Change, by_replica, one_request, pool, profile, trace, what_if
from engine.records.stages import OTHER
from engine.reports.plan_stages import answer, changed, figures

REQUEST = {"network": 4, "feature fetch": 15, "preprocessing": 1, "model": 2, "postprocessing": 1}


def words(text):
    return text.replace("\u202f", " ")


def test_the_25_ms_request():
    measured = one_request(REQUEST, 25)
    found = profile(measured)
    assert found.largest_at_p50.name == "feature fetch"
    assert round(found.stage("model").ceiling, 2) == 1.09
    assert found.stage(OTHER).mean_ms == pytest.approx(2)
    after = profile(what_if(measured, {"feature fetch": Change(ms=4)}))
    assert after.mean_ms == pytest.approx(14)
    assert answer(found, "model") == (
        "Feature fetch is the largest stage: 60% of a request at p50; "
        "model is 8%, so optimising it can give at most 1.09×"
    )
    assert words(changed(found, after)).startswith("14.0 ms instead of 25.0 ms in the mean: 1.79× faster")


def test_percentiles_of_stages_do_not_add_up():
    rng = np.random.default_rng(0)
    a = rng.lognormal(1, 0.3, 100_000)
    b = rng.lognormal(0, 1.2, 100_000)
    found = profile(trace(("a", "b"), np.column_stack([a, b]), None))
    first, second, rest = found.stages
    assert first.p99_ms + second.p99_ms == pytest.approx(21.834, abs=2e-3)
    assert found.p99_ms == pytest.approx(19.289, abs=2e-3)
    assert round(first.time_fraction, 3) == 0.580
    assert round(first.fraction_at_p99, 3) == 0.100
    assert rest.mean_ms == pytest.approx(0, abs=1e-9)
    assert (found.largest_at_p50.name, found.largest_at_p99.name) == ("a", "b")
    assert "b 90% of the slowest 1%" in answer(found)


@pytest.mark.parametrize(("n", "ranked", "named"), [(499, False, False), (500, True, False), (3000, True, True)])
def test_too_few_requests_name_no_p99_stage(n, ranked, named):
    found = profile(trace(("a",), np.random.default_rng(1).exponential(size=(n, 1)) + 0.1, None))
    assert (found.p99_ms is not None, found.largest_at_p99 is not None) == (ranked, named)
    assert any("too few requests to name the p99 stage" in note for note in found.notes) != named


def test_amdahl():
    found = profile(one_request({"rest": 6, "model": 4}))
    assert found.stage("model").ceiling == pytest.approx(1.667, abs=5e-4)
    half = profile(what_if(one_request({"rest": 6, "model": 4}), {"model": Change(factor=0.5)}))
    assert found.mean_ms / half.mean_ms == pytest.approx(1.25)
    alone = profile(one_request({"model": 4}))
    assert math.isinf(alone.stage("model").ceiling)
    assert "any factor" in answer(alone, "model")
    assert figures(alone, "model")["model_ceiling"] is None


def test_a_stage_that_grows_is_slower():
    measured = one_request(REQUEST, 25)
    assert "2.00× slower" in changed(profile(measured), profile(what_if(measured, {"model": Change(ms=27)})))


@pytest.mark.parametrize(
    ("stages", "total", "says"),
    [
        ({}, None, "1 to 100 stages"),
        ({"a": -1}, None, "less than 0 ms"),
        ({"a": math.nan}, None, "finite"),
        ({"a": 1}, math.inf, "finite"),
        ({"a": 20, "b": 6}, 25, r"add up to 26 ms, more than its total of 25 ms"),
        ({"a": 0}, 0, "takes no time"),
        ({OTHER: 1}, 2, "a name of its own"),
    ],
)
def test_silly_requests_get_a_sentence(stages, total, says):
    with pytest.raises(BadData, match=says):
        one_request(stages, total)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"gpu": Change(ms=1)}, "there is no stage 'gpu'; there are network"),
        ({"model": Change(ms=-1)}, "0 ms or more"),
        ({"model": Change(factor=math.nan)}, "0 ms or more"),
        ({name: Change(ms=0) for name in REQUEST}, "takes no time"),
    ],
)
def test_silly_changes_get_a_sentence(changes, says):
    with pytest.raises(InvalidRequest, match=says):
        what_if(one_request(REQUEST), changes)


def test_a_fleet_is_pooled_and_its_worst_replica_shown():
    rng = np.random.default_rng(5)
    good = trace(("model",), rng.exponential(10, (9000, 1)), None)
    bad = trace(("model",), 200 + rng.exponential(10, (600, 1)), None)
    fleet = profile(pool({"good": good, "bad": bad}))
    everything = np.sort(np.concatenate([good.total_ms, bad.total_ms]))
    assert fleet.p99_ms == everything[math.ceil(0.99 * len(everything)) - 1]
    averaged = (profile(good).p99_ms + profile(bad).p99_ms) / 2
    assert fleet.p99_ms > 1.2 * averaged
    assert [row.name for row in by_replica({"good": good, "bad": bad})] == ["bad", "good"]
    with pytest.raises(BadData, match="two has other stages"):
        pool({"one": good, "two": one_request({"net": 1})})


def test_replicas_may_name_their_stages_in_another_order():
    both = pool({"a": one_request({"x": 1, "y": 2}), "b": one_request({"y": 4, "x": 3})})
    assert both.stages_ms.tolist() == [[1, 2], [3, 4]]
