"""The conformance gate of trees: does what was converted or compiled answer as the model before it, at every edge?

Evaluation rows rarely hold a value at a threshold, a NaN or an unseen category, and several converters are wrong just
there. So rows are made from the thresholds and category sets of the forest; both models answer them in confined
children before anything is timed.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine import sandbox, scoring
from engine.data.stored import INPUTS_FILE, load_split
from engine.errors import ParityFailed
from engine.plugin import Artefact, levers, reference_runtime
from engine.records import Choice, Conformance, Recipe, SplitName

if TYPE_CHECKING:
    from engine.forest.conformance import Probes
    from engine.forest.forest import Forest
    from engine.sandbox import Talk

SPLIT: SplitName = "selection"  # the name a folder of made rows goes by
SINGLE = 1e-5  # beyond what sums in single precision differ by
_PARTS = ("column", "kind", "origin")
FORMATS = frozenset({"lightgbm", "xgboost"})  # what can be read as a forest


@dataclass(frozen=True)
class Pair:
    """A model that is right and one that follows from it, each with the runtime that answers."""

    what: str
    exact: bool
    forest: Artefact
    right: tuple[Artefact, Choice]
    got: tuple[Artefact, Choice]


def check_line(
    line: list[Artefact], recipe: Recipe, runtime: Choice, evalset: Path, threads: int
) -> tuple[Conformance, ...]:
    """Ask every conversion of the line original → … → variant, and the runtime. Empty for a model that has no trees.

    Raises ParityFailed where an exact one differs.
    """
    return tuple(_ask(pair, evalset, threads) for pair in _pairs(line, recipe, runtime))


def _pairs(line: list[Artefact], recipe: Recipe, runtime: Choice) -> list[Pair]:
    def own(artefact: Artefact) -> tuple[Artefact, Choice]:
        return artefact, Choice(name=reference_runtime(artefact.manifest.format))

    first = next((i for i, one in enumerate(line) if one.manifest.format in FORMATS), None)
    if first is None:
        return []
    begin = max(0, first - 1)  # trees that came from ONNX: the step that read them is asked too
    forest, pairs = line[first], []
    for step, before, after in zip(recipe.steps[begin:], line[begin:-1], line[begin + 1 :], strict=True):
        lever = levers()[step.lever]
        if lever.exact or step.lever.startswith("export."):
            pairs.append(Pair(step.lever, lever.exact, forest, own(before), own(after)))
        if after.manifest.format in FORMATS:
            forest = after
    last, reference = own(line[-1])
    if runtime != reference:
        pairs.append(Pair(runtime.name, True, forest, (last, reference), (last, runtime)))
    return pairs


def _ask(pair: Pair, evalset: Path, threads: int) -> Conformance:
    from engine.forest.conformance import RELATIVE, Probes, difference

    with tempfile.TemporaryDirectory(prefix="whetstone-probes-") as folder:
        made = Path(folder) / "rows" / SPLIT
        made.mkdir(parents=True)
        answer = sandbox.run(
            "engine.tree_conformance:write_probes",
            {
                "format": pair.forest.manifest.format,
                "folder": str(pair.forest.folder),
                "input": pair.forest.manifest.signature.inputs[0].name,
                "evalset": str(evalset),
                "out": str(made),
            },
            read=[pair.forest.folder, evalset / SPLIT],
            write=made,
        )
        signature = pair.forest.manifest.signature
        score = signature.score_output or signature.outputs[0].name
        right, got = (
            _answers(*each, made.parent, Path(folder) / name, threads)[score]
            for name, each in (("right", pair.right), ("got", pair.got))
        )
        probes = Probes(*(np.load(made / f"{name}.npy", allow_pickle=False) for name in ("input_0", *_PARTS)))
        exact = float(np.finfo(np.float32).eps) if right.dtype == np.float32 else RELATIVE
        found = difference(right, got, probes, exact if pair.exact else SINGLE)
    columns = answer["columns"]
    result = Conformance(
        what=pair.what,
        exact=pair.exact,
        n_rows=found.n_rows,
        n_made=int((probes.column >= 0).sum()),
        n_differ=found.n_differ,
        largest=min(found.largest, float(np.finfo(np.float64).max)),
        column=None if found.column is None else columns[found.column],
        kind=found.kind,
    )
    if pair.exact and found.n_differ:
        raise ParityFailed(f"{sentence(result)}; it is not timed or offered")
    return result


def sentence(found: Conformance) -> str:
    """The result in words."""
    if not found.n_differ:
        return f"{found.what}: all {found.n_rows:,} rows at thresholds and other edges agree"
    where = (
        f"most often in {found.column!r} ({found.kind})" if found.column else "evaluation rows as they are among them"
    )
    return (
        f"{found.what} does not give the original's answers: {found.n_differ:,} of {found.n_rows:,} rows at thresholds "
        f"and other edges differ, by up to {found.largest:.3g}, {where}"
    )


def _answers(artefact: Artefact, runtime: Choice, rows: Path, out: Path, threads: int) -> dict[str, np.ndarray]:
    out.mkdir()
    return scoring.compute(artefact, runtime, rows, SPLIT, out, threads=threads)


def write_probes(request: dict[str, Any], talk: Talk) -> dict[str, Any]:
    """In the confined child: read the forest, make the rows, write them as a split without labels."""
    from engine.forest.conformance import probes

    forest = _load(request["format"], Path(request["folder"]))
    inputs = load_split(Path(request["evalset"]), SPLIT).inputs[request["input"]]
    made: Probes = probes(forest, np.asarray(inputs), infinite=request["format"] != "xgboost")
    out = Path(request["out"])
    (out / INPUTS_FILE).write_text(json.dumps([request["input"]]))
    np.save(out / "input_0.npy", made.values.astype(inputs.dtype))
    for name in _PARTS:
        np.save(out / f"{name}.npy", getattr(made, name))
    return {"columns": list(forest.feature_names)}


def _load(model_format: str, folder: Path) -> Forest:
    if model_format == "xgboost":
        from engine.forest import xgboost_forest, xgboost_model

        return xgboost_forest.to_forest(xgboost_model.load(folder / "model.ubj"))
    from engine.forest.lightgbm_text import load

    return load(folder / "model.txt")
