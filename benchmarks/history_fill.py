"""`python -m benchmarks.history_fill HOME [many|one]`: 5,000 made-up experiments of more than 45 figures each.

many: 100 studies of 50; one: a single study of 5,000. What is stored goes through the functions by which the ledger
takes questions and results, a study per transaction.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy.engine import Connection
from ulid import ULID

from benchmarks.made_up import EVAL_SET, ORIGINAL, certificate, chain, promise, run
from engine.records import Annotation, Choice, Experiment, ExperimentSpec, Recipe, Study, Workload
from storage import database
from storage.experiments import store_question, store_result
from storage.ledger import Ledger
from storage.schema import job
from storage.studies import freeze_promise

N_EXPERIMENTS = 5000
SHAPES = {"many": 100, "one": 1}  # shape -> studies
PEOPLE = ("Asha", "Ravi", "Mei", "Tomás", "Ingrid")
TAGS = ("ship it", "too slow", "look again", "for the review", "int8")
NOTES = ("", "as fast as hoped", "p99 looks odd, run again on a quiet machine")
NAMES = ("Flight delay", "Fraud score", "Churn", "House price", "Ad ranking", "Support topic", "Digits", "Demand")
BATCHES = (1, 32)
GOALS = (3.0, 1.5, 5.0, 2.0, 8.0)
START = datetime(2026, 6, 1, 8, 0, tzinfo=UTC)
EVERY = timedelta(minutes=40)


def fill(ledger: Ledger, shape: str = "many", n_experiments: int = N_EXPERIMENTS) -> list[Study]:
    """Fill an empty history, the same every time but for the ids of the runs; returns its studies, oldest first."""
    ledger.add_model(ORIGINAL, "model.txt")
    ledger.add_eval_set(EVAL_SET, "eval.parquet")
    n_runs = n_experiments // SHAPES[shape]
    studies = [_study(number, START + number * n_runs * EVERY) for number in range(SHAPES[shape])]
    for study in studies:
        ledger.add_study(study)
        _store(ledger, study, list(_runs(study, n_runs)))
    return studies


def _study(number: int, created_at: datetime) -> Study:
    rng = _random(number)
    return Study(
        id=f"{number + 1:032x}",
        name=f"{NAMES[number % len(NAMES)]} {number + 1}",
        model_id=ORIGINAL.id,
        eval_set_id=EVAL_SET.id,
        signature=ORIGINAL.signature,
        promise=promise(GOALS[number % len(GOALS)]),
        workload=Workload(batch_size=BATCHES[0]),
        price_per_hour=0.1,
        created_at=created_at,
        created_by=rng.choice(PEOPLE),
    )


def _runs(study: Study, n_runs: int) -> Iterator[Experiment]:
    rng = _random(study.id)
    workloads = tuple(Workload(batch_size=size) for size in BATCHES)
    for number in range(n_runs):
        recipe = chain(rng) if number else Recipe()
        runtime = Choice(name="onnxruntime_cpu" if len(recipe.steps) > 1 else "lightgbm_native")
        spec = ExperimentSpec(study_id=study.id, recipe=recipe, runtime=runtime, workloads=workloads, seed=number)
        when = study.created_at + number * EVERY
        yield run(spec, str(ULID.from_datetime(when)), when, rng.choice(PEOPLE), rng)


def _store(ledger: Ledger, study: Study, runs: list[Experiment]) -> None:
    """Questions, results, a note on every tenth, and in one study of three a certificate."""

    def write(connection: Connection) -> None:
        freeze_promise(connection, study.id)
        for one in runs:
            store_question(connection, one, ledger.workspace)
            store_result(connection, one)
            values = {
                "status": one.status, "attempt": 1, "progress": 1.0, "started_at": one.created_at,
                "finished_at": one.created_at + timedelta(seconds=one.duration_s or 0.0),
                "failure": one.error.model_dump(mode="json") if one.error else None,
            }  # fmt: skip
            connection.execute(job.update().where(job.c.experiment_id == one.id).values(**values))

    database.write(ledger.engine, write)
    rng = _random(study.name)
    for one in rng.sample(runs, len(runs) // 10):
        note = Annotation(
            experiment_id=one.id, tags=(rng.choice(TAGS),), note=rng.choice(NOTES), archived=rng.random() < 0.1,
            who=study.created_by, when=one.created_at,
        )  # fmt: skip
        ledger.annotate(note)
    inside = [one for one in runs if one.comparisons and one.quality and one.quality.verdict == "within band"]
    if inside and rng.random() < 1 / 3:
        ledger.add_certificate(certificate(study, rng.choice(inside)))


def _random(seed: int | str) -> random.Random:
    return random.Random(seed)  # noqa: S311  # figures to look at, no secret


if __name__ == "__main__":
    home = Path(sys.argv[1])
    opened = Ledger.open(f"sqlite:///{home / 'whetstone.db'}", home)
    shape = sys.argv[2] if len(sys.argv) > 2 else "many"
    print(f"{len(fill(opened, shape))} studies in {home}")
    opened.close()
