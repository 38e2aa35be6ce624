"""The verdict on one set of rows, and on the whole."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from engine.quality import metrics
from engine.quality.loss import Loss, Rows, loss
from engine.quality.slices import too_few
from engine.records import Metric, QualityVerdict, SliceQuality

TINY = 1e-12  # a drop that equals its limit is inside


@dataclass(frozen=True)
class Referee:
    """Gives the verdict on one set of rows."""

    metric: Metric
    alpha: float
    relative: bool
    identical: bool
    seed: int

    def rule(self, rows: Rows, limit: float) -> tuple[Loss, QualityVerdict, str | None]:
        """The loss on these rows, its verdict against a limit, and the reason where it is not a good one."""
        few = None if self.identical else too_few(self._units(rows), self.metric, limit, self.alpha, rows.labels)
        found = loss(self.metric, rows, self.alpha, self.seed, bounded=few is None and not self.identical)
        if self.identical:
            if found.drop is not None:
                found = replace(found, drop=0.0, bound=0.0)
            return found, "exact", found.reason
        found = self._scaled(found)
        if found.drop is None:
            without_limit = found.candidate is not None  # any error is more than none
            verdict: QualityVerdict = "outside" if without_limit else "too few rows" if few else "not judged"
            return found, verdict, found.reason if without_limit or not few else few
        over = found.drop > limit + TINY
        if few is not None and not (over and limit == 0):
            return found, "too few rows", few
        if over:
            return found, "outside", loses(found.drop, limit, relative=self.relative)
        return found, "within band", None

    def slice(self, column: str, value: str, rows: Rows, limit: float) -> SliceQuality:
        """The verdict on one slice."""
        found, verdict, reason = self.rule(rows, limit)
        return SliceQuality(
            column=column,
            value=value,
            n_rows=len(rows),
            baseline=found.baseline,
            candidate=found.candidate,
            drop=found.drop,
            bound=found.bound,
            verdict=verdict,
            reason=reason,
        )

    def _units(self, rows: Rows) -> int:
        if self.metric != "ndcg_at_10":
            return len(rows)
        assert rows.groups is not None
        assert rows.labels is not None
        return len(np.unique(rows.groups[rows.labels > 0]))

    def _scaled(self, found: Loss) -> Loss:
        """Drops as shares of the baseline where the band asks for it; those of RMSE are already."""
        if not self.relative or metrics.is_relative(self.metric) or not found.baseline or found.drop is None:
            return found
        bound = None if found.bound is None else found.bound / found.baseline
        return replace(found, drop=found.drop / found.baseline, bound=bound)


def loses(drop: float, limit: float, *, relative: bool) -> str:
    """Say "loses 0.031, limit 0.02", with as many digits as it takes to tell the two apart."""
    scale, unit = (100.0, " %") if relative else (1.0, "")
    texts = [(f"{drop * scale:.{digits}g}", f"{limit * scale:.{digits}g}") for digits in (2, 3, 4, 6, 9)]
    lost, allowed = next((pair for pair in texts if pair[0] != pair[1]), texts[-1])
    return f"loses {lost}{unit}, limit {allowed}{unit}"


def together(
    metric: Metric, verdict: QualityVerdict, reason: str | None, slices: tuple[SliceQuality, ...], *, require_all: bool
) -> tuple[QualityVerdict, str | None]:
    """The verdict of the whole: every covered slice has to hold too; one that is too small does not count."""
    if verdict == "exact":
        return verdict, reason
    outside = sorted((one for one in slices if one.verdict == "outside"), key=_worst_first)
    said = [_sentence(metric, reason)] if verdict == "outside" else []
    if outside:
        worst = outside[0]
        more = f" (and {len(outside) - 1} more)" if len(outside) > 1 else ""
        said.append(_sentence(f"{worst.column} = {worst.value}", worst.reason) + more)
    if said:
        return "outside", "; ".join(said)
    small = [one for one in slices if one.verdict in ("too few rows", "not judged")]
    if verdict == "within band" and require_all and small:
        return "too few rows", f"{small[0].column} = {small[0].value}: {small[0].reason}"
    return verdict, reason


def _sentence(subject: str, reason: str | None) -> str:
    return f"{subject} {reason}" if reason and reason.startswith("loses") else f"{subject}: {reason}"


def _worst_first(one: SliceQuality) -> float:
    return -(one.drop if one.drop is not None else math.inf)
