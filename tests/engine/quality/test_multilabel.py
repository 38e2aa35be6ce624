"""Several labels at once, from outputs to a report: figures of scikit-learn, verdicts per label, reasons."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, rel_entr
from sklearn import metrics as oracle

from engine.errors import BadData, Mismatch, ParityFailed
from engine.quality import metrics
from engine.quality.answers import compare
from engine.quality.calibration import ece
from engine.quality.certify import Prediction, array_sha256, certify
from engine.quality.disagreements import worst_rows
from engine.quality.report import judge
from engine.records import METRICS, Band, QualityReport, Signature
from tests.engine.quality.answering import judged, judged_rows

CLASSES = ("toxic", "insult", "threat")
OFFERED = [name for name, facts in METRICS.items() if "multilabel" in facts.tasks]


def signature(kind="logits"):
    return Signature(
        inputs=(), outputs=(), task="multilabel", classes=CLASSES, score_output="s", output_kind=kind
    )  # fmt: skip


def made(n=1500, noise=0.1, seed=0, shares=(0.5, 0.3, 0.12)):
    """Labels (n, k) and logits of both models."""
    rng = np.random.default_rng(seed)
    labels = (rng.random((n, len(shares))) < shares).astype(np.int8)
    before = rng.normal(size=labels.shape) + 2.0 * labels - 1.0
    return labels, before, before + rng.normal(0, noise, labels.shape)


def plain(n):
    return pd.DataFrame({"row": np.arange(n)})


def report(labels, before, after, metric="macro_roc_auc", rows=None, **band):
    rows = plain(len(before)) if rows is None else rows
    return judge("selection", before, after, labels, rows, signature(), Band(metric=metric, **band))


# ---------------------------------------------------------------- second opinions
@pytest.mark.parametrize("weighted", [False, True])
def test_metrics_are_those_of_scikit_learn(weighted):
    labels, logits, _ = made(400)
    weights = np.random.default_rng(1).random(400) if weighted else None
    more = {"sample_weight": weights}
    scores, said = expit(logits), expit(logits) > 0.5
    expected = {
        "macro_roc_auc": oracle.roc_auc_score(labels, scores, average="macro", **more),
        "macro_f1": oracle.f1_score(labels, said, average="macro", **more),
        "micro_f1": oracle.f1_score(labels, said, average="micro", **more),
        "subset_accuracy": oracle.accuracy_score(labels, said, **more),
        "hamming_loss": oracle.hamming_loss(labels, said, **more),
        "log_loss": np.mean([oracle.log_loss(labels[:, at], scores[:, at], **more) for at in range(3)]),
        "brier": np.mean([oracle.brier_score_loss(labels[:, at], scores[:, at], **more) for at in range(3)]),
    }
    assert set(expected) == set(OFFERED)
    found = {}
    for metric in expected:
        rows = judged_rows(metric, logits, logits, labels, "multilabel", "logits", weights=weights)
        lost = metrics.lose(metric, rows, 0.05)
        assert lost.drop == 0
        found[metric] = lost.baseline
    assert found == pytest.approx(expected)


def test_the_mean_area_leaves_out_labels_that_are_always_or_never_there():
    labels, before, after = made(300)
    labels[:, 2] = 0
    found = metrics.lose(
        "macro_roc_auc", judged_rows("macro_roc_auc", before, after, labels, "multilabel", "logits"), 0.05
    )
    assert found.baseline == pytest.approx(oracle.roc_auc_score(labels[:, :2], before[:, :2], average="macro"))
    f1 = metrics.lose("macro_f1", judged_rows("macro_f1", before, after, labels, "multilabel", "logits"), 0.05)
    assert f1.baseline == pytest.approx(oracle.f1_score(labels[:, :2], before[:, :2] > 0, average="macro"))


def test_every_label_has_its_figures():
    labels, before, after = made(400)
    found = report(labels, before, after).classes
    assert [one.name for one in found] == list(CLASSES)
    for at, one in enumerate(found):
        assert one.n_rows == labels[:, at].sum()
        for model, logits in enumerate((before, after)):
            precision, recall, f1, _ = oracle.precision_recall_fscore_support(
                labels[:, at], logits[:, at] > 0, average="binary"
            )
            assert (one.precision[model], one.recall[model], one.f1[model]) == pytest.approx((precision, recall, f1))
            assert one.roc_auc[model] == pytest.approx(oracle.roc_auc_score(labels[:, at], logits[:, at]))
            assert one.calibration_error[model] == pytest.approx(ece(expit(logits[:, at]), labels[:, at] == 1))


def test_calibration_is_the_mean_over_the_labels():
    labels, before, after = made(800, noise=1.0)
    found = report(labels, before, after)
    for model in (0, 1):
        assert found.calibration.equal_width[model] == pytest.approx(
            np.mean([one.calibration_error[model] for one in found.classes])
        )
    assert found.calibration.change.low <= found.calibration.change.value <= found.calibration.change.high
    same = report(labels, before, before.copy()).calibration.change
    assert (same.low, same.value, same.high) == (0, 0, 0)


def test_agreement_counts_decisions():
    labels, before, after = made(500, noise=0.5)
    labels[:50] = -1
    found = report(labels, before, after).agreement
    changed = (before > 0) != (after > 0)
    assert found.flip_fraction == pytest.approx(changed.mean())
    assert found.row_flip_fraction == pytest.approx(changed.any(axis=1).mean())
    assert found.n_labels == 3
    right = [(logits[50:] > 0) == labels[50:] for logits in (before, after)]
    assert found.bad_flip_fraction == pytest.approx((right[0] & ~right[1]).mean())
    assert found.good_flip_fraction == pytest.approx((right[1] & ~right[0]).mean())
    p, q = expit(before), expit(after)
    assert found.max_abs_diff == pytest.approx(np.abs(p - q).max())
    kl = (rel_entr(p, q) + rel_entr(1 - p, 1 - q)).mean(axis=1)
    assert (found.mean_kl_nats, found.max_kl_nats) == pytest.approx((kl.mean(), kl.max()))
    assert (found.top_k, found.top_k_overlap) == (None, None)


# ---------------------------------------------------------------- verdicts
@pytest.mark.parametrize("metric", OFFERED)
def test_a_small_change_is_within_the_band_and_its_record_round_trips(metric):
    labels, before, after = made(noise=0.02)
    found = report(labels, before, after, metric, max_drop=0.05, slice_max_drop=0.05)
    assert found.verdict == "within band"
    assert found.drop < found.bound
    assert found.relative == (metric in ("log_loss", "brier"))
    assert {one.metric for one in found.figures} == set(OFFERED) - {metric}
    assert QualityReport.model_validate_json(found.model_dump_json()) == found


@pytest.mark.parametrize("metric", OFFERED)
def test_noise_is_outside(metric):
    labels, before, after = made(noise=3)
    found = report(labels, before, after, metric)
    assert found.verdict == "outside"
    assert found.drop > 0
    assert f"{metric} loses" in found.reason


@pytest.mark.parametrize("metric", OFFERED)
def test_identical_answers_are_exact_for_every_label(metric):
    labels, before, _ = made(60)
    found = report(labels, before, before.copy(), metric)
    assert found.verdict == "exact"
    assert (found.drop, found.bound) == (0.0, 0.0)
    assert {one.verdict for one in found.slices} == {"exact"}


@pytest.mark.parametrize(
    ("metric", "n_rows"),
    [
        ("hamming_loss", "with"),
        ("subset_accuracy", "with"),
        ("log_loss", "with"),
        ("macro_roc_auc", "all"),
        ("macro_f1", "all"),
    ],
)
def test_every_label_has_a_verdict(metric, n_rows):
    labels, before, after = made(noise=0.02)
    found = report(labels, before, after, metric, max_drop=0.1, slice_max_drop=0.1).slices
    assert [(one.column, one.value) for one in found] == [("true label", name) for name in CLASSES]
    assert [one.n_rows for one in found] == (labels.sum(axis=0).tolist() if n_rows == "with" else [1500] * 3)
    if metric == "hamming_loss":
        assert found[2].baseline == pytest.approx((before[labels[:, 2] == 1, 2] > 0).mean())  # its recall
    if metric == "macro_roc_auc":
        assert found[2].baseline == pytest.approx(oracle.roc_auc_score(labels[:, 2], before[:, 2]))


def test_a_label_that_is_lost_breaks_the_whole():
    """One of three labels is not found any more: 4 points of the Hamming loss, but all of its recall."""
    labels, before, _ = made(3000)
    after = before.copy()
    after[:, 2] = -9
    found = report(labels, before, after, "hamming_loss", max_drop=0.5)
    assert {one.value: one.verdict for one in found.slices} == {
        "toxic": "within band", "insult": "within band", "threat": "outside",
    }  # fmt: skip
    assert found.verdict == "outside"
    assert found.reason.startswith("true label = threat loses 8")


def test_a_label_with_few_rows_is_not_covered():
    labels, before, after = made(1500, noise=0.02, shares=(0.5, 0.3, 0.01))
    found = report(labels, before, after, "hamming_loss")
    few = found.slices[2]
    assert (few.verdict, few.reason) == ("too few rows", f"too few rows: {labels[:, 2].sum()} of 149 needed")
    assert found.verdict == "within band"
    ranked = report(labels, before, after)
    said = f"{labels[:, 2].sum()} of 30 needed"
    assert ranked.slices[2].reason == f"too few rows of one class: {said}"
    assert (ranked.verdict, ranked.reason) == ("too few rows", f"too few rows with or without one label: {said}")


def test_a_label_that_no_row_has_gives_a_reason_and_no_number():
    labels, before, after = made(noise=0.02)
    labels[:, 1] = 0
    ranked = report(labels, before, after)
    assert (ranked.slices[1].verdict, ranked.slices[1].reason) == ("not judged", "only one class")
    assert ranked.slices[1].baseline is None
    assert ranked.verdict == "within band"
    shares = report(labels, before, after, "subset_accuracy")
    assert (shares.slices[1].verdict, shares.slices[1].n_rows) == ("too few rows", 0)
    figure = ranked.classes[1]
    assert (figure.n_rows, figure.recall, figure.roc_auc) == (0, (None, None), (None, None))
    nothing = report(np.zeros_like(labels), before, after)
    assert (nothing.verdict, nothing.reason) == ("not judged", "no label that some rows have and others have not")
    assert report(np.zeros_like(labels), before, after, "micro_f1").reason == "no row has a label"


def test_one_class_is_missing_in_a_slice():
    labels, before, after = made(4000, noise=0.02)
    town = np.where(np.arange(4000) < 1000, "Bonn", "Ulm")
    labels[:1000] = 1
    rows = pd.DataFrame({"slice:town": town})
    found = report(labels, before, after, rows=rows, slices=("town",))
    bonn = next(one for one in found.slices if one.value == "Bonn")
    assert (bonn.verdict, bonn.reason) == ("not judged", "no label that some rows have and others have not")
    assert (bonn.baseline, bonn.drop, bonn.bound) == (None, None, None)


def test_rows_without_labels_count_for_agreement_only():
    labels, before, after = made(2000, noise=0.02)
    labels[::4] = -1
    found = report(labels, before, after)
    assert found.n_rows == 1500
    assert found.verdict == "within band"
    assert report(np.full_like(labels, -1), before, after).verdict == "not judged"
    assert report(None, before, after).verdict == "not judged"


def test_slices_found_by_themselves_lead_to_the_lost_rows():
    labels, before, _ = made(4000)
    town = np.arange(4000) % 5
    after = np.where((town == 2)[:, None], -before, before)
    found = judge(
        "selection", before, after, labels, plain(4000), signature(), Band(metric="hamming_loss"),
        columns=lambda: {"town": (town, list("abcde"))},
    )  # fmt: skip
    assert found.found[0].conditions == {"town": "c"}
    assert found.found[0].confirmed


# ---------------------------------------------------------------- input that cannot be
def test_what_cannot_be_judged_is_refused_or_named():
    labels, before, after = made(300)
    with pytest.raises(BadData, match="the labels have 2 columns; the model gives 3 scores per row"):
        report(labels[:, :2], before, after)
    with pytest.raises(BadData, match="labels go from 0 to 2; each has to be 0 or 1"):
        report(labels * 2, before, after)
    with pytest.raises(ParityFailed, match="shape"):
        report(labels, before, after[:, :2])
    with pytest.raises(Mismatch, match="NaN"):
        report(labels, before * np.nan, after)
    with pytest.raises(Mismatch, match="a multilabel task needs one score per class; the output has one column"):
        compare(before[:, :1], after[:, :1], None, "logits", "multilabel")
    after[4, 1] = np.nan
    found = report(labels, before, after)
    assert (found.verdict, found.reason) == ("outside", "NaN or infinite outputs in 1 of 300 rows (first: row 5)")
    assert (found.candidate, found.drop) == (None, None)
    with pytest.raises(BadData, match="weights must be 0 or more; 1 rows are not"):
        report(labels, before, before + 1, rows=pd.DataFrame({"weight": np.r_[-1.0, np.ones(299)]}))


def test_probabilities_need_no_sum_of_one():
    labels, before, after = made(1500, noise=0.02)
    kinds = [(before, after, "logits"), (expit(before), expit(after), "probabilities")]
    first, second = (
        judge("selection", one, other, labels, plain(1500), signature(kind), Band(metric="log_loss"))
        for one, other, kind in kinds
    )
    assert first.drop == pytest.approx(second.drop)
    with pytest.raises(Mismatch, match="declared as probabilities"):
        judge("selection", before, after, labels, plain(1500), signature("probabilities"), Band(metric="log_loss"))


# ---------------------------------------------------------------- the rest of the report
def test_rows_that_differ_most_name_the_labels():
    labels = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 1], [-1, -1, -1]], np.int8)
    before = np.array([[2.0, -2, 2], [-2, -2, -2], [2, -2, -2], [-1, -1, -1]])
    after = np.array([[-2.0, 2, 2], [-2, -1, -2], [2, 2, -2], [1, -1, -1]])
    rows = pd.DataFrame({"row": [10, 11, 12, 13]})
    found = worst_rows(before, after, labels, rows, signature())
    by_row = {one.row: one for one in found}
    assert {row: one.kind for row, one in by_row.items()} == {
        11: "bad flip", 12: "differs", 13: "good flip", 14: "other flip",
    }  # fmt: skip
    first = found[0]
    assert (first.row, first.label) == (11, "toxic, threat")
    assert (first.baseline, first.candidate) == ("toxic, threat", "insult, threat")
    assert (first.baseline_score, first.candidate_score) == (None, None)
    unknown = by_row[14]
    assert (unknown.label, unknown.baseline, unknown.candidate) == (None, "none", "toxic")
    assert by_row[12].label == "none"


def test_certified_at_a_shared_alpha():
    labels, before, after = made(6000, noise=0.01)
    one, other = (Prediction(logits, "rows", array_sha256(labels)) for logits in (before, after))
    found = certify(
        one, other, labels, plain(6000), signature(), Band(metric="macro_roc_auc", slice_max_drop=0.05),
        gate_passed=False,
    )  # fmt: skip
    assert found.verdict == "pass"
    assert found.alpha == pytest.approx(0.05 / 3)
    few = certify(
        *(Prediction(logits[:250], "rows", "labels") for logits in (before, before + 0.4)), labels[:250], plain(250),
        signature(), Band(metric="subset_accuracy", max_drop=0.05, slice_max_drop=0.9), gate_passed=False,
    )  # fmt: skip
    assert few.verdict in ("not certified", "fail")


def test_answers_are_read_block_by_block(monkeypatch):
    labels, before, after = made(500)
    whole = compare(before, after, labels, "logits", "multilabel")
    monkeypatch.setattr("engine.quality.answers.BLOCK_NUMBERS", 3 * 37)
    parts = compare(before, after, labels, "logits", "multilabel")
    for name in ("gap", "kl", "js"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(parts, name))
    for name in ("score", "predicted", "label_probability"):
        np.testing.assert_array_equal(getattr(whole.candidate, name), getattr(parts.candidate, name))


def test_one_label_alone_is_a_binary_task():
    labels, before, after = made(600, noise=0.5)
    whole = judged(before, after, labels, "multilabel", "logits")
    for at in range(3):
        alone = judged(before[:, at], after[:, at], labels[:, at].astype(int), "binary", "logits")
        for metric in ("roc_auc", "accuracy", "log_loss", "f1", "brier"):
            assert metrics.lose(metric, whole.label(at).rows(metric), 0.05) == metrics.lose(
                metric, alone.rows(metric), 0.05
            )
