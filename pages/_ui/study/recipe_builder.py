"""Put a chain of levers together, choose how it is run and measured, and queue it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from engine.errors import DoesNotFit, WhetstoneError
from engine.jobs.start import start_run
from engine.measurement.presets import PRESETS as PLANS
from engine.plugin import reference_runtime, runtimes
from engine.recipe import walk
from engine.records import Choice, ExperimentSummary, Manifest, Preset, Recipe, Study
from pages._ui import loaders
from pages._ui.explanations import about
from pages._ui.forms import parameters
from pages._ui.identity import current_user
from pages._ui.parts import card_title, refusal
from pages._ui.study.chain import Draft, draft_of
from pages._ui.study.lever_cards import lever_cards
from pages._ui.study.recipe_steps import beginning, step_form
from pages._ui.study.workloads import Cells, cells_grid, how_long, pick_cells, timed_workloads
from pages._ui.text import plain
from pages._ui.words import PRESETS


def recipe_builder(study: Study, manifest: Manifest, runs: Sequence[ExperimentSummary]) -> None:
    """The recipe card with a form per step, then the levers that can be added."""
    draft = draft_of(study.id)
    stations = walk([item.cls for item in draft.steps], manifest, loaders.machine())
    reached = stations[-1].after if stations else manifest
    with st.container(border=True, key="st-recipe"):
        card_title("Recipe", help=about("recipe builder"))
        beginning(draft, manifest)
        steps = [step_form(draft, position, station) for position, station in enumerate(stations)]
        recipe = Recipe(steps=tuple(step for step in steps if step)) if None not in steps else None
        runtime, preset = _how(draft, reached)
        cells = pick_cells(study, timed_workloads(runs, recipe, runtime))
        _queue_row(study, draft, runs, recipe, runtime, cells, preset, reached)
    lever_cards(reached, draft)


def _usual(model_format: str) -> Choice | None:
    """The reference runtime of a format as its form spells it when nothing was changed; None: nothing opens it."""
    try:
        name = reference_runtime(model_format)
    except DoesNotFit:
        return None
    return Choice(name=name, params=runtimes()[name]().model_dump())


def _how(draft: Draft, reached: Manifest) -> tuple[Choice | None, Preset]:
    """Runtime and effort; None for a runtime whose settings cannot be used yet."""
    machine = loaders.machine()
    fitting = [name for name, cls in runtimes().items() if cls.fits(reached, machine) is None]
    usual = _usual(reached.format)
    wishes = [choice.name for choice in (draft.runtime, usual) if choice and choice.name in fitting]
    st.session_state.setdefault("st-preset", "standard")
    key = f"st-runtime-{reached.format}-{draft.uid}"
    with st.grid(2, min_column_width=200):
        name = st.selectbox(
            "Runtime", fitting, index=fitting.index(wishes[0]) if wishes else 0,
            format_func=lambda one: runtimes()[one].title, key=key, help="What executes the model's file.",
        )  # fmt: skip
        preset = st.selectbox(
            "Effort", list(PRESETS), format_func=lambda one: PRESETS[one], key="st-preset",
            help="More pairs of fresh processes make narrower intervals and take longer.",
        )  # fmt: skip
    st.caption(plain(PLANS[preset].resolves, 300))
    if name is None:
        st.markdown(":red[Nothing on this machine runs this format; add a step that gives another one.]")
        return None, preset
    given = draft.runtime.params if draft.runtime and draft.runtime.name == name else None
    try:
        runtime = runtimes()[name]
        params = parameters(runtime, f"{key}-{name}", given) if runtime.model_fields else {}
    except WhetstoneError as error:
        refusal(error)
        return None, preset
    return Choice(name=name, params=params), preset


def _queue_row(
    study: Study,
    draft: Draft,
    runs: Sequence[ExperimentSummary],
    recipe: Recipe | None,
    runtime: Choice | None,
    cells: Cells,
    preset: Preset,
    reached: Manifest,
) -> None:
    """What would be run and how long it takes; then the button."""
    nothing_new = not draft.steps and runtime == _usual(reached.format)
    ready = recipe is not None and runtime is not None and bool(cells.sizes and cells.threads)
    if ready and not nothing_new:
        cells_grid(cells)
    with st.container(horizontal=True, vertical_alignment="center"):
        # Also stops the second half of a double click, which finds the recipe empty again.
        go = st.button(
            "Queue this run",
            type="primary",
            icon=":material/play_arrow:",
            key="st-go",
            disabled=nothing_new or not ready,
        )
        st.caption(_beside_the_button(runs, recipe, cells, preset, nothing_new=nothing_new), width="content")
    if go and ready and not nothing_new:
        assert recipe is not None
        assert runtime is not None
        _queue(study, recipe, runtime, cells, preset, draft)


def _beside_the_button(
    runs: Sequence[ExperimentSummary], recipe: Recipe | None, cells: Cells, preset: Preset, *, nothing_new: bool
) -> str:
    if nothing_new:
        measured = any(run.is_baseline and run.status == "succeeded" for run in runs)
        asked = "Add a lever, or choose another runtime"
        return f"{asked}; the original is measured already." if measured else f"{asked}."
    if recipe is None:
        return "A step does not fit yet; see above."
    if not cells.sizes or not cells.threads:
        return "Choose at least one batch size and one number of threads."
    said = how_long(runs, recipe, cells, preset)
    beside = "Measured beside the original, in the same process pairs."
    return beside if said is None else f"{said}. {beside}"


def _queue(study: Study, recipe: Recipe, runtime: Choice, cells: Cells, preset: Preset, draft: Draft) -> None:
    try:
        ids = start_run(
            loaders.ledger(), study, recipe,
            runtime=runtime, batch_sizes=cells.sizes, threads=cells.threads, preset=preset, created_by=current_user(),
        )  # fmt: skip
    except WhetstoneError as error:
        refusal(error)
        return
    draft.clear()
    st.toast("Queued." if len(ids) == 1 else f"Queued: {len(ids)} runs, one per step.", icon=":material/check:")
    st.rerun()
