"""What a run says about time: a row per workload, and the speed-up of other quantities than the median."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from engine.records import Comparison, Experiment, Interval, Measurement
from engine.reports import numbers
from pages._ui.experiment.pair_ratios import quantity
from pages._ui.explanations import legend
from pages._ui.flags import merged
from pages._ui.parts import md_badge, warn

SPEED = {"faster": "Faster", "slower": "Slower", "no difference": "No difference", "cannot tell": "Cannot tell"}
FIGURES = {
    "p50": "p50_ms",
    "p95": "p95_ms",
    "p99": "p99_ms",
    "Items/s": "items_per_s",
    "Speed-up": "speedup",
    "Verdict": "speed_verdict",
    "Arrays": "prepare_ms",
    "Model": "model_ms",
    "Scores": "post_ms",
    "Timed calls": "n_calls",
    "Process pairs": "n_pairs",
}
NB = "\u00a0"


def timing_table(run: Experiment) -> None:
    """One row per workload: the original, this run, and what the pairs say."""
    rows = [timing_row(run, measured) for measured in run.measurements]
    st.table(pd.DataFrame(rows), border="horizontal", hide_index=True, alt="Latency and throughput per workload")
    first = run.measurements[0]
    st.caption(
        f"Of one call: arrays {numbers.latency(first.prepare_ms)}, model {numbers.latency(first.model_ms)}, scores "
        f"{numbers.latency(first.post_ms)} · {first.n_calls:,} timed calls in {first.n_pairs} process pairs"
    )
    warn(merged(run.measurements))
    legend(FIGURES, key="ex-times-legend")


def timing_row(run: Experiment, measured: Measurement) -> dict[str, str]:
    """One workload: the original, this run, and what the pairs say."""
    row = {"Batch": f"{measured.workload.batch_size:,}"}
    if len({one.workload.threads for one in run.measurements}) > 1:
        row["Threads"] = str(measured.workload.threads)
    before = next((m for m in run.baselines if m.workload == measured.workload), None)
    if before:
        row["Original p50"] = numbers.latency(before.p50_ms.value)
    row["p50"] = numbers.latency(measured.p50_ms.value)
    row["p95"] = _or_dash(measured.p95_ms)
    row["p99"] = _or_dash(measured.p99_ms)
    row["Items/s"] = numbers.rate(measured.items_per_s).split(numbers.SPACE)[0]
    found = next((c for c in run.comparisons if c.workload == measured.workload and c.quantile == 0.5), None)
    if found:
        row["Speed-up"] = speedup_text(found)
        row["Verdict"] = verdict_text(found)
    return row


def speedup_text(found: Comparison) -> str:
    """3.42× over a grey 3.31 to 3.55, each kept in one line."""
    return f"{1 / found.ratio:.2f}×  \n:gray[{1 / found.high:.2f}{NB}to{NB}{1 / found.low:.2f}]"


def verdict_text(found: Comparison) -> str:
    """The badge, and what would decide where the pairs could not tell."""
    text = md_badge(SPEED[found.verdict])
    if found.pairs_needed is None:
        return text
    return f"{text}  \n:gray[about{NB}{found.pairs_needed:,}{NB}pairs would decide]"


def other_speedups(run: Experiment) -> list[Comparison]:
    """What was compared besides the median."""
    return [one for one in run.comparisons if one.quantile != 0.5]


def other_speedups_table(run: Experiment) -> None:
    """Slow calls and the mean, which cost follows; a row per workload and quantity."""
    with_threads = len({one.workload.threads for one in run.comparisons}) > 1
    rows = []
    for one in other_speedups(run):
        row = {"Batch": f"{one.workload.batch_size:,}"}
        if with_threads:
            row["Threads"] = str(one.workload.threads)
        row |= {"Of the calls": quantity(one), "Speed-up": speedup_text(one), "Verdict": verdict_text(one)}
        rows.append(row)
    st.table(pd.DataFrame(rows), border="horizontal", hide_index=True, alt="Speed-up of slow calls and of the mean")
    st.caption(
        "Cost follows the mean, the patience of a user the tail. A quantity is missing where there were too few calls "
        "for it. Where the machine's scheduler made the tail, the processor time of the calls is compared instead."
    )


def _or_dash(value: Interval | None) -> str:
    return numbers.latency(value.value) if value else numbers.MISSING
