"""Builds a history through the real ledger and queue: finished, failed and waiting runs; no engine needed."""

from datetime import UTC, datetime

import numpy as np

from engine.measurement.presets import PRESETS
from engine.measurement.summary import write_samples
from engine.measurement.timings import Round, Timings
from engine.records import (
    Agreement,
    Annotation,
    Band,
    Calibration,
    Certificate,
    Choice,
    Comparison,
    EvalSetInfo,
    Experiment,
    ExperimentSpec,
    Failure,
    FileRef,
    Goal,
    Hashes,
    Interval,
    Manifest,
    Measurement,
    MetricFigure,
    OperatorCost,
    OperatorProfile,
    Promise,
    QualityReport,
    Signature,
    SliceInfo,
    SliceQuality,
    Study,
    TensorSpec,
    Workload,
)
from engine.workspace import Workspace

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


def add_run(
    ledger,
    study,
    recipe,
    *,
    speedup,
    drop=0.0,
    status="succeeded",
    message="broken",
    batches=(1,),
    threads=(1,),
    samples=None,
    log_lines=("building", "timing"),
    **changes,
):
    """Queue, claim and finish one run; speedup None: the baseline. samples: the file of its raw calls.

    changes: fields of the record that shall be others than those made up here.
    """
    workloads = tuple(Workload(batch_size=size, threads=count) for count in threads for size in batches)
    spec = ExperimentSpec(study_id=study.id, recipe=recipe, runtime=Choice(name="lightgbm_native"), workloads=workloads)
    experiment_id = ledger.add_experiment(spec, "Asha")
    claimed = ledger.queue.claim("test:1", 60.0)
    assert claimed.experiment_id == experiment_id
    failure = None if status == "succeeded" else Failure(reason="error", message=message)
    record = Experiment(
        id=experiment_id, spec=spec, status=status, created_at=claimed.created_at, created_by="Asha", attempt=1,
        duration_s=12.0, environment={"processor": "test processor", "usable_cores": 2},
        **({} if failure else _outcome(study, recipe, speedup, drop, workloads, samples)), error=failure,
    ).model_copy(update=changes)  # fmt: skip
    ledger.queue.finish(experiment_id, 1, status, experiment_record=record, failure=failure, log_lines=list(log_lines))
    return experiment_id


def _outcome(study, recipe, speedup, drop, workloads, samples):
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
        agreement=Agreement(
            flip_fraction=0.01, bad_flip_fraction=0.006, good_flip_fraction=0.003, max_abs_diff=0.02,
            p99_abs_diff=0.01, mean_kl_nats=0.0004, max_kl_nats=0.03, identical=speedup is None,
        ),
        figures=(MetricFigure(metric="log_loss", baseline=0.31, candidate=0.31 + drop),),
        calibration=Calibration(
            n_bins=15, equal_width=(0.021, 0.023), equal_mass=(0.022, 0.024),
            change=Interval(value=0.002, low=-0.001, high=0.005),
        ),
    )  # fmt: skip
    values = {"artefact": artefact, "quality": quality, "compressed_bytes": 900_000}
    values["operators"] = _operators(alone=speedup is None)
    if speedup is not None:
        values["chain"] = tuple(artefact for _ in recipe.steps)
    return values | timed(artefact.id, speedup, workloads, samples)


def timed(artefact_id, speedup, workloads, samples=None):
    """What a run found out about time; speedup None: the baseline."""
    values = {"measurements": [_measured(artefact_id, 1 / (speedup or 1.0), one, samples) for one in workloads]}
    if speedup is not None:
        values["baselines"] = [_measured(ORIGINAL.id, 1, one, samples) for one in workloads]
        values["comparisons"] = [
            Comparison(
                workload=one, quantile=0.5, ratio=1 / speedup, low=0.97 / speedup, high=1.03 / speedup,
                verdict="faster" if speedup > 1 else "slower", n_pairs=10,
            )
            for one in workloads
        ]  # fmt: skip
    return values


def _operators(*, alone):
    before = (
        OperatorCost(op=HOSTILE, n=1, total_ms=0.9, share=0.9),
        OperatorCost(op="Cast", n=2, total_ms=0.1, share=0.1),
    )
    after = () if alone else (OperatorCost(op="TreeEnsemble", n=1, total_ms=0.4, share=1.0),)
    return OperatorProfile(before=before, after=after, batch_size=1, n_calls=50, reading="The trees take 100%.")


