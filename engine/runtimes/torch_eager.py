"""PyTorch, one operator at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from engine.errors import Mismatch
from engine.graph.inputs import input_check
from engine.graph.torch_program import caller, load, to_array, to_tensor
from engine.plugin import Artefact, Predict, Runtime


class TorchEager(Runtime):
    """Runs an exported PyTorch program operator by operator; defines right for torch.export.

    The baseline of most PyTorch services, and a weak one on CPUs: plain ONNX Runtime is often 1.5 to 5 times faster.
    """

    title = "PyTorch eager, CPU"
    accepts = frozenset({"torch_export"})
    libraries = ("torch",)
    reference = True

    @contextmanager
    def open(self, artefact: Artefact, threads: int = 1) -> Iterator[Predict]:
        """Yield predict: input name -> array to {"output_0": array, "output_1": …}."""
        import torch

        torch.set_num_threads(threads)
        call = caller(load(artefact.folder))
        check = input_check(artefact.manifest.signature)
        names = [spec.name for spec in artefact.manifest.signature.outputs]

        def predict(inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
            check(inputs)
            with torch.inference_mode():
                try:
                    outputs = call({name: to_tensor(values) for name, values in inputs.items()})
                except (RuntimeError, IndexError) as error:
                    reason = str(error).strip().split("\n")[0]
                    raise Mismatch(f"PyTorch stopped on these rows: {reason}") from error
                return {name: to_array(value) for name, value in zip(names, outputs, strict=True)}

        yield predict
