"""What goes into a TorchScript module and what comes out, found by calling it: its code has neither shapes nor types.

A trace keeps the shapes of its example. For a scripted module inputs are tried that its weights suggest.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import BadModel
from engine.formats.torchscript_check import Parts
from engine.graph.torchscript_program import caller, first_line, load
from engine.records import TensorSpec

if TYPE_CHECKING:
    from torch.jit import ScriptModule

_SIDES = (8, 12, 16, 28, 32, 64, 96, 128, 224)
_MAX_TRIES = 200
_PASSES_ON = {f"aten::{name}" for name in ("view", "reshape", "flatten", "squeeze", "unsqueeze", "to", "contiguous")}
UNSTEADY = (
    "answers change from run to run (dropout or batch statistics are active): it was saved in training mode, and "
    "evaluation mode cannot be switched on afterwards; save it again after model.eval()"
)


@dataclass(frozen=True)
class Found:
    """Inputs and outputs as they were seen, and whether two calls with the same rows agree.

    ending: the operator that makes the only output, reshaping left aside; None for several outputs.
    """

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    steady: bool
    ending: str | None


def find_shapes(parts: Parts, folder: Path, names: list[str]) -> Found:
    """Call the module in `folder`. names: its inputs. Raises BadModel when it cannot be called or shapes are unknown.

    Runs what was uploaded: only to be called in the confined child.
    """
    module = load(folder)
    call = caller(module)
    given, open_axes = _traced(parts, names) if parts.examples else _guessed(parts, names, call)
    rows = given[0][1][0] if given[0][1] else 1
    first = _answer(call, _tensors(given))
    free = all(shape and shape[0] == rows for _, shape in given) and _follows(call, given, first, rows)
    named = list(zip(names, given, strict=True))
    return Found(
        inputs=tuple(
            _spec(name, dtype, shape, free, open_axes.get(i, ())) for i, (name, (dtype, shape)) in enumerate(named)
        ),
        outputs=tuple(
            _spec(f"output_{i}", str(value.dtype).removeprefix("torch."), tuple(value.shape), free)
            for i, value in enumerate(first)
        ),
        steady=_steady(call, given, rows if free else None),
        ending=_ending(module) if len(first) == 1 else None,
    )


def _ending(module: ScriptModule) -> str | None:
    graph = module.inlined_graph  # kept: its nodes live as long as it does
    node = next(graph.outputs()).node()
    while node.kind() in _PASSES_ON:
        node = next(node.inputs()).node()
    return str(node.kind().removeprefix("aten::"))


Given = list[tuple[str, tuple[int, ...]]]  # dtype and shape of each input
OpenAxes = dict[int, tuple[int, ...]]  # number of an input -> its axes that may have any size


def _spec(name: str, dtype: str, shape: tuple[int, ...], free: bool, open_axes: tuple[int, ...] = ()) -> TensorSpec:
    sizes: list[int | str] = [f"{name}_{axis}" if axis in open_axes else size for axis, size in enumerate(shape)]
    return TensorSpec(name=name, dtype=dtype, shape=tuple(["batch", *sizes[1:]] if free and shape else sizes))


def _traced(parts: Parts, names: list[str]) -> tuple[Given, OpenAxes]:
    examples = parts.examples or ()
    if len(examples) != len(names):
        raise BadModel(f"the trace was made with {len(examples)} tensors and forward takes {len(names)}: trace again")
    return [(each.storage.dtype, each.shape) for each in examples], {}


def _tensors(given: Given, rows: int | None = None) -> list[Any]:
    """Tensors of those shapes, the same each time; whole numbers stay below 2, which suits masks and codes."""
    import torch

    made = []
    generator = torch.Generator().manual_seed(0)
    for dtype, shape in given:
        sizes = shape if rows is None else (rows, *shape[1:])
        kind = getattr(torch, dtype)
        if kind.is_floating_point:
            made.append(torch.randn(sizes, generator=generator).to(kind))
        else:
            made.append(torch.ones(sizes, dtype=kind))
    return made


def _answer(call: Any, inputs: list[Any]) -> list[Any]:
    import torch

    try:
        with torch.inference_mode():
            outputs: list[Any] = call(inputs)
    except (RuntimeError, IndexError, NotImplementedError) as error:
        raise BadModel(f"the module stops on rows of the shape it was traced with: {first_line(error)}") from error
    if not outputs or not all(isinstance(value, torch.Tensor) for value in outputs):
        raise BadModel("an output of the module is not a tensor; let forward return tensors alone")
    return outputs


def _follows(call: Any, given: Given, first: list[Any], rows: int) -> bool:
    """Does the batch axis of every output follow that of the inputs, with one row too?"""
    for n_rows in (rows + 1, 1):
        try:
            outputs = _answer(call, _tensors(given, n_rows))
        except BadModel:
            return False
        if [tuple(value.shape) for value in outputs] != [(n_rows, *value.shape[1:]) for value in first]:
            return False
    return True


def _steady(call: Any, given: Given, rows: int | None) -> bool:
    """The same rows twice, and the same rows beside others, give the same answers (within rounding)."""
    import torch

    inputs = _tensors(given)
    right = _answer(call, inputs)
    pairs = list(zip(right, _answer(call, inputs), strict=True))
    if rows is not None:
        wider = [torch.cat([value, value.flip(0) * 3 if value.is_floating_point() else value]) for value in inputs]
        pairs += [(a, b[: len(a)]) for a, b in zip(right, _answer(call, wider), strict=True)]
    return all(torch.allclose(a.double(), b.double(), rtol=1e-3, atol=1e-4, equal_nan=True) for a, b in pairs)


# ---------------------------------------------------------------- scripted modules
def _guessed(parts: Parts, names: list[str], call: Any) -> tuple[Given, OpenAxes]:
    """Inputs that it answers; axes whose size was made up are open when twice the size is answered too."""
    weighted = any(parts.trained())
    for given in itertools.islice(_candidates(parts, len(names)), _MAX_TRIES):
        if not _answers(call, given):
            continue
        made_up = {
            i: tuple(range(1 if dtype == "int64" or not weighted else 2, len(shape)))
            for i, (dtype, shape) in enumerate(given)
        }
        wider = [
            (dtype, tuple(2 * size if axis in made_up[i] else size for axis, size in enumerate(shape)))
            for i, (dtype, shape) in enumerate(given)
        ]
        return given, made_up if _answers(call, wider) else {}
    raise BadModel(
        f"the shapes of the inputs {', '.join(names)[:100]} cannot be told from a scripted module: save a trace, which "
        "keeps them: torch.jit.trace(model.eval(), example).save('model.pt')"
    )


def _answers(call: Any, given: Given) -> bool:
    try:
        _answer(call, _tensors(given))
    except BadModel:
        return False
    return True


def _candidates(parts: Parts, n_inputs: int) -> Iterator[Given]:
    """Shapes that the weights suggest, the same for every input first."""
    ones: Given = []
    if next(parts.parsed.calls("embedding"), None):
        ones.append(("int64", (2, 8)))
    for shape in dict.fromkeys(each.shape for each in parts.trained()):
        if len(shape) == 2:
            ones.append(("float32", (2, shape[1])))
        if len(shape) == 3:
            ones += [("float32", (2, shape[1], side)) for side in _SIDES]
        if len(shape) == 4:
            ones += [("float32", (2, shape[1], side, side)) for side in _SIDES]
    ones = list(dict.fromkeys(ones)) or [("float32", (2, 4))]
    for each in ones:
        yield [each] * n_inputs
    if n_inputs > 1:
        for several in itertools.product(ones, repeat=n_inputs):
            yield list(several)
