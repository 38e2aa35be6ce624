"""Which stage of a request is the largest, at the median and among the slowest, and what changing one would do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from engine.errors import BadData, InvalidRequest
from engine.records.stages import OTHER, ReplicaTime, StageProfile, StageTime

FEWEST_FOR_P99 = 500
FEWEST_SLOW = 30  # requests among the slowest 1 %
SLACK = 1e-6  # relative: stages may exceed the total by rounding
MOST_STAGES = 100


@dataclass(frozen=True)
class Trace:
    """Requests of one kind. names: (k,); stages_ms: (n, k) float64; total_ms: (n,) float64, at least their sum."""

    names: tuple[str, ...]
    stages_ms: np.ndarray
    total_ms: np.ndarray
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Change:
    """What a stage would become: ms in every request, else its own time times a factor."""

    ms: float | None = None
    factor: float = 1.0


def trace(
    names: tuple[str, ...], stages_ms: np.ndarray, total_ms: np.ndarray | None, notes: tuple[str, ...] = ()
) -> Trace:
    """Check what was measured. total_ms None: the stages are all there is.

    Raises BadData naming the request: no rows, a time below 0, stages that exceed their total, no time at all.
    """
    if twice := [name for name in names if names.count(name) > 1 or name in ("", OTHER)]:
        raise BadData(f"every stage needs a name of its own, other than {OTHER!r}; got {twice[0]!r}")
    if not 1 <= len(names) <= MOST_STAGES:
        raise BadData(f"a request has 1 to {MOST_STAGES} stages, got {len(names)}")
    if len(stages_ms) == 0:
        raise BadData("there is no request in it")
    sums = stages_ms.sum(axis=1)
    total = sums if total_ms is None else total_ms
    if len(bad := np.flatnonzero(~np.isfinite(sums) | ~np.isfinite(total))):
        raise BadData(f"request {bad[0] + 1}: not every time is a finite number")
    if len(bad := np.flatnonzero((stages_ms < 0).any(axis=1))):
        raise BadData(f"request {bad[0] + 1}: a stage takes less than 0 ms")
    if len(bad := np.flatnonzero(sums > total * (1 + SLACK))):
        at = bad[0]
        raise BadData(
            f"request {at + 1}: its stages add up to {sums[at]:g} ms, more than its total of {total[at]:g} ms; stages "
            "that overlap must come as OpenTelemetry spans"
        )
    if len(bad := np.flatnonzero(total <= 0)):
        raise BadData(f"request {bad[0] + 1}: it takes no time")
    return Trace(names, stages_ms, np.maximum(total, sums), notes)


def one_request(stages_ms: Mapping[str, float], total_ms: float | None = None) -> Trace:
    """A typical request, typed in."""
    total = None if total_ms is None else np.array([total_ms])
    return trace(tuple(stages_ms), np.array([list(stages_ms.values())], float).reshape(1, -1), total)


def profile(measured: Trace) -> StageProfile:
    """Stages with their shares.

    At p50: requests whose total lies between p45 and p55. At p99: the slowest 1 %, at least
    30 of them. Percentiles of stages are shown and never added: the slow requests of two stages are not the same.
    """
    total, n = measured.total_ms, len(measured.total_ms)
    times = np.column_stack([measured.stages_ms, total - measured.stages_ms.sum(axis=1)])
    p45, p50, p55, p99 = np.quantile(total, (0.45, 0.5, 0.55, 0.99), method="inverted_cdf")
    middle = _fractions(times[(total >= p45) & (total <= p55)])
    first_slow = n - max(1, n // 100)
    slowest = _fractions(times[total >= np.partition(total, first_slow)[first_slow]])
    enough = n >= 100 * FEWEST_SLOW
    notes = measured.notes
    if not enough:
        notes += (f"too few requests to name the p99 stage: {n:,}, it needs {100 * FEWEST_SLOW:,}",)
    rank = n >= FEWEST_FOR_P99
    stages = tuple(
        StageTime(
            name=name,
            mean_ms=times[:, k].mean(),
            time_fraction=min(1.0, times[:, k].sum() / total.sum()),
            p50_ms=_quantile(times[:, k], 0.5),
            p99_ms=_quantile(times[:, k], 0.99) if rank else None,
            fraction_at_p50=middle[k],
            fraction_at_p99=slowest[k] if enough else None,
        )
        for k, name in enumerate((*measured.names, OTHER))
    )
    return StageProfile(
        n_requests=n,
        stages=stages,
        mean_ms=total.mean(),
        p50_ms=p50,
        p99_ms=p99 if rank else None,
        notes=notes,
    )


def pool(replicas: Mapping[str, Trace]) -> Trace:
    """All requests of a fleet together. Raises BadData when two replicas do not have the same stages."""
    first = next(iter(replicas.values()))
    for name, one in replicas.items():
        if set(one.names) != set(first.names):
            raise BadData(f"{name} has other stages ({', '.join(one.names)}) than the first ({', '.join(first.names)})")
    return Trace(
        names=first.names,
        stages_ms=np.vstack([one.stages_ms[:, [one.names.index(k) for k in first.names]] for one in replicas.values()]),
        total_ms=np.concatenate([one.total_ms for one in replicas.values()]),
        notes=tuple(note for one in replicas.values() for note in one.notes),
    )


def by_replica(replicas: Mapping[str, Trace]) -> tuple[ReplicaTime, ...]:
    """One row per replica, the slowest first: by p99 where every replica has one, else by p50."""
    rows = [
        ReplicaTime(
            name=name,
            n_requests=len(one.total_ms),
            p50_ms=_quantile(one.total_ms, 0.5),
            p99_ms=_quantile(one.total_ms, 0.99) if len(one.total_ms) >= FEWEST_FOR_P99 else None,
        )
        for name, one in replicas.items()
    ]
    ranked = all(row.p99_ms is not None for row in rows)
    return tuple(sorted(rows, key=lambda row: row.p99_ms if ranked and row.p99_ms else row.p50_ms, reverse=True))


def what_if(measured: Trace, changes: Mapping[str, Change]) -> Trace:
    """The same requests with some stages changed; everything else, waiting too, stays as it was.

    Raises InvalidRequest for a stage that is not there or a time below 0.
    """
    stages = measured.stages_ms.copy()
    for name, change in changes.items():
        if name not in measured.names:
            raise InvalidRequest(f"there is no stage {name!r}; there are {', '.join(measured.names)}")
        if not (0 <= change.factor < np.inf and (change.ms is None or 0 <= change.ms < np.inf)):
            raise InvalidRequest(f"{name}: a stage can become 0 ms or more, or a factor of 0 or more")
        k = measured.names.index(name)
        stages[:, k] = stages[:, k] * change.factor if change.ms is None else change.ms
    total = measured.total_ms + (stages - measured.stages_ms).sum(axis=1)
    if not (total > 0).all():
        raise InvalidRequest("nothing would be left: with these changes a request takes no time")
    return replace(measured, stages_ms=stages, total_ms=total)


def _fractions(times: np.ndarray) -> np.ndarray:
    """(k,) shares of the time of these requests, from (n, k)."""
    return np.asarray(times.sum(axis=0) / times.sum())


def _quantile(values: np.ndarray, quantile: float) -> float:
    return float(np.quantile(values, quantile, method="inverted_cdf"))
