"""What a run says about batch size: call time and throughput by batch, and the line through the call times."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from engine.measurement.sweep import Sweep, largest_within, sweeps
from engine.records import Experiment, Interval, Measurement, Study
from engine.reports import numbers
from pages._ui.charts import CATEGORY, MUTED, frame, note, show
from pages._ui.explanations import about, legend
from pages._ui.parts import card_title

VARIANT, ORIGINAL = CATEGORY[0], MUTED
FIGURES = {
    "p50": "p50_ms",
    "p95": "p95_ms",
    "Items/s": "items_per_s",
    "One more item": "marginal_ms",
    "On the line": "call_time",
}
ARM_NAMES = {"variant": "this run", "original": "original"}


def swept(study: Study, run: Experiment) -> dict[str, Sweep]:
    """Arm -> what its batch sizes say at the study's threads; empty where one batch size was timed."""
    arms = {"original": run.baselines, "variant": run.measurements} if run.baselines else {"variant": run.measurements}
    found = {arm: one for arm, measured in arms.items() if (one := _of_threads(measured, study.workload.threads))}
    return found if "variant" in found else {}


def batch_details(study: Study, run: Experiment) -> None:
    """A budget to ask for, the curves and the table."""
    found = swept(study, run)
    _budget(run.measurements, study.workload.threads)
    with st.grid(2, min_column_width=360):
        _chart("Time of one call", "ms", "call", {arm: _times(one) for arm, one in found.items()}, found)
        _chart("Items per second", "items/s", "rate", {arm: _rates(one) for arm, one in found.items()})
    st.table(table(found), border="horizontal", hide_index=True, alt="Call time and throughput by batch size")
    st.caption(
        "Bars are 95% intervals. Dashed is the fitted line; where it misses a point by more than 15% it is not drawn, "
        "and values between the points are read off the table in straight steps."
    )
    legend(FIGURES, key="ex-batch-legend")


def _budget(measured: Sequence[Measurement], threads: int) -> None:
    """Ask for a p95 budget and name the largest batch that keeps it."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        budget_ms = st.number_input(
            "p95 budget, ms", 0.0, None, None, placeholder="none", key="ex-batch-budget", width=150,
            help="The largest batch of which 95% of the calls keep within this time.",
        )  # fmt: skip
        if budget_ms:
            st.markdown(budget_sentence([one for one in measured if one.workload.threads == threads], budget_ms))


def budget_sentence(measured: Sequence[Measurement], budget_ms: float) -> str:
    """The largest batch inside the budget, or that there is none."""
    found = largest_within(measured, budget_ms)
    if found is None:
        return f"No batch that was timed keeps p95 within {numbers.latency(budget_ms)}."
    return f"The largest batch within {numbers.latency(budget_ms)} is **{found:,}**."


def reading(sweep: Sweep) -> list[str]:
    """Sentences: the line, where throughput flattens, one call against many."""
    fit, texts = sweep.curve.fit, []
    if fit is not None and fit.holds:
        texts.append(
            f"**A call takes {numbers.latency(fit.fixed_ms)} + {numbers.latency(fit.per_item_ms)} per item**; the line "
            f"misses no measured time by more than {numbers.percent(fit.max_residual)}."
        )
    elif fit is not None:
        texts.append(
            f"**No straight line fits**: it would miss by up to {numbers.percent(fit.max_residual)}, so the table is "
            f"used. At the largest sizes one more item costs {numbers.latency(sweep.marginal_ms)}."
        )
    if sweep.flattens_at is not None:
        texts.append(f"From {sweep.flattens_at:,} per call on, larger batches bring less than 5% more throughput.")
    else:
        texts.append(f"Items per second still rise at {sweep.curve.largest:,} per call, the largest that was timed.")
    if (one := sweep.one_call) is not None:
        texts.append(
            f"{one.n_items:,} items in one call are done **{numbers.times(one.ratio)} sooner** than in {one.n_items:,} "
            f"calls ({one.how})."
        )
    return texts


def table(found: dict[str, Sweep]) -> pd.DataFrame:
    """One row per batch size of this run; the original's call time first where it was timed."""
    rows = found["variant"].rows
    before = {row.batch_size: row for row in found["original"].rows} if "original" in found else {}
    columns = {"Items per call": [f"{row.batch_size:,}" for row in rows]}
    if before:
        columns["Original p50"] = [_figure(before[row.batch_size].p50_ms) for row in rows if row.batch_size in before]
    columns["p50"] = [_figure(row.p50_ms) for row in rows]
    columns["p95"] = [numbers.latency(row.p95_ms.value) if row.p95_ms else numbers.MISSING for row in rows]
    columns["Items/s"] = [_rate(row.items_per_s) for row in rows]
    columns["One more item"] = [numbers.latency(row.marginal_ms) for row in rows]
    columns["On the line"] = [numbers.latency(row.fitted_ms) for row in rows]
    return pd.DataFrame(columns)


