"""What a page pays for polling and listing when the history holds 5,000 experiments."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.figures import cell
from benchmarks.history_fill import fill
from engine.records import Choice, ExperimentSpec, JobState, Workload
from engine.reports.compare import compare_rows
from storage.ledger import Ledger

N_WAITING = 20


def table() -> list[str]:
    """Markdown lines."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        ledger = Ledger.open(f"sqlite:///{home / 'whetstone.db'}", home)
        study = fill(ledger)[-1]
        for seed in range(N_WAITING):
            asked = ExperimentSpec(
                study_id=study.id, runtime=Choice(name="lightgbm_native"), workloads=(Workload(),), seed=seed
            )
            ledger.add_experiment(asked, "bench")
        one = _active(ledger)[0].experiment_id
        known = {run.id: run for run in ledger.summaries() if run.status != "queued"}
        mine = ledger.summaries(study.id)
        lines = [
            "## History with 5,000 experiments (SQLite)",
            "| what | measured | limit |",
            "|---|---|---|",
            f"| poll: state of every unfinished job | {_time(lambda: _active(ledger), 200)} | 10 ms |",
            f"| poll: state of one job | {_time(lambda: ledger.queue.state(one), 200)} | 10 ms |",
            f"| version counter, read before a cached page | {_time(ledger.version, 200)} | |",
            f"| light records of all experiments | {_time(ledger.summaries, 10)} | |",
            f"| the same, those that ended read before | {_time(lambda: ledger.summaries(None, known), 20)} | |",
            f"| comparison table of one study of 50 | {_time(lambda: compare_rows(study, mine), 20)} | |",
            f"| full records of one study of 50 | {_time(lambda: ledger.experiments(study_id=study.id), 20)} | |",
        ]
        ledger.close()
    return lines


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
