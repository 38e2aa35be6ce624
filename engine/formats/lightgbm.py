"""LightGBM text models: read by our own parser, written back clean, described without the native library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.forest import lightgbm_text
from engine.forest.forest import Forest
from engine.records import OutputKind, Signature, Task, TensorSpec

FILE = "model.txt"
UNKNOWN_OBJECTIVE = (
    "objective unknown, output is a raw score: the file was trained with an objective of its own, so nothing here "
    "turns the score into a probability; say which link is meant (none, sigmoid or softmax) when you create the study"
)
_TASKS: dict[str, tuple[Task | None, OutputKind]] = {
    "binary": ("binary", "probabilities"),
    "cross_entropy": ("binary", "probabilities"),
    "multiclass": ("multiclass", "probabilities"),
    "multiclassova": ("multiclass", "probabilities"),
    "lambdarank": ("ranking", "value"),
    "rank_xendcg": ("ranking", "value"),
    "custom": (None, "raw score"),
}


def recognises(head: bytes, path: Path) -> bool:
    """True for text that begins with the line 'tree', whatever its line ends."""
    return head.startswith((b"tree\n", b"tree\r\n", b"\xef\xbb\xbftree"))


def take(path: Path, out: Path) -> None:
    """Check the file and write what the native library may read into out/model.txt. Raises BadModel."""
    (out / FILE).write_text(lightgbm_text.write(lightgbm_text.load(path)), encoding="utf-8", newline="\n")


def describe(folder: Path) -> dict[str, Any]:
    """Manifest fields of the model in `folder`."""
    forest = lightgbm_text.load(folder / FILE)
    versions = {"lightgbm text": forest.header.get("version", ""), "objective": forest.objective.text or "none"}
    return {
        "format": "lightgbm",
        "signature": _signature(forest).model_dump(mode="json"),
        "n_trees": len(forest.trees),
        "versions": versions | {"boosting": forest.boosting} | ({"leaves": "linear"} if forest.linear else {}),
        "warnings": list(_warnings(forest)),
    }


def _signature(forest: Forest) -> Signature:
    task, kind = _TASKS.get(forest.objective.name, ("regression", "value"))
    features = TensorSpec(
        name="features",
        dtype="float64",
        shape=("batch", forest.n_features),
        columns=forest.feature_names,
        categories=_categories(forest),
    )
    shape = ("batch",) if forest.n_classes == 1 else ("batch", forest.n_classes)
    n_classes = 2 if task == "binary" else forest.n_classes
    return Signature(
        inputs=(features,),
        outputs=(TensorSpec(name="score", dtype="float64", shape=shape),),
        task=task,
        classes=tuple(map(str, range(n_classes))) if task in ("binary", "multiclass") else None,
        score_output="score",
        output_kind=kind,
    )


def _categories(forest: Forest) -> dict[str, tuple[str, ...]] | None:
    lists = forest.categories_by_feature()
    return {name: tuple(map(str, values)) for name, values in lists.items()} if lists else None


def _warnings(forest: Forest) -> list[str]:
    found = []
    if forest.objective.name == "custom":
        found.append(UNKNOWN_OBJECTIVE)
    if forest.category_lists and forest.categories_by_feature() is None:
        found.append(
            "the file holds category lists but does not say whose they are; give the category codes as numbers"
        )
    if forest.linear:
        found.append("the leaves hold linear models; only LightGBM itself runs them")
    return found
