"""The long table of runs: filtered rows in, the ticked row out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from pages._ui.parts import STATUS
from pages._ui.variants import titled

Row = dict[str, Any]
LONG = 14  # rows; a longer table scrolls
STATUS_COLOURS = {
    "Done": "green",
    "Failed": "red",
    "Stopped": "gray",
    "Interrupted": "orange",
    "Queued": "gray",
    "Running": "blue",
}


def filtered(
    rows: Sequence[Row], studies: Mapping[str, str], *, text: str, statuses: Collection[str], archived: bool
) -> list[Row]:
    """Rows that hold every word of `text` somewhere a person would look."""
    words = text.lower().split()
    found = []
    for row in rows:
        if (row["archived"] and not archived) or (statuses and row["status"] not in statuses):
            continue
        study = studies.get(row["study_id"], "archived study")
        named = {**row, "name": titled(row["recipe"]), "study": study}
        hay = " ".join(
            [named["name"], study, row["note"], row["created_by"], row["experiment_id"], *row["tags"]]
        ).lower()
        if all(word in hay for word in words):
            found.append(named)
    return found


def run_table(rows: Sequence[Row], *, key: str) -> Row | None:
    """Draw the table; the ticked row, or None."""
    frame = pd.DataFrame(
        {
            "Run": [row["name"] for row in rows],
            "Study": [row["study"] for row in rows],
            "Status": [[STATUS[row["status"]]] for row in rows],
            "Speed-up": pd.array([row["speedup"] for row in rows], dtype="Float64"),
            "Speed": [_sentence(row["speed_verdict"]) for row in rows],
            "Quality": [_sentence(row["quality_verdict"]) for row in rows],
            "Tags": [list(row["tags"]) for row in rows],
            "Who": [row["created_by"] for row in rows],
            "When": pd.to_datetime([row["created_at"] for row in rows], utc=True),
        }
    )
    config = st.column_config
    event: Any = st.dataframe(
        frame,
        key=key,
        hide_index=True,
        row_height=38,
        height="content" if len(rows) <= LONG else 620,
        on_select="rerun",
        selection_mode="single-row",
        placeholder="–",
        alt="Runs, newest first",
        column_config={
            "Run": config.TextColumn(width=210),
            "Study": config.TextColumn(width=135),
            "Status": config.MultiselectColumn(
                options=list(STATUS_COLOURS), color=list(STATUS_COLOURS.values()), width=90
            ),
            "Speed-up": config.NumberColumn(format="%.2f×", help="Against the original, same process pairs."),
            "Tags": config.ListColumn(width=70),
            "When": config.DatetimeColumn(format="distance", width=110),
        },
    )
    ticked = event.selection.rows
    return rows[ticked[0]] if ticked and ticked[0] < len(rows) else None


def _sentence(text: str | None) -> str:
    return text[0].upper() + text[1:] if text else ""
