"""Records that a run could have written, made up: plausible figures, no model and no stopwatch behind them."""

from __future__ import annotations

import random
from datetime import datetime
from typing import Any

from engine.records import (
    Agreement,
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
    Recipe,
    Signature,
    SliceInfo,
    SliceQuality,
    SpeedVerdict,
    Step,
    Study,
    TensorSpec,
    Workload,
)

CARRIERS = ("AA", "B6", "DL", "EV", "MQ", "UA", "US", "WN")
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
EVAL_SET = EvalSetInfo(
    id="e" * 64,
    n_rows=40_000,
    roles={"late": "label", "carrier": "slice"},
    task="binary",
    classes=("0", "1"),
    splits={"train": 12_000, "calibration": 2_000, "selection": 8_000, "certification": 18_000},
    slices=tuple(SliceInfo(column="carrier", value=value, n_rows=5_000) for value in CARRIERS),
)
MACHINE = {"processor": "made up", "usable_cores": 2, "cpu_flags": ["avx2", "avx512f"], "python": "3.11"}
SAMPLES = FileRef(path="samples/none.arrow", sha256="0" * 64, size_bytes=1)
BASE_MS, BASE_AUC = 4.2, 0.8734


def promise(factor: float) -> Promise:
    """Median latency so many times better, one point of AUC at most."""
    return Promise(goal=Goal(kind="p50", factor=factor), band=Band(metric="roc_auc", slices=("carrier",)))


def chain(rng: random.Random) -> Recipe:
    """Fewer trees, an export, both, or more."""
    fewer = Step(lever="pruning.fewer_trees", params={"keep_fraction": round(rng.uniform(0.05, 0.95), 4)})
    onnx = Step(lever="export.lightgbm_to_onnx")
    tuned = Step(lever="export.onnx_optimise")
    return Recipe(steps=rng.choice(((fewer,), (fewer, onnx), (fewer, onnx, tuned))))


def run(
    spec: ExperimentSpec, experiment_id: str, created_at: datetime, created_by: str, rng: random.Random
) -> Experiment:
    """A run that has ended: five of a hundred failed. Without steps it is the baseline."""
    about: dict[str, Any] = {
        "id": experiment_id,
        "spec": spec,
        "created_at": created_at,
        "created_by": created_by,
        "attempt": 1,
        "duration_s": round(rng.uniform(8, 90), 1),
        "environment": MACHINE,
    }
    baseline = not spec.recipe.steps
    if not baseline and rng.random() < 0.05:
        failure = Failure(reason="error", message="the operator TreeEnsemble of opset 5 is not known to this runtime")
        return Experiment(**about, status="failed", error=failure)
    kept = float(spec.recipe.steps[0].params["keep_fraction"]) if not baseline else 1.0
    speedup = 1.0 if baseline else 0.9 / kept**0.8 * rng.lognormvariate(0, 0.08) * (1.3 ** (len(spec.recipe.steps) - 1))
    lost = 0.0 if baseline else max(0.0, 0.03 * (1 - kept) ** 4 + rng.gauss(0, 0.0008))
    artefact = ORIGINAL.model_copy(
        update={} if baseline else {
            "id": f"{rng.getrandbits(256):064x}", "size_bytes": int(4_200_000 * kept), "n_trees": int(1200 * kept),
            "parent_id": ORIGINAL.id, "step": spec.recipe.steps[-1],
            "format": "onnx" if len(spec.recipe.steps) > 1 else "lightgbm",
        }
    )  # fmt: skip
    return Experiment(
        **about,
        status="succeeded",
        artefact=artefact,
        chain=tuple(artefact for _ in spec.recipe.steps),
        measurements=tuple(_measured(spec.runtime, one, speedup, rng) for one in spec.workloads),
        baselines=() if baseline else tuple(_measured(spec.runtime, one, 1.0, rng) for one in spec.workloads),
        comparisons=() if baseline else tuple(
            _compared(one, quantile, speedup, rng) for one in spec.workloads for quantile in (0.5, 0.95, 0.99, None)
        ),
        operators=_operators(speedup),
        compressed_bytes=int(1_100_000 * kept),
        quality=_quality(lost, baseline, rng),
    )  # fmt: skip


