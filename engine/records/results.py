"""What a run finds out about time: measurements and comparisons."""

from __future__ import annotations

from pydantic import Field

from engine.records.base import Record
from engine.records.models import Choice
from engine.records.study import Workload
from engine.records.words import Clock, SpeedVerdict


class FileRef(Record):
    """A file of the workspace, by content."""

    path: str
    sha256: str
    size_bytes: int


class Interval(Record):
    """A value with a 95 % interval; a bound is None where the samples cannot give it."""

    value: float
    low: float | None = None
    high: float | None = None


class RowSpread(Record):
    """How much the time of a call depends on its rows: picked by all process pairs but one, taken from that one."""

    n_blocks: int = Field(description="Blocks of rows, one per call, that were timed in every pair.")
    slowest: float = Field(description="Median time of the slowest 5 % of blocks / of all blocks.")
    fastest: float = Field(description="Median time of the fastest 5 % of blocks / of all blocks.")


class Measurement(Record):
    """One arm of one workload, timed beside the other arm. Percentiles are None below their sample floor."""

    artefact_id: str
    runtime: Choice
    workload: Workload
    samples: FileRef
    n_calls: int
    n_pairs: int
    n_warm_up: int = Field(0, description="Calls of each process before the timed ones; not in any figure.")
    p50_ms: Interval
    p95_ms: Interval | None
    p99_ms: Interval | None
    p99_cpu_ms: Interval | None = Field(
        None, description="p99 of the processor time of a call: without waiting for the scheduler. One thread only."
    )
    items_per_s: float
    items_per_s_interval: Interval | None = Field(None, description="Its geometric mean over pairs, t interval.")
    cold_start_ms: float = Field(description="The first call of a fresh process.")
    load_ms: float
    peak_bytes: int
    prepare_ms: float = Field(description="Median time to make the arrays of one call.")
    model_ms: float
    post_ms: float = Field(description="Median time to turn outputs into scores.")
    floor_ms: float | None = Field(None, description="Median call of a model that does nothing: what we add ourselves.")
    row_spread: RowSpread | None = None
    cpu_utilisation: float | None = Field(
        None, description="Processor time / wall time while timed; 1.0 is one core fully used."
    )
    accelerator_utilisation: float | None = Field(None, description="None: the model did not run on an accelerator.")
    accelerator_peak_bytes: int | None = None
    flags: tuple[str, ...] = Field((), description="Why the figures may be contaminated.")


class Comparison(Record):
    """Variant / baseline of the same pairs: below 1 is faster."""

    workload: Workload
    quantile: float | None = Field(description="0.5, 0.95 or 0.99; None: the mean call, which cost follows.")
    clock: Clock = Field("wall", description="cpu: processor time, for a tail that the machine's scheduler made.")
    ratio: float
    low: float
    high: float
    verdict: SpeedVerdict
    n_pairs: int
    pairs_needed: int | None = Field(None, description="With 'cannot tell': pairs that would probably decide.")
