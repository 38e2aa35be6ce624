"""Which batch sizes and threads a run is timed at: what to pick from, what is timed already, how long it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from engine.errors import WhetstoneError
from engine.measurement.batch import SIZES
from engine.measurement.estimate import estimate_s
from engine.recipe import normalised, normalised_choice
from engine.records import Choice, ExperimentSummary, Preset, Recipe, Study, Workload
from engine.reports import numbers
from pages._ui import loaders
from pages._ui.forms import numbers_in
from pages._ui.parts import refusal
from pages._ui.study.chain import batches_key, threads_key

LARGER = (256, 512, 1024)


@dataclass(frozen=True)
class Cells:
    """Every chosen batch size at every chosen number of threads. timed: p50 in ms of those this recipe has already."""

    sizes: list[int]
    threads: list[int]
    timed: Mapping[Workload, float]

    @property
    def workloads(self) -> list[Workload]:
        """What would be run."""
        return [Workload(batch_size=size, threads=count) for count in self.threads for size in self.sizes]

    @property
    def n_new(self) -> int:
        """How many of them were never timed."""
        return sum(one not in self.timed for one in self.workloads)


def pick_cells(study: Study, timed: Mapping[Workload, float]) -> Cells:
    """Draw the pickers; no sizes and no threads where what was typed cannot be read."""
    try:
        return Cells(_pick_batches(study, timed), _pick_threads(study), timed)
    except WhetstoneError as error:
        refusal(error)
        return Cells([], [], timed)


def _pick_batches(study: Study, timed: Mapping[Workload, float]) -> list[int]:
    """Pills of sizes, presets that tick several, and a field for others. Raises InvalidRequest."""
    if study.signature.fixed_batch:
        st.caption(f"Items per call: this model takes {study.signature.fixed_batch:,} only.")
        return [study.signature.fixed_batch]
    primary, key = study.workload.batch_size, batches_key(study.id)
    picked = st.session_state.setdefault(key, [primary])
    sizes = sorted({*SIZES, *LARGER, primary, *picked})
    done = {one.batch_size for one in timed if one.threads == study.workload.threads}
    chosen = st.pills(
        "Items per call",
        sizes,
        selection_mode="multi",
        key=key,
        format_func=lambda size: f"{size:,}{' :material/check:' if size in done else ''}",
        help="Batch sizes to time. A tick: this recipe was timed at it already.",
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
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
        if done & set(chosen or ()) and set(chosen or ()) - done:
            st.button(
                "Only what is new",
                icon=":material/filter_alt:",
                type="tertiary",
                key="st-batches-new",
                help="Leaves out the sizes that this recipe was timed at already.",
                on_click=_tick,
                args=(key, sorted(set(chosen or ()) - done)),
            )
    return sorted({*(chosen or ()), *(numbers_in(other, "Others") if other.strip() else ())})


def _pick_threads(study: Study) -> list[int]:
    """Pills of thread numbers, where this machine has more than one core."""
    cores = int(str(loaders.machine()["usable_cores"]))
    counts = sorted({study.workload.threads, *(2**power for power in range(8) if 2**power <= cores)})
    if len(counts) == 1:
        return counts
    key = threads_key(study.id)
    picked = st.session_state.setdefault(key, [study.workload.threads])
    if not set(picked) <= set(counts):  # another machine's
        st.session_state[key] = [count for count in picked if count in counts]
    chosen = st.pills(
        "Threads", counts, selection_mode="multi", key=key, help="Of one process. Several: every batch at each of them."
    )
    return sorted(chosen or ())


def timed_workloads(
    runs: Sequence[ExperimentSummary], recipe: Recipe | None, runtime: Choice | None
) -> dict[Workload, float]:
    """Workload -> p50 in ms, where the same chain in the same runtime was timed; the newest counts."""
    if recipe is None or runtime is None:
        return {}
    try:
        asked, choice = normalised(recipe), normalised_choice(runtime)
    except WhetstoneError:
        return {}
    same = (run for run in runs if run.spec.recipe == asked and run.spec.runtime == choice)
    return {one.workload: one.p50_ms.value for run in same for one in run.measurements}


def cells_grid(cells: Cells) -> None:
    """What would be timed, and what is timed already (shaded), a row per number of threads."""
    known = {one for one in cells.timed if one.threads in cells.threads}
    if len(cells.workloads) + len(known) < 3:
        return
    asked = set(cells.workloads)
    sizes = sorted({one.batch_size for one in asked | known})
    table = {"Threads": [f"{count}" for count in cells.threads]}
    for size in sizes:
        row = [Workload(batch_size=size, threads=count) for count in cells.threads]
        table[f"Batch {size:,}" if size == sizes[0] else f"{size:,}"] = [_cell(one, asked, cells.timed) for one in row]
    st.table(pd.DataFrame(table), border="horizontal", hide_index=True, alt="What would be timed")
    if known:
        st.caption("Shaded: this recipe in this runtime was timed there already (p50).")


def _cell(one: Workload, asked: set[Workload], timed: Mapping[Workload, float]) -> str:
    known = timed.get(one)
    if known is None:
        return ":blue[:material/timer: new]" if one in asked else ":gray[–]"
    again = " :blue[:material/timer: again]" if one in asked else ""
    return f":gray-background[:material/check: {numbers.latency(known)}]{again}"


def how_long(runs: Sequence[ExperimentSummary], recipe: Recipe, cells: Cells, preset: Preset) -> str | None:
    """'Timing takes about 48 s for 2 runs of 8 cells each', by the newest baseline; None before there is one."""
    known = next((run for run in reversed(runs) if run.is_baseline and run.status == "succeeded"), None)
    if known is None or not cells.workloads:
        return None
    n_runs = 1 + sum(_is_new(runs, recipe, length, cells.workloads) for length in range(1, len(recipe.steps)))
    seconds = n_runs * estimate_s(preset, cells.workloads, known.measurements)
    n_cells = len(cells.workloads)
    size = f" of {n_cells} cells{' each' if n_runs > 1 else ''}" if n_cells > 1 else ""
    steps = f" for {n_runs} runs{size}, each step its own row" if n_runs > 1 else f" for one run{size}"
    again = "" if cells.n_new else "; nothing of it is new"
    return f"Timing takes about {numbers.duration(seconds)}{steps}{again}"


def _is_new(runs: Sequence[ExperimentSummary], recipe: Recipe, length: int, workloads: Sequence[Workload]) -> bool:
    part = normalised(Recipe(steps=recipe.steps[:length]))
    alive = (run for run in runs if run.status in ("queued", "running", "succeeded"))
    return not any(run.spec.recipe == part and set(workloads) <= set(run.spec.workloads) for run in alive)


def _tick(key: str, sizes: list[int]) -> None:
    st.session_state[key] = sorted(set(sizes))
