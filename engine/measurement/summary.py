"""Raw timings -> the stored figures: one Measurement per arm and workload, one Comparison per quantile."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from engine.measurement.flags import cpu_share, disturbed, flags, floor_ms
from engine.measurement.spread import row_spread
from engine.measurement.statistics import (
    PAIR_FLOOR,
    SAMPLE_FLOOR,
    Ratio,
    nearest_rank,
    pair_ratio,
    pairs_needed,
    percentile,
    verdict,
)
from engine.measurement.timings import Round, Timings
from engine.records import Choice, Clock, Comparison, FileRef, Interval, Measurement, Workload

ARMS = ("baseline", "variant")
MEDIAN, TAILS = 0.5, (0.95, 0.99)
Arms = Mapping[str, tuple[str, Choice]]  # arm -> (artefact id, runtime)
Store = Callable[[Path], FileRef]


def summarise(timings: Timings, arms: Arms, draft: Path, store: Store) -> dict[str, Any]:
    """The timed parts of an Experiment: measurements (variant), baselines, comparisons.

    draft: an empty folder for the file of raw samples; store(path) moves it into the workspace.
    """
    samples = store(write_samples(timings, draft / "samples.arrow"))
    return {
        "measurements": measurements(timings, "variant", arms, samples),
        "baselines": measurements(timings, "baseline", arms, samples),
        "comparisons": comparisons(timings),
    }


def summarise_alone(timings: Timings, arms: Arms, draft: Path, store: Store) -> tuple[Measurement, ...]:
    """The measurements of the only arm of a run."""
    (arm,) = timings.arms
    return measurements(timings, arm, arms, store(write_samples(timings, draft / "samples.arrow")))


def measurements(timings: Timings, arm: str, arms: Arms, samples: FileRef) -> tuple[Measurement, ...]:
    """One Measurement of an arm per workload, in the order they were asked for."""
    return tuple(_measurement(timings, arm, workload, *arms[arm], samples) for workload in timings.workloads)


def comparisons(timings: Timings) -> tuple[Comparison, ...]:
    """Variant / baseline per workload: p50, p95 and p99 where their floors allow, and the mean (quantile None).

    A pair's p50 ratio is the median over its rounds of variant / baseline, each by its median call: the two arms of a
    round ran within milliseconds of each other, so a machine that is slower for a while slows both. The ratio of the
    medians of all calls jumps when a little more of one arm falls into the slow time.

    p95 and p99 are compared on the processor time of the calls where the scheduler had a part in either tail.
    """
    found: list[Comparison] = []
    for workload in timings.workloads:
        wall = [timings.calls_by_pair(arm, workload) for arm in ARMS]
        cpu = _tail_on_cpu(timings, workload)
        found.append(_comparison(workload, MEDIAN, _median_ratio(timings, workload)))
        for q in TAILS:
            clock: Clock = "cpu" if cpu else "wall"
            pairs = cpu or wall
            if all(_enough(calls, q) for calls in pairs):
                figures = [[nearest_rank(calls, q) for calls in arm] for arm in pairs]
                found.append(_comparison(workload, q, pair_ratio(*figures), clock))
        means = [[float(calls.mean()) for calls in arm] for arm in wall]
        found.append(_comparison(workload, None, pair_ratio(*means)))
    return tuple(found)


def _median_ratio(timings: Timings, workload: Workload) -> Ratio:
    medians = zip(*(timings.medians_by_pair(arm, workload) for arm in ARMS), strict=True)
    ratios = [float(np.exp(np.median(np.log(variant / baseline)))) for baseline, variant in medians]
    return pair_ratio([1.0] * len(ratios), ratios)


def _tail_on_cpu(timings: Timings, workload: Workload) -> list[list[np.ndarray]] | None:
    """Processor times of both arms, per pair, where the wall tail is partly the scheduler's and they were recorded."""
    if not any(disturbed(timings, arm, workload) for arm in ARMS):
        return None
    both = [timings.cpu_by_pair(arm, workload) for arm in ARMS]
    return [arm for arm in both if arm is not None] if all(arm is not None for arm in both) else None


