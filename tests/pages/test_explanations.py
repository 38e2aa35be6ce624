"""Every help text leads to a heading that exists, on a page of this server."""

import re

import pytest
from pages_text import texts

from engine.reports.explain import DOCUMENT, EXPLANATIONS
from pages._ui.experiment import agreement, batch_curve, edges, lineage, operators, resources
from pages._ui.experiment import quality as run_quality
from pages._ui.experiment import times as run_times
from pages._ui.explanations import SECTIONS, about, why

HEADINGS = {
    re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
    for heading in re.findall(r"^## (.+)$", DOCUMENT.read_text(), re.MULTILINE)
}


@pytest.mark.parametrize("text", [*map(why, EXPLANATIONS), *map(about, SECTIONS)])
def test_help_names_a_heading_that_exists(text):
    (anchor,) = re.findall(r"\]\(measuring#([\w-]+)\)", text)
    assert anchor in HEADINGS


LEGENDS = [
    agreement.FIGURES, agreement.LABEL_FIGURES, agreement.FOUND_FIGURES, batch_curve.FIGURES,
    lineage.FIGURES, operators.FIGURES, resources.FIGURES, resources.THREAD_FIGURES, run_quality.FIGURES,
    run_times.FIGURES, edges.FIGURES,
]  # fmt: skip


@pytest.mark.parametrize("figures", LEGENDS)
def test_what_stands_in_a_legend_is_explained(figures):
    assert set(figures.values()) <= set(EXPLANATIONS)


def test_the_page_shows_the_document_and_leads_to_its_sections(home, open_page):
    said = texts(open_page("measuring.py"))
    beginning, rest = DOCUMENT.read_text().strip().split("\n\n## ", 1)
    assert beginning in said
    assert rest in said
    assert all(f"](#{heading})" in said for heading in HEADINGS)
