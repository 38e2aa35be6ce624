import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from engine.errors import BadData, InvalidRequest, Mismatch, ParityFailed
from engine.quality.report import judge
from engine.quality.ruling import loses
from engine.records import Band, QualityReport, Signature


def signature(task="binary", kind="logits", classes=("no", "yes")):
    return Signature(inputs=(), outputs=(), task=task, classes=classes, score_output="s", output_kind=kind)


def binary(n=2000, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    before = rng.normal(size=n) + 1.5 * labels
    return labels, before, before + rng.normal(0, noise, n)


def plain(n):
    return pd.DataFrame({"row": np.arange(n)})


def test_a_small_change_is_within_the_band():
    labels, before, after = binary()
    found = judge("selection", before, after, labels, plain(2000), signature(), Band(metric="roc_auc"))
    assert found.verdict == "within band"
    assert found.reason is None
    assert not found.relative
    assert found.drop == pytest.approx(found.baseline - found.candidate)
    assert found.drop < found.bound
    assert found.agreement.flip_fraction > 0
    assert found.n_rows == 2000
    assert QualityReport.model_validate_json(found.model_dump_json()) == found


def test_a_large_loss_is_outside_and_says_how_much():
    labels, before, after = binary(noise=2)
    found = judge("selection", before, after, labels, plain(2000), signature(), Band(metric="roc_auc"))
    assert found.verdict == "outside"
    assert found.reason == f"roc_auc loses {100 * found.drop:.2g} points, limit 1"


def test_a_gain_is_a_negative_drop():
    labels, before, after = binary(noise=2)
    found = judge("selection", after, before, labels, plain(2000), signature(), Band(metric="roc_auc"))
    assert found.drop < 0
    assert found.verdict == "within band"


def test_a_broken_slice_breaks_the_whole():
    labels, before, after = binary(4000)
    carrier = np.where(np.arange(4000) < 800, "HA", "UA")
    rng = np.random.default_rng(1)
    after = np.where(carrier == "HA", rng.permutation(after), after)
    rows = pd.DataFrame({"slice:carrier": carrier})
    band = Band(metric="roc_auc", max_drop=0.5, slices=("carrier",))
    found = judge("selection", before, after, labels, rows, signature(), band)
    assert [(one.value, one.verdict, one.n_rows) for one in found.slices] == [
        ("HA", "outside", 800),
        ("UA", "within band", 3200),
    ]
    assert found.verdict == "outside"
    assert found.reason == f"carrier = HA loses {100 * found.slices[0].drop:.2g} points, limit 2"


def test_several_broken_slices_are_counted():
    labels, before, after = binary(4000, noise=3)
    rows = pd.DataFrame({"slice:c": np.where(np.arange(4000) % 2, "odd", "even")})
    found = judge(
        "selection", before, after, labels, rows, signature(), Band(metric="roc_auc", max_drop=1, slices=("c",))
    )
    worst = max(found.slices, key=lambda one: one.drop)
    assert found.reason.startswith(f"c = {worst.value} loses")
    assert found.reason.endswith("limit 2 (and 1 more)")


def test_slices_that_say_nothing_do_not_block_unless_asked_for():
    """Slices tiny / north / south: five rows, and two with one class each (public case P18)."""
    labels, before, after = binary(1000)
    place = np.where(labels == 1, "north", "south").astype(object)
    place[:5] = "tiny"
    rows = pd.DataFrame({"slice:place": place})
    band = Band(metric="roc_auc", slices=("place",))
    found = judge("selection", before, after, labels, rows, signature(), band)
    said = {one.value: (one.verdict, one.reason, one.drop) for one in found.slices}
    assert said["north"] == said["south"] == ("not judged", "only one class", None)
    assert said["tiny"][:2] == ("too few rows", "too few rows: 5 of 149 needed")
    assert found.verdict == "within band"
    asked = judge(
        "selection", before, after, labels, rows, signature(), band.model_copy(update={"require_all_slices": True})
    )
    assert asked.verdict == "too few rows"
    assert asked.reason.startswith("place = north: only one class")


def test_bit_identical_is_exact_in_every_slice():
    labels, before, _ = binary(200)
    rows = pd.DataFrame({"slice:c": np.where(np.arange(200) < 3, "few", "many")})
    found = judge("selection", before, before.copy(), labels, rows, signature(), Band(metric="roc_auc", slices=("c",)))
    assert found.verdict == "exact"
    assert {one.verdict for one in found.slices} == {"exact"}
    assert (found.drop, found.bound) == (0.0, 0.0)
    assert found.agreement.identical
    assert found.agreement.max_abs_diff == 0


def test_too_few_rows_overall():
    labels, before, after = binary(120)
    found = judge("selection", before, after, labels, plain(120), signature(), Band(metric="roc_auc"))
    assert found.verdict == "too few rows"
    assert found.reason == "too few rows: 120 of 299 needed"
    assert found.bound is None
    assert found.drop is not None


def test_digits_of_540_rows():
    """Overall there are rows enough for a band of 0.01; no single class of ten has 299."""
    rng = np.random.default_rng(0)
    labels = np.arange(540) % 10
    before = rng.normal(size=(540, 10)) + 8 * np.eye(10)[labels]
    after = before + rng.normal(0, 1e-3, size=before.shape)
    band = Band(metric="accuracy", slice_max_drop=0.01)
    kind = signature("multiclass", classes=tuple("0123456789"))
    found = judge("selection", before, after, labels, plain(540), kind, band)
    assert found.verdict == "within band"
    assert found.bound == pytest.approx(0.004986, abs=1e-5)  # no flip in 540 rows
    assert [one.value for one in found.slices] == list("0123456789")
    assert {one.column for one in found.slices} == {"true class"}
    assert {(one.verdict, one.reason) for one in found.slices} == {("too few rows", "too few rows: 54 of 299 needed")}


def test_regression_is_relative():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=1000)
    before = truth + rng.normal(0, 1, 1000)
    after = truth + (before - truth) * 1.02
    kind = signature("regression", "value", None)
    found = judge("selection", before, after, truth, plain(1000), kind, Band(metric="rmse", max_drop=0.01))
    assert found.relative
    assert found.drop == pytest.approx(0.02)
    assert found.reason == "rmse loses 2 %, limit 1 %"
    assert found.agreement.flip_fraction is None


