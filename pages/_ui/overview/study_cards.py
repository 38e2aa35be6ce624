"""Studies as cards: what won in each, and by how much."""

from __future__ import annotations

from math import ceil

import streamlit as st

from engine.records import Study
from engine.reports import numbers
from engine.reports.rows import CompareRow
from pages._ui import loaders
from pages._ui.history.edit_study import edit_study
from pages._ui.new_study.model import FORMATS
from pages._ui.overview.won import Won, standings
from pages._ui.parts import badge, nothing_found
from pages._ui.text import plain
from pages._ui.variants import name_of
from pages._ui.words import cost_unit, metric_name, with_times_sign

PER_PAGE = 9
SEARCH, PAGE, SHELF = "ov-q", "ov-page", "ov-archived"


def study_grid(seen: loaders.Seen) -> None:
    """The studies of one page of cards, the one with the newest run first; search and pages where there are many."""
    shown = _chosen(seen)
    if not shown:
        nothing_found("studies", _clear, key="ov")
        return
    n_pages = ceil(len(shown) / PER_PAGE)
    if st.session_state.get(PAGE, 1) > n_pages:  # a search left fewer
        del st.session_state[PAGE]
    page = st.session_state.get(PAGE, 1)
    known = standings(seen)
    with st.container(key="ov-studies"), st.grid(3, min_column_width=260):
        for study in shown[(page - 1) * PER_PAGE : page * PER_PAGE]:
            _study_card(study, known[study.id], seen)
    if n_pages > 1:
        st.pagination(n_pages, key=PAGE, persist_state="session")


def _chosen(seen: loaders.Seen) -> list[Study]:
    studies, gone = loaders.all_studies(seen), loaders.archived_studies(seen)
    if len(studies) > PER_PAGE or gone:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text_input(
                "Search studies", placeholder="Search name, person, tag", label_visibility="collapsed",
                icon=":material/search:", width=320, key=SEARCH, persist_state="session",
            )  # fmt: skip
            if gone:
                st.toggle(f"Archived ({len(gone)})", key=SHELF, persist_state="session")
    archived = bool(gone and st.session_state.get(SHELF))
    words = (st.session_state.get(SEARCH) or "").lower().split()
    noted, runs_of = loaders.study_annotations(seen), loaders.by_study(seen)

    def said(study: Study) -> str:
        note = noted.get(study.id)
        return "\n".join([study.name, study.created_by, study.id, *(note.tags if note else ())]).lower()

    kept = [
        study
        for study in studies
        if (study.id in gone) == archived and all(word in said(study) for word in words)
    ]  # fmt: skip
    return sorted(kept, key=lambda study: _latest(study, runs_of.get(study.id, ())), reverse=True)


def _latest(study: Study, runs: loaders.Runs) -> str:
    return (runs[-1].created_at if runs else study.created_at).isoformat()


def _clear() -> None:
    st.session_state[SEARCH] = ""
    st.session_state[SHELF] = False


def _study_card(study: Study, stands: Won, seen: loaders.Seen) -> None:
    """Name, where it stands, what won and by how much, and the ways in."""
    manifest, _ = loaders.model(study.model_id, seen)
    runs = loaders.by_study(seen).get(study.id, ())
    noted = loaders.study_annotations(seen).get(study.id)
    with st.container(border=True, height="stretch", key=f"ov-study-{study.id}", gap="small"):
        st.markdown(f"**{plain(study.name, 60)}**")
        badge(stands.word, stands.label)
        _body(study, stands)
        st.space("stretch")
        n_runs = f"{len(runs):,} run{'' if len(runs) == 1 else 's'}"
        when = f"{study.created_at:%d %b %Y}"
        tags = f" · {plain(', '.join(noted.tags), 60)}" if noted and noted.tags else ""
        st.caption(
            f"{FORMATS.get(manifest.format, manifest.format)} · {n_runs} · {plain(study.created_by, 30)} · {when}{tags}"
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            query = {"study": study.id}
            st.page_link("study.py", label="Open", icon=":material/arrow_forward:", query_params=query)
            st.page_link("compare.py", label="Compare", icon=":material/compare_arrows:", query_params=query)
            if st.button("Edit", icon=":material/edit_note:", type="tertiary", key=f"ov-edit-{study.id}"):
                edit_study(study)


def _body(study: Study, stands: Won) -> None:
    row, base = stands.row, stands.baseline
    if row is None or stands.run is None:
        st.markdown(_nothing_won(stands))
        return
    st.markdown(f"{plain(name_of(stands.run), 80)}" + (f"  \n:gray[{_why(row)}]" if _why(row) else ""))
    st.markdown("  \n".join(f":gray[{label}] {text}" for label, text in card_rows(study, base, row).items()))


def _nothing_won(stands: Won) -> str:
    base = stands.baseline
    if stands.word == "Baseline" and base is not None:
        return f"{numbers.latency(base.p50_ms)} a call. Nothing tried yet."
    if stands.word == "Failed" and base is not None:
        return plain(base.reason or "The baseline was not measured.", 140)
    return "The baseline is being measured."


def _why(row: CompareRow) -> str:
    return plain(with_times_sign(row.reason), 110) if row.reason else ""


def card_rows(study: Study, base: CompareRow | None, row: CompareRow) -> dict[str, str]:
    """What the variant brings: time, speed-up with its interval, quality, cost."""
    before = base.p50_ms if base else None
    rows = {"Median call": f"{numbers.latency(before)} → **{numbers.latency(row.p50_ms)}**"}
    if row.speedup is not None:
        rows["Speed-up"] = f"**{numbers.times(row.speedup)}**"
        if row.speedup_low is not None and row.speedup_high is not None:
            rows["Speed-up"] += f" :gray[{row.speedup_low:.2f} to {row.speedup_high:.2f}]"
    if row.metric is not None:
        same = row.quality_verdict == "exact"
        change = numbers.quality_change(row.metric_drop, row.metric, relative=study.promise.band.relative)
        rows[metric_name(row.metric)] = "same answers" if same else change
    if row.cost_per_1k is not None:
        label, factor = cost_unit(base.cost_per_1k if base and base.cost_per_1k else row.cost_per_1k)
        old = base.cost_per_1k * factor if base and base.cost_per_1k else None
        new = numbers.money(row.cost_per_1k * factor, study.currency)
        rows[label] = f"{numbers.money(old, study.currency)} → **{new}**".replace("$", "\\$")
    return rows
