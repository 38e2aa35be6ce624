"""The comparison as a table of Markdown: baseline first under any sort, signed changes, colour only beyond noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from engine.records import Certificate, Study
from engine.reports import numbers
from engine.reports.promise import standing
from engine.reports.rows import CompareRow
from pages._ui.parts import STATUS, Tone, md_badge, tone
from pages._ui.text import plain
from pages._ui.words import CERTIFIED, cost_unit, metric_name, with_times_sign

Key = Callable[[CompareRow], float]
LAST = float("inf")
SHORT = 18  # letters, up to which a slice is kept in one line
NB = "\u00a0"  # keeps a short cell in one line
SORTS: dict[str, Key] = {
    "Order of asking": lambda row: 0.0,
    "p50 latency": lambda row: row.p50_ms if row.p50_ms is not None else LAST,
    "Speed-up": lambda row: -(row.speedup or 0.0),
    "Quality": lambda row: row.metric_drop if row.metric_drop is not None else LAST,
    "Size": lambda row: row.size_bytes if row.size_bytes is not None else LAST,
    "Cost": lambda row: row.cost_per_1k if row.cost_per_1k is not None else LAST,
}


FIGURES = {  # columns -> fields, for their explanation
    "p50": "p50_ms",
    "p99": "p99_ms",
    "Speed-up": "speedup",
    "Against plain export": "speedup_vs_export",
    "The metric": "metric_value",
    "Worst slice": "worst_slice_drop",
    "Size": "size_bytes",
    "Cost": "cost_per_1k",
}


def ordered(rows: Sequence[CompareRow], sort: str) -> list[CompareRow]:
    """The baseline, then the others in the chosen order."""
    first = [row for row in rows if row.is_baseline]
    return first + sorted((row for row in rows if not row.is_baseline), key=SORTS[sort])


def comparison(
    study: Study, rows: Sequence[CompareRow], names: Mapping[str, str], issued: Sequence[Certificate] = ()
) -> pd.DataFrame:
    """The table to draw with st.table. names: experiment id -> what a person calls it (not yet escaped)."""
    base = rows[0] if rows and rows[0].is_baseline else None
    certificates = {one.experiment_id: one for one in issued}
    called = {row.experiment: _name(names[row.experiment]) for row in rows}
    columns: dict[str, list[str]] = {
        "Variant": [f"**{called[row.experiment]}**" if row is base else called[row.experiment] for row in rows],
        "Result": [_result(study, row, certificates.get(row.experiment)) for row in rows],
        "p50": _with_change(numbers.column([row.p50_ms for row in rows], "ms"), [_speed(row) for row in rows]),
        "Speed\u2011up": [_interval(row) for row in rows],
    }
    if any(row.speedup_vs_export is not None for row in rows):
        columns["Against plain export"] = [_times(row.speedup_vs_export) for row in rows]
    if any(row.p99_ms is not None for row in rows):
        columns["p99"] = numbers.column([row.p99_ms for row in rows], "ms")
    if any(row.metric for row in rows):
        texts = [numbers.quality(row.metric_value, row.metric) for row in rows]
        columns[metric_name(rows[0].metric)] = _with_change(texts, [_quality(row) for row in rows])
    if any(row.worst_slice for row in rows):
        columns["Worst slice"] = [_worst(row) for row in rows]
    sizes = [None if row.size_bytes is None else row.size_bytes / 1e6 for row in rows]
    columns["Size"] = _with_change(
        numbers.column(sizes, "MB"), [_ratio(row.size_bytes, base.size_bytes if base else None) for row in rows]
    )
    if any(row.cost_per_1k is not None for row in rows):
        label, factor = cost_unit(next(row.cost_per_1k for row in rows if row.cost_per_1k is not None))
        costs = [_money(row.cost_per_1k, factor, study.currency) for row in rows]
        columns[label] = _with_change(costs, [_cost(row, base) for row in rows])
    return pd.DataFrame(columns)


def outcome(study: Study, row: CompareRow) -> str:
    """The word of BADGE that says how a row stands."""
    if row.status != "succeeded":
        return STATUS[row.status]
    stands = standing(study, row)
    if stands is None:
        return "Baseline"
    return "Meets the promise" if stands.meets else "Misses the promise"


def _name(name: str) -> str:
    """Breaks between steps and before parameters only, however narrow the column."""
    text = plain(name, 90).replace(" ", NB)
    return text.replace(f"→{NB}", "→ ").replace(f"{NB}\\(", " \\(")


def _result(study: Study, row: CompareRow, certificate: Certificate | None) -> str:
    if certificate is not None:
        _, word, label = CERTIFIED[certificate.quality.verdict]
        return f"{md_badge(outcome(study, row))} {md_badge(word, label)}"
    reason = plain(with_times_sign(row.reason), 120) if row.reason else ""
    return md_badge(outcome(study, row)) + (f"  \n:gray[{reason}]" if reason else "")


def _with_change(values: Sequence[str], changes: Sequence[tuple[str, Tone] | None]) -> list[str]:
    return [
        value if change is None or value == numbers.MISSING else f"{value}  \n{tone(*change)}"
        for value, change in zip(values, changes, strict=True)
    ]


def _speed(row: CompareRow) -> tuple[str, Tone] | None:
    if row.speedup is None or row.is_baseline:
        return None
    text, kind = numbers.change(1 / row.speedup, 1.0, certain=row.speed_verdict in ("faster", "slower"))
    return text.replace(" ", NB), kind


def _interval(row: CompareRow) -> str:
    if row.is_baseline:
        return "1"
    if row.speedup is None:
        return numbers.MISSING
    if row.speedup_low is None or row.speedup_high is None:
        return f"{row.speedup:.2f}×"
    return f"{row.speedup:.2f}×  \n:gray[{row.speedup_low:.2f}{NB}to{NB}{row.speedup_high:.2f}]"


def _times(ratio: float | None) -> str:
    return numbers.MISSING if ratio is None else f"{ratio:.2f}×"


def _quality(row: CompareRow) -> tuple[str, Tone] | None:
    if row.is_baseline or row.metric_drop is None:
        return None
    if row.quality_verdict == "exact":
        return "same answers", "same"
    change = numbers.quality_change(row.metric_drop, row.metric, relative=False)
    outside = row.quality_verdict in ("outside", "fail")
    return change, "worse" if outside else "same"


def _worst(row: CompareRow) -> str:
    if row.is_baseline or row.worst_slice is None:
        return numbers.MISSING
    change = numbers.quality_change(row.worst_slice_drop, row.metric, relative=False)
    name = plain(row.worst_slice, 60)
    return f"{name.replace(' ', NB) if len(name) <= SHORT else name}  \n:gray[{change}]"


def _money(cost: float | None, factor: int, currency: str) -> str:
    return numbers.MISSING if cost is None else numbers.money(cost * factor, currency)


def _cost(row: CompareRow, base: CompareRow | None) -> tuple[str, Tone] | None:
    """Cost follows time: where time cannot be told apart, cost cannot either."""
    if row.is_baseline or row.cost_per_1k is None or base is None or not base.cost_per_1k:
        return None
    certain = row.speed_verdict in ("faster", "slower")
    text, kind = numbers.change(row.cost_per_1k, base.cost_per_1k, certain=certain)
    return text.replace(" ", NB), kind


def _ratio(new: float | None, old: float | None) -> tuple[str, Tone] | None:
    if new is None or not old or new == old:
        return None
    return numbers.change(new, old)
