"""What every figure means, in a line of plain words, and where it is written how it is computed."""

from __future__ import annotations

DOCS = "docs/measuring.md"
MEANING: dict[str, tuple[str, str]] = {  # name -> (plain words, heading in DOCS)
    "time": ("How long one call takes, from rows to scores, beside the original in the same process pairs.", "Time"),
    "batch curve": ("How the time of a call and the items per second grow with the items of the call.", "Batch sweep"),
    "threads": ("What more threads bring to one process: twice the threads seldom halve the time.", "Batch sweep"),
    "operators": ("Which operators the time of one call goes to, before and after the change.", "Operators"),
    "resources": ("What one serving process needs besides time.", "What is recorded"),
    "call times": ("Every call that was timed, not a summary: how wide they spread, how long the tail is.", "Time"),
    "quality": ("How good the answers are on the selection rows, beside the original on the same rows.", "Quality"),
    "agreement": ("How far the answers are from the original's, row by row; needs no label.", "Quality"),
    "disagreements": ("The rows on which the two models differ, harm first.", "Quality"),
    "calibration": ("How far the probabilities are from how often they are right.", "Quality"),
    "certificate": ("A verdict on rows that no lever, no choice and no comparison has seen.", "Quality"),
}  # fmt: skip


def why(name: str) -> str:
    """Help text of a figure: what it is, and the section that says how it is computed."""
    words, heading = MEANING[name]
    return f"{words}  \nHow this is computed: {DOCS}, “{heading}”."
