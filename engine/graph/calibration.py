"""Feed real rows through a model in chunks, so that collecting ranges never keeps all activations at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.errors import DoesNotFit
from engine.graph.onnx_session import open_session

CHUNK_BYTES = 512 << 20
COPIES = 3  # the histogram collectors hold a chunk's activations, their concatenation and its absolute values


@dataclass(frozen=True)
class Plan:
    """rows: row numbers in the order they are fed, whole batches; chunk: batches whose activations are kept at once."""

    rows: np.ndarray
    batch: int
    chunk: int
    chunk_bytes: int

    @property
    def n_batches(self) -> int:
        """Batches in all, a multiple of `chunk`."""
        return len(self.rows) // self.batch


def plan(n_rows: int, max_rows: int, seed: int, fixed_batch: int | None, row_bytes: float, allowed_bytes: int) -> Plan:
    """Shuffled rows in equal batches; the last ones are filled up with rows from the front.

    Raises DoesNotFit without rows, or when one batch alone needs more than the memory that is allowed.
    """
    if n_rows == 0:
        raise DoesNotFit("needs calibration rows; this study has none (see Data for how rows are split)")
    order = np.random.default_rng(seed).permutation(n_rows)[:max_rows]
    fitting = max(1, int(CHUNK_BYTES / COPIES / max(row_bytes, 1.0)))
    batch = fixed_batch or min(16, fitting, len(order))
    chunk = max(1, fitting // batch)
    needed = int(COPIES * row_bytes * batch * chunk)
    if needed > allowed_bytes:
        raise DoesNotFit(
            f"calibration needs about {needed / 1e9:.1f} GB for {batch * chunk} rows at once, "
            f"{allowed_bytes / 1e9:.1f} GB are allowed; use method minmax or a model with smaller activations"
        )
    n_batches = math.ceil(len(order) / batch)
    chunk = min(chunk, n_batches)
    n_batches = math.ceil(n_batches / chunk) * chunk
    return Plan(np.resize(order, n_batches * batch), batch, chunk, int(COPIES * row_bytes * batch * chunk))


def activation_bytes(model: Path, inputs: Mapping[str, np.ndarray]) -> float:
    """Bytes of all float activations per row, measured on the rows given."""
    import onnx

    graph = onnx.load(model)
    known = {value.name for values in (graph.graph.output, graph.graph.initializer) for value in values}
    graph.graph.output.extend(
        value
        for value in graph.graph.value_info
        if value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT and value.name not in known
    )
    probe = model.with_name("probe.onnx")
    onnx.save(graph, probe)
    outputs = open_session(probe, level="off").run(None, dict(inputs))
    probe.unlink()
    n_bytes = sum(value.nbytes for value in outputs if isinstance(value, np.ndarray))
    return n_bytes / len(next(iter(inputs.values())))


class Reader:
    """The calibration rows as ONNX Runtime's quantiser reads them (its CalibrationDataReader, by shape)."""

    def __init__(self, inputs: Mapping[str, np.ndarray], plan: Plan, progress: Callable[[float, str], None]) -> None:
        self._inputs = inputs
        self._plan = plan
        self._progress = progress
        self._next, self._stop = 0, plan.n_batches

    def __len__(self) -> int:
        return self._plan.n_batches

    def set_range(self, start_index: int, end_index: int) -> None:
        """Read the batches from start_index up to end_index next."""
        self._next, self._stop = start_index, end_index

    def get_next(self) -> dict[str, np.ndarray] | None:
        """The next batch, or None at the end of the range."""
        if self._next >= self._stop:
            return None
        size = self._plan.batch
        rows = self._plan.rows[self._next * size : (self._next + 1) * size]
        self._next += 1
        self._progress(0.2 + 0.6 * self._next / len(self), f"calibrating, batch {self._next} of {len(self)}")
        return {name: np.ascontiguousarray(values[rows]) for name, values in self._inputs.items()}
