import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.quality.capability import capability, certificate_alpha, coverage, part_name
from engine.quality.slices import TWO_CLASSES, too_few
from engine.records import METRICS, Band, Census, PartRows

ONE = Band(metric="accuracy", n_certificates=1)


@pytest.mark.parametrize(
    ("n_rows", "delta", "parts"),
    [
        (298, 0.01, ("298 certification rows cannot certify a drop limit of 0.01", "299 rows are the least", "1,397")),
        (299, 0.01, ("299 certification rows certify a drop limit of 0.01 only for variants that change few", "1,397")),
        (1396, 0.01, ("only for variants that change few answers",)),
        (1397, 0.01, ("1,397 certification rows are enough", "A slice needs 149 rows of its own")),
        (5000, 0.0, ("only identical answers",)),
        (5000, 1.0, ("every variant is good enough",)),
    ],
)
def test_what_the_rows_can_show(n_rows, delta, parts):
    said = capability(n_rows, ONE.model_copy(update={"max_drop": delta}))
    assert all(part in said for part in parts), said


def test_more_certificates_need_more_rows_and_it_is_said():
    band = Band(metric="accuracy", max_drop=0.01, n_certificates=3)
    assert certificate_alpha(band) == pytest.approx(0.05 / 3)
    said = capability(1397, band)
    assert "only for variants that change few answers" in said
    assert "For each of 3 certificates 2,012 decide" in said
    assert "408 rows are the least" in capability(300, band)


def test_of_a_loss_only_the_least_rows_are_known_beforehand():
    band = Band(metric="rmse", relative=True, max_drop=0.05, n_certificates=1)
    assert "cannot certify" in capability(99, band)  # a resampled metric needs 100
    assert "the first variants show" in capability(100, band)


def part(n, *, groups=None, rarer=None, column="region"):
    return PartRows(column=column, value="x", rows={"certification": n}, n_judged=n, n_groups=groups, n_rarer=rarer)


@given(
    n=st.integers(1, 900),
    groups=st.none() | st.integers(1, 60),
    rarer=st.integers(0, 60),
    metric=st.sampled_from([name for name, facts in METRICS.items() if "binary" in facts.tasks]),
    limit=st.sampled_from([0.0, 0.005, 0.01, 0.05, 0.2]),
    n_certificates=st.integers(1, 5),
)
def test_a_part_is_covered_exactly_where_a_certificate_would_judge_it(n, groups, rarer, metric, limit, n_certificates):
    rarer = min(rarer, n // 2)
    band = Band(metric=metric, slice_max_drop=limit, slices=("region",), n_certificates=n_certificates)
    found = coverage(Census(whole=part(n, column=None), slices=(part(n, groups=groups, rarer=rarer),)), band)[-1]
    labels = np.r_[np.ones(rarer, int), np.zeros(n - rarer, int)]
    refused = too_few(n, metric, limit, band.alpha / n_certificates, labels, groups)
    if metric in TWO_CLASSES and rarer == 0 and refused is None:
        assert not found.covered  # the metric does not exist there
        assert (found.unit, found.more) == ("rows of the rarer class", 30)
        return
    assert found.covered == (refused is None)
    if refused and found.needed is not None:
        assert f"{found.n:,} of {found.needed:,} needed" in refused
        assert found.more == found.needed - found.n


def test_only_what_the_band_judges_is_listed():
    census = Census(
        whole=part(1000, column=None),
        classes=(part(900, column="true class"),),
        slices=(part(500), part(500, column="device"), part(0, column="region")),
    )
    accuracy = coverage(census, Band(metric="accuracy", slices=("region",)))
    assert [one.column for one in accuracy] == [None, "region", "true class"]
    auc = coverage(census, Band(metric="roc_auc", slices=("region", "device")))
    assert [one.column for one in auc] == [None, "region", "device"]
    assert coverage(census, Band(metric=None)) == ()


def test_every_label_of_several_is_judged_by_a_metric_of_its_own():
    labels = tuple(
        PartRows(column="true label", value=name, rows={"certification": n}, n_judged=n, n_rarer=min(n, 1000 - n))
        for name, n in (("often", 800), ("seldom", 20))
    )
    census = Census(whole=part(1000, column=None, rarer=20), classes=labels)
    by_rank = coverage(census, Band(metric="macro_roc_auc", n_certificates=1))
    assert [(one.value, one.n, one.unit, one.covered) for one in by_rank[1:]] == [
        ("often", 1000, "rows", True), ("seldom", 20, "rows of the rarer class", False),
    ]  # fmt: skip
    by_rows = coverage(census, Band(metric="subset_accuracy", n_certificates=1))
    assert [(one.value, one.n, one.covered) for one in by_rows[1:]] == [("often", 800, True), ("seldom", 20, False)]


def test_parts_have_names():
    assert part_name(None, "") == "all rows"
    assert part_name("region", "north") == "region = north"
    assert part_name("true class", "churn") == "class churn"
    assert part_name("true label", "cat") == "label cat"
