"""The long table of runs, and what can be done with those that are ticked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from zlib import crc32

import pyarrow as pa
import streamlit as st

from engine.errors import InvalidRequest, WhetstoneError
from engine.records import Annotation
from pages._ui import loaders
from pages._ui.history.index import VERDICTS, Line
from pages._ui.identity import current_user
from pages._ui.notes import MAX_TAGS
from pages._ui.parts import BADGE, STATUS
from pages._ui.text import plain

LONG = 14  # rows; a longer table scrolls
RESULTS = (*STATUS.values(), *(word for word in VERDICTS if word in BADGE), "Certified", "Certified: the same answers")
MAX_COMPARED = 50  # what an address can carry


def run_table(table: pa.Table, ids: Sequence[str], moving: Mapping[str, str]) -> list[int]:
    """Draw the table; positions of the ticked rows. Ticks belong to these rows in this order and to no others."""
    config = st.column_config
    labels = list(dict.fromkeys([*RESULTS, "Archived"]))
    event: Any = st.dataframe(
        _moved(table, ids, moving),
        key=table_key(ids),
        hide_index=True,
        row_height=38,
        height="content" if len(ids) <= LONG else 620,
        on_select="rerun",
        selection_mode="multi-row",
        placeholder="–",
        alt="Runs, one per row",
        column_config={
            "Run": config.TextColumn(width=300),
            "Study": config.TextColumn(width=115),
            "Result": config.MultiselectColumn(
                options=labels, color=[_colour(one) for one in labels], width=150,
                help="How it stands against the promise of its study, on the selection rows.",
            ),
            "Speed-up": config.NumberColumn(
                format="%.2f×", width=80, help="Median call of the original over that of the run, same process pairs."
            ),
            "p50": config.TextColumn(width=80, help="Median call at the study's batch."),
            "Quality": config.TextColumn(width=100, help="How the metric moved against the original."),
            "Tags": config.ListColumn(width=85),
            "Note": config.TextColumn(width=200),
            "Who": config.TextColumn(width=70),
            "When": config.DatetimeColumn(format="distance", width=110),
        },
    )  # fmt: skip
    return [position for position in event.selection.rows if position < len(ids)]


def table_key(ids: Sequence[str]) -> str:
    """Another key for other rows, so that a tick never lands on a run that was not there when it was set."""
    return f"hi-table-{crc32(' '.join(ids).encode()):08x}-{st.session_state.get('hi-done', 0)}"


def _moved(table: pa.Table, ids: Sequence[str], moving: Mapping[str, str]) -> pa.Table:
    """The rows with the states of the jobs that wait or run now."""
    here = [(position, moving[one]) for position, one in enumerate(ids) if one in moving] if moving else []
    if not here:
        return table
    results = table["Result"].to_pylist()
    for position, status in here:
        results[position] = [STATUS[status], *(word for word in results[position] if word == "Archived")]
    return table.set_column(table.schema.get_field_index("Result"), "Result", pa.array(results))


def _colour(word: str) -> str:
    return BADGE[word][0] if word in BADGE else "green"


def actions(picked: Sequence[Line]) -> None:
    """Compare, archive or restore, and tag, what is ticked; there without a tick too, so that no row moves."""
    ids = [line.run.id for line in picked]
    _compare(picked)
    if not picked or any(not line.archived for line in picked):
        st.button(
            "Archive", icon=":material/inventory_2:", type="tertiary", key="hi-archive", on_click=_archive,
            args=(ids, True), disabled=not picked, help="They leave the lists and can be restored at any time.",
        )  # fmt: skip
    if any(line.archived for line in picked):
        with_study = all(line.study_archived for line in picked if line.archived)
        st.button(
            "Restore", icon=":material/unarchive:", type="tertiary", key="hi-restore", on_click=_archive,
            args=(ids, False), disabled=with_study,
            help="Their study is archived; restore it in the list of studies." if with_study else None,
        )  # fmt: skip
    with st.popover("Tag", icon=":material/sell:", type="tertiary", key="hi-tag-them", disabled=not picked):
        st.text_input("Tag for these runs", key="hi-new-tag", max_chars=40)
        with st.container(horizontal=True):
            st.button("Add", key="hi-tag-add", on_click=_tag, args=(ids, True))
            st.button("Remove", key="hi-tag-remove", on_click=_tag, args=(ids, False))


def _compare(picked: Sequence[Line]) -> None:
    studies = {line.study.id for line in picked}
    reason = None
    if not picked:
        reason = "Tick runs of one study first."
    elif len(studies) > 1:
        reason = "These runs belong to several studies; variants are compared with the original of one."
    elif len(picked) > MAX_COMPARED:
        reason = f"At most {MAX_COMPARED} at once."
    label = "Compare its study" if len(picked) == 1 else "Compare these"
    icon = ":material/compare_arrows:"
    if reason:  # a link cannot be disabled for a keyboard or a screen reader; a button can
        st.button(label, icon=icon, type="tertiary", key="hi-compare", disabled=True, help=reason)
        return
    query = {"study": picked[0].study.id}
    if len(picked) > 1:
        query["runs"] = ",".join(line.run.id for line in picked)
    st.page_link("compare.py", label=label, icon=icon, query_params=query)


def _archive(ids: Sequence[str], archived: bool) -> None:
    done = f"{len(ids)} {'run' if len(ids) == 1 else 'runs'} {'archived' if archived else 'restored'}."
    _change(ids, {"archived": archived}, done)


def _tag(ids: Sequence[str], add: bool) -> None:
    tag = (st.session_state.get("hi-new-tag") or "").strip()
    if not tag:
        return

    def change(noted: Annotation) -> Annotation:
        others = tuple(one for one in noted.tags if one != tag)
        if add and len(others) >= MAX_TAGS:
            raise InvalidRequest(f"a run has at most {MAX_TAGS} tags; nothing was changed")
        return noted.model_copy(update={"tags": (*others, tag) if add else others})

    st.session_state["hi-new-tag"] = ""
    _do(ids, change, f"“{plain(tag, 40)}” {'added' if add else 'removed'}.")


def _change(ids: Sequence[str], values: dict[str, object], done: str) -> None:
    _do(ids, lambda noted: noted.model_copy(update=values), done)


def _do(ids: Sequence[str], change: Any, done: str) -> None:
    try:
        loaders.ledger().change_annotations(ids, change, current_user())
    except WhetstoneError as error:
        st.toast(plain(error, 300), icon=":material/error:")
        return
    st.session_state["hi-done"] = st.session_state.get("hi-done", 0) + 1  # the ticks have done their work
    st.toast(done, icon=":material/check:")