def test_a_perfect_original_does_not_excuse_errors():
    truth = np.arange(500.0)
    kind = signature("regression", "value", None)
    found = judge("selection", truth, truth + 1, truth, plain(500), kind, Band(metric="rmse"))
    assert found.verdict == "outside"
    assert found.reason == "rmse: the original has no error here, the candidate has"
    assert found.drop is None


def test_relative_drop_of_a_share():
    labels, before, after = binary(noise=0.5)
    one = judge("selection", before, after, labels, plain(2000), signature(), Band(metric="roc_auc"))
    other = judge("selection", before, after, labels, plain(2000), signature(), Band(metric="roc_auc", relative=True))
    assert other.relative
    assert other.drop == pytest.approx(one.drop / one.baseline)
    assert other.bound == pytest.approx(one.bound / one.baseline)


def test_rows_without_label_count_for_agreement_only():
    labels, before, after = binary()
    labels[::10] = -1
    after[::10] += 50
    found = judge("selection", before, after, labels, plain(2000), signature(), Band(metric="roc_auc"))
    assert found.n_rows == 1800
    assert found.verdict == "within band"
    assert found.agreement.max_abs_diff > 0.5


@pytest.mark.parametrize("labels", [None, np.full(2000, -1)])
def test_without_labels_only_agreement_is_left(labels):
    _, before, after = binary()
    found = judge("selection", before, after, labels, plain(2000), signature(), Band(metric="roc_auc"))
    assert found.verdict == "not judged"
    assert "has a label" in found.reason
    assert found.baseline is None
    assert found.agreement.max_abs_diff > 0


def test_without_a_metric_only_agreement_is_left():
    _, before, after = binary()
    found = judge("selection", before, after, None, plain(2000), signature("other", None, None), Band(metric=None))
    assert (found.verdict, found.metric) == ("not judged", None)
    assert found.agreement.flip_fraction is None


def test_all_labels_one_class():
    _, before, after = binary()
    found = judge("selection", before, after, np.ones(2000, int), plain(2000), signature(), Band(metric="roc_auc"))
    assert (found.verdict, found.reason, found.drop) == ("not judged", "only one class", None)


def test_nan_answers_are_outside_and_never_a_number():
    labels, before, after = binary()
    after[[3, 40]] = np.nan, np.inf
    found = judge("selection", before, after, labels, plain(2000), signature(), Band(metric="roc_auc"))
    assert found.verdict == "outside"
    assert found.reason == "NaN or infinite outputs in 2 of 2,000 rows (first: row 4)"
    assert (found.candidate, found.drop, found.bound) == (None, None, None)
    assert 0 < found.agreement.max_abs_diff < 1
    assert "nan" not in found.model_dump_json().lower().replace("nan or", "")


