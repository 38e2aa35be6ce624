"""Real databases and plausible records for every test that needs a history."""

from __future__ import annotations

import atexit
import os
import pwd
import shutil
import subprocess
import tempfile
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from engine.records import (
    Agreement,
    Band,
    Choice,
    Comparison,
    EvalSetInfo,
    Experiment,
    ExperimentSpec,
    FileRef,
    Interval,
    Manifest,
    Measurement,
    Promise,
    QualityReport,
    Recipe,
    Signature,
    SliceQuality,
    Step,
    Study,
    TensorSpec,
    Workload,
)

MODEL_ID, EVAL_SET_ID = "a1" * 32, "e1" * 32
BOTH = ("sqlite", pytest.param("postgresql", marks=pytest.mark.postgres))


# ---------------------------------------------------------------- databases
def new_database(kind: str, folder: Path) -> str:
    """URL of an empty database. Skips where no PostgreSQL server is installed."""
    if kind == "sqlite":
        return f"sqlite:///{folder / 'whetstone.db'}"
    server = postgresql()
    if server is None:
        pytest.skip("not run: no PostgreSQL server")
    name = f"t{uuid4().hex[:12]}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} OWNER plain")
    return server.replace("//owner@", "//plain@") + f"/{name}"


@cache
def postgresql() -> str | None:
    """URL of a private server, started once and stopped when the tests end; None where it is not installed."""
    found = programs()
    if found is None:
        return None
    server = Server(found)
    atexit.register(server.remove)
    server.start()
    with psycopg.connect(f"{server.url}/postgres", autocommit=True) as connection:
        connection.execute("CREATE ROLE plain LOGIN")
    return server.url


def programs() -> Path | None:
    """Where the programs of a PostgreSQL server are; None where it is not installed."""
    found = [Path(path).parent for path in (shutil.which("initdb"),) if path]
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in found if (folder / "initdb").exists()), None)


class Server:
    """A PostgreSQL server of our own on a free port, in a folder of its own, as a user that is not root."""

    def __init__(self, folder_of_programs: Path) -> None:
        self._programs = folder_of_programs
        self._as = _unprivileged() if os.getuid() == 0 else {}
        self._folder = Path(tempfile.mkdtemp(prefix="whetstone-pg-", dir="/tmp"))
        if self._as:
            os.chown(self._folder, self._as["user"], self._as["group"])
        self._run("initdb", "-D", self._folder / "data", "-U", "owner", "-A", "trust", "--no-sync", "-E", "UTF8")
        self.url = f"postgresql://owner@127.0.0.1:{_free_port()}"

    def start(self) -> None:
        """Wait until it answers."""
        port = self.url.rpartition(":")[2]
        options = f"-p {port} -c listen_addresses=127.0.0.1 -k {self._folder} -c fsync=off"
        self._run("pg_ctl", "-D", self._folder / "data", "-o", options, "-l", self._folder / "log", "-w", "start")

    def stop(self) -> None:
        """Hard, as when the machine goes down."""
        self._run("pg_ctl", "-D", self._folder / "data", "-m", "immediate", "-w", "stop")

    def remove(self) -> None:
        """Stop it and take its files away."""
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _run(self, program: str, *arguments: object) -> None:
        command = [str(part) for part in (self._programs / program, *arguments)]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(command, cwd=self._folder, check=True, **quiet, **self._as)


def _unprivileged() -> dict[str, object]:
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = names.get("postgres") or names["nobody"]
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# ---------------------------------------------------------------- records
SIGNATURE = Signature(
    inputs=(TensorSpec(name="features", dtype="float64", shape=("n", 3)),),
    outputs=(TensorSpec(name="score", dtype="float64", shape=("n",)),),
    task="binary",
    classes=("no", "yes"),
    score_output="score",
    output_kind="probabilities",
)
MANIFEST = Manifest(id=MODEL_ID, format="lightgbm", signature=SIGNATURE, size_bytes=1000, n_trees=10)
EVAL_SET = EvalSetInfo(
    id=EVAL_SET_ID, n_rows=100, roles={"y": "label"}, task="binary", splits={"selection": 20, "certification": 50}
)
PROMISE = Promise(band=Band(metric="roc_auc", slices=("carrier",)))


