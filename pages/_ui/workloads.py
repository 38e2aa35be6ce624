"""Which batch sizes and threads a run is timed at: what to pick from, what is timed already, how long it takes."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from engine.errors import WhetstoneError
from engine.measurement.batch import SIZES
from engine.measurement.estimate import estimate_s
from engine.recipe import normalised
from engine.records import Choice, Experiment, Preset, Recipe, Study, Workload
from engine.reports import numbers
from pages._ui import loaders
from pages._ui.forms import numbers_in

LARGER = (256, 512, 1024)


def pick_batches(study: Study, timed: set[Workload]) -> list[int]:
    """Pills of sizes, a preset that ticks the powers of two, and a field for others. Raises InvalidRequest."""
    if study.signature.fixed_batch:
        st.caption(f"Items per call: this model takes {study.signature.fixed_batch:,} only.")
        return [study.signature.fixed_batch]
    primary, key = study.workload.batch_size, f"pick-st-batches-{study.id}"
    st.session_state.setdefault(key, [primary])
    sizes = sorted({*SIZES, *LARGER, primary})
    done = {one.batch_size for one in timed if one.threads == study.workload.threads}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.pills(
            "Items per call",
            sizes,
            selection_mode="multi",
            key=key,
            format_func=lambda size: f"{size:,}{' :material/check:' if size in done else ''}",
            help="Batch sizes to time. A tick: this recipe was timed at it already.",
        )
        other = st.text_input("Others", placeholder="24, 500", key="st-batches-other", width=110)
        st.button(
            "Powers of two",
            icon=":material/apps:",
            type="tertiary",
            key="st-batches-sweep",
            help="1, 2, 4 … 128: a batch sweep, with its fitted line and the point where throughput flattens.",
            on_click=_tick,
            args=(key, [*SIZES, primary]),
        )
    return sorted({*(chosen or ()), *(numbers_in(other, "Others") if other.strip() else ())})


def pick_threads(study: Study) -> list[int]:
    """Pills of thread numbers, where this machine has more than one core."""
    cores = int(str(loaders.machine()["usable_cores"]))
    counts = sorted({study.workload.threads, *(2**power for power in range(8) if 2**power <= cores)})
    if len(counts) == 1:
        return counts
    key = f"pick-st-threads-{study.id}"
    st.session_state.setdefault(key, [study.workload.threads])
    chosen = st.pills(
        "Threads", counts, selection_mode="multi", key=key, help="Of one process. Several: every batch at each of them."
    )
    return sorted(chosen or ())


def timed_workloads(runs: Sequence[Experiment], recipe: Recipe | None, runtime: Choice | None) -> set[Workload]:
    """Workloads at which the same chain in the same runtime was timed; the original's for an empty chain."""
    if recipe is None or runtime is None:
        return set()
    try:
        asked = normalised(recipe)
    except WhetstoneError:
        return set()
    same = (run for run in runs if run.spec.recipe == asked and run.spec.runtime.name == runtime.name)
    return {one.workload for run in same if run.status == "succeeded" for one in run.measurements}


def how_long(
    runs: Sequence[Experiment], recipe: Recipe, sizes: Sequence[int], threads: Sequence[int], preset: Preset
) -> str | None:
    """'Timing takes about 48 s', judged by the newest baseline; None before there is one, or with nothing to time."""
    known = next((run for run in reversed(runs) if run.is_baseline and run.status == "succeeded"), None)
    workloads = [Workload(batch_size=size, threads=count) for count in threads for size in sizes]
    if known is None or not workloads:
        return None
    n_runs = 1 + sum(_is_new(runs, recipe, length, workloads) for length in range(1, len(recipe.steps)))
    seconds = n_runs * estimate_s(preset, workloads, known.measurements)
    steps = f" for {n_runs} runs, each step its own row" if n_runs > 1 else ""
    return f"Timing takes about {numbers.duration(seconds)}{steps}"


def _is_new(runs: Sequence[Experiment], recipe: Recipe, length: int, workloads: Sequence[Workload]) -> bool:
    part = normalised(Recipe(steps=recipe.steps[:length]))
    alive = (run for run in runs if run.status in ("queued", "running", "succeeded"))
    return not any(run.spec.recipe == part and set(workloads) <= set(run.spec.workloads) for run in alive)


def _tick(key: str, sizes: list[int]) -> None:
    st.session_state[key] = sorted(set(sizes))
