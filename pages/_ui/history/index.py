"""Every run of the history as one line of the long list: what it is called, how it stands, what people noted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa
import streamlit as st

from engine.records import Annotation, Certificate, ExperimentSummary, Study
from engine.reports import numbers
from engine.reports.promise import standing
from engine.reports.rows import CompareRow
from pages._ui import loaders
from pages._ui.parts import STATUS
from pages._ui.variants import name_of, step_name
from pages._ui.words import CERTIFIED

SPEED = ("Faster", "Slower", "No difference", "Cannot tell")
QUALITY = {
    "within band": "Within band",
    "exact": "Within band",
    "outside": "Outside the band",
    "too few rows": "Too few rows",
    "not judged": "Not judged",
}
VERDICTS = (
    "Meets the promise", "Misses the promise", *dict.fromkeys(label or word for _, word, label in CERTIFIED.values()),
    "Baseline", *SPEED, *dict.fromkeys(QUALITY.values()),
)  # fmt: skip
LAST = float("inf")


class Line(NamedTuple):
    """One run. `text` is what a search looks at, in small letters; the last three are what the list writes."""

    run: ExperimentSummary
    study: Study
    row: CompareRow
    noted: Annotation | None
    issued: Certificate | None
    study_archived: bool
    name: str
    levers: tuple[str, ...]
    verdicts: tuple[str, ...]
    text: str
    result: list[str]
    p50: str
    quality: str

    @property
    def archived(self) -> bool:
        """Put away, by itself or with its study."""
        return self.study_archived or bool(self.noted and self.noted.archived)

    @property
    def tags(self) -> tuple[str, ...]:
        """What people called it."""
        return self.noted.tags if self.noted else ()


@dataclass(frozen=True)
class Filters:
    """What is looked for; empty means everything. shelf: kept | archived | all."""

    q: str = ""
    study: tuple[str, ...] = ()
    status: tuple[str, ...] = ()
    lever: tuple[str, ...] = ()
    who: tuple[str, ...] = ()
    tag: tuple[str, ...] = ()
    verdict: tuple[str, ...] = ()
    shelf: str = "kept"
    sort: str = "newest"


SORTS = {
    "newest": "Newest first",
    "oldest": "Oldest first",
    "speedup": "Largest speed-up",
    "p50": "Lowest p50 latency",
    "quality": "Least quality lost",
    "duration": "Longest run",
    "name": "Name",
}


@st.cache_resource(show_spinner=False, max_entries=2)
def lines(seen: loaders.Seen) -> tuple[Line, ...]:
    """All runs, newest first, of archived studies too; a line is made again only when something in it changed."""
    noted, gone = loaders.run_annotations(seen), loaders.archived_studies(seen)
    issued = {one.experiment_id: one for one in loaders.certificates(None, seen)}
    made, runs_of = _made(seen[0]), loaders.by_study(seen)
    found = []
    for study in loaders.all_studies(seen):
        runs, away = runs_of.get(study.id, ()), study.id in gone
        rows = {row.experiment: row for row in loaders.table(study, runs, study.workload.batch_size, seen)}
        for run in runs:
            parts = (run, study, rows[run.id], noted.get(run.id), issued.get(run.id), away)
            line = made.get(run.id)
            if line is None or line[: len(parts)] != parts:
                line = made[run.id] = _line(*parts)
            found.append(line)
    return tuple(sorted(found, key=lambda line: (line.run.created_at, line.run.id), reverse=True))


@st.cache_resource(show_spinner=False, max_entries=4)
def _made(url: str) -> dict[str, Line]:
    return {}


def _line(
    run: ExperimentSummary,
    study: Study,
    row: CompareRow,
    noted: Annotation | None,
    issued: Certificate | None,
    study_archived: bool,
) -> Line:
    name, verdicts = name_of(run), _verdicts(study, row, issued)
    bare = (step.model_copy(update={"params": {}}) for step in run.spec.recipe.steps)
    said = [name, study.name, run.created_by, run.id, run.error.message if run.error else ""]
    said += [noted.note, *noted.tags] if noted else []
    relative = study.promise.band.relative
    away = study_archived or bool(noted and noted.archived)
    return Line(
        *(run, study, row, noted, issued, study_archived, name),
        levers=tuple(step_name(step) for step in bare),
        verdicts=verdicts,
        text="\n".join(said).lower(),
        result=_result(run, verdicts, away),
        p50=numbers.latency(row.p50_ms),
        quality="" if row.is_baseline else numbers.quality_change(row.metric_drop, row.metric, relative=relative),
    )


def _verdicts(study: Study, row: CompareRow, issued: Certificate | None) -> tuple[str, ...]:
    """Words of BADGE, the one on the promise first; nothing before a run has succeeded."""
    if row.status != "succeeded":
        return ()
    stands = standing(study, row)
    found = ["Baseline" if stands is None else "Meets the promise" if stands.meets else "Misses the promise"]
    if issued is not None:
        _, word, label = CERTIFIED[issued.quality.verdict]
        found.append(label or word)
    if row.speed_verdict is not None:
        found.append(row.speed_verdict.capitalize())
    if row.quality_verdict in QUALITY:
        found.append(QUALITY[row.quality_verdict])
    return tuple(found)


def found(all_lines: Sequence[Line], wanted: Filters, moving: Mapping[str, str] | None = None) -> list[int]:
    """Positions of the lines that hold every word and fit every filter, in the wanted order.

    moving: experiment id -> status, for the jobs that wait or run now.
    """
    words, states = wanted.q.lower().split(), moving or {}
    kept = [
        position
        for position, line in enumerate(all_lines)
        if wanted.shelf in ("all", "archived" if line.archived else "kept")
        and (not wanted.status or states.get(line.run.id, line.run.status) in wanted.status)
        and (not wanted.study or line.study.id in wanted.study)
        and (not wanted.who or line.run.created_by in wanted.who)
        and _meet(wanted.lever, line.levers)
        and _meet(wanted.tag, line.tags)
        and _meet(wanted.verdict, line.verdicts)
        and all(word in line.text for word in words)
    ]
    return _ordered(all_lines, kept, wanted.sort)


def _meet(wanted: Sequence[str], there: Sequence[str]) -> bool:
    return not wanted or any(one in there for one in wanted)


def _ordered(all_lines: Sequence[Line], kept: list[int], sort: str) -> list[int]:
    if sort == "newest":
        return kept
    if sort == "oldest":
        return kept[::-1]
    if sort == "name":
        return sorted(kept, key=lambda position: all_lines[position].name.lower())
    return sorted(kept, key=lambda position: _figure(all_lines[position], sort))


def _figure(line: Line, sort: str) -> float:
    """What is sorted by, smallest first; what was not measured comes last."""
    value = {
        "speedup": None if line.row.speedup is None else -line.row.speedup,
        "p50": line.row.p50_ms,
        "quality": line.row.metric_drop,
        "duration": None if line.run.duration_s is None else -line.run.duration_s,
    }[sort]
    return LAST if value is None else value


@st.cache_resource(show_spinner=False, max_entries=2)
def choices(seen: loaders.Seen) -> dict[str, dict[str, str]]:
    """Filter -> what can be chosen -> how it is written; in the order people look for it."""
    every = lines(seen)
    return {
        "study": {study.id: study.name for study in loaders.all_studies(seen)},
        "lever": _counted(name for line in every for name in dict.fromkeys(line.levers)),
        "who": _counted(line.run.created_by for line in every),
        "tag": _counted(tag for line in every for tag in line.tags),
        "verdict": {word: word for word in VERDICTS},
        "status": STATUS,
        "sort": SORTS,
    }


def _counted(names: Iterable[str]) -> dict[str, str]:
    """The most frequent first."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return {name: name for name in sorted(counts, key=lambda name: (-counts[name], name))}


@st.cache_resource(show_spinner=False, max_entries=2)
def grid(seen: loaders.Seen) -> pa.Table:
    """All lines as the columns of the long list, of which a filter takes some."""
    every = lines(seen)
    return pa.table(
        {
            "Run": [line.name for line in every],
            "Study": [line.study.name for line in every],
            "Result": [line.result for line in every],
            "Speed-up": pa.array([line.row.speedup for line in every], pa.float64()),
            "Quality": [line.quality for line in every],
            "Tags": pa.array([line.tags for line in every], pa.list_(pa.string())),
            "Who": [line.run.created_by for line in every],
            "When": pa.array([line.run.created_at for line in every], pa.timestamp("ms", "UTC")),
            "p50": [line.p50 for line in every],
            "Note": [line.noted.note if line.noted else "" for line in every],
        }
    )


def _result(run: ExperimentSummary, verdicts: Sequence[str], archived: bool) -> list[str]:
    """How it stands in one or two words, for coloured labels."""
    words = [verdicts[0] if verdicts else STATUS[run.status]]
    words += [word for word in verdicts if word.startswith("Certified")]
    return [*words, "Archived"] if archived else words