def study(name: str = "flights", study_id: str | None = None, batch_size: int = 1) -> Study:
    return Study(
        id=study_id or uuid4().hex,
        name=name,
        model_id=MODEL_ID,
        eval_set_id=EVAL_SET_ID,
        signature=SIGNATURE,
        promise=PROMISE,
        workload=Workload(batch_size=batch_size),
        created_at=datetime.now(UTC),
    )


def add_study(ledger, **choices) -> Study:
    """A study with its model and evaluation set, stored."""
    ledger.add_model(MANIFEST, "model.txt")
    ledger.add_eval_set(EVAL_SET, "flights.csv")
    new = study(**choices)
    ledger.add_study(new)
    return new


def spec(study_id: str, seed: int = 0, *, batch_sizes=(1,), recipe: Recipe | None = None, **params) -> ExperimentSpec:
    return ExperimentSpec(
        study_id=study_id,
        recipe=recipe or Recipe(),
        runtime=Choice(name="fake", params=params),
        workloads=tuple(Workload(batch_size=size) for size in batch_sizes),
        seed=seed,
    )


FEWER_TREES = Recipe(steps=(Step(lever="pruning.fewer_trees", params={"keep_fraction": 0.5}),))


def measurement(batch_size: int, p50_ms: float) -> Measurement:
    return Measurement(
        artefact_id=MODEL_ID,
        runtime=Choice(name="fake"),
        workload=Workload(batch_size=batch_size),
        samples=FileRef(path="samples/x.arrow", sha256="0" * 64, size_bytes=3),
        n_calls=100,
        n_pairs=3,
        p50_ms=Interval(value=p50_ms, low=p50_ms * 0.9, high=p50_ms * 1.1),
        p95_ms=Interval(value=p50_ms * 2),
        p99_ms=None,
        items_per_s=1000 * batch_size / p50_ms,
        cold_start_ms=10,
        load_ms=20,
        peak_bytes=1 << 20,
        prepare_ms=0.1,
        model_ms=p50_ms - 0.2,
        post_ms=0.1,
    )


def finished(claimed, p50_ms: float = 2.0) -> Experiment:
    """The record of a claimed attempt that went well, with everything in it that is awkward to store."""
    return Experiment(
        id=claimed.experiment_id,
        spec=claimed.spec,
        status="succeeded",
        created_at=claimed.created_at,
        created_by=claimed.created_by,
        attempt=claimed.attempt,
        duration_s=3.5,
        environment={"processor": "x\x00y ☕", "load": 0.5},
        artefact=MANIFEST,
        measurements=tuple(measurement(load.batch_size, p50_ms * load.batch_size) for load in claimed.spec.workloads),
        comparisons=tuple(
            Comparison(workload=load, quantile=0.5, ratio=0.5, low=0.4, high=0.8, verdict="faster", n_pairs=3)
            for load in claimed.spec.workloads
        ),
        quality=QualityReport(
            split="selection",
            metric="roc_auc",
            relative=False,
            baseline=0.9,
            candidate=0.89,
            drop=0.01,
            bound=float("inf"),
            verdict="within band",
            slices=(
                _slice("AA", 0.005),
                _slice("DL", 0.03),
                _slice("ZZ", None),
            ),
            agreement=Agreement(max_abs_diff=0.1, p99_abs_diff=0.05, identical=False),
            n_rows=20,
        ),
        retry_of=claimed.retry_of,
    )


def _slice(value: str, drop: float | None) -> SliceQuality:
    verdict = "too few rows" if drop is None else "within band"
    return SliceQuality(
        column="carrier",
        value=value,
        n_rows=7,
        baseline=0.9,
        candidate=None if drop is None else 0.9 - drop,
        drop=drop,
        bound=None,
        verdict=verdict,
    )
