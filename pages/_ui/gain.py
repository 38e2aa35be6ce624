"""What a variant brings, as a sentence: how much faster or slower it is, and what happens to quality."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from engine.reports import numbers
from engine.reports.amdahl import Share, of_request
from engine.reports.rows import CompareRow
from pages._ui.words import METRICS, SMALLER_IS_BETTER

Way = Literal["loses", "gains", "keeps"]


def gain(row: CompareRow, names: Mapping[str, str], *, whole: Share | None = None) -> str:
    """'INT8 static is 4.00× faster and loses 0.18 points', or the same without a name; no full stop.

    names: experiment -> safe text. whole: with it also '(1.06× for the whole request)'.
    """
    name, moved = names.get(row.experiment), _moved(row)
    if row.speedup is None:
        text = _and_alone(f"{name or 'it'} was not timed at this batch", moved)
    elif row.speed_verdict == "cannot tell":
        measured = f"{row.speedup:.2f}× measured"
        text = _and_alone(f"whether {name or 'it'} is faster cannot be told yet ({measured})", moved)
    else:
        text = (f"{name} is " if name else "") + _speed(row, whole) + (_joined(row, *moved) if moved else "")
    return text if name and text.startswith(name) else text[0].upper() + text[1:]


def _speed(row: CompareRow, whole: Share | None) -> str:
    assert row.speedup is not None
    if row.speed_verdict == "no difference":
        return "as fast as the original"
    speed = f"{1 / row.speedup:.2f}× slower" if row.speedup < 1 else f"{row.speedup:.2f}× faster"
    beside = of_request(whole, row.speedup)
    return f"{speed} ({beside})" if beside else speed


def _joined(row: CompareRow, way: Way, change: str) -> str:
    """After a speed, with 'but' where it speaks against it: ' and loses 0.18 points', ' with the same accuracy'."""
    if way == "keeps":
        return f" with {change}"
    same = row.speed_verdict == "no difference"
    against = way == "loses" if same else way == "gains" and (row.speedup or 0.0) < 1
    return f" {'but' if against else 'and'} {change}"


def _and_alone(text: str, moved: tuple[Way, str] | None) -> str:
    """After something that is no speed: '…; it loses 0.18 points'."""
    if moved is None:
        return text
    way, change = moved
    subject = "it has " if way == "keeps" else "" if change.startswith("its ") else "it "
    return f"{text}; {subject}{change}"


def _moved(row: CompareRow) -> tuple[Way, str] | None:
    """What happens to quality; None where it was not judged."""
    if row.metric_drop is None:
        return None
    if row.quality_verdict == "exact":
        return "keeps", "the same answers"
    metric = METRICS[row.metric] if row.metric else "quality"
    change = numbers.quality_change(abs(row.metric_drop), row.metric, relative=False)
    amount = change.lstrip("+" + numbers.MINUS)
    if float(amount.split(numbers.SPACE)[0].rstrip("%").replace(",", "")) == 0:
        return "keeps", f"the same {metric}"
    worse = row.metric_drop > 0
    way: Way = "loses" if worse else "gains"
    if row.metric in SMALLER_IS_BETTER:
        return way, f"its {metric} is {amount} {'higher' if worse else 'lower'}"
    return way, f"{way} {amount}"
