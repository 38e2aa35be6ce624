"""Where a study, and one run, stand against the promise: one sentence with the number, then the reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from engine.records import TERMINAL, Certificate, Experiment, ExperimentSummary, Study
from engine.reports import numbers
from engine.reports.amdahl import Share
from engine.reports.certificate import headline
from engine.reports.promise import HOLDS, standing
from engine.reports.rows import CompareRow
from pages._ui import loaders
from pages._ui.gain import gain
from pages._ui.parts import verdict
from pages._ui.text import plain
from pages._ui.variants import name_of
from pages._ui.words import CERTIFIED, goal_sentence, with_times_sign

Actions = Callable[[], None] | None
MOST_MISSES = 3
AGAIN = "Every variant is measured against it: press **Retry**"


@dataclass(frozen=True)
class Leaders:
    """What the strip of a study names; archived variants are not in it."""

    baseline: CompareRow | None
    best: CompareRow | None
    misses: tuple[CompareRow, ...]

    @property
    def ids(self) -> list[str]:
        """The variants, the best first."""
        return [row.experiment for row in (*([self.best] if self.best else []), *self.misses)]


def study_verdict(
    study: Study,
    runs: Sequence[ExperimentSummary],
    issued: Sequence[Certificate] = (),
    *,
    key: str,
    actions: Callable[[ExperimentSummary | None], None],
    whole: Share | None = None,
) -> None:
    """The verdict strip of a study. actions(run): the buttons beside it, for the variant that the strip names.

    whole: the model within the request, to say beside a speed-up what it brings there.
    """
    leading = leaders(study.id, loaders.version())
    baseline, best, misses = leading.baseline, leading.best, leading.misses
    named = set(leading.ids)
    by_id = {run.id: run for run in runs if run.id in named}
    names = {key: plain(name_of(by_id[key]), 90) for key in leading.ids}

    def buttons() -> None:
        actions(by_id[best.experiment] if best else None)

    if best is not None and (known := next((one for one in issued if one.experiment_id == best.experiment), None)):
        _certified(known, best, names, key, buttons, whole)
    elif best is not None:
        sentence = gain(best, names, whole=whole)
        verdict("pass", "Meets the promise", sentence, _figures(best, baseline), key=key, actions=buttons)
    elif baseline is None or baseline.status not in TERMINAL:
        verdict("info", "Running", "The baseline is being measured", "Levers can be queued meanwhile.", key=key)
    elif baseline.status == "cancelled":
        verdict("info", "Stopped", "The baseline was stopped", f"{AGAIN} in the queue.", key=key)
    elif baseline.status != "succeeded":
        verdict("fail", "Failed", "The baseline was not measured", plain(baseline.reason or "", 400), key=key)
    elif misses:
        listed = "\n".join(f"- {gain(row, names, whole=whole)}. Why not: {_shortfall(row.reason)}." for row in misses)
        lead = "The nearest:" if len(misses) > 1 else "What was tried:"
        verdict(
            "fail", "Misses the promise", "No variant keeps the promise yet", f"{lead}\n{listed}", key=key,
            actions=buttons,
        )  # fmt: skip
    else:
        wish = f"The promise asks for {goal_sentence(study.promise.goal)}."
        verdict("info", "Answer", f"The original takes {numbers.latency(baseline.p50_ms)} a call", wish, key=key)


def _certified(
    known: Certificate,
    row: CompareRow,
    names: Mapping[str, str],
    key: str,
    actions: Actions,
    whole: Share | None = None,
) -> None:
    """The strip of a variant that has a certificate: its verdict is the last word."""
    kind, word, label = CERTIFIED[known.quality.verdict]
    if known.holds:
        sentence = gain(row, names, whole=whole)
    else:
        but = "not on the certification rows" if kind == "fail" else "the certification rows cannot confirm it"
        sentence = f"{names.get(row.experiment) or 'It'} keeps the promise on the selection rows, but {but}"
    verdict(kind, word, sentence, f"{plain(headline(known), 400)}", key=key, actions=actions, label=label)


def run_verdict(
    study: Study,
    run: Experiment,
    rows: Sequence[CompareRow],
    known: Certificate | None = None,
    *,
    key: str,
    actions: Actions = None,
) -> None:
    """The verdict strip of one finished run; known: its certificate."""
    row = next(row for row in rows if row.experiment == run.id)
    stands = standing(study, row)
    if stands is None:
        sentence = f"The original takes {numbers.latency(row.p50_ms)} a call"
        verdict("info", "Baseline", sentence, "Everything else is measured against it.", key=key)
    elif stands.meets and known is not None:
        _certified(known, row, {}, key, actions)
    elif stands.meets:
        detail = "Goal and band are both kept on the selection rows; **not certified**."
        verdict("pass", "Meets the promise", gain(row, {}), detail, key=key, actions=actions)
    else:
        why = f"Why: {_shortfall(stands.shortfall)}."
        verdict("fail", "Misses the promise", gain(row, {}), why, key=key, actions=actions)


@st.cache_resource(show_spinner=False, max_entries=16)
def leaders(study_id: str, seen: loaders.Seen) -> Leaders:
    """Found once per state of the history, for thousands of variants."""
    study, notes = loaders.study(study_id, seen), loaders.run_annotations(seen)
    table = loaders.compare(study_id, study.workload.batch_size, seen)
    put_away = {key for key, note in notes.items() if note.archived}
    rows = [row for row in table if row.is_baseline or row.experiment not in put_away]
    return Leaders(
        baseline=next((row for row in rows if row.is_baseline), None),
        best=best_row(study, rows, loaders.certificates(study_id, seen)),
        misses=tuple(nearest_misses(study, rows)),
    )


def best_row(study: Study, rows: Sequence[CompareRow], issued: Sequence[Certificate] = ()) -> CompareRow | None:
    """Of the variants that keep the promise the fastest that is certified, else that was not refused, else of all."""
    kept = [row for row in rows if (found := standing(study, row)) and found.meets]
    held = {one.experiment_id for one in issued if one.holds}
    refused = {one.experiment_id for one in issued} - held
    certified = [row for row in kept if row.experiment in held]
    open_ones = [row for row in kept if row.experiment not in refused]
    return max(certified or open_ones or kept, key=lambda row: row.goal_speedup or 0.0, default=None)


def nearest_miss(study: Study, rows: Sequence[CompareRow]) -> CompareRow | None:
    """Of the finished variants that miss: the fastest inside the band, else the one that loses least."""
    return next(iter(nearest_misses(study, rows, 1)), None)


def nearest_misses(study: Study, rows: Sequence[CompareRow], most: int = MOST_MISSES) -> list[CompareRow]:
    """The finished variants that miss: those inside the band by their speed, then the others by what they lose."""
    missed = [row for row in rows if (found := standing(study, row)) and not found.meets and row.speedup]

    def distance(row: CompareRow) -> tuple[bool, float]:
        inside = row.quality_verdict in HOLDS or row.metric is None
        return not inside, -(row.goal_speedup or row.speedup or 0.0) if inside else row.metric_drop or 0.0

    return sorted(missed, key=distance)[:most]


def _shortfall(reason: str | None) -> str:
    return plain(with_times_sign(reason or ""), 400)


def _figures(row: CompareRow, baseline: CompareRow | None) -> str:
    parts = []
    if baseline:
        parts.append(f"p50 {numbers.latency(baseline.p50_ms)} → {numbers.latency(row.p50_ms)}")
    if row.worst_slice and row.worst_slice_drop is not None and round(row.worst_slice_drop, 4) > 0:
        change = numbers.quality_change(row.worst_slice_drop, row.metric, relative=False)
        parts.append(f"Worst slice {plain(row.worst_slice, 60)}: {change}")
    return ". ".join([*parts, "Measured on the selection rows; **not certified**."])
