"""What pages read from the history, kept until its version counter moves; progress of jobs for half a second at most.

Every cached function takes `seen`, the answer of `version()`: database and counter. A finished run moves the counter,
a progress report does not. Lists are tuples of frozen records that all sessions share: nobody may change them. What can
never change any more (a run that has ended, a certificate) is read once per process.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import streamlit as st

from engine.environment import describe
from engine.records import (
    TERMINAL,
    Annotation,
    Certificate,
    EvalSetInfo,
    Experiment,
    ExperimentSummary,
    JobState,
    Manifest,
    Study,
    StudyAnnotation,
)
from engine.reports.compare import compare_rows
from engine.reports.rows import CompareRow
from engine.settings import settings
from storage.ledger import Ledger

Seen = tuple[str, int]
Runs = tuple[ExperimentSummary, ...]
Table = tuple[CompareRow, ...]
SHARED_S = 0.5  # sessions that watch the same jobs share one look at them for so long
OfStudy = TypeVar("OfStudy", ExperimentSummary, Certificate)


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


@st.cache_resource(show_spinner=False, max_entries=4)
def studies(seen: Seen) -> tuple[Study, ...]:
    """All studies that are not archived, newest first."""
    gone = archived_studies(seen)
    return tuple(study for study in all_studies(seen) if study.id not in gone)


@st.cache_resource(show_spinner=False, max_entries=4)
def all_studies(seen: Seen) -> tuple[Study, ...]:
    """All studies, the archived ones too, newest first; one that did not change is the same object as before."""
    known = _studies(seen[0])
    for found in ledger().studies(include_archived=True):
        if known.get(found.id) != found:
            known[found.id] = found
    return tuple(sorted(known.values(), key=lambda one: (one.created_at, one.id), reverse=True))


@st.cache_resource(show_spinner=False, max_entries=4)
def _studies(url: str) -> dict[str, Study]:
    return {}


@st.cache_resource(show_spinner=False, max_entries=4)
def archived_studies(seen: Seen) -> frozenset[str]:
    """Ids of the studies that were put away."""
    return ledger().archived_studies()


@st.cache_data(show_spinner=False, max_entries=64)
def study(study_id: str, seen: Seen) -> Study:
    """One study. Raises NotFound."""
    return ledger().study(study_id)


@st.cache_data(show_spinner=False, max_entries=64)
def study_annotation(study_id: str, seen: Seen) -> StudyAnnotation | None:
    """What people added to a study; None: nothing yet."""
    return ledger().study_annotation(study_id)


@st.cache_resource(show_spinner=False, max_entries=4)
def study_annotations(seen: Seen) -> dict[str, StudyAnnotation]:
    """The same for all studies, by id; not to be changed."""
    return ledger().study_annotations()


@st.cache_data(show_spinner=False, max_entries=64)
def frozen_at(study_id: str, seen: Seen) -> datetime | None:
    """When the promise froze, or None while it may still change."""
    return ledger().promise_frozen_at(study_id)


@st.cache_data(show_spinner=False, max_entries=64)
def promise_hash(study_id: str, seen: Seen) -> str | None:
    """Fingerprint of the promise as it was frozen, or None while it may still change."""
    return ledger().promise_hash(study_id)


@st.cache_data(show_spinner=False, max_entries=64)
def model(model_id: str, seen: Seen) -> tuple[Manifest, str]:
    """The model and the name it came with."""
    entry = ledger().model_entry(model_id)
    return entry.manifest, entry.display_name


@st.cache_data(show_spinner=False, max_entries=64)
def eval_set(eval_set_id: str, seen: Seen) -> EvalSetInfo:
    """What the evaluation set is made of."""
    return ledger().eval_set(eval_set_id)


@st.cache_resource(show_spinner=False, max_entries=4)
def _ended(url: str) -> dict[str, ExperimentSummary]:
    """The runs of a history that have ended, as far as they were read: they never change again."""
    return {}


@st.cache_resource(show_spinner=False, max_entries=32)
def summaries(study_id: str | None, seen: Seen) -> Runs:
    """The runs of a study (None: all), light, oldest first."""
    known = _ended(seen[0])
    found = tuple(ledger().summaries(study_id, known))
    known.update((run.id, run) for run in found if run.status in TERMINAL)
    return found


@st.cache_resource(show_spinner=False, max_entries=32)
def runs_by_id(study_id: str, seen: Seen) -> dict[str, ExperimentSummary]:
    """The runs of a study, light, by id; not to be changed."""
    return {run.id: run for run in summaries(study_id, seen)}


@st.cache_resource(show_spinner=False, max_entries=2)
def by_study(seen: Seen) -> dict[str, Runs]:
    """All runs, light, oldest first, by study; not to be changed."""
    return _grouped(summaries(None, seen))


@st.cache_resource(show_spinner=False, max_entries=2)
def _by_id(seen: Seen) -> dict[str, ExperimentSummary]:
    return {run.id: run for run in summaries(None, seen)}


def run_of(experiment_id: str, seen: Seen) -> ExperimentSummary | None:
    """One run, light; None: there is none of this id."""
    return _by_id(seen).get(experiment_id)


@st.cache_resource(show_spinner=False, max_entries=4)
def _tables(url: str) -> dict[tuple[str, int], tuple[Study, Runs, Table]]:
    return {}


def table(of: Study, runs: Runs, batch_size: int, seen: Seen) -> Table:
    """The comparison table of these runs, baseline first; made again only when one of them, or the study, changed."""
    made, place = _tables(seen[0]), (of.id, batch_size)
    known = made.get(place)
    if known is None or known[:2] != (of, runs):  # equal runs are mostly the same objects, which is seen at once
        known = made[place] = (of, runs, tuple(compare_rows(of, runs, batch_size)))
    return known[2]


def compare(study_id: str, batch_size: int, seen: Seen) -> Table:
    """The comparison table of a study at one batch size, baseline first."""
    return table(study(study_id, seen), summaries(study_id, seen), batch_size, seen)


@st.cache_data(show_spinner=False, max_entries=64)
def experiment(experiment_id: str, seen: Seen) -> Experiment:
    """One run with everything in it. Raises NotFound."""
    return ledger().experiment(experiment_id)


def whole(experiment_ids: Sequence[str], seen: Seen) -> list[Experiment]:
    """The few runs that a person looks at closely, in that order. Raises NotFound."""
    return [experiment(one, seen) for one in experiment_ids]


@st.cache_resource(show_spinner=False, max_entries=2)
def run_annotations(seen: Seen) -> dict[str, Annotation]:
    """Tags, notes and what was put away, by experiment; not to be changed."""
    return ledger().annotations()


@st.cache_resource(show_spinner=False, max_entries=4)
def _issued(url: str) -> dict[str, Certificate]:
    return {}


@st.cache_resource(show_spinner=False, max_entries=64)
def certificates(study_id: str | None, seen: Seen) -> tuple[Certificate, ...]:
    """The certificates of a study (None: all), in the order they were issued."""
    known = _issued(seen[0])
    found = tuple(ledger().certificates(study_id, known))
    known.update((one.id, one) for one in found)
    return found


@st.cache_resource(show_spinner=False, max_entries=2)
def by_study_issued(seen: Seen) -> dict[str, tuple[Certificate, ...]]:
    """All certificates by study; not to be changed."""
    return _grouped(certificates(None, seen))


@st.cache_data(show_spinner=False, max_entries=64)
def certificate(certificate_id: str, seen: Seen) -> Certificate:
    """One certificate. Raises NotFound."""
    return ledger().certificate(certificate_id)


@st.cache_resource(show_spinner=False, max_entries=4)
def _looks(url: str) -> dict[str | None, tuple[float, list[JobState]]]:
    """When this process last looked at the jobs of a study, by `time.monotonic()`, and what it saw."""
    return {}


def active_jobs(study_id: str | None) -> list[JobState]:
    """The jobs of a study (None: of all) that wait or run, as they stand now: one query."""
    found = ledger().queue.states(study_id, active_only=True)
    _looks(settings().database_url)[study_id] = (time.monotonic(), found)
    return found


def watched_jobs(study_id: str | None) -> list[JobState]:
    """The same for the many sessions that watch: at most SHARED_S old, one query for all of them.

    Never older than what `active_jobs` last told anybody; what they get is shared and not to be changed.
    """
    at, known = _looks(settings().database_url).get(study_id, (-SHARED_S, []))
    return known if time.monotonic() - at < SHARED_S else active_jobs(study_id)


def look_again() -> None:
    """Forget what was seen of the jobs: somebody has just changed one."""
    _looks(settings().database_url).clear()


@st.cache_data(show_spinner=False, ttl=60)
def machine() -> dict[str, object]:
    """What this machine is, for deciding which levers fit."""
    return describe()


def _grouped(records: Sequence[OfStudy]) -> dict[str, tuple[OfStudy, ...]]:
    found: dict[str, list[OfStudy]] = {}
    for one in records:
        found.setdefault(one.study_id, []).append(one)
    return {study_id: tuple(ones) for study_id, ones in found.items()}
