"""Every help text leads to a heading that exists, on a page of this server."""

import re

import pytest
from pages_text import texts

from engine.reports.explain import DOCUMENT, EXPLANATIONS
from pages._ui import agreement, compare_table, details, resources
from pages._ui.explanations import SECTIONS, about, why

HEADINGS = {
    re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
    for heading in re.findall(r"^## (.+)$", DOCUMENT.read_text(), re.MULTILINE)
}


@pytest.mark.parametrize("text", [*map(why, EXPLANATIONS), *map(about, SECTIONS)])
def test_help_names_a_heading_that_exists(text):
    (anchor,) = re.findall(r"\]\(measuring#([\w-]+)\)", text)
    assert anchor in HEADINGS


@pytest.mark.parametrize(
    "figures", [agreement.FIGURES, compare_table.FIGURES, resources.FIGURES, details.TIMES, details.LOSSES]
)
def test_what_stands_in_a_legend_is_explained(figures):
    assert set(figures.values()) <= set(EXPLANATIONS)


def test_the_page_shows_the_document(home, open_page):
    assert DOCUMENT.read_text().strip() in texts(open_page("measuring.py"))
