"""The sections of the Experiment page, in order. What costs something is drawn when somebody opens it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import streamlit as st

from engine.records import TERMINAL, Experiment, OperatorProfile, QualityReport, Study
from pages._ui.experiment.agreement import agreement_cards, classes_table
from pages._ui.experiment.batch_curve import batch_details, reading, swept
from pages._ui.experiment.call_times import call_times
from pages._ui.experiment.edges import edges_card
from pages._ui.experiment.lineage import lineage
from pages._ui.experiment.log import environment_table, log_tail
from pages._ui.experiment.operators import operators_details, operators_line
from pages._ui.experiment.quality import slices_card, verdict_line
from pages._ui.experiment.recipe import recipe_section
from pages._ui.experiment.reliability import reliability_details
from pages._ui.experiment.resources import resources_card, threads_card
from pages._ui.experiment.times import other_speedups, other_speedups_table, timing_table
from pages._ui.experiment.worst_rows import has_answers, worst_rows
from pages._ui.sections import fold


@dataclass(frozen=True)
class Section:
    """title: its heading; part: what explains it (explanations.SECTIONS); draw: its contents."""

    title: str
    part: str
    draw: Callable[[], None]


def run_sections(study: Study, run: Experiment) -> list[Section]:
    """Those that this run has something to say in."""
    found = [Section("What was done", "lineage", lambda: _done(study, run))]
    if run.status == "succeeded":
        found += _figures(study, run)
    if run.status in TERMINAL:
        found.append(Section("Log and machine", "environment", lambda: _log(run)))
    return found


def _figures(study: Study, run: Experiment) -> Iterator[Section]:
    yield Section("Time", "time", lambda: _time(study, run))
    if swept(study, run):
        yield Section("Batch size", "batch size", lambda: _batch(study, run))
    if (profile := run.operators) is not None:
        yield Section("Where the time goes", "operators", lambda: _operators(profile))
    yield Section("Resources", "resources", lambda: _resources(study, run))
    if (report := run.quality) is not None:
        yield Section("Quality", "quality", lambda: _quality(study, run, report))
        if not run.is_baseline:
            yield Section("Agreement with the original", "agreement", lambda: _agreement(study, run, report))


def _done(study: Study, run: Experiment) -> None:
    if run.chain:
        lineage(study, run)
    fold("Every parameter, and how to ask the same again", lambda: recipe_section(run), key="ex-recipe", icon="tune")


def _time(study: Study, run: Experiment) -> None:
    timing_table(run)
    if other_speedups(run):
        label = "Speed-up of the slow calls and of the mean"
        fold(label, lambda: other_speedups_table(run), key="ex-quantiles", icon="speed")
    label = "Every timed call: how the times spread" + (", and the speed-up pair by pair" if run.comparisons else "")
    fold(label, lambda: call_times(study, run), key="ex-calls", icon="ssid_chart")


def _batch(study: Study, run: Experiment) -> None:
    st.markdown("  \n".join(reading(swept(study, run)["variant"])))
    fold("Curves, table and a p95 budget", lambda: batch_details(study, run), key="ex-batch", icon="show_chart")


def _operators(profile: OperatorProfile) -> None:
    st.markdown(operators_line(profile))
    if profile.before or profile.after:
        label = "Operators, before beside after" if profile.before and profile.after else "Operators"
        fold(label, lambda: operators_details(profile), key="ex-operators-box", icon="bar_chart")


def _resources(study: Study, run: Experiment) -> None:
    with st.grid(2, min_column_width=360):
        resources_card(study, run)
        threads_card(study, run)


def _quality(study: Study, run: Experiment, report: QualityReport) -> None:
    st.markdown(verdict_line(report))
    slices_card(study, report, baseline=run.is_baseline)
    if report.classes:
        what = "labels" if report.agreement.n_labels else "classes"
        label = f"{len(report.classes):,} {what} one by one"
        fold(label, lambda: classes_table(report.classes), key="ex-classes", icon="category")


def _agreement(study: Study, run: Experiment, report: QualityReport) -> None:
    agreement_cards(report)
    if run.conformance:
        edges_card(run.conformance)
    if report.calibration is not None and not report.agreement.n_labels:
        fold("Reliability diagram", lambda: reliability_details(run), key="ex-reliability", icon="query_stats")
    if has_answers(run):
        fold("Rows that differ most", lambda: worst_rows(study, run), key="ex-worst", icon="difference")


def _log(run: Experiment) -> None:
    if run.error is None:  # a run that failed has it on top
        fold("Log", lambda: log_tail(run), key="ex-log", icon="description")
    if run.environment:
        fold("Machine and versions", lambda: environment_table(run.environment), key="ex-environment", icon="memory")
