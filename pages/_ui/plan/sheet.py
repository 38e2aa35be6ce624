"""The price sheet: any number of machine types, edited in place and kept in the address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from pages._ui.plan.prefill import Row

NAME, RATE, LOW, HIGH, PRICE = "Machine or variant", "Requests/s", "at least", "at most", "Price an hour"
PARAMETER = "machines"
MOST_ROWS, MOST_CHARACTERS = 20, 4000


def price_sheet(first: Sequence[Row], scope: str) -> tuple[Row, ...]:
    """Draw the sheet and return its lines. first: what it starts with; scope: what it starts anew for.

    The address wins over `first`, so that a link shows what its sender saw; every edit moves the address.
    """
    base = f"pl-base-{scope}"
    if base not in st.session_state:
        st.session_state[base] = _decoded(st.query_params.get(PARAMETER, "")) or tuple(first)
    edited = st.data_editor(
        _frame(st.session_state[base]),
        key=f"pl-sheet-{scope}",
        num_rows="dynamic",
        hide_index=True,
        row_height=35,
        placeholder="–",
        column_config={
            NAME: st.column_config.TextColumn(max_chars=60, width=240),
            RATE: st.column_config.NumberColumn(min_value=0.001, max_value=1e9, format="%.4g", help="Of one replica."),
            LOW: st.column_config.NumberColumn(min_value=0.001, max_value=1e9, format="%.4g", help="95 % interval."),
            HIGH: st.column_config.NumberColumn(min_value=0.001, max_value=1e9, format="%.4g", help="95 % interval."),
            PRICE: st.column_config.NumberColumn(min_value=0.0, max_value=1e9, format="%.4g", help="Of one replica."),
        },
        alt="Machine types with their requests per second and price per hour",
    )
    rows = tuple(_row(values) for values in edited[:MOST_ROWS].itertuples(index=False))
    if rows != st.session_state[base] or PARAMETER in st.query_params:
        st.query_params[PARAMETER] = _encoded(rows)
    return rows


def _frame(rows: Sequence[Row]) -> pd.DataFrame:
    values = [(row.name, row.requests_per_s, row.low, row.high, row.price_per_hour) for row in rows]
    frame = pd.DataFrame(values, columns=[NAME, RATE, LOW, HIGH, PRICE])
    return frame.astype({NAME: "string", RATE: "float64", LOW: "float64", HIGH: "float64", PRICE: "float64"})


def _row(values: tuple[Any, ...]) -> Row:
    name, *numbers = values
    given = [None if pd.isna(number) else float(str(number)) for number in numbers]
    return Row("" if pd.isna(name) else str(name).strip(), *given)


def _encoded(rows: Sequence[Row]) -> str:
    """name:requests_per_s:price_per_hour:low:high, as the command line reads them, joined by `;`."""
    texts = []
    for row in rows:
        numbers = (row.requests_per_s, row.price_per_hour, row.low, row.high)
        name = row.name.replace(":", " ").replace(";", " ")
        texts.append(":".join([name, *("" if number is None else f"{number:.6g}" for number in numbers)]).rstrip(":"))
    return ";".join(texts)[:MOST_CHARACTERS]


def _decoded(text: str) -> tuple[Row, ...]:
    """The rows of an address; what cannot be read is left out."""
    found = []
    for part in text[:MOST_CHARACTERS].split(";")[:MOST_ROWS]:
        name, *numbers = part.split(":")
        try:
            given = [float(number) if number else None for number in numbers]
        except ValueError:
            continue
        if name and len(given) <= 4:
            rate, price, low, high = [*given, None, None, None, None][:4]
            found.append(Row(name[:60], rate, low, high, price))
    return tuple(found)
