"""What every figure means, in a line of plain words, with the way to how it is computed (the page `measuring`)."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from engine.reports.explain import explain

SECTIONS: dict[str, tuple[str, str]] = {  # part of a page -> (plain words, heading in docs/measuring.md)
    "time": ("How long a call takes, from rows to scores, beside the original in the same process pairs.", "Time"),
    "batch size": ("How the time of a call and the items per second grow with the items of a call.", "Batch sweep"),
    "threads": ("What more threads bring to one process; twice the threads seldom halve the time.", "Batch sweep"),
    "operators": ("Which operators the time of a call goes to, before and after the change.", "Operators"),
    "resources": ("What one serving process needs besides time.", "What is recorded"),
    "call times": ("Every call that was timed: how wide the times spread and how long the tail is.", "Time"),
    "quality": ("How good the answers are on the selection rows, beside the original on the same rows.", "Quality"),
    "agreement": ("How far the answers are from the original's, row by row; needs no label.", "Agreement"),
    "disagreements": ("The rows on which the two models differ, harm first.", "Agreement"),
}


def why(figure: str) -> str:
    """Help text of one figure, by the name of its field."""
    known = explain(figure)
    return f"{known.line}  \n[How this is computed]({link(known.anchor)})"


def about(part: str) -> str:
    """Help text of a part of a page."""
    words, heading = SECTIONS[part]
    return f"{words}  \n[How this is computed](measuring#{heading.lower().replace(' ', '-')})"


def link(anchor: str) -> str:
    """The anchor of docs/measuring.md on the page that shows this file."""
    return f"measuring#{anchor.partition('#')[2]}"


def legend(figures: Mapping[str, str], *, key: str) -> None:
    """What the columns or rows of a table mean: its words -> the name of the field."""
    with st.popover("What these mean", icon=":material/help:", type="tertiary", key=key):
        known = {words: explain(figure) for words, figure in figures.items()}
        rows = {words: f"{one.line} [How]({link(one.anchor)})" for words, one in known.items()}
        st.table(rows, border="horizontal")
