from datetime import UTC, datetime

import pytest

from engine.records import (
    Agreement,
    Band,
    Choice,
    Comparison,
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
    Recipe,
    Signature,
    SliceQuality,
    Step,
    Study,
    Workload,
    summary_of,
)

WHEN = datetime(2030, 1, 1, tzinfo=UTC)
SIGNATURE = Signature(inputs=(), outputs=(), task="binary", score_output="s", output_kind="probabilities")


class Lab:
    """Makes studies, and the light records of experiments as a run would store them."""

    def __init__(self):
        self.n = 0

    def study(self, kind="p50", factor=3.0, metric="roc_auc", **more):
        promise = Promise(goal=Goal(kind=kind, factor=factor), band=Band(metric=metric))
        return Study(
            id="study", name="S", model_id="m", eval_set_id="e", signature=SIGNATURE, promise=promise,
            created_at=WHEN, **more,
        )  # fmt: skip

    def measurement(self, p50=10.0, batch=1, n_calls=1000, p99=None, n_pairs=10):
        return Measurement(
            artefact_id="a", runtime=Choice(name="r"), workload=Workload(batch_size=batch),
            samples=FileRef(path="p", sha256="0", size_bytes=1), n_calls=n_calls, n_pairs=n_pairs,
            p50_ms=Interval(value=p50, low=p50 * 0.99, high=p50 * 1.01),
            p95_ms=Interval(value=p50 * 1.5) if n_calls >= 100 else None,
            p99_ms=Interval(value=p99 or p50 * 2) if n_calls >= 500 else None,
            items_per_s=1000 * batch / p50, cold_start_ms=50, load_ms=100, peak_bytes=10**8,
            prepare_ms=0.1, model_ms=p50 - 0.2, post_ms=0.1,
        )  # fmt: skip

    def comparison(self, speedup, spread=0.02, quantile=0.5, batch=1):
        verdict = "faster" if speedup > 1.06 else "slower" if speedup < 0.94 else "no difference"
        return Comparison(
            workload=Workload(batch_size=batch), quantile=quantile, ratio=1 / speedup,
            low=1 / (speedup * (1 + spread)), high=1 / (speedup * (1 - spread)), verdict=verdict, n_pairs=10,
        )  # fmt: skip

    def quality(self, drop=0.002, verdict="within band", slices=(), reason=None, metric="roc_auc"):
        parts = tuple(
            SliceQuality(
                column="carrier", value=value, n_rows=500, baseline=0.9, candidate=None if lost is None else 0.9 - lost,
                drop=lost, verdict=says,
            )
            for value, lost, says in slices
        )  # fmt: skip
        return QualityReport(
            split="selection", metric=metric, relative=metric == "rmse", baseline=0.9,
            candidate=None if drop is None else 0.9 - drop, drop=drop, bound=None, verdict=verdict, reason=reason,
            slices=parts, agreement=Agreement(max_abs_diff=0.1, p99_abs_diff=0.1, identical=False), n_rows=5000,
        )  # fmt: skip

    def experiment(self, *steps, runtime="onnxruntime_cpu", status="succeeded", **parts):
        self.n += 1
        recipe = Recipe(steps=tuple(step if isinstance(step, Step) else Step(lever=step) for step in steps))
        workloads = tuple(one.workload for one in parts.get("measurements", ())) or (Workload(),)
        parts.setdefault("artefact", self.manifest() if status == "succeeded" else None)
        run = Experiment(
            id=f"{self.n:026d}", created_at=WHEN, status=status,
            spec=ExperimentSpec(study_id="study", recipe=recipe, runtime=Choice(name=runtime), workloads=workloads),
            **parts,
        )  # fmt: skip
        return summary_of(run)

    def manifest(self, model_format="onnx", size_bytes=1000):
        return Manifest(id="f" * 64, format=model_format, signature=SIGNATURE, size_bytes=size_bytes)

    def baseline(self, p50=10.0, model_format="torch_export", batches=(1,), **more):
        return self.experiment(
            runtime="torch_eager", artefact=self.manifest(model_format, 4000),
            measurements=tuple(self.measurement(p50 * batch**0.5, batch) for batch in batches),
            quality=self.quality(0.0, "exact"), **more,
        )  # fmt: skip

    def variant(self, *steps, speedup=4.0, p50=10.0, batches=(1,), quality=None, quantiles=(0.5, 0.99, None), **more):
        return self.experiment(
            *steps,
            measurements=tuple(self.measurement(p50 * batch**0.5 / speedup, batch) for batch in batches),
            baselines=tuple(self.measurement(p50 * batch**0.5, batch) for batch in batches),
            comparisons=tuple(
                self.comparison(speedup, quantile=q, batch=batch) for batch in batches for q in quantiles
            ),
            quality=quality or self.quality(),
            **more,
        )

    def failed(self, *steps, message="needs an NVIDIA GPU; none found"):
        return self.experiment(*steps, status="failed", error=Failure(reason="error", message=message))


@pytest.fixture
def lab():
    return Lab()
