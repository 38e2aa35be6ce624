"""This machine's noise floor: a small model timed against itself through the real launcher, kept in the home."""

from __future__ import annotations

import itertools
import json
import tempfile
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from engine.data.stored import INPUTS_FILE
from engine.environment import machine_id
from engine.measurement.presets import TimingPlan
from engine.measurement.protocol import Progress
from engine.measurement.self_test import PLAN, NoiseFloor, noise_floor
from engine.plugin import Artefact, reference_runtime
from engine.records import Choice, Manifest, Signature, TensorSpec
from engine.timing import Launcher
from engine.workspace import Workspace, folder_bytes, listing_digest

FILE = "noise-floor.json"
WIDTHS = (64, 512, 256, 10)
N_ROWS = 2048


def measure_noise_floor(
    home: Path, *, plan: TimingPlan = PLAN, progress: Progress = lambda fraction, text: None, seed: int = 0
) -> NoiseFloor:
    """Time the built-in model against itself and write the answer to <home>/noise-floor.json.

    The machine should do nothing else meanwhile; whoever calls holds its timing lock. Raises WhetstoneError.
    """
    with tempfile.TemporaryDirectory(prefix="whetstone-aa-") as folder:
        found = noise_floor(_launcher(Path(folder)), machine_id(), plan, progress, seed=seed)
    Workspace(home).write_text(home / FILE, found.model_dump_json(indent=1))
    return found


def known_noise_floor(home: Path) -> NoiseFloor | None:
    """What was measured on this machine; None when nothing was, or on another machine."""
    try:
        found = NoiseFloor.model_validate_json((home / FILE).read_text())
    except (OSError, ValidationError):  # never measured, or written by another version: measure again
        return None
    return found if found.machine_id == machine_id() else None


def built_in_model(folder: Path) -> Artefact:
    """A small ONNX net (64-512-256-10 with random weights, about 0.1 ms at batch 64), written into an empty folder."""
    signature = _write_model(folder)
    manifest = Manifest(id=listing_digest(folder), format="onnx", signature=signature, size_bytes=folder_bytes(folder))
    return Artefact(manifest, folder)


def built_in_rows() -> np.ndarray:
    """(2048, 64) float32 of normal numbers for it."""
    return np.random.default_rng(0).normal(size=(N_ROWS, WIDTHS[0])).astype(np.float32)


def _launcher(folder: Path) -> Launcher:
    """Both arms open the built-in model."""
    model, evalset = folder / "model", folder / "evalset"
    model.mkdir()
    (evalset / "selection").mkdir(parents=True)
    artefact = built_in_model(model)
    signature = artefact.manifest.signature
    np.save(evalset / "selection" / "input_0.npy", built_in_rows(), allow_pickle=False)
    (evalset / "selection" / INPUTS_FILE).write_text(json.dumps([signature.inputs[0].name]))
    arm = (artefact, Choice(name=reference_runtime("onnx")))
    return Launcher({"baseline": arm, "variant": arm}, signature, evalset)


def _write_model(folder: Path) -> Signature:
    from onnx import TensorProto, helper, numpy_helper, save

    random, nodes, weights, last = np.random.default_rng(0), [], [], "rows"
    for layer, (n_in, n_out) in enumerate(itertools.pairwise(WIDTHS)):
        values = (random.normal(size=(n_in, n_out)) / n_in**0.5).astype(np.float32)
        weights.append(numpy_helper.from_array(values, f"weight_{layer}"))
        nodes.append(helper.make_node("MatMul", [last, f"weight_{layer}"], [f"sum_{layer}"]))
        last = f"layer_{layer}"
        nodes.append(helper.make_node("Relu", [f"sum_{layer}"], [last]))
    nodes[-1] = helper.make_node("Softmax", nodes[-1].input, ["probabilities"], axis=1)
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", width])
        for name, width in (("rows", WIDTHS[0]), ("probabilities", WIDTHS[-1]))
    ]
    graph = helper.make_graph(nodes, "self_test", ends[:1], ends[1:], weights)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "model.onnx")
    return Signature(
        inputs=(TensorSpec(name="rows", dtype="float32", shape=("n", WIDTHS[0])),),
        outputs=(TensorSpec(name="probabilities", dtype="float32", shape=("n", WIDTHS[-1])),),
        task="multiclass",
        score_output="probabilities",
        output_kind="probabilities",
    )
