"""What won in a study so far: the best certified variant, else the best that keeps the promise, else the nearest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from engine.records import TERMINAL, Certificate, ExperimentSummary, Study
from engine.reports.promise import HOLDS, standing
from engine.reports.rows import CompareRow
from pages._ui import loaders
from pages._ui.standing import best_row, nearest_miss
from pages._ui.words import CERTIFIED


@dataclass(frozen=True)
class Won:
    """word, label: the badge and its text; row: the variant that stands for the study, None before there is one.

    keeps: that variant keeps the promise on the selection rows.
    """

    word: str
    label: str | None
    baseline: CompareRow | None
    row: CompareRow | None = None
    run: ExperimentSummary | None = None
    certificate: Certificate | None = None
    keeps: bool = False


@dataclass(frozen=True)
class _Known:
    """What a verdict rests on: as long as these are the same, it is."""

    rows: loaders.Table
    issued: tuple[Certificate, ...]
    put_away: frozenset[str]
    won: Won


@st.cache_resource(show_spinner=False, max_entries=4)
def _known(url: str) -> dict[str, _Known]:
    return {}


@st.cache_resource(show_spinner=False, max_entries=2)
def standings(seen: loaders.Seen) -> dict[str, Won]:
    """What won in every study, by id; archived runs do not count."""
    made, runs_of, issued_of = _known(seen[0]), loaders.by_study(seen), loaders.by_study_issued(seen)
    away: dict[str, set[str]] = {}
    for key, note in loaders.run_annotations(seen).items():
        if note.archived and (run := loaders.run_of(key, seen)):
            away.setdefault(run.study_id, set()).add(key)
    found = {}
    for study in loaders.all_studies(seen):
        runs, issued = runs_of.get(study.id, ()), issued_of.get(study.id, ())
        rows = loaders.table(study, runs, study.workload.batch_size, seen)
        put_away = frozenset(away.get(study.id, ()))
        known = made.get(study.id)
        if known is None or known.rows is not rows or (known.issued, known.put_away) != (issued, put_away):
            kept = [row for row in rows if row.is_baseline or row.experiment not in put_away]
            known = made[study.id] = _Known(rows, issued, put_away, _found(study, runs, kept, issued))
        found[study.id] = known.won
    return found


@st.cache_resource(show_spinner=False, max_entries=2)
def headline(seen: loaders.Seen) -> str:
    """What was tried and what won, over all studies that are not archived: two sentences."""
    studies = loaders.studies(seen)
    known, runs_of = standings(seen), loaders.by_study(seen)
    stands = [known[study.id] for study in studies]
    n_certified = sum(one.certificate is not None and one.certificate.holds for one in stands)
    n_kept = sum(one.keeps for one in stands)
    statuses = [run.status for study in studies for run in runs_of.get(study.id, ())]
    n_active = sum(status not in TERMINAL for status in statuses)
    n_failed = sum(status == "failed" for status in statuses)
    of = f"{n_kept:,} of {len(stands):,} {'study has' if len(stands) == 1 else 'studies have'}"
    parts = [f"{len(statuses):,} {'run' if len(statuses) == 1 else 'runs'}"]
    parts += [f"{n_failed:,} failed"] if n_failed else []
    parts += [f"{n_active:,} waiting or running"] if n_active else []
    certified = f"; {n_certified:,} {'is' if n_certified == 1 else 'are'} certified" if n_kept else ""
    return f"**{of} a variant that keeps the promise{certified}.** {', '.join(parts)}."


def _found(study: Study, runs: loaders.Runs, rows: Sequence[CompareRow], issued: Sequence[Certificate]) -> Won:
    baseline = next((row for row in rows if row.is_baseline), None)
    row = best_row(study, rows, issued) or _inside(rows, issued) or nearest_miss(study, rows)
    if row is None:
        return Won(_waiting(baseline), None, baseline)
    run = next(one for one in runs if one.id == row.experiment)
    stands = standing(study, row)
    keeps = stands is not None and stands.meets
    certificate = next((one for one in issued if one.experiment_id == row.experiment), None)
    if certificate is None:
        return Won("Meets the promise" if keeps else "Misses the promise", None, baseline, row, run, keeps=keeps)
    _, word, label = CERTIFIED[certificate.quality.verdict]
    said = label if keeps else f"{label or word}, misses the goal"
    return Won(word, said, baseline, row, run, certificate, keeps=keeps)


def _inside(rows: Sequence[CompareRow], issued: Sequence[Certificate]) -> CompareRow | None:
    """Where none keeps the promise: the fastest within the band, one that is certified first."""
    held = {one.experiment_id for one in issued if one.holds}
    refused = {one.experiment_id for one in issued} - held
    faster = [row for row in rows if _within(row) and row.speed_verdict == "faster" and row.experiment not in refused]
    faster = [row for row in faster if row.experiment in held] or faster
    return max(faster, key=lambda row: row.goal_speedup or row.speedup or 0.0, default=None)


def _within(row: CompareRow) -> bool:
    return not row.is_baseline and row.status == "succeeded" and row.quality_verdict in HOLDS


def _waiting(baseline: CompareRow | None) -> str:
    if baseline is None or baseline.status not in TERMINAL:
        return "Running"
    return "Baseline" if baseline.status == "succeeded" else "Failed"
