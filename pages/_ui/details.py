"""Sections of the Experiment page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pandas as pd
import streamlit as st

from engine.records import Comparison, Experiment, Interval, Manifest, Measurement, SliceQuality, Study
from engine.reports import numbers
from pages._ui import loaders
from pages._ui.explanations import about, legend
from pages._ui.flags import merged
from pages._ui.parts import md_badge, warn
from pages._ui.slice_map import change_text
from pages._ui.steps.model import FORMATS
from pages._ui.text import file_stem, plain
from pages._ui.variants import name_of, step_name
from pages._ui.words import drop_unit, metric_name

SPEED = {"faster": "Faster", "slower": "Slower", "no difference": "No difference", "cannot tell": "Cannot tell"}
QUALITY = {
    "within band": "Within band",
    "exact": "Within band",
    "pass": "Pass",
    "outside": "Outside the band",
    "fail": "Fail",
    "too few rows": "Too few rows",
    "not certified": "Not certified",
    "not judged": "Not judged",
}
TIMES = {
    "p50": "p50_ms",
    "p95": "p95_ms",
    "p99": "p99_ms",
    "Items/s": "items_per_s",
    "Speed-up": "speedup",
    "Verdict": "speed_verdict",
    "First call": "cold_start_ms",
    "Load": "load_ms",
    "Memory": "peak_bytes",
    "Process pairs": "n_pairs",
}
LOSSES = {"Change": "drop", "Could be as bad as": "bound", "Verdict": "quality_verdict", "Too few rows": "too_few_rows"}
N_LOG_LINES, N_FEW = 400, 12


def timing_table(run: Experiment) -> None:
    """One row per batch: the original, this run, and what the pairs say."""
    rows = [timing_row(run, measured) for measured in run.measurements]
    st.table(pd.DataFrame(rows), border="horizontal", hide_index=True, alt="Latency and throughput per batch size")
    first = run.measurements[0]
    st.caption(
        f"First call {numbers.latency(first.cold_start_ms)} · load {numbers.latency(first.load_ms)} · "
        f"memory {numbers.size(first.peak_bytes)} · of one call: arrays {numbers.latency(first.prepare_ms)}, "
        f"model {numbers.latency(first.model_ms)}, scores {numbers.latency(first.post_ms)} · "
        f"{first.n_calls:,} calls in {first.n_pairs} process pairs"
    )
    warn(merged(run.measurements))
    legend(TIMES, key="ex-times-legend")


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
        row["Verdict"] = md_badge(SPEED[found.verdict]) + _needed(found)
    return row


def speedup_text(found: Comparison) -> str:
    """3.42× over a grey 3.31 to 3.55, each kept in one line."""
    return f"{1 / found.ratio:.2f}×  \n:gray[{1 / found.high:.2f}\u00a0to\u00a0{1 / found.low:.2f}]"


def _needed(found: Comparison) -> str:
    """What would decide, where the pairs could not tell."""
    if found.pairs_needed is None:
        return ""
    return f"  \n:gray[about\u00a0{found.pairs_needed:,}\u00a0pairs would decide]"


def _or_dash(value: Interval | None) -> str:
    return numbers.latency(value.value) if value else "–"


def quality_section(study: Study, run: Experiment) -> None:
    """Overall, then slice by slice."""
    report = run.quality
    if report is None:
        return
    st.subheader("Quality", anchor=False, help=about("quality"))
    unit = drop_unit(study.promise.band)
    with st.container(border=True, key="ex-quality"):
        if report.candidate is not None:
            st.markdown(
                f"**{metric_name(report.metric)} {numbers.quality(report.candidate, report.metric)}** "
                f"{md_badge(QUALITY[report.verdict])} on {report.n_rows:,} selection rows"
                + (f"; {plain(report.reason, 200)}" if report.reason else "")
            )
        slices = [_slice_row(cell, unit) for cell in report.slices if cell.verdict != "too few rows"]
        if slices:
            st.table(pd.DataFrame(slices), border="horizontal", hide_index=True, alt="Quality by slice")
        legend(LOSSES, key="ex-quality-legend")
        if few := [cell for cell in report.slices if cell.verdict == "too few rows"]:
            st.markdown(_too_few(few))


def _too_few(cells: Sequence[SliceQuality]) -> str:
    """Slices without a verdict in one line: the most rows first."""
    ordered = sorted(cells, key=lambda cell: -cell.n_rows)
    named = ", ".join(f"{plain(f'{cell.column}: {cell.value}', 60)} ({cell.n_rows:,})" for cell in ordered[:N_FEW])
    more = f" and {len(ordered) - N_FEW} more" if len(ordered) > N_FEW else ""
    reasons = {cell.reason.rpartition(" of ")[2] for cell in cells if cell.reason and " of " in cell.reason}
    needed = f" ({plain(reasons.pop())})" if len(reasons) == 1 else ""
    return f"{md_badge('Too few rows')} for a verdict{needed}, so not counted as kept: {named}{more}."


def _slice_row(cell: SliceQuality, unit: str) -> dict[str, str]:
    return {
        "Slice": plain(f"{cell.column}: {cell.value}", 80),
        "Rows": f"{cell.n_rows:,}",
        f"Change, {unit}": change_text(cell.drop, 100),
        "Could be as bad as": change_text(cell.bound, 100),
        "Verdict": md_badge(QUALITY[cell.verdict]) + (f"  \n:gray[{plain(cell.reason, 120)}]" if cell.reason else ""),
    }


def lineage(study: Study, run: Experiment) -> None:
    """From the uploaded model to the result, a row per step."""
    manifest, name = loaders.model(study.model_id, loaders.version())
    rows = [_lineage_row(plain(name, 60), manifest)]
    for before, after in pairwise([manifest, *run.chain]):
        title = step_name(after.step) if after.step else "Step"
        rows.append(_lineage_row(plain(title, 80), after, before))
    st.table(pd.DataFrame(rows), border="horizontal", hide_index=True, alt="The model after each step")


def _lineage_row(title: str, manifest: Manifest, before: Manifest | None = None) -> dict[str, str]:
    size = numbers.size(manifest.size_bytes)
    if before:
        size += f"  \n:gray[{manifest.size_bytes / before.size_bytes:.2f}× of the step before]"
    notes = ", ".join(
        f"{key.replace('_', ' ')} {_flat(value)}" for key, value in manifest.notes.items() if "bytes" not in key
    )
    return {
        "Step": title,
        "Format": FORMATS.get(manifest.format, manifest.format),
        "Size": size,
        "Notes": plain(notes, 300),
        "Content": f"`{manifest.id[:12]}`",
    }


def log_section(run: Experiment) -> None:
    """What the attempt printed, and the whole of it to take away."""
    lines = loaders.ledger().queue.log_tail(run.id, N_LOG_LINES)
    with st.expander("Log", icon=":material/description:", expanded=run.error is not None, key="ex-log"):
        if not lines:
            st.caption("Nothing was printed.")
            return
        st.code("\n".join(f"{line.written_at:%H:%M:%S}  {line.line}" for line in lines), language=None, height=320)
        st.download_button(
            "Download the full log",
            data=lambda: whole_log(run.id),
            file_name=f"{file_stem(name_of(run))}-{run.id}.log",
            mime="text/plain",
            icon=":material/download:",
            type="tertiary",
            key="ex-log-download",
            on_click="ignore",
        )


def whole_log(experiment_id: str) -> str:
    """Every line of the log."""
    text, last = [], 0
    while lines := loaders.ledger().queue.log(experiment_id, after_id=last):
        text += [f"{line.written_at:%Y-%m-%d %H:%M:%S}  {line.line}" for line in lines]
        last = lines[-1].id
    return "\n".join(text) + "\n"


def environment_table(run: Experiment) -> None:
    """The machine and the versions this was measured with."""
    if not run.environment:
        return
    with st.expander("Machine and versions", icon=":material/memory:", key="ex-environment"):
        rows = {
            _words(name): plain(_flat(value), 400)
            for name, value in run.environment.items()
            if value not in (None, [], "")
        }
        st.table(rows, border="horizontal")


def _words(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_flat(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}" if isinstance(value, float) else str(value)