def certificate(study: Study, judged: Experiment) -> Certificate:
    """That a variant keeps the band on the certification rows."""
    assert judged.artefact is not None
    assert judged.quality is not None
    digest = {name: f"{number}" * 64 for number, name in enumerate(Hashes.model_fields)}
    return Certificate(
        id=f"C{judged.id[1:]}", experiment_id=judged.id, study_id=study.id, study_name=study.name,
        created_at=judged.created_at, created_by=judged.created_by, promise=study.promise,
        promise_sha256=study.promise.fingerprint, promise_frozen_at=study.created_at, model_id=study.model_id,
        artefact=judged.artefact, recipe=judged.spec.recipe, runtime=judged.spec.runtime,
        baseline_runtime=Choice(name="lightgbm_native"), threads=1, signature=study.signature,
        eval_set_id=study.eval_set_id, hashes=Hashes(**digest), environment=MACHINE, comparisons=judged.comparisons,
        quality=judged.quality.model_copy(update={"split": "certification", "verdict": "pass", "n_rows": 18_000}),
    )  # fmt: skip


def _measured(runtime: Choice, workload: Workload, speedup: float, rng: random.Random) -> Measurement:
    p50_ms = BASE_MS * (1 + 0.03 * workload.batch_size) / speedup * rng.lognormvariate(0, 0.02)
    return Measurement(
        artefact_id="b" * 64, runtime=runtime, workload=workload, samples=SAMPLES, n_calls=3000, n_pairs=10,
        n_warm_up=200, p50_ms=_interval(p50_ms), p95_ms=_interval(1.3 * p50_ms), p99_ms=_interval(1.7 * p50_ms),
        items_per_s=1000 * workload.batch_size / p50_ms, cold_start_ms=9 * p50_ms, load_ms=40.0 + rng.random(),
        peak_bytes=int(120e6 + 1e6 * rng.random()), prepare_ms=0.02, model_ms=0.95 * p50_ms, post_ms=0.01,
        floor_ms=0.004, cpu_utilisation=0.98,
    )  # fmt: skip


def _interval(value: float) -> Interval:
    return Interval(value=value, low=0.98 * value, high=1.02 * value)


def _compared(workload: Workload, quantile: float | None, speedup: float, rng: random.Random) -> Comparison:
    ratio = rng.lognormvariate(0, 0.01) / speedup
    verdict: SpeedVerdict = "faster" if ratio < 0.95 else "slower" if ratio > 1.05 else "no difference"
    return Comparison(
        workload=workload, quantile=quantile, ratio=ratio, low=0.97 * ratio, high=1.03 * ratio, verdict=verdict,
        n_pairs=10,
    )  # fmt: skip


def _operators(speedup: float) -> OperatorProfile:
    before = OperatorCost(op="trees", n=1, total_ms=BASE_MS, share=1.0)
    after = OperatorCost(op="TreeEnsembleRegressor", n=1, total_ms=BASE_MS / speedup, share=1.0)
    return OperatorProfile(before=(before,), after=(after,), batch_size=1, n_calls=50, reading="The trees take all.")


def _quality(lost: float, baseline: bool, rng: random.Random) -> QualityReport:
    slices = tuple(_slice(value, lost, rng) for value in CARRIERS)
    outside = lost > 0.01 or any(one.verdict == "outside" for one in slices)
    worst = max(slices, key=lambda one: one.drop or 0.0)
    reason = f"{worst.column} = {worst.value} loses {100 * worst.drop:.2g} points, limit 2" if outside else None
    return QualityReport(
        split="selection", metric="roc_auc", relative=False, baseline=BASE_AUC, candidate=BASE_AUC - lost, drop=lost,
        bound=lost + 0.002, alpha=0.05, reason=reason, slices=slices, n_rows=8_000,
        verdict="exact" if baseline else "outside" if outside else "within band",
        agreement=Agreement(
            flip_fraction=lost, bad_flip_fraction=0.6 * lost, good_flip_fraction=0.4 * lost, max_abs_diff=4 * lost,
            p99_abs_diff=2 * lost, mean_kl_nats=lost / 10, max_kl_nats=lost, mean_js_nats=lost / 40, identical=baseline,
        ),
        figures=(MetricFigure(metric="log_loss", baseline=0.31, candidate=0.31 + lost),),
        calibration=Calibration(
            n_bins=15, equal_width=(0.02, 0.021), equal_mass=(0.02, 0.022),
            change=Interval(value=0.001, low=-0.001, high=0.003),
        ),
    )  # fmt: skip


def _slice(value: str, lost: float, rng: random.Random) -> SliceQuality:
    drop = lost * rng.uniform(0.3, 2.2)
    return SliceQuality(
        column="carrier", value=value, n_rows=1000, baseline=BASE_AUC, candidate=BASE_AUC - drop, drop=drop,
        bound=drop + 0.006, harm_p=rng.random(), verdict="outside" if drop > 0.02 else "within band",
    )  # fmt: skip
