"""Every timed call of a run, from its file of raw samples: how the times spread, original beside variant."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
import pyarrow as pa
import streamlit as st

from engine.records import Experiment, FileRef, Study, Workload
from engine.reports import numbers
from engine.settings import settings
from pages._ui.charts import CATEGORY, MUTED, frame, line, note, show
from pages._ui.explanations import about
from pages._ui.flags import workload_text

N_POINTS, LABEL_AT = 400, 0.75
STYLE = {"baseline": ("original", MUTED, "dot"), "variant": ("this run", CATEGORY[0], "solid")}
WIDE = 20.0  # times from the fastest to the slowest call, from which on the axis is logarithmic


def call_times(study: Study, run: Experiment) -> None:
    """An expander; the file is read when it is opened."""
    box = st.expander("Every timed call", icon=":material/ssid_chart:", key="ex-calls", on_change="rerun")
    if not box.open:
        return
    with box:
        workloads = [measured.workload for measured in run.measurements]
        with_threads = len({one.threads for one in workloads}) > 1
        start = workloads.index(study.workload) if study.workload in workloads else 0
        chosen = st.selectbox(
            "Workload", workloads, index=start, key="ex-calls-workload", width=240, help=about("call times"),
            format_func=lambda one: workload_text(one, with_threads=with_threads).capitalize(),
        )  # fmt: skip
        samples = run.measurements[workloads.index(chosen)].samples
        try:
            arms = read(samples, chosen)
        except FileNotFoundError:
            st.caption("The raw samples of this run are not on this machine; they stay where it was measured.")
            return
        show(spread_chart(arms), "ex-calls-chart", "Share of calls that took at most so long")
        st.caption("How to read it: at 50% stands the median, near the top the tail; the further left, the faster.")
        st.markdown("  \n".join(_sentence(arm, times) for arm, times in arms.items()))


@st.cache_data(show_spinner=False, max_entries=8)
def _read(home: str, path: str, batch_size: int, threads: int) -> dict[str, np.ndarray]:
    with pa.memory_map(f"{home}/{path}") as source:
        table = pa.ipc.open_file(source).read_all().select(["arm", "batch", "threads", "ns"])
        frame = table.to_pandas()
    frame = frame[(frame["batch"] == batch_size) & (frame["threads"] == threads)]
    return {str(arm): np.sort(part["ns"].to_numpy() / 1e6) for arm, part in frame.groupby("arm", observed=True)}


def read(samples: FileRef, workload: Workload) -> dict[str, np.ndarray]:
    """Arm -> (n,) sorted times of its calls in ms, the original first. Raises FileNotFoundError."""
    found = _read(str(settings().home), samples.path, workload.batch_size, workload.threads)
    return {arm: found[arm] for arm in STYLE if arm in found}


def spread_chart(arms: Mapping[str, np.ndarray]) -> go.Figure:
    """Cumulative share of calls by time, thinned to N_POINTS; the axis ends at the 99.9 % call of the slower arm."""
    figure = go.Figure()
    shares = np.linspace(0, 1, N_POINTS)
    for arm, times in arms.items():
        name, colour, dash = STYLE[arm]
        figure.add_trace(
            go.Scatter(
                x=np.quantile(times, shares, method="inverted_cdf"),
                y=shares * 100,
                mode="lines",
                name=name,
                line={"color": colour, "width": 2, "dash": dash, "shape": "hv"},
                hovertemplate=f"{name}: %{{y:.1f}}% of the calls took at most %{{x:.3g}} ms<extra></extra>",
            )
        )
    low = min(float(times[0]) for times in arms.values())
    high = max(float(np.quantile(times, 0.999)) for times in arms.values())
    wide = high / low > WIDE
    frame(figure, 320, x="Time of one call, ms", y="Calls that took at most so long, %", top=34)
    for level in (50, 99):
        line(figure, x=(low, high), y=(level, level), color=MUTED, dash="dot")
    for arm, side in _sides(arms).items():
        x = float(np.quantile(arms[arm], LABEL_AT))
        shift = -6 if side == "right" else 6
        note(figure, np.log10(x) if wide else x, LABEL_AT * 100, STYLE[arm][0], xanchor=side, xshift=shift, yshift=-8)
    figure.update_xaxes(type="log" if wide else "linear", range=np.log10([low * 0.6, high]) if wide else [low, high])
    if wide:
        ticks = [
            step * 10.0**power for power in range(-4, 6) for step in (1, 2, 5) if low <= step * 10.0**power <= high
        ]
        figure.update_xaxes(tickvals=ticks, ticktext=[f"{tick:g}" for tick in ticks])
    figure.update_yaxes(range=[0, 101], tickvals=[0, 25, 50, 75, 99])
    return figure


def _sides(arms: Mapping[str, np.ndarray]) -> dict[str, str]:
    """The name of the faster arm ends left of its line, that of the slower begins right of it."""
    ordered = sorted(arms, key=lambda arm: float(np.quantile(arms[arm], LABEL_AT)))
    return {arm: "right" if arm == ordered[0] and len(ordered) > 1 else "left" for arm in ordered}


def _sentence(arm: str, times: np.ndarray) -> str:
    name = STYLE[arm][0].capitalize()
    middle, slowest = float(np.median(times)), float(times[-1])
    return (
        f"{name}: {len(times):,} calls, half within {numbers.latency(middle)}, the slowest {numbers.latency(slowest)} "
        f"({numbers.times(slowest / middle)} the median)."
    )
