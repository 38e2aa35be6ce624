"""The verdict on one set of rows, and on the whole. On selection rows the drop decides, in certification its bound."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from engine.quality import metrics
from engine.quality.loss import Loss, Rows
from engine.quality.power import more_needed
from engine.quality.slices import too_few
from engine.records import Metric, QualityVerdict, SliceQuality

TINY = 1e-12  # a drop that equals its limit is inside
BROKEN: frozenset[QualityVerdict] = frozenset({"outside", "fail"})
UNCOVERED: frozenset[QualityVerdict] = frozenset({"too few rows", "not judged"})


@dataclass(frozen=True)
class Referee:
    """Gives the verdict on one set of rows. certifying: the bound has to clear the limit, not only the drop."""

    metric: Metric
    alpha: float
    relative: bool
    identical: bool
    seed: int
    certifying: bool = False

    def rule(self, rows: Rows, limit: float) -> tuple[Loss, QualityVerdict, str | None]:
        """The loss on these rows, its verdict against a limit, and the reason where it is not a good one."""
        few = None if self.identical else self._few(rows, limit)
        found = metrics.lose(self.metric, rows, self.alpha, self.seed, bounded=few is None and not self.identical)
        if self.identical:
            if found.drop is not None:
                found = replace(found, drop=0.0, bound=0.0)
            return found, "exact", found.reason
        found = self._scaled(found)
        bad: QualityVerdict = "fail" if self.certifying else "outside"
        if found.drop is None:
            without_limit = found.candidate is not None  # any error is more than none
            verdict: QualityVerdict = bad if without_limit else "too few rows" if few else "not judged"
            return found, verdict, found.reason if without_limit or not few else few
        over = found.drop > limit + TINY
        if few is not None and not (over and limit == 0):
            return found, "too few rows", few
        if over:
            return found, bad, loses(found.drop, limit, relative=self.relative)
        if self.certifying and (found.bound is None or found.bound > limit + TINY):
            return found, "not certified", self._cannot_tell(rows, found, limit)
        return found, "pass" if self.certifying else "within band", None

    def slice(self, column: str, value: str, rows: Rows, limit: float) -> SliceQuality:
        """The verdict on one slice. Its harm_p is not yet corrected for the number of slices."""
        found, verdict, reason = self.rule(rows, limit)
        return SliceQuality(
            column=column,
            value=value,
            n_rows=len(rows),
            baseline=found.baseline,
            candidate=found.candidate,
            drop=found.drop,
            bound=found.bound,
            harm_p=found.harm_p,
            verdict=verdict,
            reason=reason,
        )

    def _few(self, rows: Rows, limit: float) -> str | None:
        n_rows = len(rows)
        if rows.queries is not None:
            assert rows.labels is not None
            n_rows = len(np.unique(rows.queries[rows.labels > 0]))
        n_groups = None if rows.units is None else rows.n_units
        return too_few(n_rows, self.metric, limit, self.alpha, rows.labels, n_groups)

    def _scaled(self, found: Loss) -> Loss:
        """Drops as shares of the baseline where the band asks for it; those without a fixed scale are already."""
        if not self.relative or metrics.is_relative(self.metric) or not found.baseline or found.drop is None:
            return found
        bound = None if found.bound is None else found.bound / found.baseline
        return replace(found, drop=found.drop / found.baseline, bound=bound)

    def _cannot_tell(self, rows: Rows, found: Loss, limit: float) -> str:
        unit = "queries" if rows.queries is not None else "rows"
        if found.bound is None:
            return f"the {found.n_units:,} {unit} give no bound for the loss"
        possible = _amounts(found.bound, limit, relative=self.relative)
        said = f"a loss of {possible[0]} cannot be excluded, limit {possible[1]}"
        changed = None
        if self.metric in ("accuracy", "subset_accuracy") and rows.weights is None and rows.units is None:
            changed = float((rows.baseline != rows.candidate).mean())
        more = more_needed(found, limit, self.alpha, changed)
        return said + (f"; need about {more:,} more {unit}" if more else "; more rows will hardly tell")


def loses(drop: float, limit: float, *, relative: bool) -> str:
    """Say "loses 3.1 points, limit 2", with as many digits as it takes to tell the two apart."""
    lost, allowed = _amounts(drop, limit, relative=relative)
    return f"loses {lost}, limit {allowed}"


def _amounts(value: float, limit: float, *, relative: bool) -> tuple[str, str]:
    unit, same = (" %", " %") if relative else (" points", "")
    texts = [(f"{value * 100:.{digits}g}", f"{limit * 100:.{digits}g}") for digits in (2, 3, 4, 6, 9)]
    shown = next((pair for pair in texts if pair[0] != pair[1]), texts[-1])
    return f"{shown[0]}{unit}", f"{shown[1]}{same}"


def together(
    metric: Metric, verdict: QualityVerdict, reason: str | None, slices: tuple[SliceQuality, ...], *, require_all: bool
) -> tuple[QualityVerdict, str | None]:
    """The verdict of the whole: every covered slice has to hold too; one that is too small does not count.

    An intersection-union test: as every part has to pass, no part's alpha needs correction (Berger 1982).
    """
    if verdict == "exact":
        return verdict, reason
    broken = sorted((one for one in slices if one.verdict in BROKEN), key=_worst_first)
    if verdict in BROKEN or broken:
        said = [_sentence(metric, reason)] if verdict in BROKEN else []
        return (verdict if verdict in BROKEN else broken[0].verdict), "; ".join([*said, *_worst(broken)])
    if verdict in UNCOVERED:
        return verdict, reason
    open_parts = sorted((one for one in slices if one.verdict == "not certified"), key=_widest_first)
    if verdict == "not certified" or open_parts:
        said = [_sentence(metric, reason)] if verdict == "not certified" else []
        return "not certified", "; ".join([*said, *_worst(open_parts)])
    small = [one for one in slices if one.verdict in UNCOVERED]
    if require_all and small:
        rest: QualityVerdict = "not certified" if verdict == "pass" else "too few rows"
        return rest, f"{small[0].column} = {small[0].value}: {small[0].reason}"
    return verdict, reason


def _worst(ordered: list[SliceQuality]) -> list[str]:
    if not ordered:
        return []
    first = ordered[0]
    more = f" (and {len(ordered) - 1} more)" if len(ordered) > 1 else ""
    return [_sentence(f"{first.column} = {first.value}", first.reason) + more]


def _sentence(subject: str, reason: str | None) -> str:
    return f"{subject} {reason}" if reason and reason.startswith("loses") else f"{subject}: {reason}"


def _worst_first(one: SliceQuality) -> float:
    return -(one.drop if one.drop is not None else math.inf)


def _widest_first(one: SliceQuality) -> float:
    return -(one.bound if one.bound is not None else math.inf)
