"""XGBoost models in JSON or UBJSON: checked by our own reader, written back clean, described without the library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.forest.xgboost_forest import why_not
from engine.forest.xgboost_model import XgboostModel, load, write
from engine.records import OutputKind, Signature, Task, TensorSpec

FILE = "model.ubj"
SINGLE = (
    "XGBoost computes in single precision: values are rounded to 32 bits, answers have seven digits; "
    "a conversion to double precision agrees to those, not bit for bit"
)
_TASKS: dict[str, tuple[Task, OutputKind]] = {
    "binary:logistic": ("binary", "probabilities"),
    "binary:hinge": ("binary", "probabilities"),
    "binary:logitraw": ("binary", "raw score"),
    "multi:softprob": ("multiclass", "probabilities"),
    **dict.fromkeys(("rank:ndcg", "rank:map", "rank:pairwise"), ("ranking", "value")),
}


def recognises(head: bytes, path: Path) -> bool:
    """True for an object whose first key is one that XGBoost writes."""
    if head[:1] != b"{":
        return False
    if head[1:2] in (b"L", b"l", b"I", b"i", b"U"):
        return b"learner" in head[:32]
    return head[1:].lstrip(b" \t\r\n").startswith((b'"learner"', b'"version"')) and b'"learner"' in head


def take(path: Path, out: Path) -> None:
    """Check the file and write what the native library may read into out/model.ubj. Raises BadModel."""
    (out / FILE).write_bytes(write(load(path)))


def describe(folder: Path) -> dict[str, Any]:
    """Manifest fields of the model in `folder`."""
    model = load(folder / FILE)
    versions = {"xgboost": ".".join(map(str, model.version)), "objective": model.objective_in_file}
    return {
        "format": "xgboost",
        "signature": _signature(model).model_dump(mode="json"),
        "n_trees": len(model.trees),
        "versions": versions | {"booster": "gbtree" if model.weights is None else "dart"},
        "warnings": list(_warnings(model)),
    }


def _signature(model: XgboostModel) -> Signature:
    task, kind = _TASKS.get(model.objective, ("regression", "value"))
    if model.n_groups > 1 and task != "multiclass":
        task = "other"
    features = TensorSpec(
        name="features",
        dtype="float64",
        shape=("batch", model.n_features),
        columns=model.feature_names or tuple(f"f{i}" for i in range(model.n_features)),
    )
    shape = ("batch",) if model.n_groups == 1 else ("batch", model.n_groups)
    n_classes = 2 if task == "binary" else model.n_groups
    return Signature(
        inputs=(features,),
        outputs=(TensorSpec(name="score", dtype="float64", shape=shape),),
        task=task,
        classes=tuple(map(str, range(n_classes))) if task in ("binary", "multiclass") else None,
        score_output="score",
        output_kind=kind,
    )


def _warnings(model: XgboostModel) -> Iterator[str]:
    yield SINGLE
    if model.n_rounds < model.n_rounds_in_file:
        yield (
            f"early stopping chose round {model.best_iteration} as the best: the first {model.n_rounds:,} of "
            f"{model.n_rounds_in_file:,} rounds are used, as XGBoost's scikit-learn interface does"
        )
    if model.objective_in_file != model.objective:
        yield f"{model.objective_in_file} answers class numbers; here the probabilities behind them are used"
    if any(tree.sets for tree in model.trees):
        yield "trees split on categories: give the category codes as XGBoost saw them, as numbers from 0"
    if reason := why_not(model):
        yield f"only XGBoost itself runs it: {reason}"
