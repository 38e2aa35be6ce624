"""The timed calls of a run as they were recorded, from its file in the workspace."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import streamlit as st

from engine.measurement.statistics import Ratio, nearest_rank, pair_ratio
from engine.records import Comparison, FileRef, Workload
from engine.settings import settings

ARMS = ("baseline", "variant")


@dataclass(frozen=True)
class Calls:
    """Every timed call of one arm at one workload. pair: (n,) number of its process pair; ms, cpu_ms: (n,) its time.

    cpu_ms is None where the processor time of calls was not taken.
    """

    pair: np.ndarray
    ms: np.ndarray
    cpu_ms: np.ndarray | None


def read(samples: FileRef, workload: Workload) -> dict[str, Calls]:
    """Arm -> its calls, the original first. Raises FileNotFoundError where the file is not on this machine."""
    return _read(str(settings().home), samples.path, workload.batch_size, workload.threads)


def path_of(samples: FileRef) -> Path:
    """Where the file of raw calls lies."""
    return settings().home / samples.path


@st.cache_resource(show_spinner=False, max_entries=4)  # arrays nobody writes to: shared, not copied
def _read(home: str, path: str, batch_size: int, threads: int) -> dict[str, Calls]:
    with pa.memory_map(f"{home}/{path}") as source:
        table = pa.ipc.open_file(source).read_all().select(["pair", "arm", "batch", "threads", "ns", "cpu_ns"])
        frame = table.to_pandas()
    frame = frame[(frame["batch"] == batch_size) & (frame["threads"] == threads)]
    found = {str(arm): _calls(part) for arm, part in frame.groupby("arm", observed=True)}
    return {arm: found[arm] for arm in ARMS if arm in found}


def _calls(part: pd.DataFrame) -> Calls:
    cpu = None if part["cpu_ns"].isna().any() else part["cpu_ns"].to_numpy(np.float64) / 1e6
    return Calls(part["pair"].to_numpy(), part["ns"].to_numpy() / 1e6, cpu)


def by_pair(calls: Calls, compared: Comparison) -> dict[int, float]:
    """Pair -> the figure that was compared: a quantile of the pair's calls or their mean, by the comparison's clock."""
    times = calls.cpu_ms if compared.clock == "cpu" else calls.ms
    assert times is not None, "it was compared by processor time, so that was taken"
    parts = {int(pair): times[calls.pair == pair] for pair in np.unique(calls.pair)}
    q = compared.quantile
    return {pair: float(part.mean()) if q is None else nearest_rank(part, q) for pair, part in parts.items()}


def speedups(arms: dict[str, Calls], compared: Comparison) -> tuple[dict[int, float], Ratio | None]:
    """Pair -> original / variant, and the ratio that the pairs give together (None with one pair)."""
    before, after = (by_pair(arms[arm], compared) for arm in ARMS)
    pairs = sorted(before.keys() & after.keys())
    found = pair_ratio([before[pair] for pair in pairs], [after[pair] for pair in pairs]) if len(pairs) > 1 else None
    return {pair: before[pair] / after[pair] for pair in pairs}, found
