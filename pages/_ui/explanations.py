"""What every figure means, in a line of plain words, with the way to how it is computed (the page `measuring`)."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from engine.reports.explain import explain

SECTIONS: dict[str, tuple[str, str]] = {  # part of a page -> (plain words, heading in docs/measuring.md)
    "lineage": ("What the model was after each step, and what the step changed in it.", "What is recorded"),
    "recipe": ("Every parameter of this run: with them it can be done again.", "What is recorded"),
    "environment": ("The machine and the versions of this run; figures of other machines are other figures.",
                    "What is recorded"),
    "time": ("How long a call takes, from rows to scores, beside the original in the same process pairs.", "Time"),
    "batch size": ("How the time of a call and the items per second grow with the items of a call.", "Batch sweep"),
    "threads": ("What more threads bring to one process; twice the threads seldom halve the time.", "Batch sweep"),
    "promise": ("What has to hold, set before anything is measured; every variant is judged by it.", "Certificates"),
    "recipe builder": ("Steps in order, each with its parameters; each gets a row of its own.", "What is recorded"),
    "whole request": ("What a faster model brings to the request that calls it.", "Whole request"),
    "operators": ("Which operators the time of a call goes to, before and after the change.", "Operators"),
    "plan": ("How many replicas a peak needs and what they cost; formulas and limits stand below the table.", "Cost"),
    "resources": ("What one serving process needs besides time.", "What is recorded"),
    "call times": ("Every call that was timed: how wide the times spread and how long the tail is.", "Time"),
    "pairs": ("The speed-up in every pair of fresh processes; they, not the calls, carry the interval.", "Time"),
    "slices": ("How much each part of the rows lost, and how much it could have lost.", "Slices"),
    "found slices": ("Parts of the rows that nobody declared and where more is lost than elsewhere.", "Found slices"),
    "other figures": ("Other metrics of both models, and how far confidence is from the share of right answers.",
                      "Metrics"),
    "reliability": ("How often answers of each confidence are right; on the diagonal confidence can be believed.",
                    "Calibration"),
    "quality": ("How good the answers are on the selection rows, beside the original on the same rows.", "Quality"),
    "front": ("Every variant at two figures of your choice; the line joins those that no other beats on both.",
              "Comparing"),
    "ladder": ("Every change of a chain on its own, so that a step that costs more than it brings is seen.",
               "Comparing"),
    "agreement": ("How far the answers are from the original's, row by row; needs no label.", "Agreement"),
    "quality curve": ("What is lost with fewer trees or features, on the selection rows, before anything is built.",
                      "Quality"),
    "edges": ("Rows made to tell two readings of the same trees apart: at thresholds, missing, far and unseen values.",
              "Agreement"),
    "hashes": ("What was judged, by content: another file, row, label or answer has another digest.", "Certificates"),
    "certifying": ("What both models had to answer, and by what the verdict was reached.", "Certificates"),
    "rows needed": ("How many rows a certificate needs, for the whole and for each slice.", "Rows needed"),
    "disagreements": ("The rows on which the two models differ, harm first.", "Agreement"),
}  # fmt: skip


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
        st.table(rows, border="horizontal", alt="What the figures mean")
