"""Disagreements as rows of a table, for the browser and for downloads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.records import Disagreement

COLUMNS = (
    "row",
    "kind",
    "label",
    "baseline",
    "candidate",
    "baseline_score",
    "candidate_score",
    "difference",
    "kl_nats",
)


def disagreement_rows(found: Sequence[Disagreement]) -> list[dict[str, Any]]:
    """One flat mapping per row; every slice column is a column of its own, named "slice: <column>"."""
    return [
        {name: getattr(one, name) for name in COLUMNS} | {f"slice: {name}": text for name, text in one.slices.items()}
        for one in found
    ]