def write_samples(timings: Timings, path: Path) -> Path:
    """Every timed call as compressed Arrow, one row per call. Read it with pyarrow or pandas.

    Columns: pair, arm, batch, threads, round, row (the first one, in the pool of rows), ns, cpu_ns (null: not taken).
    """
    import pyarrow as pa

    sizes = [len(one.total_ns) for one in timings.rounds]

    def column(values: list[Any], kind: Any) -> Any:
        return np.repeat(np.asarray(values, kind), sizes)

    table = pa.table(
        {
            "pair": column([one.pair for one in timings.rounds], np.int16),
            "arm": pa.array(column([one.arm for one in timings.rounds], object)).dictionary_encode(),
            "batch": column([one.workload.batch_size for one in timings.rounds], np.int32),
            "threads": column([one.workload.threads for one in timings.rounds], np.int16),
            "round": column([one.number for one in timings.rounds], np.int16),
            "row": np.concatenate([_first_rows(one, timings.n_pool_rows) for one in timings.rounds]),
            "ns": np.concatenate([one.total_ns for one in timings.rounds]),
            "cpu_ns": pa.chunked_array([_cpu(one) for one in timings.rounds], pa.int64()),
        }
    )
    about = {
        "plan": timings.plan.model_dump(),
        "seed": timings.seed,
        "load_average": timings.load_average,
        "n_pool_rows": timings.n_pool_rows,
    }
    table = table.replace_schema_metadata({"whetstone": json.dumps(about)})
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return path


def _first_rows(one: Round, n_pool_rows: int) -> np.ndarray:
    calls = np.arange(len(one.total_ns))
    return ((one.start + calls * one.workload.batch_size) % n_pool_rows).astype(np.int32)


def _cpu(one: Round) -> Any:
    import pyarrow as pa

    n_calls = len(one.total_ns)
    return pa.nulls(n_calls, pa.int64()) if one.cpu_each_ns is None else pa.array(one.cpu_each_ns, pa.int64())


def _measurement(
    timings: Timings, arm: str, workload: Workload, artefact_id: str, runtime: Choice, samples: FileRef
) -> Measurement:
    rounds = timings.of(arm, workload)
    calls_ms = timings.calls_ns(arm, workload) / 1e6
    served = [one for one in timings.processes if one.arm == arm and one.threads == workload.threads]
    cpu = timings.cpu_by_pair(arm, workload)
    p50 = percentile(calls_ms, 0.5)
    assert p50 is not None
    return Measurement(
        artefact_id=artefact_id,
        runtime=runtime,
        workload=workload,
        samples=samples,
        n_calls=len(calls_ms),
        n_pairs=len({one.pair for one in rounds}),
        n_warm_up=int(np.median([process.n_warm_up[workload] for process in served])),
        p50_ms=p50,
        p95_ms=percentile(calls_ms, 0.95),
        p99_ms=percentile(calls_ms, 0.99),
        p99_cpu_ms=None if cpu is None else percentile(np.concatenate(cpu) / 1e6, 0.99),
        items_per_s=workload.batch_size * len(calls_ms) / (calls_ms.sum() / 1e3),
        items_per_s_interval=_rate(timings, arm, workload),
        cold_start_ms=float(np.median([process.cold_start_ms for process in served])),
        load_ms=float(np.median([process.load_ms for process in served])),
        peak_bytes=max(process.peak_bytes for process in served),
        prepare_ms=float(np.median([one.prepare_ns for one in rounds])) / 1e6,
        model_ms=float(np.median([one.model_ns for one in rounds])) / 1e6,
        post_ms=float(np.median([one.post_ns for one in rounds])) / 1e6,
        floor_ms=floor_ms(timings, arm, workload),
        row_spread=row_spread(timings, arm, workload),
        cpu_utilisation=cpu_share(timings, arm, workload),
        flags=flags(timings, arm, workload),
    )


def _rate(timings: Timings, arm: str, workload: Workload) -> Interval | None:
    """Items per second with the t interval over pairs; None with one pair."""
    rates = [workload.batch_size * 1e9 / float(calls.mean()) for calls in timings.calls_by_pair(arm, workload)]
    if len(rates) < 2:
        return None
    found = pair_ratio([1.0] * len(rates), rates)
    return Interval(value=found.value, low=found.low, high=found.high)


def _enough(pairs: list[np.ndarray], q: float) -> bool:
    sizes = [len(calls) for calls in pairs]
    return sum(sizes) >= SAMPLE_FLOOR[q] and min(sizes) >= PAIR_FLOOR[q]


def _comparison(workload: Workload, q: float | None, ratio: Ratio, clock: Clock = "wall") -> Comparison:
    return Comparison(
        workload=workload,
        quantile=q,
        clock=clock,
        ratio=ratio.value,
        low=ratio.low,
        high=ratio.high,
        verdict=verdict(ratio),
        n_pairs=ratio.n_pairs,
        pairs_needed=pairs_needed(ratio),
    )
