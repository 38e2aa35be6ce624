"""What the conformance gate of trees found, in words for pages and certificates."""

from __future__ import annotations

from collections.abc import Sequence

from engine.records import Conformance
from engine.reports.numbers import significant

SAME = 1e-300  # below this a difference is none


def checked(found: Conformance) -> str:
    """'6,512 rows (6,012 of them made)'."""
    made = "" if found.n_made is None else f" ({found.n_made:,} of them made)"
    return f"{found.n_rows:,} rows{made}"


def largest(found: Conformance) -> str:
    """The largest difference: '0', '2.8e-17', '0.31'."""
    if found.largest < SAME:
        return "0"
    return significant(found.largest, 2) if found.largest >= 1e-3 else f"{found.largest:.1e}"


def where(found: Conformance) -> str | None:
    """Which column most rows differ by, and what it held: 'distance, float32 value beside a threshold'."""
    if not found.n_differ:
        return None
    if found.column is None:
        return "evaluation rows as they are"
    return f"{found.column}, {found.kind}" if found.kind else found.column


def edges_line(found: Sequence[Conformance]) -> str | None:
    """All steps and the runtime in one sentence; None where no trees were asked."""
    if not found:
        return None
    n_rows = max(one.n_rows for one in found)
    worst = max(found, key=lambda one: one.n_differ)
    if not worst.n_differ:
        return f"At thresholds, missing values and other edges all {n_rows:,} rows agree."
    return (
        f"At thresholds, missing values and other edges {worst.n_differ:,} of {worst.n_rows:,} rows differ, by up to "
        f"{largest(worst)}, most often in {where(worst)}."
    )
