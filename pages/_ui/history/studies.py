"""All studies as a long table, and what can be done with those that are ticked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zlib import crc32

import pyarrow as pa
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from engine.records import Study
from pages._ui import loaders
from pages._ui.history.edit_study import archive
from pages._ui.history.filters import KEYS, SHELVES, shelf
from pages._ui.notes import rename_form, study_note_form
from pages._ui.overview.won import standings
from pages._ui.parts import BADGE, card_title, nothing_found
from pages._ui.text import plain
from pages._ui.variants import name_of

LONG = 14
SEARCH = "hi-studies-q"


def study_view(seen: loaders.Seen, top: DeltaGenerator) -> None:
    """Search, table, and below it the study that is ticked. top: a row where the shelf finds its place."""
    with top:
        shelf()
    st.text_input(
        "Search studies", placeholder="Search name, person, tag, note", label_visibility="collapsed",
        icon=":material/search:", width=320, key=SEARCH, persist_state="session",
    )  # fmt: skip
    shown = _chosen(seen)
    if not shown:
        nothing_found("studies", _clear, key="hi-studies")
        return
    bar = st.container(horizontal=True, vertical_alignment="center", key="hi-studies-bar")
    picked = [shown[position] for position in _table(shown, seen)]
    with bar:
        _actions(shown, picked, seen)
    if len(picked) == 1:
        with st.container(border=True, key="hi-study-card"):
            card_title(plain(picked[0].name, 90))
            rename_form(picked[0], key="hi")
            study_note_form(picked[0].id, key="hi")


def _chosen(seen: loaders.Seen) -> list[Study]:
    gone, noted = loaders.archived_studies(seen), loaders.study_annotations(seen)
    words = (st.session_state.get(SEARCH) or "").lower().split()
    wanted = st.session_state.get(KEYS["shelf"], "kept")

    def fits(study: Study) -> bool:
        note = noted.get(study.id)
        said = [study.name, study.created_by, study.id, *((*note.tags, note.note) if note else ())]
        where = "archived" if study.id in gone else "kept"
        return wanted in ("all", where) and all(word in "\n".join(said).lower() for word in words)

    return [study for study in loaders.all_studies(seen) if fits(study)]


def _clear() -> None:
    st.session_state[SEARCH] = ""
    st.session_state[KEYS["shelf"]] = next(iter(SHELVES))


def _table(shown: Sequence[Study], seen: loaders.Seen) -> list[int]:
    known, runs_of = standings(seen), loaders.by_study(seen)
    gone, noted = loaders.archived_studies(seen), loaders.study_annotations(seen)
    stands = [known[study.id] for study in shown]
    notes = [noted.get(study.id) for study in shown]
    table = pa.table(
        {
            "Study": [study.name for study in shown],
            "Result": [
                [one.word, *(["Archived"] if study.id in gone else [])]
                for study, one in zip(shown, stands, strict=True)
            ],
            "Best so far": [name_of(one.run) if one.run else "" for one in stands],
            "Speed-up": pa.array([one.row.speedup if one.row else None for one in stands], pa.float64()),
            "Runs": [len(runs_of.get(study.id, ())) for study in shown],
            "Who": [study.created_by for study in shown],
            "When": pa.array([study.created_at for study in shown], pa.timestamp("ms", "UTC")),
            "Tags": pa.array([note.tags if note else () for note in notes], pa.list_(pa.string())),
            "Note": [note.note if note else "" for note in notes],
        }
    )
    config = st.column_config
    labels = list(dict.fromkeys([*(one.word for one in stands), "Archived"]))
    ids = " ".join(study.id for study in shown)
    event: Any = st.dataframe(
        table,
        key=f"hi-studies-{crc32(ids.encode()):08x}-{st.session_state.get('hi-done', 0)}",
        hide_index=True,
        row_height=38,
        height="content" if len(shown) <= LONG else 620,
        on_select="rerun",
        selection_mode="multi-row",
        placeholder="–",
        alt="Studies, one per row",
        column_config={
            "Study": config.TextColumn(width=160),
            "Result": config.MultiselectColumn(options=labels, color=[BADGE[one][0] for one in labels], width=150),
            "Best so far": config.TextColumn(width=230),
            "Speed-up": config.NumberColumn(
                format="%.2f×", width=80, help="Of the best so far: median call of the original over its own."
            ),
            "Runs": config.NumberColumn(width=60),
            "Who": config.TextColumn(width=80),
            "When": config.DatetimeColumn(format="distance", width=110),
            "Tags": config.ListColumn(width=90),
            "Note": config.TextColumn(width=120),
        },
    )  # fmt: skip
    return [position for position in event.selection.rows if position < len(shown)]


def _actions(shown: Sequence[Study], picked: Sequence[Study], seen: loaders.Seen) -> None:
    """Open, archive and restore; there without a tick too, so that no row moves."""
    gone = loaders.archived_studies(seen)
    n = f"{len(picked):,} of {len(shown):,} ticked" if picked else f"{len(shown):,}"
    st.markdown(f"**{n}**" if picked else f"{n} {'study' if len(shown) == 1 else 'studies'}", width="content")
    if len(picked) == 1:
        query = {"study": picked[0].id}
        st.page_link("study.py", label="Open", icon=":material/arrow_forward:", query_params=query)
        st.page_link("compare.py", label="Compare", icon=":material/compare_arrows:", query_params=query)
    for archived, label, icon in ((True, "Archive", "inventory_2"), (False, "Restore", "unarchive")):
        mine = [study.id for study in picked if (study.id in gone) != archived]
        if mine or (archived and not picked):
            st.button(
                label, icon=f":material/{icon}:", type="tertiary", key=f"hi-studies-{label.lower()}",
                on_click=_archive, args=(mine, archived), disabled=not mine,
            )  # fmt: skip


def _archive(study_ids: Sequence[str], archived: bool) -> None:
    archive(study_ids, archived)
    st.session_state["hi-done"] = st.session_state.get("hi-done", 0) + 1
