"""What runs inside the confined child. Each function takes a JSON request and a talk, and returns JSON.

These are the only places where an uploaded model is opened. The parent names the folders a child may read; the
certification split is never among those of `build_step`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.data.stored import load_split
from engine.errors import BadModel
from engine.measurement.arm import Arm
from engine.output_files import OutputFiles
from engine.plugin import Artefact, Context, Split, levers, make, runtimes
from engine.quality.scores import to_scores
from engine.records import Choice, Manifest, Signature

if TYPE_CHECKING:
    from engine.plugin import Predict
    from engine.sandbox import Talk

SCORE_BATCH = 256


def build_step(request: dict[str, Any], talk: Talk) -> dict[str, Any]:
    """Apply one lever. Request: artefact, evalset, data_id, lever, params, seed, threads, out. Answers the notes."""
    lever = make(levers(), request["lever"], request["params"])
    evalset = Path(request["evalset"])
    context = Context(
        data_id=request["data_id"],
        train=load_split(evalset, "train"),
        calibration=load_split(evalset, "calibration"),
        seed=request["seed"],
        threads=request["threads"],
        progress=lambda fraction, text: talk.send({"progress": fraction, "message": text}),
    )
    return {"notes": lever.apply(_artefact(request), Path(request["out"]), context)}


def open_check(request: dict[str, Any], talk: Talk) -> dict[str, Any]:
    """Open the model in a runtime and close it: proves that the file loads on this machine."""
    runtime = Choice.model_validate(request["runtime"])
    with make(runtimes(), runtime.name, runtime.params).open(_artefact(request), threads=1):
        return {}


def score(request: dict[str, Any], talk: Talk) -> dict[str, Any]:
    """Write the outputs for the rows of one split as out/<i>.npy, in signature order. n_rows limits the rows.

    Answers {"outputs": [names], "steady": whether the first rows gave the same answers twice}.
    """
    signature = Signature.model_validate(request["artefact"]["signature"])
    split = load_split(Path(request["evalset"]), request["split"])
    n_rows = min(split.n_rows, request.get("n_rows") or split.n_rows)
    runtime = Choice.model_validate(request["runtime"])
    names = [spec.name for spec in signature.outputs]
    opened = make(runtimes(), runtime.name, runtime.params).open(_artefact(request), threads=request["threads"])
    with opened as predict, OutputFiles(Path(request["out"]), names) as files:
        batch = signature.fixed_batch or SCORE_BATCH
        first = _call(predict, split, 0, min(batch, n_rows), signature)
        again = _call(predict, split, 0, min(batch, n_rows), signature)
        steady = all(_same(first[name], again[name]) for name in names)
        files.append(first)
        for start in range(batch, n_rows, batch):
            files.append(_call(predict, split, start, min(start + batch, n_rows), signature))
            talk.send({"progress": start / n_rows, "message": f"{start:,} of {n_rows:,} rows"})
    return {"outputs": names, "steady": steady}


def serve_arm(
    request: dict[str, Any], talk: Talk, wrap: Callable[[Predict], Predict] = lambda predict: predict
) -> dict[str, Any]:
    """Hold one model open and time calls as asked, until the parent closes the conversation.

    wrap: what a benchmark puts around the model, to plant a difference that the protocol must find.
    """
    import time

    signature = Signature.model_validate(request["signature"])
    split = load_split(Path(request["evalset"]), "selection")
    runtime = Choice.model_validate(request["runtime"])
    started = time.perf_counter_ns()
    with make(runtimes(), runtime.name, runtime.params).open(_artefact(request), threads=request["threads"]) as predict:
        load_ms = (time.perf_counter_ns() - started) / 1e6
        arm = Arm(wrap(predict), dict(split.inputs), _post(signature), load_ms=load_ms)
        while (message := talk.receive()) is not None:
            talk.reply(arm.handle(message))
    return {}


def _artefact(request: dict[str, Any]) -> Artefact:
    return Artefact(Manifest.model_validate(request["artefact"]), Path(request["folder"]))


def _call(predict: Predict, split: Split, start: int, stop: int, signature: Signature) -> dict[str, np.ndarray]:
    """Outputs for rows start..stop; a model with a fixed batch gets its last rows padded and cut."""
    rows = np.arange(start, stop)
    if signature.fixed_batch and len(rows) < signature.fixed_batch:
        rows = np.resize(rows, signature.fixed_batch)
    outputs = predict({name: np.ascontiguousarray(values[rows]) for name, values in split.inputs.items()})
    for name, values in outputs.items():
        if len(values) != len(rows):
            raise BadModel(
                f"output {name!r} has {len(values)} rows for {len(rows)} rows in; its first axis must be the batch"
            )
    return {name: np.asarray(values[: stop - start]) for name, values in outputs.items()}


def _same(first: np.ndarray, again: np.ndarray) -> bool:
    return np.array_equal(first, again, equal_nan=first.dtype.kind in "fc")


def _post(signature: Signature) -> Any:
    """Outputs -> scores, the last stage of our own call; None where no output is judged."""
    name, kind, task = signature.score_output, signature.output_kind, signature.task
    if name is None or kind is None or task is None:
        return None
    return lambda outputs: to_scores(outputs[name], kind, task)
