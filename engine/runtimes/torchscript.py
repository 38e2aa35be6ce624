"""TorchScript, with PyTorch's own interpreter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np
from pydantic import Field

from engine.errors import Mismatch
from engine.graph.inputs import input_check
from engine.graph.torch_program import to_array, to_tensor
from engine.graph.torchscript_program import caller, first_line, load
from engine.plugin import Artefact, Predict, Runtime


class TorchScript(Runtime):
    """Runs a TorchScript module with PyTorch's interpreter; defines right for TorchScript.

    As fast as PyTorch eager or a little faster, and a weak baseline on CPUs: plain ONNX Runtime is often 1.5 to 5
    times faster. Frozen, weights become constants and small layers are fused, which helps convolutions most.
    """

    title = "TorchScript, CPU"
    accepts = frozenset({"torchscript"})
    libraries = ("torch",)
    reference = True

    frozen: bool = Field(
        False,
        description="Make the weights constants and fuse what stands between them when the file is opened: 0 to 40 % "
        "faster, a slower start, other rounding.",
    )

    @contextmanager
    def open(self, artefact: Artefact, threads: int = 1) -> Iterator[Predict]:
        """Yield predict: input name -> array to {"output_0": array, "output_1": …}."""
        import torch

        torch.set_num_threads(threads)
        module = load(artefact.folder)
        if self.frozen:
            module = torch.jit.optimize_for_inference(torch.jit.freeze(module))
        call, signature = caller(module), artefact.manifest.signature
        check = input_check(signature)
        given, names = [spec.name for spec in signature.inputs], [spec.name for spec in signature.outputs]

        def predict(inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
            check(inputs)
            with torch.inference_mode():
                try:
                    outputs = call([to_tensor(inputs[name]) for name in given])
                except (RuntimeError, IndexError, NotImplementedError) as error:
                    raise Mismatch(f"TorchScript stopped on these rows: {first_line(error)}") from error
                return {name: to_array(value) for name, value in zip(names, outputs, strict=True)}

        yield predict
