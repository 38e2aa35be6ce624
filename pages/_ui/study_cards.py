"""Studies and samples as cards."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from engine.errors import WhetstoneError
from engine.jobs.start import start_sample
from engine.records import TERMINAL, Study
from engine.reports import numbers
from engine.reports.rows import CompareRow
from pages._ui import loaders
from pages._ui.identity import current_user
from pages._ui.parts import badge, refusal
from pages._ui.standing import best_row, gain, nearest_miss
from pages._ui.steps.model import FORMATS
from pages._ui.text import plain
from pages._ui.variants import name_of
from pages._ui.words import CERTIFIED
from sample_models import samples
from sample_models.sample import Sample


def study_card(study: Study, seen: loaders.Seen) -> None:
    """Name, where it stands, the best so far, and the ways in."""
    manifest, _ = loaders.model(study.model_id, seen)
    rows = loaders.compare(study.id, study.workload.batch_size, seen)
    with st.container(border=True, height="stretch", key=f"ov-study-{study.id}", gap="small"):
        st.markdown(f"**{plain(study.name, 60)}**")
        word, line, label = _standing(study, rows, seen)
        badge(word, label)
        st.markdown(line)
        st.space("stretch")
        when = f"{study.created_at:%d %b %Y}"
        st.caption(f"{FORMATS.get(manifest.format, manifest.format)} · {plain(study.created_by, 30)} · {when}")
        with st.container(horizontal=True):
            st.page_link("study.py", label="Open", icon=":material/arrow_forward:", query_params={"study": study.id})
            st.page_link(
                "compare.py", label="Compare", icon=":material/compare_arrows:", query_params={"study": study.id}
            )


def _standing(study: Study, rows: Sequence[CompareRow], seen: loaders.Seen) -> tuple[str, str, str | None]:
    """Badge, line, and the text of the badge where it is not its word."""
    issued = loaders.certificates(study.id, seen)
    baseline = next((row for row in rows if row.is_baseline), None)
    best = best_row(study, rows, issued)
    shown = best or nearest_miss(study, rows)
    if shown is not None:
        name = plain(name_of(loaders.experiment(shown.experiment, seen)), 60)
        line = f"{name}: {gain(shown, {}, start=False)}."
        known = next((one for one in issued if best and one.experiment_id == best.experiment), None)
        if known is not None:
            _, word, label = CERTIFIED[known.quality.verdict]
            return word, line, label
        return "Meets the promise" if best else "Misses the promise", line, None
    if baseline is None or baseline.status not in TERMINAL:
        return "Running", "The baseline is being measured.", None
    if baseline.status != "succeeded":
        return "Failed", plain(baseline.reason or "The baseline was not measured.", 140), None
    return "Baseline", f"{numbers.latency(baseline.p50_ms)} a call. Nothing tried yet.", None


def sample_cards(*, primary: bool) -> None:
    """One card per sample, with the button that makes its study. `primary`: they are the main way in."""
    with st.grid(3, min_column_width=236):
        for position, (name, sample) in enumerate(samples().items()):
            _sample_card(name, sample, primary=primary and position == 0)


def _sample_card(name: str, sample: Sample, *, primary: bool) -> None:
    with st.container(border=True, height="stretch", key=f"ov-sample-card-{name}", gap="small"):
        st.markdown(f"**{sample.title}**")
        st.markdown(sample.summary)
        st.space("stretch")
        st.caption(f"{sample.source}. {sample.licence}")
        go = st.button(
            "Run this sample",
            icon=":material/play_arrow:",
            type="primary" if primary else "secondary",
            key=f"ov-sample-{name}",
        )
    if go:
        _start(name)


def _start(name: str) -> None:
    made: list[str] = st.session_state.setdefault("ov-made", [])  # filled when a double click cut the first half off
    try:
        if not made:
            with st.spinner("Reading the sample and starting its baseline"):
                made.append(start_sample(loaders.ledger(), name, current_user()).id)
    except WhetstoneError as error:
        refusal(error)
        return
    st.switch_page("study.py", query_params={"study": made.pop()})
