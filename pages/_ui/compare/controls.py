"""The fields of Compare: what is looked for, how the table is drawn, and what is taken away."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages._ui.compare import view
from pages._ui.compare.column import Column
from pages._ui.compare.data import Compared
from pages._ui.compare.export import MIME, as_shown, turned, write, write_every_column
from pages._ui.compare.order import ASKED
from pages._ui.compare.variants import OUTCOMES, Variant
from pages._ui.explanations import legend
from pages._ui.overview.tour import exporting
from pages._ui.parts import STATUS
from pages._ui.text import file_stem, plain

LABELS = {"csv": "CSV", "xlsx": "Excel", "md": "Markdown", "json": "JSON"}
AS_SHOWN, EVERY_COLUMN = "As shown", "Every column"


def filter_bar(looked: Compared, batches: Sequence[int]) -> None:
    """Batch, words, and the filters; they hold for everything below."""
    primary = looked.study.workload.batch_size
    with st.container(horizontal=True, vertical_alignment="bottom", key="cm-filters"):
        st.selectbox(
            "Items per call", batches, key=view.FIELDS["batch"].key, width=190, on_change=view.touch,
            format_func=lambda size: f"{size:,}" + (" (the promise)" if size == primary else ""),
        )  # fmt: skip
        st.text_input(
            "Search", placeholder="Name, result, reason, person, tag", icon=":material/search:", width=280,
            key=view.FIELDS["text"].key, on_change=view.narrow,
        )  # fmt: skip
        n_active = view.n_filters()
        with st.popover(
            f"Filter ({n_active})" if n_active else "Filter", icon=":material/filter_alt:", key="cm-filter"
        ):
            st.pills("Result", OUTCOMES, selection_mode="multi", key=view.FIELDS["outcomes"].key, on_change=view.narrow)
            st.pills(
                "Status", list(STATUS), selection_mode="multi", format_func=lambda status: STATUS[status],
                key=view.FIELDS["statuses"].key, on_change=view.narrow,
            )  # fmt: skip
            st.toggle("Archived runs too", key=view.FIELDS["archived"].key, on_change=view.narrow)


def table_bar(looked: Compared, n_rows: int) -> None:
    """Order, what is left out, and the columns."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="cm-table-bar"):
        st.selectbox(
            "Sort by", looked.sortable, key=view.FIELDS["sort"].key, width=230, on_change=view.narrow,
            format_func=lambda key: "Order of asking" if key == ASKED else looked.columns[key].title,
        )  # fmt: skip
        st.segmented_control(
            "Order", list(view.ORDERS), format_func=lambda one: view.ORDERS[one], key=view.FIELDS["order"].key,
            required=True, on_change=view.narrow,
        )  # fmt: skip
        with st.popover("Columns", icon=":material/view_column:", key="cm-columns"):
            _columns(looked)
        st.toggle(
            "Only what differs", key=view.FIELDS["differs"].key, on_change=view.touch,
            help="Hides the columns in which all rows below are the same.",
        )  # fmt: skip
        st.toggle(
            "Side by side", key=view.FIELDS["across"].key, on_change=view.touch, disabled=n_rows > view.MOST_CHOSEN + 1,
            help=f"One column per variant, for at most {view.MOST_CHOSEN} of them.",
        )  # fmt: skip


def _columns(looked: Compared) -> None:
    def pick(label: str, kind: str, name: str) -> None:
        known = {column.key: column.title for column in looked.of_kind(kind)}
        st.pills(
            label, list(known), selection_mode="multi", format_func=lambda key: plain(known[key], 40),
            key=view.FIELDS[name].key, on_change=view.touch,
        )  # fmt: skip

    pick("Figures", "figure", "figures")
    st.toggle(
        "95% intervals of every figure", key=view.FIELDS["intervals"].key, on_change=view.touch,
        help="The speed-up always has its interval.",
    )  # fmt: skip
    if looked.of_kind("parameter"):
        st.toggle("Parameters of the levers", key=view.FIELDS["parameters"].key, on_change=view.touch)
    pick("About the run", "run", "facts")
    st.button(
        "As at first", icon=":material/undo:", type="tertiary", key="cm-columns-reset", on_click=_reset, args=(looked,)
    )


def _reset(looked: Compared) -> None:
    view.put("figures", looked.usual)
    for name in ("facts", "parameters", "intervals"):
        view.put(name, view.FIELDS[name].first)
    view.touch()


def export_row(
    looked: Compared, columns: Sequence[Column], variants: Sequence[Variant], *, across: bool, address: str
) -> None:
    """Take away what is shown, all pages of it, or every column there is; and the address of the view."""
    with st.container(horizontal=True, vertical_alignment="center", key="cm-export"):
        legend({column.title: column.explains for column in columns if column.explains}, key="cm-legend")
        if st.session_state.get("pick-cm-what") is None:
            st.session_state["pick-cm-what"] = AS_SHOWN
        what = st.segmented_control(
            "Export", (AS_SHOWN, EVERY_COLUMN), key="pick-cm-what", required=True, label_visibility="collapsed",
            help="As shown: these rows, columns and units. Every column: plain names and units, for programs.",
        )  # fmt: skip
        intervals = bool(view.value("intervals"))
        stem = f"{file_stem(looked.study.name)}-batch-{looked.beside.batch}"

        def made(ending: str) -> bytes:
            if what == EVERY_COLUMN:
                return write_every_column(ending, variants)
            records, places = as_shown(columns, variants, intervals=intervals)
            return write(ending, turned(records) if across else records, places)

        for ending, label in LABELS.items():
            st.download_button(
                label, data=exporting(lambda ending=ending: made(ending)), file_name=f"{stem}.{ending}",  # type: ignore[misc]
                mime=MIME[ending], icon=":material/download:", key=f"cm-{ending}", on_click="ignore",
            )  # fmt: skip
        with st.popover("Link", icon=":material/link:", type="tertiary", key="cm-link"):
            st.markdown("This view: study, batch, order, filters and chosen runs.")
            st.code(address, language=None, wrap_lines=True)
