"""The sentence that says what a variant brings, in every combination of speed and quality."""

import pytest
from page_history import add_certificate, add_run, make_study

from engine.records import Recipe, Step
from engine.reports.amdahl import Share
from engine.reports.rows import CompareRow
from pages._ui.gain import gain

SPEEDS = {
    "faster": (3.4, "faster"),
    "slower": (0.5, "slower"),
    "same": (1.02, "no difference"),
    "open": (1.77, "cannot tell"),
    "open, slower": (0.9, "cannot tell"),
    "none": (None, None),
}
QUALITY = {
    "loses": ("roc_auc", 0.0042, "within band"),
    "gains": ("roc_auc", -0.001, "within band"),
    "no change": ("accuracy", 0.00001, "within band"),
    "exact": ("accuracy", 0.0, "exact"),
    "higher": ("rmse", 0.012, "outside"),
    "lower": ("hamming_loss", -0.003, "within band"),
    "unjudged": (None, None, None),
}
SAID = {
    ("faster", "loses"): "3.40× faster and loses 0.42 points",
    ("faster", "gains"): "3.40× faster and gains 0.10 points",
    ("faster", "no change"): "3.40× faster with the same accuracy",
    ("faster", "exact"): "3.40× faster with the same answers",
    ("faster", "higher"): "3.40× faster and its RMSE is 1.20% higher",
    ("faster", "lower"): "3.40× faster and its Hamming loss is 0.30 points lower",
    ("faster", "unjudged"): "3.40× faster",
    ("slower", "loses"): "2.00× slower and loses 0.42 points",
    ("slower", "gains"): "2.00× slower but gains 0.10 points",
    ("slower", "no change"): "2.00× slower with the same accuracy",
    ("slower", "exact"): "2.00× slower with the same answers",
    ("slower", "higher"): "2.00× slower and its RMSE is 1.20% higher",
    ("slower", "lower"): "2.00× slower but its Hamming loss is 0.30 points lower",
    ("slower", "unjudged"): "2.00× slower",
    ("same", "loses"): "as fast as the original but loses 0.42 points",
    ("same", "gains"): "as fast as the original and gains 0.10 points",
    ("same", "no change"): "as fast as the original with the same accuracy",
    ("same", "exact"): "as fast as the original with the same answers",
    ("same", "higher"): "as fast as the original but its RMSE is 1.20% higher",
    ("same", "lower"): "as fast as the original and its Hamming loss is 0.30 points lower",
    ("same", "unjudged"): "as fast as the original",
}
OPEN = {
    "loses": "; it loses 0.42 points",
    "gains": "; it gains 0.10 points",
    "no change": "; it has the same accuracy",
    "exact": "; it has the same answers",
    "higher": "; its RMSE is 1.20% higher",
    "lower": "; its Hamming loss is 0.30 points lower",
    "unjudged": "",
}


def row_of(speed, quality):
    speedup, verdict = SPEEDS[speed]
    metric, drop, judged = QUALITY[quality]
    return CompareRow(
        experiment="e", recipe="r", runtime="t", device="cpu", status="succeeded", batch_size=1, speedup=speedup,
        speed_verdict=verdict, metric=metric, metric_drop=drop, quality_verdict=judged,
    )  # fmt: skip


def said(row, names, whole=None):
    return gain(row, names, whole=whole).replace("\u202f", " ")


@pytest.mark.parametrize(("speed", "quality"), SAID)
def test_speed_and_quality_make_one_sentence(speed, quality):
    row, text = row_of(speed, quality), SAID[speed, quality]
    assert said(row, {"e": "iNT8"}) == f"iNT8 is {text}"
    assert said(row, {}) == text[0].upper() + text[1:]


@pytest.mark.parametrize("quality", OPEN)
@pytest.mark.parametrize(
    ("speed", "text"),
    [
        ("open", "whether {} is faster cannot be told yet (1.77× measured)"),
        ("open, slower", "whether {} is faster cannot be told yet (0.90× measured)"),
        ("none", "{} was not timed at this batch"),
    ],
)
def test_an_open_speed_is_no_speed(speed, text, quality):
    row = row_of(speed, quality)
    named, alone = (text.format(name) + OPEN[quality] for name in ("iNT8", "it"))
    assert said(row, {"e": "iNT8"}) == (named if named.startswith("iNT8") else named[0].upper() + named[1:])
    assert said(row, {}) == alone[0].upper() + alone[1:]


def test_what_the_request_gains_stands_beside_a_speed_that_is_certain():
    share = Share(model_ms=2.0, request_ms=25.0)
    assert said(row_of("faster", "loses"), {}, share) == (
        "3.40× faster (1.06× for the whole request) and loses 0.42 points"
    )
    assert "request" not in said(row_of("same", "loses"), {}, share)
    assert "request" not in said(row_of("open", "loses"), {}, share)


@pytest.mark.parametrize(
    ("verdict", "sentence"),
    [
        (None, "is 3.40× faster and loses 0.40 points"),
        ("pass", "is 3.40× faster and loses 0.40 points"),
        ("fail", "keeps the promise on the selection rows, but not on the certification rows"),
        ("not certified", "keeps the promise on the selection rows, but the certification rows cannot confirm it"),
        ("too few rows", "keeps the promise on the selection rows, but the certification rows cannot confirm it"),
    ],
)
def test_a_certificate_has_the_last_word(ledger, open_page, verdict, sentence):
    study = make_study(ledger, name="Flight delay")
    add_run(ledger, study, Recipe(), speedup=None)
    run = add_run(ledger, study, Recipe(steps=(Step(lever="pruning.fewer_trees"),)), speedup=3.4, drop=0.004)
    if verdict:
        add_certificate(ledger, study, run, verdict)
    heads = [one.value.replace("\u202f", " ") for one in open_page("study.py", study=study.id).subheader]
    assert f"Fewer trees {sentence}" in heads