def test_only_nan_answers():
    labels, before, _ = binary()
    found = judge("selection", before, np.full(2000, np.nan), labels, plain(2000), signature(), Band(metric="roc_auc"))
    assert found.verdict == "outside"
    assert found.agreement.max_abs_diff is None


def test_a_candidate_that_gives_no_probabilities_is_outside():
    labels, before, after = binary()
    before = 1 / (1 + np.exp(-before))
    kind = signature(kind="probabilities")
    found = judge("selection", before, after, labels, plain(2000), kind, Band(metric="roc_auc"))
    assert found.verdict == "outside"
    assert "declared as probabilities" in found.reason


def test_a_limit_of_zero():
    labels, before, after = binary()
    band = Band(metric="roc_auc", max_drop=0.0)
    worse, better = sorted([before, after], key=lambda scores: roc_auc_score(labels, scores))
    assert judge("selection", better, worse, labels, plain(2000), signature(), band).verdict == "outside"
    found = judge("selection", worse, better, labels, plain(2000), signature(), band)
    assert found.verdict == "too few rows"
    assert "identical answers" in found.reason


def test_embeddings_need_no_label():
    rng = np.random.default_rng(0)
    before = rng.normal(size=(400, 16)).astype(np.float32)
    kind = signature("embedding", "embedding", None)
    band = Band(metric="retrieval_agreement")
    found = judge("selection", before, before + 1e-4, None, plain(400), kind, band)
    assert (found.baseline, found.verdict) == (1.0, "within band")
    broken = judge("selection", before, before[::-1].copy(), None, plain(400), kind, band)
    assert broken.verdict == "outside"


def test_ranking_needs_groups():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 3000).astype(float)
    before = truth + rng.normal(size=3000)
    kind = signature("ranking", "value", None)
    rows = pd.DataFrame({"group": np.repeat(np.arange(300), 10)})
    found = judge("selection", before, before + rng.normal(0, 0.05, 3000), truth, rows, kind, Band(metric="ndcg_at_10"))
    assert found.verdict == "within band"
    with pytest.raises(BadData, match="role group"):
        judge("selection", before, before, truth, plain(3000), kind, Band(metric="ndcg_at_10"))


def test_weights_move_the_metric():
    labels, before, after = binary()
    after = np.where(np.arange(2000) < 1000, before, after + 9)
    rows = pd.DataFrame({"weight": np.r_[np.ones(1000), np.zeros(1000)]})
    found = judge("selection", before, after, labels, rows, signature(), Band(metric="roc_auc"))
    assert found.drop == pytest.approx(0)
    assert not found.agreement.identical


@pytest.mark.parametrize(("bad", "shown"), [(-1.0, "-1"), (np.nan, "nan")])
def test_weights_that_are_none(bad, shown):
    labels, before, after = binary()
    rows = pd.DataFrame({"weight": np.ones(2000)})
    rows.loc[7, "weight"] = bad
    with pytest.raises(BadData, match=rf"1 rows are not \(first: row 8 of the split, {shown}\)"):
        judge("selection", before, after, labels, rows, signature(), Band(metric="roc_auc"))


def test_what_does_not_belong_together():
    labels, before, after = binary()
    rows = plain(2000)
    with pytest.raises(ParityFailed, match="1,999 of 2,000 rows"):
        judge("selection", before, after[1:], labels, rows, signature(), Band(metric="roc_auc"))
    with pytest.raises(InvalidRequest, match="rmse cannot judge a binary task"):
        judge("selection", before, after, labels, rows, signature(), Band(metric="rmse"))
    with pytest.raises(Mismatch, match="NaN"):
        judge("selection", before * np.nan, after, labels, rows, signature(), Band(metric="roc_auc"))
    with pytest.raises(BadData, match="class index 2; the model has 2 classes"):
        judge("selection", before, after, labels + 1, rows, signature(), Band(metric="roc_auc"))
    with pytest.raises(BadData, match="'town'"):
        judge("selection", before, after, labels, rows, signature(), Band(metric="roc_auc", slices=("town",)))
    with pytest.raises(ParityFailed, match="shape"):
        judge("selection", np.ones((9, 3)), np.ones((9, 4)), None, plain(9), signature("multiclass"), Band(metric=None))


@pytest.mark.parametrize(
    ("drop", "limit", "relative", "text"),
    [
        (0.0312, 0.02, False, "loses 3.1 points, limit 2"),
        (0.010004, 0.01, False, "loses 1.0004 points, limit 1"),
        (0.031, 0.01, True, "loses 3.1 %, limit 1 %"),
    ],
)
def test_the_loss_in_words(drop, limit, relative, text):
    assert loses(drop, limit, relative=relative) == text
