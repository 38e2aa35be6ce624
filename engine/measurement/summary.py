"""Raw timings -> the stored figures: one Measurement per arm and workload, one Comparison per quantile."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from engine.measurement.flags import flags
from engine.measurement.statistics import (
    PAIR_FLOOR,
    QUANTILES,
    SAMPLE_FLOOR,
    Ratio,
    nearest_rank,
    pair_ratio,
    pairs_needed,
    percentile,
    verdict,
)
from engine.measurement.timings import Timings
from engine.records import Choice, Comparison, FileRef, Measurement, Workload

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
    """Variant / baseline per workload: p50, p95 and p99 where their floors allow, and the mean (quantile None)."""
    found: list[Comparison] = []
    for workload in timings.workloads:
        pairs = [timings.calls_by_pair(arm, workload) for arm in ("baseline", "variant")]
        for q in QUANTILES:
            if all(_enough(calls, q) for calls in pairs):
                figures = [[nearest_rank(calls, q) for calls in arm] for arm in pairs]
                found.append(_comparison(workload, q, pair_ratio(*figures)))
        means = [[float(calls.mean()) for calls in arm] for arm in pairs]
        found.append(_comparison(workload, None, pair_ratio(*means)))
    return tuple(found)


def write_samples(timings: Timings, path: Path) -> Path:
    """Every timed call as compressed Arrow: pair, arm, batch, round, ns. Read it with pyarrow or pandas."""
    import pyarrow as pa

    sizes = [len(one.total_ns) for one in timings.rounds]

    def column(values: list[Any], kind: Any) -> Any:
        return np.repeat(np.asarray(values, kind), sizes)

    table = pa.table(
        {
            "pair": column([one.pair for one in timings.rounds], np.int16),
            "arm": pa.array(column([one.arm for one in timings.rounds], object)).dictionary_encode(),
            "batch": column([one.workload.batch_size for one in timings.rounds], np.int32),
            "round": column([one.number for one in timings.rounds], np.int16),
            "ns": np.concatenate([one.total_ns for one in timings.rounds]),
        }
    )
    about = {"plan": timings.plan.model_dump(), "seed": timings.seed, "load_average": timings.load_average}
    table = table.replace_schema_metadata({"whetstone": json.dumps(about)})
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return path


def _measurement(
    timings: Timings, arm: str, workload: Workload, artefact_id: str, runtime: Choice, samples: FileRef
) -> Measurement:
    rounds = timings.of(arm, workload)
    calls_ms = timings.calls_ns(arm, workload) / 1e6
    served = [process for process in timings.processes if process.arm == arm]
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
        items_per_s=workload.batch_size * len(calls_ms) / (calls_ms.sum() / 1e3),
        cold_start_ms=float(np.median([process.cold_start_ms for process in served])),
        load_ms=float(np.median([process.load_ms for process in served])),
        peak_bytes=max(process.peak_bytes for process in served),
        prepare_ms=float(np.median([one.prepare_ns for one in rounds])) / 1e6,
        model_ms=float(np.median([one.model_ns for one in rounds])) / 1e6,
        post_ms=float(np.median([one.post_ns for one in rounds])) / 1e6,
        flags=flags(timings, arm, workload),
    )


def _enough(pairs: list[np.ndarray], q: float) -> bool:
    sizes = [len(calls) for calls in pairs]
    return sum(sizes) >= SAMPLE_FLOOR[q] and min(sizes) >= PAIR_FLOOR[q]


def _comparison(workload: Workload, q: float | None, ratio: Ratio) -> Comparison:
    return Comparison(
        workload=workload,
        quantile=q,
        ratio=ratio.value,
        low=ratio.low,
        high=ratio.high,
        verdict=verdict(ratio),
        n_pairs=ratio.n_pairs,
        pairs_needed=pairs_needed(ratio),
    )
