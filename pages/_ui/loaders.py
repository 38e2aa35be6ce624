"""What pages read from the history, kept until the history's version counter moves. Progress of jobs is never kept.

Every cached function takes `seen`, the answer of `version()`: database and counter. A finished run moves the counter,
a progress report does not.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import streamlit as st

from engine.environment import describe
from engine.records import Certificate, EvalSetInfo, Experiment, JobState, Manifest, Study
from engine.reports.compare import compare_rows
from engine.reports.rows import CompareRow
from engine.settings import settings
from storage.ledger import Ledger

Seen = tuple[str, int]


@st.cache_resource(show_spinner=False, max_entries=4)
def _open(url: str, home: str) -> Ledger:
    return Ledger.open(url, Path(home))


def ledger() -> Ledger:
    """The open history of this server, shared by all sessions."""
    config = settings()
    return _open(config.database_url, str(config.home))


def version() -> Seen:
    """Which history, and how often it has changed."""
    return settings().database_url, ledger().version()


@st.cache_data(show_spinner=False, max_entries=4)
def studies(seen: Seen) -> list[Study]:
    """All studies that are not archived, newest first."""
    return ledger().studies()


@st.cache_data(show_spinner=False, max_entries=64)
def study(study_id: str, seen: Seen) -> Study:
    """One study. Raises NotFound."""
    return ledger().study(study_id)


@st.cache_data(show_spinner=False, max_entries=64)
def frozen_at(study_id: str, seen: Seen) -> datetime | None:
    """When the promise froze, or None while it may still change."""
    return ledger().promise_frozen_at(study_id)


@st.cache_data(show_spinner=False, max_entries=64)
def model(model_id: str, seen: Seen) -> tuple[Manifest, str]:
    """The model and the name it came with."""
    entry = ledger().model_entry(model_id)
    return entry.manifest, entry.display_name


@st.cache_data(show_spinner=False, max_entries=64)
def eval_set(eval_set_id: str, seen: Seen) -> EvalSetInfo:
    """What the evaluation set is made of."""
    return ledger().eval_set(eval_set_id)


@st.cache_data(show_spinner=False, max_entries=16)
def experiments(study_id: str, seen: Seen) -> list[Experiment]:
    """The runs of a study, oldest first."""
    return ledger().experiments(study_id=study_id)


@st.cache_data(show_spinner=False, max_entries=32)
def compare(study_id: str, batch_size: int, seen: Seen) -> list[CompareRow]:
    """The comparison table of a study at one batch size, baseline first."""
    return compare_rows(study(study_id, seen), experiments(study_id, seen), batch_size)


@st.cache_data(show_spinner=False, max_entries=64)
def experiment(experiment_id: str, seen: Seen) -> Experiment:
    """One run. Raises NotFound."""
    return ledger().experiment(experiment_id)


@st.cache_data(show_spinner=False, max_entries=64)
def certificates(study_id: str, seen: Seen) -> list[Certificate]:
    """The certificates of a study, in the order they were issued."""
    return ledger().certificates(study_id)


@st.cache_data(show_spinner=False, max_entries=64)
def certificate(certificate_id: str, seen: Seen) -> Certificate:
    """One certificate. Raises NotFound."""
    return ledger().certificate(certificate_id)


def active_jobs(study_id: str | None) -> list[JobState]:
    """The jobs of a study (None: of all) that wait or run, as they stand now: one query, never cached."""
    return ledger().queue.states(study_id, active_only=True)


@st.cache_data(show_spinner=False, max_entries=2)
def summaries(study_id: str | None, seen: Seen) -> list[dict[str, Any]]:
    """One light row per run, newest first."""
    return ledger().summaries(study_id)


@st.cache_data(show_spinner=False, ttl=60)
def machine() -> dict[str, object]:
    """What this machine is, for deciding which levers fit."""
    return describe()
