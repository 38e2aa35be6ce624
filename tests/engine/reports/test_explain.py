import re
from typing import get_args

import pytest

from engine.records import METRICS, Agreement, Calibration, ClassFigure, Measurement, QualityReport, SliceQuality
from engine.reports.explain import DOCUMENT, EXPLANATIONS, explain, how_computed
from engine.reports.rows import CompareRow

TEXT_OR_PART = {  # fields that are no figure, or whose parts are explained
    "artefact_id", "runtime", "workload", "samples", "split", "metric", "relative", "verdict", "reason", "slices",
    "agreement", "figures", "classes", "calibration", "found", "notes", "column", "value", "name", "experiment",
    "recipe", "device", "status", "batch_size", "worst_slice", "is_baseline",
}  # fmt: skip


@pytest.mark.parametrize(
    "record", [Agreement, Calibration, ClassFigure, Measurement, QualityReport, SliceQuality, CompareRow]
)
def test_every_figure_is_explained(record):
    fields = {name for name, field in record.model_fields.items() if not field.exclude}
    assert fields - TEXT_OR_PART <= set(EXPLANATIONS)


@pytest.mark.parametrize("figure", sorted(EXPLANATIONS))
def test_a_figure_is_one_plain_line_with_a_place_that_says_how(figure):
    found = explain(figure)
    assert re.fullmatch(r"[A-Z][^\n]{9,110}\.", found.line)
    assert len(how_computed(found.section)) > 80
    heading = found.anchor.partition("#")[2]
    headings = re.findall(r"^## (.+)$", DOCUMENT.read_text(), flags=re.MULTILINE)
    assert heading in [one.lower().replace(" ", "-") for one in headings]


def test_the_table_of_metrics_has_every_metric():
    said = how_computed("Metrics").lower()
    assert [facts.title for facts in METRICS.values() if facts.title.lower() not in said] == []


def test_the_rows_needed_in_the_text_are_those_of_the_formula():
    from engine.quality.power import rows_for_band

    assert "about 5,100 rows" in how_computed("Rows needed")
    assert "about 5,100 rows" in rows_for_band(0.005)


def test_the_verdicts_have_their_words():
    from engine.records import QualityVerdict

    said = how_computed("Quality") + how_computed("Slices") + how_computed("Certificates")
    for verdict in set(get_args(QualityVerdict)) - {"not judged"}:
        assert verdict in said.lower()
