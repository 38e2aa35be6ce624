"""The variants of a study as Compare looks at them: row, light record, name, outcome and notes, joined once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine.plugin import levers
from engine.records import (
    Annotation,
    Certificate,
    Comparison,
    ExperimentSummary,
    MeasurementSummary,
    Step,
    Study,
)
from engine.reports.promise import standing
from engine.reports.rows import CompareRow
from pages._ui.parts import STATUS
from pages._ui.text import for_chart
from pages._ui.variants import name_of, recipe_name
from pages._ui.words import family, with_times_sign

OUTCOMES = ("Meets the promise", "Misses the promise")
Place = tuple[int, int]  # items per call, threads


@dataclass(frozen=True, slots=True)
class Variant:
    """One run of a study at one batch size.

    name, short: unique within the study, not escaped; short: for figures. outcome: its word of BADGE. here, beside:
    its times and those of the original in the same pairs, at the batch that is looked at. compared: quantile ->
    variant / original there; primary: the same at the batch of the promise. family, hover: of its mark in the picture,
    hover already safe.
    """

    row: CompareRow
    run: ExperimentSummary
    name: str
    short: str
    outcome: str
    family: str
    hover: str
    certificate: Certificate | None = None
    note: Annotation | None = None
    here: MeasurementSummary | None = None
    beside: MeasurementSummary | None = None
    compared: Mapping[float | None, Comparison] = field(default_factory=dict)
    primary: Mapping[float | None, Comparison] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Of the experiment."""
        return self.row.experiment

    @property
    def is_baseline(self) -> bool:
        """True for the row that leads the table."""
        return self.row.is_baseline

    @property
    def archived(self) -> bool:
        """Hidden unless asked for."""
        return self.note is not None and self.note.archived


Called = dict[str, tuple[ExperimentSummary, str, str]]


def joined(
    study: Study,
    rows: Sequence[CompareRow],
    runs: Mapping[str, ExperimentSummary],
    issued: Sequence[Certificate],
    notes: Mapping[str, Annotation],
    called: Called,
) -> tuple[Variant, ...]:
    """One Variant per row, in the order of the rows. runs, notes: by experiment id.

    called: what runs were called before, by id; those that are new are added.
    """
    certificates = {one.experiment_id: one for one in issued}
    for row in rows:
        run = runs[row.experiment]
        known = called.get(run.id)
        if known is None or known[0] is not run:
            name = name_of(run)
            called[run.id] = (run, name, short_name(run, name))
    names = _unique({row.experiment: called[row.experiment][1] for row in rows}, ", run {}")
    shorter = _unique({row.experiment: called[row.experiment][2] for row in rows}, " ({})")
    pairs = {key: (names[key], shorter[key]) for key in names}
    return tuple(_variant(study, row, runs[row.experiment], pairs[row.experiment], certificates, notes) for row in rows)


def outcome(study: Study, row: CompareRow) -> str:
    """The word of BADGE that says how a row stands."""
    if row.status != "succeeded":
        return STATUS[row.status]
    stands = standing(study, row)
    if stands is None:
        return "Baseline"
    return "Meets the promise" if stands.meets else "Misses the promise"


def _variant(
    study: Study,
    row: CompareRow,
    run: ExperimentSummary,
    names: tuple[str, str],
    certificates: Mapping[str, Certificate],
    notes: Mapping[str, Annotation],
) -> Variant:
    at, asked = (row.batch_size, study.workload.threads), study.workload
    word = outcome(study, row)
    return Variant(
        row=row,
        run=run,
        name=names[0],
        short=names[1],
        outcome=word,
        family="baseline" if row.is_baseline else family(run.spec.recipe),
        hover=_hover(names[0], word, row.reason),
        certificate=certificates.get(run.id),
        note=notes.get(run.id),
        here=_at(run.measurements, at),
        beside=_at(run.baselines, at),
        compared=_compared(run, at),
        primary=_compared(run, (asked.batch_size, asked.threads)),
    )


def _hover(name: str, word: str, reason: str | None) -> str:
    said = f"{word}: {with_times_sign(reason)}" if reason else word
    return f"<b>{for_chart(name)}</b><br>{for_chart(said, 120)}"


def _at(measured: Sequence[MeasurementSummary], at: Place) -> MeasurementSummary | None:
    return next((one for one in measured if _place(one) == at), None)


def _compared(run: ExperimentSummary, at: Place) -> dict[float | None, Comparison]:
    return {one.quantile: one for one in run.comparisons if _place(one) == at}


def _place(one: MeasurementSummary | Comparison) -> Place:
    return one.workload.batch_size, one.workload.threads


def short_name(run: ExperimentSummary, name: str) -> str:
    """'Fewer trees 0.3 + export' for 'Fewer trees (keep fraction 0.3) → LightGBM to ONNX', for figures.

    Values stand without their names; exports are counted beside the steps that change the model.
    """
    steps = run.spec.recipe.steps
    changing = [step for step in steps if not step.lever.startswith("export.")]
    n_exports = len(steps) - len(changing)
    shown = " → ".join(_short_step(step) for step in changing or steps[-1:]) or "Original"
    if changing and n_exports:
        shown += " + export" if n_exports == 1 else f" + {n_exports} exports"
    return shown + name.removeprefix(recipe_name(run.spec.recipe))


def _short_step(step: Step) -> str:
    known = levers().get(step.lever)
    if known is None:
        return step.lever
    defaults = {name: field.default for name, field in known.model_fields.items()}
    return " ".join([known.title, *(str(value) for name, value in step.params.items() if value != defaults.get(name))])


def _unique(names: Mapping[str, str], again: str) -> dict[str, str]:
    """What is named the same is counted: 'ONNX', 'ONNX, run 2'."""
    times: Counter[str] = Counter()
    found = {}
    for key, name in names.items():
        times[name] += 1
        found[key] = name if times[name] == 1 else name + again.format(times[name])
    return found
