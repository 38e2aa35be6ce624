"""The log of a run, and the machine and versions it ran with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from engine.records import Experiment
from engine.reports import numbers
from pages._ui import loaders
from pages._ui.experiment.lineage import flat
from pages._ui.text import file_stem, plain
from pages._ui.variants import name_of

WORDS = {"n_cores": "Cores", "cpu_flags": "Instruction sets", "cpu_quota": "Cores by quota", "aa": "Noise floor"}
N_LINES, LONG = 400, 14  # a longer log scrolls


def log_tail(run: Experiment) -> None:
    """The last lines of what the attempt printed, and the whole of it to take away."""
    lines = loaders.ledger().queue.log_tail(run.id, N_LINES)
    if not lines:
        st.caption("Nothing was printed.")
        return
    text = "\n".join(f"{line.written_at:%H:%M:%S}  {line.line}" for line in lines)
    st.code(text, language=None, height="content" if len(lines) <= LONG else 320)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            "Download the full log",
            data=lambda: whole_log(run.id),
            file_name=f"{file_stem(name_of(run))}-{run.id}.log",
            mime="text/plain",
            icon=":material/download:",
            type="tertiary",
            key="ex-log-download",
            on_click="ignore",
        )
        if len(lines) == N_LINES:
            st.caption(f"The last {N_LINES} lines are shown.", width="content")


def whole_log(experiment_id: str) -> str:
    """Every line of the log."""
    text, last = [], 0
    while lines := loaders.ledger().queue.log(experiment_id, after_id=last):
        text += [f"{line.written_at:%Y-%m-%d %H:%M:%S}  {line.line}" for line in lines]
        last = lines[-1].id
    return "\n".join(text) + "\n"


def environment_table(found: Mapping[str, Any]) -> None:
    """The machine, then the versions of the libraries."""
    libraries = found.get("libraries") or {}
    rows = {
        _words(name): plain(_value(name, value), 400)
        for name, value in found.items()
        if name != "libraries" and value not in (None, [], {}, "")
    }
    with st.grid(2, min_column_width=360):
        st.table(rows, border="horizontal", alt="The machine")
        if libraries:
            versions = {plain(name, 60): plain(version, 60) for name, version in sorted(libraries.items())}
            st.table(versions, border="horizontal", alt="Versions of the libraries")


def _words(name: str) -> str:
    return WORDS.get(name) or plain(name.removesuffix("_bytes").replace("_", " ").capitalize(), 60)


def _value(name: str, value: Any) -> str:
    return numbers.size(value) if name.endswith("_bytes") and isinstance(value, int) else flat(value)
