"""The sections of a certificate as cards: the same words as in its printed form, with the colours of the product."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal

import pandas as pd
import streamlit as st

from engine.records import Certificate
from engine.reports.certificate import headline
from engine.reports.document import Section, Table
from pages._ui.experiment.times import SPEED
from pages._ui.explanations import about, why
from pages._ui.parts import card_title, md_badge, verdict
from pages._ui.text import plain
from pages._ui.variants import recipe_name
from pages._ui.words import CERTIFIED

VERDICTS: dict[str, str] = {**SPEED, **{word: badge for word, (_, badge, _) in CERTIFIED.items()}}  # in tables
_HASH = re.compile(r"[0-9a-f]{64}")
FIRST = ("What was found", "Not covered")
PAIRED = ("The promise", "Agreement with the original", "What was judged (SHA-256)", "Where")
EXPLAINED = {  # heading -> help
    "What was found": why("certificate"),
    "Not covered": why("not_covered"),
    "The promise": about("promise"),
    "Agreement with the original": about("agreement"),
    "Slices nobody declared (exploratory)": about("found slices"),
    "Without a verdict": about("other figures"),
    "Measured speed, not certified": about("time"),
    "What was judged (SHA-256)": about("hashes"),
    "Where": about("environment"),
    "How": about("certifying"),
}
LONG = 12  # rows, from which on a table is folded away
SHOWN = 16  # digits of a hash; the downloads hold all 64


def certificate_verdict(certificate: Certificate, actions: Callable[[], None]) -> None:
    """The answer first."""
    kind, word, label = CERTIFIED[certificate.quality.verdict]
    number = f"Certificate **{certificate.number} of {certificate.limit}** of this promise on these rows"
    if certificate.n_elsewhere:
        number += f"; {certificate.n_elsewhere} more were issued on the same rows in other studies"
    detail = f"{plain(recipe_name(certificate.recipe), 120)}. {number}."
    verdict(kind, word, plain(headline(certificate), 300), detail, key="ce", actions=actions, label=label)


def sections(found: Sequence[Section]) -> None:
    """What was found and what is not covered first and over the whole width; then pairs; the rest as it comes."""
    by_heading = {one.heading: one for one in found}
    first = [by_heading.pop(name) for name in FIRST if name in by_heading]
    for one in first:
        section_card(one)
    with st.grid(2, min_column_width=360):
        for name in PAIRED:
            if name in by_heading:
                section_card(by_heading.pop(name), height="stretch")
    for one in by_heading.values():
        if one.table and len(one.table.rows) > LONG:
            with st.expander(one.heading, key=f"ce-more-{_slug(one.heading)}"):
                section_card(one)
        else:
            section_card(one)


def section_card(section: Section, height: Literal["content", "stretch"] = "content") -> None:
    """Heading, sentences, table, small print."""
    with st.container(border=True, key=f"ce-{_slug(section.heading)}", gap="small", height=height):
        card_title(plain(section.heading), help=EXPLAINED.get(section.heading))
        for text in section.paragraphs:
            st.markdown(plain(text, 600))
        if section.table and section.table.header:
            st.table(figures(section.table), border="horizontal", hide_index=True, alt=section.heading)
        elif section.table:
            pairs = {plain(key, 120): cell(value) for key, value in section.table.rows}
            st.table(pairs, border="horizontal", alt=section.heading)
        if section.note:
            st.caption(plain(section.note, 400))


def _slug(heading: str) -> str:
    return re.sub(r"[^a-z]+", "-", heading.lower()).strip("-")


def figures(table: Table) -> pd.DataFrame:
    """Rows under heads; verdicts become badges."""
    heads = [plain(name[:1].upper() + name[1:]) for name in table.header]
    judged = table.header.index("Verdict") if "Verdict" in table.header else -1
    rows = [[_verdict(value) if at == judged else cell(value) for at, value in enumerate(row)] for row in table.rows]
    return pd.DataFrame(rows, columns=heads)


def cell(text: str) -> str:
    """Text as text; a SHA-256 as code, short enough for its column."""
    parts, last = [], 0
    for found in _HASH.finditer(text):
        parts += [plain(text[last : found.start()], 400), f"`{found.group()[:SHOWN]}…`"]
        last = found.end()
    parts.append(plain(text[last:], 400))
    return " ".join(part for part in parts if part).replace("` \\,", "`\\,")


def _verdict(word: str) -> str:
    return md_badge(VERDICTS[word]) if word in VERDICTS else plain(word)
