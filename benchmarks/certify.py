"""What a certificate costs against the number of rows: judging, without running the models. Each case in a process."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import numpy as np
import pandas as pd

from engine.quality.certify import Prediction, certify
from engine.records import Band, Metric, Signature, Task

ROWS = (1_000, 10_000, 100_000, 1_000_000)
METRICS: tuple[Metric, ...] = ("accuracy", "roc_auc", "log_loss", "rmse")
N_SLICES, N_COLUMNS = 10, 10
MOST_S, MOST_BYTES = 60.0, 2e9


def table() -> list[str]:
    """Markdown lines."""
    lines = [
        f"## Certifying n rows in {N_SLICES} slices",
        f"Limit at 1,000,000 rows: {MOST_S:.0f} s and {MOST_BYTES / 1e9:.0f} GB. Without running the models; with the "
        f"search for slices nobody declared in {N_COLUMNS} columns.",
        "| metric | " + " | ".join(f"{n:,} rows" for n in ROWS) + " |",
        "|---" * (len(ROWS) + 1) + "|",
    ]
    for metric in METRICS:
        cells = [_measured(metric, n) for n in ROWS]
        lines.append(f"| {metric} | " + " | ".join(cells) + " |")
    return lines


def _measured(metric: Metric, n: int) -> str:
    command = [sys.executable, "-m", "benchmarks.certify", metric, str(n)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    over = " **over the limit**" if found["seconds"] > MOST_S or found["peak_bytes"] > MOST_BYTES else ""
    return f"{found['seconds']:.2g} s, {found['peak_bytes'] / 1e9:.2f} GB{over}"


def one(metric: Metric, n: int) -> dict[str, float]:
    """Seconds and peak memory of one certificate in this process."""
    rng = np.random.default_rng(0)
    task: Task = "regression" if metric == "rmse" else "binary"
    truth = rng.normal(size=n) if task == "regression" else rng.integers(0, 2, n)
    before = truth + rng.normal(0, 0.8, n)
    after = before + rng.normal(0, 0.02, n)
    if task == "binary":
        before, after = (1 / (1 + np.exp(-4 * (values - 0.5))) for values in (before, after))
    rows = pd.DataFrame({"row": np.arange(n), "slice:place": rng.choice([f"place {i}" for i in range(N_SLICES)], n)})
    columns = {f"column {i}": (rng.integers(0, 5, n), list("abcde")) for i in range(N_COLUMNS)}
    signature = Signature(
        inputs=(), outputs=(), task=task, score_output="s", output_kind="value" if metric == "rmse" else "probabilities"
    )
    band = Band(metric=metric, slices=("place",), relative=metric in ("log_loss", "rmse"))
    started = time.perf_counter()
    certify(
        Prediction(before, "r", "l"),
        Prediction(after, "r", "l"),
        truth,
        rows,
        signature,
        band,
        gate_passed=False,
        columns=lambda: columns,
    )
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}


if __name__ == "__main__":
    print(json.dumps(one(sys.argv[1], int(sys.argv[2]))))  # type: ignore[arg-type]
