"""Build a chain of levers, choose how it is run and measured, and queue it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

import streamlit as st

from engine.errors import WhetstoneError
from engine.jobs.start import start_run
from engine.measurement.presets import PRESETS as PLANS
from engine.plugin import Lever, levers, reference_runtime, runtimes
from engine.records import Choice, Experiment, Manifest, Preset, Recipe, Step, Study, Workload
from pages._ui import loaders
from pages._ui.forms import parameters
from pages._ui.identity import current_user
from pages._ui.parts import badge, card_title, refusal
from pages._ui.steps.model import FORMATS
from pages._ui.text import plain
from pages._ui.words import PRESETS
from pages._ui.workloads import how_long, pick_batches, pick_threads, timed_workloads


def recipe_builder(study: Study, manifest: Manifest, runs: Sequence[Experiment]) -> None:
    """The recipe card with a form per step, then the levers that can be added."""
    chain: list[dict[str, Any]] = st.session_state.setdefault(f"st-chain-{study.id}", [])
    reached = end_format(manifest, chain)
    with st.container(border=True, key="st-recipe"):
        card_title("Recipe")
        if not chain:
            st.markdown(
                ":gray[Add one or more levers below; they are applied in order. "
                "With none, the original itself is run in the runtime chosen here.]"
            )
        steps = [_step_form(item, position, chain) for position, item in enumerate(chain)]
        recipe = Recipe(steps=tuple(step for step in steps if step)) if None not in steps else None
        runtime, preset = _how(reached)
        sizes, threads = _workloads(study, timed_workloads(runs, recipe, runtime))
        with st.container(horizontal=True, vertical_alignment="center"):
            # Also stops the second half of a double click, which finds the recipe empty again.
            nothing_new = not chain and runtime == _usual(reached)
            go = st.button(
                "Queue this run", type="primary", icon=":material/play_arrow:", key="st-go", disabled=nothing_new
            )
            st.caption(_beside_the_button(runs, recipe, sizes, threads, preset, nothing_new), width="content")
    if go and not nothing_new and recipe is not None and runtime and sizes and threads:
        _queue(study, recipe, runtime, sizes, threads, preset, chain)
    _catalogue(manifest.model_copy(update={"format": reached}), chain)


def _beside_the_button(
    runs: Sequence[Experiment],
    recipe: Recipe | None,
    sizes: Sequence[int],
    threads: Sequence[int],
    preset: Preset,
    nothing_new: bool,
) -> str:
    if nothing_new:
        return "Add a lever, or choose another runtime; the original is measured already."
    if not sizes or not threads:
        return "Choose at least one batch size and one number of threads."
    said = how_long(runs, recipe, sizes, threads, preset) if recipe is not None else None
    beside = "Measured beside the original, in the same process pairs."
    return beside if said is None else f"{said}. {beside}"


def end_format(manifest: Manifest, chain: list[dict[str, Any]]) -> str:
    """The format after the steps chosen so far."""
    reached = manifest.format
    for item in chain:
        reached = levers()[item["lever"]].produces or reached
    return reached


def _step_form(item: dict[str, Any], position: int, chain: list[dict[str, Any]]) -> Step | None:
    lever = levers()[item["lever"]]
    with st.container(border=True, key=f"st-step-{item['uid']}", gap="small"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown(f"**{position + 1}  {lever.title}**", width="content")
            st.button(
                "Remove",
                icon=":material/close:",
                type="tertiary",
                key=f"st-remove-{item['uid']}",
                help="Also removes the steps after it." if position < len(chain) - 1 else None,
                on_click=_cut,
                args=(chain, position),
            )
        try:
            return Step(lever=item["lever"], params=parameters(lever, f"st-{item['uid']}"))
        except WhetstoneError as error:
            refusal(error)
            return None


def _usual(model_format: str) -> Choice:
    """The reference runtime of a format as its form spells it when nothing was changed."""
    name = reference_runtime(model_format)
    return Choice(name=name, params=runtimes()[name]().model_dump())


def _how(model_format: str) -> tuple[Choice | None, Preset]:
    """Runtime and effort; None for a runtime whose settings cannot be used yet."""
    fitting = [name for name, cls in runtimes().items() if model_format in cls.accepts and not cls.missing_library()]
    with st.grid(2, min_column_width=200):
        name = st.selectbox(
            "Runtime", fitting, index=fitting.index(reference_runtime(model_format)),
            format_func=lambda key: runtimes()[key].title, key=f"st-runtime-{model_format}",
            help="What executes the model's file.",
        )  # fmt: skip
        preset = st.selectbox(
            "Effort", list(PRESETS), format_func=lambda key: PRESETS[key], index=1, key="st-preset",
            help="More pairs of fresh processes make narrower intervals and take longer.",
        )  # fmt: skip
    st.caption(plain(PLANS[preset].resolves, 300))
    try:
        runtime = runtimes()[name]
        params = parameters(runtime, f"st-runtime-{name}") if runtime.model_fields else {}
    except WhetstoneError as error:
        refusal(error)
        return None, preset
    return Choice(name=name, params=params), preset


def _workloads(study: Study, timed: set[Workload]) -> tuple[list[int], list[int]]:
    """Batch sizes and threads; empty where they cannot be read."""
    try:
        return pick_batches(study, timed), pick_threads(study)
    except WhetstoneError as error:
        refusal(error)
        return [], []


def _queue(
    study: Study,
    recipe: Recipe,
    runtime: Choice,
    sizes: list[int],
    threads: list[int],
    preset: Preset,
    chain: list[dict[str, Any]],
) -> None:
    try:
        start_run(
            loaders.ledger(), study, recipe,
            runtime=runtime, batch_sizes=sizes, threads=threads, preset=preset, created_by=current_user(),
        )  # fmt: skip
    except WhetstoneError as error:
        refusal(error)
        return
    chain.clear()
    st.toast("Queued.", icon=":material/check:")
    st.rerun()


def _catalogue(reached: Manifest, chain: list[dict[str, Any]]) -> None:
    st.subheader("Levers", anchor=False)
    reasons = {name: cls.fits(reached, loaders.machine()) for name, cls in levers().items()}
    with st.grid(3, min_column_width=236):
        for name in sorted(reasons, key=lambda name: (reasons[name] is not None, name)):
            _lever_card(name, levers()[name], reasons[name], chain, reached.format)


def _bridge(lever: type[Lever], model_format: str) -> str | None:
    """The title of a lever after which this one fits, or None."""
    if model_format in lever.accepts:
        return None
    ways = (cls for cls in levers().values() if model_format in cls.accepts and cls.produces in lever.accepts)
    return next((cls.title for cls in ways), None)


def _lever_card(
    name: str, lever: type[Lever], reason: str | None, chain: list[dict[str, Any]], model_format: str
) -> None:
    slug = name.replace(".", "-")
    what = (lever.__doc__ or "").strip().splitlines()[0]
    with st.container(border=True, height="stretch", key=f"{'unfit' if reason else 'lever'}-st-{slug}", gap="small"):
        if reason:
            st.markdown(f":gray[**{lever.title}**]")
            badge("Does not fit")
            st.markdown(f":gray[{plain(_readable(reason), 200)}]")
            if bridge := _bridge(lever, model_format):
                st.markdown(f":gray[Add “{bridge}” to the recipe first.]")
            return
        st.markdown(f"**{lever.title}**")
        st.markdown(plain(what, 300))
        st.space("stretch")
        st.button("Add to the recipe", icon=":material/add:", key=f"st-add-{slug}", on_click=_add, args=(chain, name))


def _readable(reason: str) -> str:
    for code, word in FORMATS.items():
        reason = reason.replace(code, word)
    return reason[0].upper() + reason[1:] + "."


_UIDS = count(1)


def _add(chain: list[dict[str, Any]], name: str) -> None:
    chain.append({"lever": name, "uid": next(_UIDS)})


def _cut(chain: list[dict[str, Any]], position: int) -> None:
    del chain[position:]