def _of_threads(measured: Sequence[Measurement], threads: int) -> Sweep | None:
    found = next((one for one in sweeps(measured) if one.threads == threads), None)
    return found if found is not None and len(found.rows) > 1 else None


def _figure(value: Interval) -> str:
    return numbers.latency(value.value) + _bounds(value, numbers.latency)


def _rate(value: Interval) -> str:
    return _per_second(value.value) + _bounds(value, _per_second)


def _per_second(rate: float) -> str:
    return numbers.rate(rate).split(numbers.SPACE)[0]


def _bounds(value: Interval, text: Callable[[float], str]) -> str:
    if value.low is None or value.high is None:
        return ""
    return f"  \n:gray[{text(value.low)} to {text(value.high)}]".replace(" to ", "\u00a0to\u00a0")


Points = list[tuple[int, Interval]]


def _times(sweep: Sweep) -> Points:
    return [(row.batch_size, row.p50_ms) for row in sweep.rows]


def _rates(sweep: Sweep) -> Points:
    return [(row.batch_size, row.items_per_s) for row in sweep.rows]


def _chart(title: str, unit: str, slug: str, arms: dict[str, Points], lines: dict[str, Sweep] | None = None) -> None:
    figure = go.Figure()
    for arm, points in arms.items():
        figure.add_trace(_trace(arm, points, joined=lines is None or not _holds(lines[arm])))
        if lines is not None and _holds(lines[arm]):
            figure.add_trace(_line(arm, lines[arm]))
        x, y = float(points[-1][0]), points[-1][1].value
        x = float(np.log10(x)) if lines is None else x
        note(figure, x, y, ARM_NAMES[arm] if len(arms) > 1 else "", xanchor="right", yshift=6, xshift=-6)
    frame(figure, 300, x="Items per call", y=unit, top=34)
    sizes = [size for size, _ in arms["variant"]]
    if lines is None:  # no line to keep straight: doubling is one step
        ends = (np.log10(sizes[0]) - 0.08, np.log10(sizes[-1]) + 0.08)
        figure.update_xaxes(type="log", range=ends, tickvals=sizes, ticktext=[f"{size:,}" for size in sizes])
    else:
        figure.update_xaxes(range=(-0.03 * sizes[-1], 1.06 * sizes[-1]), tickvals=_spread_ticks(sizes), tickangle=0)
    figure.update_yaxes(rangemode="tozero", nticks=6)
    with st.container(gap="xsmall"):
        card_title(title, help=about("batch size"))
        show(figure, f"ex-batch-{slug}", f"{title} at {len(sizes)} batch sizes")


def _holds(sweep: Sweep) -> bool:
    return sweep.curve.fit is not None and sweep.curve.fit.holds


def _trace(arm: str, points: Points, *, joined: bool) -> go.Scatter:
    colour = VARIANT if arm == "variant" else ORIGINAL
    values = [one.value for _, one in points]
    return go.Scatter(
        x=[size for size, _ in points],
        y=values,
        mode="lines+markers" if joined else "markers",
        line={"color": colour, "width": 1.5, "dash": "solid" if arm == "variant" else "dot"},
        marker={"color": colour, "size": 9, "symbol": "circle" if arm == "variant" else "diamond"},
        error_y={
            "type": "data", "symmetric": False, "thickness": 1.2, "width": 3, "color": colour,
            "array": [(one.high or one.value) - one.value for _, one in points],
            "arrayminus": [one.value - (one.low or one.value) for _, one in points],
        },
        hovertemplate=f"{ARM_NAMES[arm]}, %{{x}} per call: %{{y:.3g}}<extra></extra>",
    )  # fmt: skip


def _line(arm: str, sweep: Sweep) -> go.Scatter:
    fit, ends = sweep.curve.fit, (sweep.rows[0].batch_size, sweep.rows[-1].batch_size)
    assert fit is not None
    colour = VARIANT if arm == "variant" else ORIGINAL
    return go.Scatter(
        x=ends, y=[fit.call_ms(size) for size in ends], mode="lines", hoverinfo="skip",
        line={"color": colour, "width": 1.5, "dash": "dash"},
    )  # fmt: skip


def _spread_ticks(sizes: Sequence[int]) -> list[int]:
    """The sizes that can be labelled on a linear axis without touching: from the largest down."""
    kept: list[int] = []
    for size in sorted(sizes, reverse=True):
        if not kept or kept[-1] - size > 0.08 * max(sizes):
            kept.append(size)
    return kept
