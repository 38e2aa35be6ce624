"""Builds a history through the real ledger and queue: finished, failed and waiting runs; no engine needed."""

from datetime import UTC, datetime

from engine.records import (
    Agreement,
    Band,
    Choice,
    Comparison,
    EvalSetInfo,
    Experiment,
    ExperimentSpec,
    Failure,
    FileRef,
    Goal,
    Interval,
    Manifest,
    Measurement,
    Promise,
    QualityReport,
    Signature,
    SliceInfo,
    SliceQuality,
    Study,
    TensorSpec,
    Workload,
)

HOSTILE = "<img src=x onerror=alert(1)> **b** :red[x] $a$ [l](http://evil.example) =1+1"
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
ORIGINAL = Manifest(
    id="a" * 64,
    format="lightgbm",
    signature=Signature(
        inputs=(TensorSpec(name="features", dtype="float64", shape=("batch", 12)),),
        outputs=(TensorSpec(name="score", dtype="float64", shape=("batch",)),),
        task="binary",
        classes=("0", "1"),
        score_output="score",
        output_kind="probabilities",
    ),
    size_bytes=4_200_000,
    n_trees=1200,
)


def make_study(ledger, *, name, study_id="study0001"):
    ledger.add_model(ORIGINAL, "model.txt")
    ledger.add_eval_set(
        EvalSetInfo(
            id="e" * 64,
            n_rows=20_000,
            roles={"late": "label", "origin": "slice"},
            task="binary",
            classes=("0", "1"),
            splits={"train": 6000, "selection": 4000, "certification": 10_000},
            slices=(SliceInfo(column="origin", value="JFK", n_rows=2500),),
        ),
        "data.csv",
    )
    made = Study(
        id=study_id,
        name=name,
        model_id=ORIGINAL.id,
        eval_set_id="e" * 64,
        signature=ORIGINAL.signature,
        promise=Promise(goal=Goal(kind="p50", factor=3.0), band=Band(metric="roc_auc", slices=("origin",))),
        price_per_hour=0.1,
        created_at=NOW,
        created_by="Asha",
    )
    ledger.add_study(made)
    return made


def add_run(ledger, study, recipe, *, speedup, drop=0.0, status="succeeded", message="broken"):
    """Queue, claim and finish one run; speedup None: the baseline."""
    spec = ExperimentSpec(
        study_id=study.id, recipe=recipe, runtime=Choice(name="lightgbm_native"), workloads=(study.workload,)
    )
    experiment_id = ledger.add_experiment(spec, "Asha")
    claimed = ledger.queue.claim("test:1", 60.0)
    assert claimed.experiment_id == experiment_id
    failure = None if status == "succeeded" else Failure(reason="error", message=message)
    record = Experiment(
        id=experiment_id, spec=spec, status=status, created_at=claimed.created_at, created_by="Asha", attempt=1,
        duration_s=12.0, environment={"processor": "test processor", "usable_cores": 2},
        **({} if failure else _outcome(study, recipe, speedup, drop)), error=failure,
    )  # fmt: skip
    lines = ["building", "timing"]
    ledger.queue.finish(experiment_id, 1, status, experiment_record=record, failure=failure, log_lines=lines)
    return experiment_id


def _outcome(study, recipe, speedup, drop):
    artefact = ORIGINAL.model_copy(
        update={"id": "b" * 64, "size_bytes": 1_400_000, "step": recipe.steps[-1], "parent_id": ORIGINAL.id}
        if recipe.steps
        else {}
    )
    outside = drop > study.promise.band.max_drop
    quality = QualityReport(
        split="selection", metric="roc_auc", relative=False, baseline=0.9134, candidate=0.9134 - drop, drop=drop,
        bound=drop + 0.003, verdict="outside" if outside else "within band", n_rows=4000,
        reason="loses 3.1 points, limit 1.00" if outside else None,
        slices=(
            SliceQuality(column="origin", value="JFK", n_rows=2500, baseline=0.9, candidate=0.9 - drop, drop=drop,
                         bound=drop + 0.006, verdict="outside" if drop > 0.02 else "within band"),
            SliceQuality(column="origin", value=HOSTILE, n_rows=31, baseline=None, candidate=None, drop=None,
                         verdict="too few rows", reason="31 rows, needs 100"),
        ),
        agreement=Agreement(flip_fraction=0.01, max_abs_diff=0.02, p99_abs_diff=0.01, identical=speedup is None),
    )  # fmt: skip
    base_ms = 2.4
    measured = _measured(artefact.id, base_ms / (speedup or 1.0))
    values = {"artefact": artefact, "measurements": (measured,), "quality": quality}
    if speedup is not None:
        values["baselines"] = (_measured(ORIGINAL.id, base_ms),)
        values["chain"] = tuple(artefact for _ in recipe.steps)
        values["comparisons"] = (
            Comparison(
                workload=Workload(), quantile=0.5, ratio=1 / speedup, low=0.97 / speedup, high=1.03 / speedup,
                verdict="faster" if speedup > 1 else "slower", n_pairs=10,
            ),
        )  # fmt: skip
    return values


def _measured(artefact_id, p50_ms):
    interval = Interval(value=p50_ms, low=p50_ms * 0.97, high=p50_ms * 1.03)
    return Measurement(
        artefact_id=artefact_id, runtime=Choice(name="lightgbm_native"), workload=Workload(),
        samples=FileRef(path="samples/x.arrow", sha256="0" * 64, size_bytes=1), n_calls=2000, n_pairs=10,
        p50_ms=interval, p95_ms=interval, p99_ms=None, items_per_s=1000 / p50_ms, cold_start_ms=9.0, load_ms=40.0,
        peak_bytes=120_000_000, prepare_ms=0.01, model_ms=p50_ms, post_ms=0.01,
    )  # fmt: skip
