import pytest

from engine.reports.compare import compare_rows
from engine.reports.promise import standing


def stand(lab, study, variant, batch=None):
    row = compare_rows(study, [lab.baseline(), variant], batch)[1]
    found = standing(study, row)
    assert row.reason == found.shortfall
    return found


def test_meets(lab):
    found = stand(lab, lab.study(), lab.variant("x", speedup=4.0))
    assert (found.meets, found.shortfall) == (True, None)


@pytest.mark.parametrize(
    ("speedup", "factor", "said"),
    [
        (1.8, 3.0, "1.8x of the 3x goal"),
        (0.83, 3.0, "0.8x of the 3x goal"),
        (2.96, 3.0, "2.96x of the 3x goal"),  # not 3.0x of 3x
        (2.4, 2.5, "2.4x of the 2.5x goal"),
        (3.02, 3.0, "3.02x measured but only 2.96x certain, of the 3x goal"),
        (3.1, 3.05, "3.1x measured but only 3.0x certain, of the 3.05x goal"),
    ],
)
def test_a_missed_goal_says_by_how_much(lab, speedup, factor, said):
    found = stand(lab, lab.study(factor=factor), lab.variant("x", speedup=speedup))
    assert (found.meets, found.shortfall) == (False, said)


def test_the_lower_bound_decides(lab):
    assert stand(lab, lab.study(factor=3.0), lab.variant("x", speedup=3.07)).meets  # low is 3.0086
    assert not stand(lab, lab.study(factor=3.0), lab.variant("x", speedup=3.05)).meets  # low is 2.989


def test_band_and_goal_are_both_named(lab):
    reason = "carrier = HA loses 3.1 points, limit 2"
    variant = lab.variant("x", speedup=1.8, quality=lab.quality(verdict="outside", reason=reason))
    assert stand(lab, lab.study(), variant).shortfall == f"1.8x of the 3x goal; {reason}"
    variant = lab.variant("x", quality=lab.quality(verdict="outside", reason=reason))
    assert stand(lab, lab.study(), variant).shortfall == reason


@pytest.mark.parametrize(("verdict", "meets"), [("exact", True), ("too few rows", False), ("not judged", False)])
def test_what_holds_the_band(lab, verdict, meets):
    variant = lab.variant("x", quality=lab.quality(verdict=verdict, reason="too few rows: 9 of 299 needed"))
    found = stand(lab, lab.study(), variant)
    assert found.meets == meets
    assert found.shortfall == (None if meets else "too few rows: 9 of 299 needed")


def test_without_a_metric_only_the_goal_counts(lab):
    variant = lab.variant("x", quality=lab.quality(None, "not judged", metric=None))
    assert stand(lab, lab.study(metric=None), variant).meets


@pytest.mark.parametrize(("kind", "quantile"), [("p99", 0.99), ("cost", None)])
def test_a_goal_is_judged_in_its_own_quantity(lab, kind, quantile):
    variant = lab.variant("x", speedup=5.0, quantiles=(0.5,))
    own = lab.comparison(1.8, quantile=quantile)
    variant = variant.model_copy(update={"comparisons": (*variant.comparisons, own)})
    found = stand(lab, lab.study(kind=kind), variant)
    assert found.shortfall == f"1.8x of the 3x goal in {kind}"


def test_a_p99_that_was_not_compared(lab):
    variant = lab.variant("x", quantiles=(0.5, None))
    variant = variant.model_copy(update={"measurements": (lab.measurement(2.5, n_calls=90, n_pairs=3),)})
    found = stand(lab, lab.study(kind="p99"), variant)
    assert found.shortfall == "p99 not available: 90 calls in 3 pairs are too few; use a longer preset"


def test_the_goal_stands_at_the_primary_batch(lab):
    variant = lab.variant("x", speedup=1.8, batches=(1, 32))
    assert stand(lab, lab.study(), variant, 32).shortfall == "1.8x of the 3x goal at batch 1"
    elsewhere = lab.variant("x", batches=(32,))
    assert stand(lab, lab.study(), elsewhere).shortfall == "not measured at batch 1, where the goal is set"


def test_baseline_and_unfinished_rows_do_not_stand(lab):
    study = lab.study()
    rows = compare_rows(study, [lab.baseline(), lab.failed("x"), lab.experiment("y", status="running")])
    assert [standing(study, row) for row in rows] == [None, None, None]
