"""A Parquet file of two million rows, from the file to the certificate: seconds and peak memory of every stage."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from engine.certification import issue
from engine.data.choices import DataChoices
from engine.data.stored import load_rows, load_split
from engine.experiment import uploaded
from engine.intake import read_table, take_model
from engine.plugin import reference_runtime
from engine.quality.report import judge
from engine.recipe import build
from engine.records import Choice, Experiment, ExperimentSpec, QualityReport, Recipe, Step, Workload
from engine.scoring import outputs
from engine.study import StudyRequest, Terms, create
from engine.workspace import Workspace

N_ROWS = 2_000_000
N_FEATURES = 8


def table() -> list[str]:
    """Markdown lines."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.parquet"]
        subprocess.run([*command, "make", folder, str(N_ROWS)], check=True)
        done = subprocess.run([*command, "stages", folder], capture_output=True, text=True, check=True)
    lines = [
        f"## A Parquet file of {N_ROWS:,} rows",
        "30 LightGBM trees, a variant with fewer, log-loss, 10 declared slices. Memory is the most that this process "
        "or a confined one has held so far.",
        "| stage | time | peak memory |",
        "|---|---|---|",
    ]
    for stage in json.loads(done.stdout.splitlines()[-1]):
        lines.append(f"| {stage['stage']} | {stage['seconds']:.0f} s | {stage['peak_bytes'] / 1e9:.2f} GB |")
    return lines


def stages(folder: Path) -> list[dict[str, Any]]:
    """Every stage in order."""
    found: list[dict[str, Any]] = []

    def timed(stage: str, work: Callable[[], Any]) -> Any:
        started = time.perf_counter()
        result = work()
        found.append({"stage": stage, "seconds": time.perf_counter() - started, "peak_bytes": _peak_bytes()})
        return result

    workspace = Workspace(folder / "home")
    manifest = take_model(folder / "model.txt", "model.txt", workspace)
    table_id, _ = timed("read the file", lambda: read_table(folder / "data.parquet", "data", workspace))
    choices, terms = DataChoices(label="y", slices=("place",)), Terms(metric="log_loss")
    request = StudyRequest(name="big", model_id=manifest.id, table_id=table_id, choices=choices, terms=terms)
    study, _ = timed("bind and split", lambda: create(request, workspace))
    evalset, original = workspace.evalset_folder(study.eval_set_id), uploaded(study, workspace)
    recipe = Recipe(steps=(Step(lever="pruning.fewer_trees", params={"keep_fraction": 0.9}),))
    variant = build(original, recipe, evalset, workspace, seed=0, threads=1, progress=_silent)[-1]
    runtime = Choice(name=reference_runtime("lightgbm"))

    def select() -> QualityReport:
        kept = str(study.signature.score_output)
        before, after = (
            outputs(one, runtime, evalset, "selection", workspace, threads=1)[kept] for one in (original, variant)
        )
        labels, rows = load_split(evalset, "selection").labels, load_rows(evalset, "selection")
        return judge("selection", before, after, labels, rows, study.signature, study.promise.band)

    quality = timed("score and judge selection rows", select)
    now = datetime.now(UTC)
    run = Experiment(
        id="0" * 26,
        spec=ExperimentSpec(study_id=study.id, recipe=recipe, runtime=runtime, workloads=(Workload(),)),
        status="succeeded",
        created_at=now,
        artefact=variant.manifest,
        quality=quality,
    )
    promise: dict[str, Any] = {"promise_frozen_at": now, "promise_sha256": study.promise.fingerprint}
    timed("score and certify", lambda: issue(run, study, workspace, created_by="bench", **promise))
    return found


def make(n: int, folder: Path) -> None:
    """Write data.parquet and model.txt."""
    import lightgbm
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    features = rng.normal(size=(n, N_FEATURES)).astype(np.float32)
    labels = (features[:, 0] + features[:, 1] * features[:, 2] + rng.normal(0, 0.5, n) > 0).astype(np.int8)
    names = [f"f{at}" for at in range(N_FEATURES)]
    columns = {name: features[:, at] for at, name in enumerate(names)}
    place = rng.choice([f"place {at}" for at in range(10)], n)
    pq.write_table(pa.table({**columns, "y": labels, "place": place}), folder / "data.parquet")
    data = lightgbm.Dataset(features[:20_000], labels[:20_000], feature_name=names)
    lightgbm.train({"objective": "binary", "verbose": -1, "num_threads": 1, "num_leaves": 15}, data, 30).save_model(
        folder / "model.txt"
    )


def _silent(fraction: float, text: str) -> None:
    """Say nothing of the progress."""


def _peak_bytes() -> int:
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) * 1024


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(int(sys.argv[3]), Path(sys.argv[2]))
    else:
        print(json.dumps(stages(Path(sys.argv[2]))))
