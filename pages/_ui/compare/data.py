"""What Compare is drawn from, made once per state of the history and shared by all sessions: nobody may change it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import streamlit as st

from engine.records import Experiment, Study
from engine.reports.front import front
from pages._ui import loaders
from pages._ui.compare.axes import Axis, across, upwards
from pages._ui.compare.column import Column
from pages._ui.compare.columns import DEFAULT, Beside, catalogue
from pages._ui.compare.order import ASKED, Filters, filtered, ordered
from pages._ui.compare.scatter import Mark
from pages._ui.compare.variants import OUTCOMES, Called, Variant, joined
from pages._ui.compare.view import ORDERS
from pages._ui.parts import STATUS


@dataclass(frozen=True)
class Compared:
    """All variants of a study at one batch size, the columns and the axes that say something about them."""

    beside: Beside
    variants: tuple[Variant, ...]
    columns: Mapping[str, Column]
    across: Mapping[str, Axis]
    upwards: Mapping[str, Axis]

    @property
    def study(self) -> Study:
        """What is compared."""
        return self.beside.study

    @cached_property
    def by_id(self) -> dict[str, Variant]:
        """The variants by experiment."""
        return {one.id: one for one in self.variants}

    def of_kind(self, kind: str) -> list[Column]:
        """Columns that are figures, parameters, or facts of the run."""
        return [column for column in self.columns.values() if column.kind == kind]

    @cached_property
    def options(self) -> dict[str, Sequence[str]]:
        """What the fields of the page may hold."""
        return {
            "statuses": list(STATUS),
            "outcomes": OUTCOMES,
            "sort": self.sortable,
            "order": list(ORDERS),
            "x": list(self.across),
            "y": list(self.upwards),
            "figures": [column.key for column in self.of_kind("figure")],
            "facts": [column.key for column in self.of_kind("run")],
            "chosen": self.ids,
            "runs": self.ids,
        }

    @cached_property
    def ids(self) -> list[str]:
        """Of all experiments."""
        return [one.id for one in self.variants]

    @property
    def sortable(self) -> list[str]:
        """Every column, the order of asking first."""
        return [ASKED, *(key for key in self.columns if key != ASKED)]

    @property
    def first_axes(self) -> dict[str, str | None]:
        """What the picture shows at first."""
        return {"x": next(iter(self.across), None), "y": next(iter(self.upwards), None)}

    @property
    def usual(self) -> list[str]:
        """The figures that are shown at first."""
        return [key for key in self.columns if key in DEFAULT]


@st.cache_resource(show_spinner=False, max_entries=4)
def _called(url: str) -> Called:
    """What the runs of a history are called, as far as they were looked at."""
    return {}


@st.cache_resource(show_spinner=False, max_entries=16)
def outline(study_id: str, seen: loaders.Seen) -> tuple[int, list[int]]:
    """How many variants were compared, and at which batch sizes something was timed, the promise's among them."""
    runs = loaders.summaries(study_id, seen)
    primary = loaders.study(study_id, seen).workload.batch_size
    batches = {found.workload.batch_size for run in runs for found in run.measurements} | {primary}
    return sum(bool(run.comparisons) for run in runs), sorted(batches)


@st.cache_resource(show_spinner=False, max_entries=16)
def compared(study_id: str, batch: int, seen: loaders.Seen) -> Compared:
    """Joined from the rows, the light records, the certificates and the notes."""
    study = loaders.study(study_id, seen)
    runs = loaders.runs_by_id(study_id, seen)
    variants = joined(
        study, loaders.compare(study_id, batch, seen), runs, loaders.certificates(study_id, seen),
        loaders.run_annotations(seen), _called(seen[0]),
    )  # fmt: skip
    baseline = next((one for one in variants if one.is_baseline), None)
    noted = loaders.study_annotation(study_id, seen)
    beside = Beside(study, baseline, batch, noted.request_ms if noted else None)
    return Compared(
        beside=beside,
        variants=variants,
        columns={column.key: column for column in catalogue(beside, variants)},
        across=_told(across(beside), variants),
        upwards=_told(upwards(beside), variants),
    )


def _told(axes: Mapping[str, Axis], variants: Sequence[Variant]) -> dict[str, Axis]:
    """The axes on which some variant stands."""
    rest = [one for one in variants if not one.is_baseline]
    return {key: axis for key, axis in axes.items() if any(axis.read(one) is not None for one in rest)}


@st.cache_resource(show_spinner=False, max_entries=16)
def matching(study_id: str, batch: int, filters: Filters, seen: loaders.Seen) -> tuple[Variant, ...]:
    """The variants that every filter lets through."""
    return tuple(filtered(compared(study_id, batch, seen).variants, filters))


@st.cache_resource(show_spinner=False, max_entries=16)
def finished(study_id: str, batch: int, filters: Filters, seen: loaders.Seen) -> dict[str, Variant]:
    """Those of them that can be looked at closely, by id; not to be changed."""
    found = matching(study_id, batch, filters, seen)
    return {one.id: one for one in found if one.row.status == "succeeded" and not one.is_baseline}


@st.cache_resource(show_spinner=False, max_entries=16)
def in_order(
    study_id: str, batch: int, filters: Filters, sort: str, descending: bool, seen: loaders.Seen
) -> tuple[Variant, ...]:
    """The variants that every filter lets through, as the table lists them."""
    column = compared(study_id, batch, seen).columns.get(sort)
    return tuple(ordered(matching(study_id, batch, filters, seen), column, descending=descending))


def marks(variants: Sequence[Variant], x: Axis, y: Axis, strong: Sequence[str]) -> list[Mark]:
    """One per variant that stands on both axes. strong: ids that are named in any case."""
    spots = [(one, x.read(one), y.read(one)) for one in variants]
    there = [(one, across, up) for one, across, up in spots if across is not None and up is not None]
    ways = (1 if x.larger else -1), (1 if y.larger else -1)
    on_front = set(front([(ways[0] * across.value, ways[1] * up.value) for _, across, up in there]))
    return [
        Mark(
            id=one.id, name=one.short, family=one.family, x=across, y=up, hover=one.hover,
            kept=one.outcome == OUTCOMES[0], front=at in on_front, strong=one.id in strong,
        )
        for at, (one, across, up) in enumerate(there)
    ]  # fmt: skip


@st.cache_resource(show_spinner=False, max_entries=16)
def whole(experiment_ids: tuple[str, ...], seen: loaders.Seen) -> tuple[Experiment, ...]:
    """The whole records of the few that are looked at closely."""
    return tuple(loaders.whole(experiment_ids, seen))
