"""What one serving process needs besides time, and what more threads bring."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st

from engine.records import Experiment, Measurement, Study
from engine.reports import numbers
from pages._ui import loaders
from pages._ui.explanations import about, legend
from pages._ui.parts import card_title, tone
from pages._ui.study.baseline import primary

FIGURES = {
    "Peak memory": "peak_bytes",
    "Size on disk": "size_bytes",
    "Compressed": "compressed_bytes",
    "Load": "load_ms",
    "First call": "cold_start_ms",
    "Cores used": "cpu_utilisation",
    "Empty call": "floor_ms",
}
THREAD_FIGURES = {"p50": "p50_ms", "Items/s": "items_per_s", "Gain": "thread_gain", "Cores used": "cpu_utilisation"}
Row = tuple[str, Callable[[float | None], str], float | None, float | None]  # name, how it is written, before, after


def resources_card(study: Study, run: Experiment) -> None:
    """Memory, size, load and processor, the original beside this run."""
    after = primary(run, study)
    if after is None:
        return
    before = next((one for one in run.baselines if one.workload == after.workload), None)
    with st.container(border=True, height="stretch", key="ex-resources", gap="small"):
        card_title("Memory, size and start", help=about("resources"))
        st.table(resources(study, run, after, before), border="horizontal", hide_index=True, alt="Resources")
        legend(FIGURES, key="ex-resources-legend")
        st.caption(
            "Of one fresh serving process at the study's batch. The compressed size is what travels to a replica."
        )


def resources(study: Study, run: Experiment, after: Measurement, before: Measurement | None) -> pd.DataFrame:
    """One row per resource; without an original a single column of values."""
    original, _ = loaders.model(study.model_id, loaders.version())
    sizes = (original.size_bytes, run.artefact.size_bytes if run.artefact else None)
    rows: list[Row] = [
        ("Peak memory", numbers.size, *_both("peak_bytes", before, after)),
        ("Size on disk", numbers.size, *sizes),
        ("Compressed", numbers.size, _compressed_original(study) if before else None, run.compressed_bytes),
        ("Load", numbers.latency, *_both("load_ms", before, after)),
        ("First call", numbers.latency, *_both("cold_start_ms", before, after)),
        ("Cores used", _cores, *_both("cpu_utilisation", before, after)),
        ("Empty call", numbers.latency, *_both("floor_ms", before, after)),
        ("Accelerator used", numbers.percent, *_both("accelerator_utilisation", before, after)),
        ("Accelerator memory", numbers.size, *_both("accelerator_peak_bytes", before, after)),
    ]
    kept = [row for row in rows if row[2] is not None or row[3] is not None]
    table = {"": [name for name, *_ in kept]}
    if before:
        table["Original"] = [write(old) for _, write, old, _ in kept]
    table["This run" if before else "Original"] = [write(new) for _, write, _, new in kept]
    if before:
        table["Change"] = [_change(name, old, new) for name, _, old, new in kept]
    return pd.DataFrame(table)


def _both(field: str, before: Measurement | None, after: Measurement) -> tuple[float | None, float | None]:
    return None if before is None else getattr(before, field), getattr(after, field)


def threads_card(study: Study, run: Experiment) -> None:
    """One row per number of threads, at the study's batch or the first that has several; nothing without a sweep."""
    batch = _swept_batch(study, run.measurements)
    if batch is None:
        return
    with st.container(border=True, height="stretch", key="ex-threads", gap="small"):
        card_title("Threads", help=about("threads"))
        st.table(thread_table(run, batch), border="horizontal", hide_index=True, alt="Call time by number of threads")
        st.caption(f"At {batch:,} per call. Grey: the intervals of both overlap.")
        legend(THREAD_FIGURES, key="ex-threads-legend")


def thread_table(run: Experiment, batch: int) -> pd.DataFrame:
    """Call time, gain over the fewest threads, and cores used, by number of threads."""
    chosen = sorted((one for one in run.measurements if one.workload.batch_size == batch), key=_threads)
    least = chosen[0]
    before = {_threads(one): one for one in run.baselines if one.workload.batch_size == batch}
    columns = {"Threads": [str(_threads(one)) for one in chosen]}
    if before:
        columns["Original p50"] = [numbers.latency(before[_threads(one)].p50_ms.value) for one in chosen]
    columns["p50"] = [numbers.latency(one.p50_ms.value) for one in chosen]
    columns["Items/s"] = [numbers.rate(one.items_per_s).split(numbers.SPACE)[0] for one in chosen]
    columns["Gain"] = ["1" if one is least else _gain(least, one) for one in chosen]
    columns["Cores used"] = [_cores(one.cpu_utilisation) for one in chosen]
    return pd.DataFrame(columns)


def _threads(one: Measurement) -> int:
    return one.workload.threads


def _gain(least: Measurement, more: Measurement) -> str:
    """How many times sooner; grey where the two intervals overlap."""
    text = f"{least.p50_ms.value / more.p50_ms.value:.2f}×"
    (low, high), (other_low, other_high) = (
        (one.p50_ms.low or one.p50_ms.value, one.p50_ms.high or one.p50_ms.value) for one in (least, more)
    )
    apart = high < other_low or other_high < low
    noise = tone("within\u00a0noise", "same")
    return text if apart else f"{text}  \n{noise}"


def _swept_batch(study: Study, measured: Sequence[Measurement]) -> int | None:
    counts: dict[int, set[int]] = {}
    for one in measured:
        counts.setdefault(one.workload.batch_size, set()).add(_threads(one))
    swept = sorted(size for size, threads in counts.items() if len(threads) > 1)
    if not swept:
        return None
    return study.workload.batch_size if study.workload.batch_size in swept else swept[0]


def _compressed_original(study: Study) -> int | None:
    runs = loaders.summaries(study.id, loaders.version())
    return next((run.compressed_bytes for run in reversed(runs) if run.is_baseline and run.compressed_bytes), None)


def _cores(share: float | None) -> str:
    return numbers.MISSING if share is None else f"{share:.2f}"


def _change(name: str, old: float | None, new: float | None) -> str:
    if not old or new is None:
        return numbers.MISSING
    if name not in ("Size on disk", "Compressed"):  # measured once per process: a figure, not a finding
        return f":gray[{new / old:.2f}×]"
    return tone(*numbers.change(new, old)) if new != old else ":gray[the same]"
