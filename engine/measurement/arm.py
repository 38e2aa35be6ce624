"""The timed side: holds one model open in its own process and answers the protocol's messages."""

from __future__ import annotations

import gc
import resource
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import BadInput

Predict = Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]]
Post = Callable[[dict[str, np.ndarray]], np.ndarray]

POOL_ROWS = 4096
POOL_BYTES = 64 << 20


class Arm:
    """Calls a model as a service would: rows of the pool -> contiguous arrays -> predict -> scores.

    predict: input name -> (b, ...) array to output name -> array, back once the outputs are in host memory.
    pool: input name -> (n, ...) real rows; at most POOL_ROWS of them, evenly spread, are copied into memory.
    post: outputs -> scores; None where no output is judged.
    load_ms: what opening the model took.
    """

    def __init__(
        self, predict: Predict, pool: Mapping[str, np.ndarray], post: Post | None, *, load_ms: float = 0.0
    ) -> None:
        self._predict = predict
        self._pool = _in_memory(pool)
        self._n_rows = len(next(iter(self._pool.values())))
        self._post = post
        self._load_ms = load_ms
        self._cold_ms: float | None = None
        self._next_row = 0

    def handle(self, message: dict[str, Any]) -> dict[str, Any]:
        """Answer one message.

        {"do": "hello", "batch": b}                        -> load_ms, cold_start_ms, pool_rows
        {"do": "first", "batch": b}                        -> ns of the first call of this process
        {"do": "warm", "batch": b, "calls": n, "seconds": s, "limit_s": l} -> calls, ns (median of the later half)
        {"do": "round", "batch": b, "calls": k, "start": row, "cpu_each": bool}
            -> ns [k totals], prepare_ns, model_ns, post_ns (medians), wall_ns, cpu_ns, involuntary (of the whole
               round), cpu_each_ns [k] of this thread when asked for, else None
        {"do": "floor", "batch": b, "calls": k}            -> ns (median of calls whose model does nothing)
        {"do": "peak"}                                     -> peak_bytes
        """
        match message["do"]:
            case "hello":
                cold_ms = self._first_ms(message.get("batch", 1))
                return {"load_ms": self._load_ms, "cold_start_ms": cold_ms, "pool_rows": self._n_rows}
            case "first":
                return {"ns": round(self._first_ms(message["batch"]) * 1e6)}
            case "warm":
                return self._warm(
                    message["batch"], message["calls"], message["seconds"], message.get("limit_s", float("inf"))
                )
            case "round":
                start = message.get("start", self._next_row)
                return self._round(message["batch"], message["calls"], start, message.get("cpu_each", False))
            case "floor":
                return self._floor(message["batch"], message["calls"])
            case "peak":
                return {"peak_bytes": peak_bytes()}
            case unknown:
                raise ValueError(f"an arm knows hello, first, warm, round, floor and peak, got {unknown!r}")

    def _first_ms(self, batch: int) -> float:
        if self._cold_ms is None:
            self._cold_ms = sum(self._call(0, batch)) / 1e6
            self._next_row = batch
        return self._cold_ms

    def _warm(self, batch: int, n_calls: int, seconds: float, limit_s: float) -> dict[str, Any]:
        """At least n_calls and `seconds`, but no longer than limit_s once three calls are done."""
        totals: list[int] = []
        begun = time.perf_counter()
        while True:
            totals.append(sum(self._call(self._next_row, batch)))
            self._next_row += batch
            spent = time.perf_counter() - begun
            if (len(totals) >= n_calls and spent >= seconds) or (len(totals) >= 3 and spent >= limit_s):
                return {"calls": len(totals), "ns": float(np.median(totals[len(totals) // 2 :]))}

    def _round(self, batch: int, n_calls: int, start: int, cpu_each: bool) -> dict[str, Any]:
        """Timed calls, after one that is not: it finds the caches full of what the other arm did."""
        spans = np.empty((n_calls, 3), np.int64)
        cpu_spans = np.empty(n_calls, np.int64) if cpu_each else None
        with _no_collection():
            self._call(start - batch, batch)
            switches = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
            cpu, wall = time.process_time_ns(), time.perf_counter_ns()
            for i in range(n_calls):
                if cpu_spans is None:
                    spans[i] = self._call(start + i * batch, batch)
                else:  # outside the wall stopwatch: reading this clock is a system call
                    before = time.thread_time_ns()
                    spans[i] = self._call(start + i * batch, batch)
                    cpu_spans[i] = time.thread_time_ns() - before
            wall, cpu = time.perf_counter_ns() - wall, time.process_time_ns() - cpu
            switches = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw - switches
        self._next_row = start + n_calls * batch
        prepare, model, post = np.median(spans, axis=0).tolist()
        return {
            "ns": spans.sum(axis=1).tolist(),
            "prepare_ns": prepare,
            "model_ns": model,
            "post_ns": post,
            "wall_ns": wall,
            "cpu_ns": cpu,
            "involuntary": switches,
            "cpu_each_ns": None if cpu_spans is None else cpu_spans.tolist(),
        }

    def _floor(self, batch: int, n_calls: int) -> dict[str, Any]:
        """The same calls with a model that hands out one answer it has kept."""
        kept = self._predict(self._rows(0, batch))
        with _no_collection():
            totals = [sum(self._call(i * batch, batch, lambda inputs: kept)) for i in range(n_calls)]
        return {"ns": float(np.median(totals))}

    def _rows(self, start: int, batch: int) -> dict[str, np.ndarray]:
        rows = np.arange(start, start + batch)
        return {name: values.take(rows, axis=0, mode="wrap") for name, values in self._pool.items()}

    def _call(self, start: int, batch: int, predict: Predict | None = None) -> tuple[int, int, int]:
        """Nanoseconds of prepare, model and post of one call on the rows from `start` on, cycled."""
        clock = time.perf_counter_ns
        predict = predict or self._predict
        begun = clock()
        inputs = self._rows(start, batch)
        prepared = clock()
        outputs = predict(inputs)
        answered = clock()
        if self._post is not None:
            with suppress(BadInput):  # an answer that is no score costs its time; its worth is judged elsewhere
                self._post(outputs)
        done = clock()
        return prepared - begun, answered - prepared, done - answered


@contextmanager
def _no_collection() -> Iterator[None]:
    gc.collect()
    gc.freeze()  # what lives now is never scanned again: later rounds collect only their own litter
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def peak_bytes() -> int:
    """Largest resident memory of this process since it was started.

    VmHWM where Linux gives it: ru_maxrss is inherited over fork and exec, so it can be the parent's.
    """
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) * 1024


def _in_memory(pool: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    n_rows = len(next(iter(pool.values())))
    row_bytes = sum(values.nbytes for values in pool.values()) / n_rows
    n_kept = max(1, min(n_rows, POOL_ROWS, int(POOL_BYTES / max(row_bytes, 1))))
    rows = np.linspace(0, n_rows - 1, n_kept).astype(np.intp)
    return {name: np.ascontiguousarray(values[rows]) for name, values in pool.items()}
