"""How much quality goes with fewer trees or fewer features, before anything is built."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from engine import sandbox
from engine.data.stored import load_rows, load_split
from engine.errors import DoesNotFit, InvalidRequest
from engine.experiment import uploaded
from engine.quality import metrics
from engine.quality.answers import compare
from engine.quality.judged import Judged, known_rows
from engine.quality.loss import Loss
from engine.records import Band, Interval, Metric, OutputKind, Signature, Study, Task
from engine.records.curve import CurvePoint, Over, QualityCurve
from engine.workspace import Workspace

if TYPE_CHECKING:
    from engine.forest.forest import Forest
    from engine.sandbox import Talk

FORMATS = ("lightgbm", "xgboost")
HOW: dict[Over, str] = {
    "trees": "The first rounds alone, in one pass over the trees; their leaves are not refitted.",
    "features": "Features leave in the order of how little the scores miss them, judged one by one; the leaves are "
    "refitted to the original's scores on rows that are not judged here.",
}
SURE = 0.025  # on each side
Progress = Callable[[float, str], None]


def quality_curve(
    study: Study, workspace: Workspace, over: Over, *, seed: int = 0, progress: Progress = lambda fraction, text: None
) -> QualityCurve:
    """Quality by number of trees or features on the selection rows, with 95 % intervals of the loss.

    Raises DoesNotFit for a model that is no forest of ours, InvalidRequest for a study without a metric.
    """
    original = uploaded(study, workspace)
    metric = study.promise.band.metric
    if original.manifest.format not in FORMATS:
        raise DoesNotFit(
            f"curves are drawn of boosted trees as LightGBM or XGBoost write them; this model is "
            f"{original.manifest.format}"
        )
    if metric is None:
        raise InvalidRequest("this study has no metric: there is no quality to draw")
    evalset = workspace.evalset_folder(study.eval_set_id)
    with workspace.draft() as out:
        said = sandbox.run(
            "engine.curve:answer_sizes",
            {
                "folder": str(original.folder),
                "format": original.manifest.format,
                "evalset": str(evalset),
                "over": over,
                "seed": seed,
                "threads": study.workload.threads,
                "out": str(out),
            },
            read=[original.folder, *(evalset / name for name in ("train", "calibration", "selection"))],
            write=out,
            threads=study.workload.threads,
            on_message=lambda message: progress(message["progress"], message["message"]),
        )
        answers = [np.load(out / f"{size}.npy", allow_pickle=False) for size in said["sizes"]]
    labels = load_split(evalset, "selection").labels
    judge = _Judge(study.signature, study.promise.band, metric, labels, load_rows(evalset, "selection"), seed)
    points = [judge.point(size, answers[-1], found) for size, found in zip(said["sizes"], answers, strict=True)]
    return QualityCurve(
        study_id=study.id,
        over=over,
        metric=metric,
        relative=judge.relative,
        max_drop=study.promise.band.max_drop,
        n_rows=judge.n_rows,
        points=tuple(points),
        flattens_at=_from(points, lambda drop: drop.low is not None and drop.low <= 0),
        within_band_at=_from(points, lambda drop: drop.value <= study.promise.band.max_drop),
        order=tuple(said["order"]),
        how=HOW[over],
    )


def answer_sizes(request: dict[str, Any], talk: Talk) -> dict[str, Any]:
    """The confined side: write the selection rows' answers at each size as out/<size>.npy. Answers sizes and order."""
    from engine.forest.sizes import by_features, by_rounds

    forest = _forest(Path(request["folder"]), request["format"])
    evalset, out, threads = Path(request["evalset"]), Path(request["out"]), request["threads"]

    def rows(split: Any) -> dict[str, np.ndarray]:
        return dict(load_split(evalset, split).inputs)

    def tell(part: float, text: str) -> None:
        talk.send({"progress": part, "message": text})

    judged = np.ascontiguousarray(next(iter(rows("selection").values())), np.float64)
    order: list[int] = []
    if request["over"] == "trees":
        found = by_rounds(forest, judged, threads, tell)
    else:
        learnt_from = (rows("train"), rows("calibration"))
        order, found = by_features(forest, judged, learnt_from, request["seed"], threads, tell)
    sizes = []
    for size, answers in found:
        np.save(out / f"{size}.npy", answers[:, 0] if forest.n_classes == 1 else answers)
        sizes.append(size)
    return {"sizes": sizes, "order": [forest.feature_names[feature] for feature in order]}


def _forest(folder: Path, model_format: str) -> Forest:
    if model_format == "lightgbm":
        from engine.forest.payload import load_forest

        return load_forest(folder)
    from engine.forest.xgboost_forest import to_forest
    from engine.forest.xgboost_model import load

    return to_forest(load(folder / "model.ubj"))


class _Judge:
    """Compares answers with those of the whole forest on the labelled rows."""

    def __init__(
        self,
        signature: Signature,
        band: Band,
        metric: Metric,
        labels: np.ndarray | None,
        rows: pd.DataFrame,
        seed: int,
    ) -> None:
        self._task: Task = signature.task or "other"
        self._kind: OutputKind = signature.output_kind or "value"
        self._band, self._metric, self._labels, self._rows, self._seed = band, metric, labels, rows, seed
        self._known = known_rows(labels, metric, len(rows))
        self.n_rows = int(self._known.sum())
        if not self.n_rows:
            raise InvalidRequest("no row of the selection split has a label: there is no quality to draw")
        self.relative = band.relative or metrics.is_relative(metric)

    def point(self, size: int, whole: np.ndarray, smaller: np.ndarray) -> CurvePoint:
        """The value at this size and what is lost, both ways bounded."""
        lost, gained = self._lose(whole, smaller), self._lose(smaller, whole)
        if lost.candidate is None or lost.drop is None:
            return CurvePoint(size=size, value=None)
        if np.array_equal(whole, smaller):
            return CurvePoint(size=size, value=lost.candidate, drop=Interval(value=0.0, low=0.0, high=0.0))
        low = None
        if gained.bound is not None:
            low = 1 / (1 + gained.bound) - 1 if metrics.is_relative(self._metric) else -gained.bound
        scale = 1.0
        if self.relative and not metrics.is_relative(self._metric) and lost.baseline:
            scale = 1 / lost.baseline
        drop = Interval(
            value=lost.drop * scale,
            low=None if low is None else low * scale,
            high=None if lost.bound is None else lost.bound * scale,
        )
        return CurvePoint(size=size, value=lost.candidate, drop=drop)

    def _lose(self, before: np.ndarray, after: np.ndarray) -> Loss:
        found = compare(before, after, self._labels, self._kind, self._task)
        judged = Judged.of(found, self._labels, self._rows, self._known, self._task, self._band)
        return metrics.lose(self._metric, judged.rows(self._metric), SURE, self._seed)


def _from(points: list[CurvePoint], fine: Callable[[Interval], bool]) -> int | None:
    """The smallest size from which on every point is fine."""
    found = None
    for point in reversed(points):
        if point.drop is None or not fine(point.drop):
            break
        found = point.size
    return found
