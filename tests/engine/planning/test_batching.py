import math

import pytest

from engine.errors import InvalidRequest
from engine.planning.batching import call_times_ms, capacity_per_s, plan_batching, safe_cap, saturated_batch
from engine.records.batching import ServiceProfile
from engine.records.checked import checked
from engine.reports.plan_batching import answer, low_sentence, triton_config

CALL = ServiceProfile(fixed_ms=5, per_item_ms=0.2)
TABLE = ServiceProfile(points=((1, 5.0), (8, 6.0), (16, 20.0)))


def words(text):
    return text.replace("\u202f", " ")


def test_closed_forms():
    assert round(capacity_per_s(CALL, 4)) == 690
    assert saturated_batch(CALL, 1000) == pytest.approx(6.25)
    assert saturated_batch(CALL, 5000) is None
    assert safe_cap(CALL, 20) == 25
    assert safe_cap(CALL, 5) == 0
    assert call_times_ms(CALL, 128)[[1, 8, 32, 128]] == pytest.approx([5.2, 6.6, 11.4, 30.6])


def test_the_smallest_cap_then_the_smallest_wait():
    plan = plan_batching(CALL, 1000, 20, n_requests=50_000)
    assert (plan.chosen.cap, plan.chosen.wait_ms) == (16, 0)
    assert words(answer(plan)) == "Batch at most 16 and wait 0 ms: p95 12.7 ms at 1,000 requests/s, within 20.0 ms"
    assert {s.cap for s in plan.grid if s.peak is None} == {1, 2, 4, 8}
    assert plan.low.p50_ms == pytest.approx(5.2)
    assert "nobody waits" in low_sentence(plan)
    bare = plan_batching(CALL, 1000, 20, headroom=0, n_requests=50_000)
    assert (bare.chosen.cap, bare.chosen.wait_ms) == (8, 0)
    assert bare.chosen.peak.p95_ms == pytest.approx(15.75, rel=0.02)


def test_quiet_hours_pay_for_a_wait():
    quiet = plan_batching(ServiceProfile(fixed_ms=5), 1, 100, low_per_s=1, caps=[8], waits_ms=[20])
    assert quiet.low.p50_ms == pytest.approx(25, abs=0.01)
    assert quiet.low_without_wait.p50_ms == pytest.approx(5, abs=0.01)
    assert "use a wait of 0 when traffic is low (p50 5.00 ms)" in words(low_sentence(quiet))


def test_nothing_within_the_budget_says_what_would():
    plan = plan_batching(CALL, 1000, 11, caps=[16, 32], waits_ms=[0, 5])
    assert plan.chosen is None
    assert (plan.least.cap, plan.least.wait_ms) == (16, 0)
    assert words(answer(plan)).startswith("No setting keeps 11.0 ms at 1,000 requests/s: the least p95 is 12.7 ms")
    again = plan_batching(CALL, 1300 / plan.n_replicas, 11, caps=[16, 32], waits_ms=[0], headroom=0, n_requests=50_000)
    fewer = plan_batching(
        CALL, 1300 / (plan.n_replicas - 1), 11, caps=[16, 32], waits_ms=[0], headroom=0, n_requests=50_000
    )
    assert again.chosen.peak.p95_ms < 11.1
    assert fewer.least.peak.p95_ms > 10.9


def test_too_much_traffic_is_unstable():
    plan = plan_batching(CALL, 1000, 20, caps=[2, 4])
    assert answer(plan).startswith("unstable: 1,000/s exceeds 690/s, the most that any of the caps can carry; 3 rep")
    assert plan.least is None
    assert plan.low is None
    assert "no cap keeps up" in low_sentence(plan)
    hopeless = plan_batching(CALL, 1e9, 6, caps=[1])
    assert "no number of replicas" in answer(hopeless)
    nearly = plan_batching(CALL, 1000, 20, caps=[8])
    assert answer(nearly).startswith("unstable: 1,000/s with 30% headroom exceeds 1,212/s")


def test_a_measured_table_is_followed_between_its_points():
    assert call_times_ms(TABLE, 16)[[1, 8, 12, 16]] == pytest.approx([5, 6, 13, 20])
    plan = plan_batching(TABLE, 500, 30)
    assert max(s.cap for s in plan.grid) == 16
    assert plan.saturated_batch is None
    assert plan.safe_cap is None
    with pytest.raises(InvalidRequest, match="batches up to 16 were measured; a cap of 32 is outside"):
        plan_batching(TABLE, 500, 30, caps=[32])


def test_triton_config():
    text = triton_config(plan_batching(CALL, 1000, 20, n_requests=50_000), 'my "model" / 2')
    assert text.splitlines()[2:] == [
        'name: "my_model_2"',
        "max_batch_size: 16",
        "dynamic_batching {",
        "  max_queue_delay_microseconds: 0",
        "}",
        "instance_group [",
        "  {",
        "    count: 1",
        "    kind: KIND_CPU",
        "  }",
        "]",
    ]
    alone = triton_config(plan_batching(CALL, 10, 20, caps=[1], waits_ms=[0]), "…")
    assert "dynamic_batching" not in alone
    assert 'name: "model"' in alone


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"rate_per_s": 0}, "traffic must be above 0 requests/s"),
        ({"rate_per_s": math.nan}, "traffic must be above 0"),
        ({"rate_per_s": math.inf}, "traffic must be above 0"),
        ({"low_per_s": 0}, "low traffic must be above 0"),
        ({"p95_budget_ms": 5}, r"a p95 of 5 ms cannot be kept: a call of one request alone takes 5.2 ms"),
        ({"p95_budget_ms": math.nan}, "cannot be kept"),
        ({"p95_budget_ms": math.inf}, "finite"),
        ({"headroom": -1}, "headroom must be between"),
        ({"n_instances": 0}, "instances must be between"),
        ({"caps": [0]}, "caps must be between"),
        ({"caps": []}, "caps must be between"),
        ({"waits_ms": [-1]}, "waits must be between"),
        ({"waits_ms": [math.nan]}, "waits must be between"),
        ({"n_requests": 10}, "1,000 to 5,000,000"),
    ],
)
def test_silly_values_get_a_sentence(values, says):
    with pytest.raises(InvalidRequest, match=says):
        plan_batching(CALL, **({"rate_per_s": 100, "p95_budget_ms": 20} | values))


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"fixed_ms": -1},
        {"fixed_ms": math.inf},
        {"points": ((2, 5.0),)},
        {"points": ((1, 5.0), (1, 6.0))},
        {"points": ((1, 0.0), (2, 6.0))},
    ],
)
def test_calls_that_take_no_time_are_refused(values):
    with pytest.raises(InvalidRequest):
        checked(ServiceProfile, **values)
