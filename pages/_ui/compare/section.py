"""The table of the comparison with everything around it: order, columns, pages, exports."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages._ui import loaders
from pages._ui.compare import view
from pages._ui.compare.column import Column
from pages._ui.compare.controls import export_row, table_bar
from pages._ui.compare.data import Compared, in_order
from pages._ui.compare.order import ASKED, Filters, differing
from pages._ui.compare.table import comparison, side_by_side
from pages._ui.compare.variants import Variant


def table_section(looked: Compared, filters: Filters, n_rows: int, address: str, seen: loaders.Seen) -> None:
    """n_rows: how many the filters let through; long tables have pages, the baseline on top of each."""
    st.subheader("Variants", anchor=False)
    table_bar(looked, n_rows)
    sort = looked.columns.get(view.value("sort"))
    down = view.value("order") == "down"
    rows = in_order(looked.study.id, looked.beside.batch, filters, view.value("sort"), down, seen)
    picked = picked_columns(looked)
    columns = differing(picked, rows) if view.value("differs") else picked
    across = bool(view.value("across")) and len(rows) <= view.MOST_CHOSEN + 1
    intervals = bool(view.value("intervals"))
    page = _page(rows)
    draw = side_by_side if across else comparison
    with st.container(key="cm-table"):
        st.table(
            draw(columns, page, intervals=intervals), border="horizontal", hide_index=True,
            alt="Variants against the original",
        )  # fmt: skip
    if len(page) < len(rows):
        _pages(len(rows) - _n_head(rows))
    st.caption(_reading(len(picked) - len(columns), sort))
    export_row(looked, columns, rows, across=across, address=address)


def picked_columns(looked: Compared) -> list[Column]:
    """The columns of this person, in the order of the catalogue."""
    wanted = {*view.value("figures"), *view.value("facts")}
    with_parameters = bool(view.value("parameters"))
    return [
        column
        for column in looked.columns.values()
        if column.key in wanted or (with_parameters and column.kind == "parameter")
    ]


def _page(rows: Sequence[Variant]) -> list[Variant]:
    """The rows of the page that is open."""
    n_head = _n_head(rows)
    start = n_head + (_number(len(rows) - n_head) - 1) * view.PER_PAGE
    return [*rows[:n_head], *rows[start : start + view.PER_PAGE]]


def _n_head(rows: Sequence[Variant]) -> int:
    """1 where the original leads the rows: it does so under any sort."""
    return int(bool(rows) and rows[0].is_baseline)


def _number(n_rows: int) -> int:
    return min(int(st.session_state.get(view.page_key(), 1)), _n_pages(n_rows))


def _n_pages(n_rows: int) -> int:
    return max(1, -(-n_rows // view.PER_PAGE))


def _pages(n_rows: int) -> None:
    """n_rows: without the original."""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", key="cm-pages"):
        start = (_number(n_rows) - 1) * view.PER_PAGE
        last = min(start + view.PER_PAGE, n_rows)
        st.caption(f"Variants {start + 1:,} to {last:,} of {n_rows:,}", width="content")
        st.pagination(_n_pages(n_rows), key=view.page_key())


def _reading(n_hidden: int, sort: Column | None) -> str:
    text = (
        "▲ and ▼ show which way the number moved. Colour shows whether that is good, and only where the change is "
        "larger than the noise. Speed-ups and the changes of times and cost compare the same process pairs (95% "
        "interval); on a busy machine they can differ from the two values under each other."
    )
    if sort is not None and sort.key != ASKED:
        text += f" Sorted by {sort.title}; the original stays on top, what was not measured stands last."
    if n_hidden:
        text += f" {n_hidden} column{' is' if n_hidden == 1 else 's are'} hidden: the same in all rows."
    return text