def _measured(artefact_id, share, workload, samples):
    """Call time = share · (2 + 0.4 n) ms; two threads give nothing beyond the noise."""
    p50_ms = share * (2 + 0.4 * workload.batch_size)
    interval = Interval(value=p50_ms, low=p50_ms * 0.97, high=p50_ms * 1.03)
    return Measurement(
        artefact_id=artefact_id, runtime=Choice(name="lightgbm_native"), workload=workload,
        samples=samples or FileRef(path="samples/x.arrow", sha256="0" * 64, size_bytes=1), n_calls=2000, n_pairs=10,
        p50_ms=interval, p95_ms=interval, p99_ms=None, items_per_s=1000 * workload.batch_size / p50_ms,
        cold_start_ms=9.0, load_ms=40.0, peak_bytes=120_000_000, prepare_ms=0.01, model_ms=p50_ms, post_ms=0.01,
        cpu_utilisation=0.97, flags=(f"preempted in about {workload.batch_size}.0% of calls: p95 is the scheduler's",),
    )  # fmt: skip


def raw_samples(home, workload, *, fast_ms=1.0, slow_ms=2.0, n_pairs=1, n_calls=50, spread=0.0):
    """A file of raw calls as a run writes it: n_calls of each arm in every pair; spread: of the log of their time."""
    plan, rng = PRESETS["quick"], np.random.default_rng(0)
    rounds = [
        Round(pair=pair, arm=arm, workload=workload, number=0,
              total_ns=(1e6 * ms * (1 + 0.01 * pair) * np.exp(spread * rng.standard_normal(n_calls))).astype(int),
              prepare_ns=1.0, model_ns=1.0, post_ns=1.0, wall_ns=1, cpu_ns=1, n_involuntary=0)
        for pair in range(n_pairs)
        for arm, ms in (("baseline", slow_ms), ("variant", fast_ms * (1 - 0.005 * pair)))
    ]  # fmt: skip
    timings = Timings(
        plan=plan, seed=0, arms=("baseline", "variant"), workloads=(workload,), load_average=0.1, n_cores=2,
        rounds=tuple(rounds), processes=(),
    )  # fmt: skip
    return Workspace(home).add_sample(write_samples(timings, home / "draft.arrow"))


def add_certificate(ledger, study, experiment_id, verdict="pass"):
    """Issue a certificate through the ledger, which numbers it."""
    run = ledger.experiment(experiment_id)
    too_few = SliceQuality(
        column="origin", value=HOSTILE, n_rows=31, baseline=None, candidate=None, drop=None, verdict="too few rows",
        reason="too few rows: 31 of 135 needed",
    )  # fmt: skip
    reason = None if verdict == "pass" else "the loss may be 1.20 points, limit 1.00: about 900 more rows are needed"
    report = run.quality.model_copy(
        update={"split": "certification", "n_rows": 10_000, "verdict": verdict, "alpha": 0.05 / 3, "reason": reason,
                "slices": (run.quality.slices[0].model_copy(update={"verdict": "pass"}), too_few)}
    )  # fmt: skip
    return ledger.add_certificate(
        Certificate(
            id=f"certificate{experiment_id}", experiment_id=experiment_id, study_id=study.id, study_name=study.name,
            created_at=NOW, created_by="Asha", promise=study.promise, promise_sha256=study.promise.fingerprint,
            promise_frozen_at=NOW, model_id=study.model_id, artefact=run.artefact, recipe=run.spec.recipe,
            runtime=run.spec.runtime, baseline_runtime=run.spec.runtime, threads=1, signature=study.signature,
            eval_set_id=study.eval_set_id, environment={"processor": HOSTILE}, quality=report,
            comparisons=run.comparisons, hashes=Hashes(rows="1" * 64, labels="2" * 64, baseline_outputs="3" * 64,
                                                       candidate_outputs="4" * 64),
        )
    )  # fmt: skip


def put_away(ledger, experiment_id):
    """Archive one run."""
    ledger.annotate(Annotation(experiment_id=experiment_id, archived=True, who="Asha", when=NOW))
