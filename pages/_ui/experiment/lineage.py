"""From the uploaded model to the result: what each step changed, and the runs this one grew from or led to."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pandas as pd
import streamlit as st

from engine.records import Experiment, Manifest, Recipe, Study, TensorSpec
from engine.records.summary import ExperimentSummary
from engine.reports import numbers
from pages._ui import loaders
from pages._ui.explanations import legend
from pages._ui.new_study.model import FORMATS
from pages._ui.parts import tone
from pages._ui.text import plain
from pages._ui.variants import name_of, step_name

FIGURES = {"Size": "size_bytes", "Content": "content_id"}
N_LINKS, N_NOTES = 6, 6


def lineage(study: Study, run: Experiment) -> None:
    """A row per step, then the ways to the runs around this one."""
    original, name = loaders.model(study.model_id, loaders.version())
    rows = [_row(plain(name, 60), original, "The uploaded model")]
    for before, after in pairwise([original, *run.chain]):
        title = step_name(after.step) if after.step else "Step"
        rows.append(_row(plain(title, 80), after, "  \n".join(changes(before, after)) or "nothing", before))
    st.table(pd.DataFrame(rows), border="horizontal", hide_index=True, alt="The model after each step")
    legend(FIGURES, key="ex-lineage-legend")
    _around(run, loaders.summaries(study.id, loaders.version()))


def _row(title: str, manifest: Manifest, changed: str, before: Manifest | None = None) -> dict[str, str]:
    size = numbers.size(manifest.size_bytes)
    if before and before.size_bytes != manifest.size_bytes:
        size += f"  \n{tone(*numbers.change(manifest.size_bytes, before.size_bytes))}"
    return {
        "Step": title,
        "What it changed": changed,
        "Format": FORMATS.get(manifest.format, manifest.format),
        "Size": size,
        "Content": f"`{manifest.id[:12]}`",
    }


def changes(before: Manifest, after: Manifest) -> list[str]:
    """What is different after a step, a line each; safe Markdown."""
    said = []
    if before.format != after.format:
        said.append(f"{FORMATS.get(before.format, before.format)} → {FORMATS.get(after.format, after.format)}")
    for what, old, new in (
        ("trees", before.n_trees, after.n_trees),
        ("parameters", before.n_parameters, after.n_parameters),
    ):
        if old is not None and new is not None and old != new:
            said.append(f"{old:,} → {new:,} {what}")
    said += _of_inputs(before.signature.inputs, after.signature.inputs)
    if before.operators and after.operators:
        if more := sorted(set(after.operators) - set(before.operators)):
            said.append(plain(f"adds the operators {_listed(more)}", 200))
        if fewer := sorted(set(before.operators) - set(after.operators)):
            said.append(plain(f"drops the operators {_listed(fewer)}", 200))
    known = " ".join(said)
    notes = [
        f"{key.replace('_', ' ')} {flat(value)}"
        for key, value in after.notes.items()
        if "bytes" not in key and flat(value) not in known
    ]
    return [*said, *(f":gray[{plain(note, 160)}]" for note in notes[:N_NOTES])]


def _of_inputs(before: Sequence[TensorSpec], after: Sequence[TensorSpec]) -> list[str]:
    old = {spec.name: spec for spec in before}
    said = []
    for spec in after:
        was = old.get(spec.name)
        if was is not None and was.dtype != spec.dtype:
            said.append(plain(f"input {spec.name}: {was.dtype} → {spec.dtype}", 120))
        if was is not None and was.columns and spec.columns and len(was.columns) != len(spec.columns):
            said.append(f"{len(was.columns):,} → {len(spec.columns):,} features")
    return said


def _listed(names: Sequence[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def flat(value: Any) -> str:
    """Any JSON value in one line."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {flat(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}" if isinstance(value, float) else str(value)


def starts_with(recipe: Recipe, beginning: Recipe) -> bool:
    """True when `beginning` is a shorter chain whose steps are the first of `recipe`."""
    n_steps = len(beginning.steps)
    return n_steps < len(recipe.steps) and recipe.steps[:n_steps] == beginning.steps


def parents(run: Experiment, others: Sequence[ExperimentSummary]) -> list[ExperimentSummary]:
    """The newest finished run of every beginning of this chain, the shortest first; the baseline is the first."""
    newest: dict[int, ExperimentSummary] = {}
    for one in sorted(others, key=lambda other: other.id):
        if one.status == "succeeded" and starts_with(run.spec.recipe, one.spec.recipe):
            newest[len(one.spec.recipe.steps)] = one
    return [newest[n_steps] for n_steps in sorted(newest)]


def children(run: Experiment, others: Sequence[ExperimentSummary]) -> list[ExperimentSummary]:
    """Finished runs whose chain begins with this one, the nearest first."""
    found = [one for one in others if one.status == "succeeded" and starts_with(one.spec.recipe, run.spec.recipe)]
    return sorted(found, key=lambda one: (len(one.spec.recipe.steps), one.id))


def _around(run: Experiment, others: Sequence[ExperimentSummary]) -> None:
    _links("Grew from", "arrow_upward", parents(run, others))
    if run.spec.recipe.steps:  # everything begins with the original
        _links("Led to", "arrow_downward", children(run, others))


def _links(label: str, icon: str, runs: Sequence[ExperimentSummary]) -> None:
    if not runs:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(label, width="content")
        for one in runs[:N_LINKS]:
            st.page_link(
                "experiment.py", label=plain(name_of(one), 60), icon=f":material/{icon}:", query_params={"id": one.id}
            )
        if len(runs) > N_LINKS:
            st.caption(f"and {len(runs) - N_LINKS} more", width="content")
