"""Every timed call of a run, from its file of raw samples: how the times spread, original beside variant."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from engine.measurement.statistics import QUANTILES, percentile
from engine.records import Experiment, Interval, Study, Workload
from engine.reports import numbers
from pages._ui.charts import show
from pages._ui.experiment import raw_calls
from pages._ui.experiment.call_charts import STYLE, Times, histogram, spread_chart
from pages._ui.experiment.pair_ratios import pair_ratios
from pages._ui.explanations import about
from pages._ui.flags import workload_text
from pages._ui.parts import card_title
from pages._ui.text import file_stem
from pages._ui.variants import name_of


def call_times(study: Study, run: Experiment) -> None:
    """Histogram and shares of all calls, their percentiles, pair by pair, and the file to take away."""
    workloads = [measured.workload for measured in run.measurements]
    chosen = _workload(workloads, study.workload)
    samples = run.measurements[workloads.index(chosen)].samples
    try:
        arms = raw_calls.read(samples, chosen)
    except FileNotFoundError:
        st.caption("The raw samples of this run are not on this machine; they stay where it was measured.")
        return
    times = {arm: np.sort(calls.ms) for arm, calls in arms.items()}
    with st.grid(2, min_column_width=360):
        with st.container(gap="xsmall"):
            card_title("How often each time was seen", help=about("call times"))
            show(histogram(times), "ex-calls-histogram", f"Histogram of the time of a call. {_alt(times)}")
        with st.container(gap="xsmall"):
            card_title("Share of calls that took at most so long", help=about("call times"))
            show(spread_chart(times), "ex-calls-chart", f"Cumulative share of calls by time. {_alt(times)}")
    st.caption(
        "How to read it: the further left, the faster; a hump to the right is a kind of call that takes longer. Lines "
        "and marks are p50, p95 and p99, as far as there are calls enough for them. The axis ends where 99.9% of the "
        "slower side's calls are shown."
    )
    st.table(percentiles(times), border="horizontal", hide_index=True, alt="Percentiles of the timed calls")
    pair_ratios(arms, [one for one in run.comparisons if one.workload == chosen])
    st.download_button(
        "All calls of all batch sizes (Arrow)",
        data=lambda: raw_calls.path_of(samples).read_bytes(),
        file_name=f"{file_stem(name_of(run))}-calls.arrow",
        mime="application/vnd.apache.arrow.file",
        icon=":material/download:",
        type="tertiary",
        key="ex-calls-arrow",
        on_click="ignore",
        help="One row per call: pair, arm, batch, threads, round, first row, ns, processor ns. pandas.read_feather.",
    )


def _workload(workloads: Sequence[Workload], usual: Workload) -> Workload:
    if len(workloads) == 1:
        return workloads[0]
    with_threads = len({one.threads for one in workloads}) > 1
    return st.selectbox(
        "Workload", workloads, index=workloads.index(usual) if usual in workloads else 0, key="ex-calls-workload",
        width=240, help=about("call times"),
        format_func=lambda one: workload_text(one, with_threads=with_threads).capitalize(),
    )  # fmt: skip


def percentiles(arms: Times) -> pd.DataFrame:
    """One row per arm: calls, fastest, p50, p95 and p99 with their intervals where there are calls enough, slowest."""
    rows = []
    for arm, times in arms.items():
        row = {"": STYLE[arm][0].capitalize(), "Calls": f"{len(times):,}", "Fastest": numbers.latency(float(times[0]))}
        row |= {f"p{q * 100:g}": _with_interval(percentile(times, q)) for q in QUANTILES}
        row |= {"Slowest": numbers.latency(float(times[-1]))}
        row |= {"Slowest / p50": numbers.times(float(times[-1]) / float(np.median(times)))}
        rows.append(row)
    return pd.DataFrame(rows)


def _with_interval(found: Interval | None) -> str:
    if found is None:
        return f"{numbers.MISSING}  \n:gray[too few calls]"
    if found.low is None or found.high is None:
        return numbers.latency(found.value)
    span = numbers.between(numbers.latency(found.low), numbers.latency(found.high)).replace(" ", "\u00a0")
    return f"{numbers.latency(found.value)}  \n:gray[{span}]"


def _alt(arms: Times) -> str:
    return "; ".join(
        f"{STYLE[arm][0]}: half of {len(times):,} calls within {numbers.latency(float(np.median(times)))}, "
        f"the slowest {numbers.latency(float(times[-1]))}"
        for arm, times in arms.items()
    )
