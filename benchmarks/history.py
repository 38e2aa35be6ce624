"""What a page pays for polling and listing when the history holds 5,000 experiments."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.figures import cell
from engine.records import (
    Band,
    Choice,
    EvalSetInfo,
    ExperimentSpec,
    JobState,
    Manifest,
    Promise,
    Recipe,
    Signature,
    Step,
    Study,
    Workload,
)
from storage.ledger import Ledger

N_EXPERIMENTS = 5000


def table() -> list[str]:
    """Markdown lines."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        ledger = Ledger.open(f"sqlite:///{home / 'whetstone.db'}", home)
        study_id = _fill(ledger)
        one = _active(ledger)[0].experiment_id
        lines = [
            "## History with 5,000 experiments (SQLite)",
            "| what | measured | limit |",
            "|---|---|---|",
            f"| poll: state of every unfinished job | {_time(lambda: _active(ledger), 200)} | 10 ms |",
            f"| poll: state of one job | {_time(lambda: ledger.queue.state(one), 200)} | 10 ms |",
            f"| version counter, read before a cached page | {_time(ledger.version, 200)} | |",
            f"| light rows of all experiments | {_time(ledger.summaries, 10)} | |",
            f"| full records of one study of 50 | {_time(lambda: ledger.experiments(study_id=study_id), 20)} | |",
        ]
        ledger.close()
    return lines


def _fill(ledger: Ledger) -> str:
    """100 studies of 50 experiments; all but the last 20 cancelled. Returns the first study's id."""
    manifest = Manifest(id="a" * 64, format="onnx", signature=Signature(inputs=(), outputs=()), size_bytes=1)
    ledger.add_model(manifest, "model.onnx")
    info = EvalSetInfo(id="b" * 64, n_rows=1, roles={}, task="binary", splits={"selection": 1})
    ledger.add_eval_set(info, "eval.csv")
    now, ids = datetime.now(UTC), []
    for number in range(N_EXPERIMENTS // 50):
        study = Study(
            id=f"{number:026d}",
            name=f"study {number}",
            model_id="a" * 64,
            eval_set_id="b" * 64,
            signature=manifest.signature,
            promise=Promise(band=Band(metric="roc_auc")),
            created_at=now,
        )
        ledger.add_study(study)
        for i in range(50):
            recipe = Recipe(steps=(Step(lever="pruning.fewer_trees", params={"keep_fraction": (i + 1) / 50}),))
            spec = ExperimentSpec(
                study_id=study.id, recipe=recipe, runtime=Choice(name="lightgbm_native"), workloads=(Workload(),)
            )
            ids.append(ledger.add_experiment(spec, "bench"))
    for experiment_id in ids[:-20]:
        ledger.queue.cancel(experiment_id)
    return f"{0:026d}"


def _active(ledger: Ledger) -> list[JobState]:
    return ledger.queue.states(active_only=True)


def _time(call: Callable[[], object], n: int) -> str:
    call()
    spent = []
    for _ in range(n):
        started = time.perf_counter()
        call()
        spent.append(1000 * (time.perf_counter() - started))
    return cell(spent, "ms")
