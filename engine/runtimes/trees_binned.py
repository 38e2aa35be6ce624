"""Binned trees: compiled once per machine, not per model."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from engine.errors import BadModel
from engine.forest.outputs import outputs_of
from engine.graph.inputs import input_check
from engine.plugin import Artefact, Predict, Runtime
from engine.records import Manifest


class TreesBinned(Runtime):
    """Runs trees whose thresholds were replaced by 8- or 16-bit bins; gives the bits of the model they were made from.

    Few rows go through bit masks (up to 64 leaves) or level by level, more rows in blocks without a branch. Helps at
    every batch size, most from some dozens of rows on. Below about a microsecond of trees the call itself decides.
    Needs the package numba (208 MB with its compiler); the loader that is shipped needs numpy and numba only.
    Source: Lucchese et al., QuickScorer (2015); the block form is ours.
    """

    title = "Binned trees, compiled"
    accepts = frozenset({"trees_binned"})
    libraries = ("numba",)
    reference = True

    @classmethod
    def prepare(cls, manifest: Manifest, machine: str) -> None:
        """Compile the kernels this file needs, once per machine and outside the child that opens it."""
        from engine.forest.compiled import warm

        warm(tuple(str(manifest.notes.get("kernels", "")).split()), machine)

    @contextmanager
    def open(self, artefact: Artefact, threads: int = 1) -> Iterator[Predict]:
        """Yield predict: {"features": (n, k) float64} to {"score": (n,) or (n, K) float64}.

        Trees that came from ONNX keep the names and types of its input and outputs.
        """
        from engine.forest.binned.pack import FILE
        from engine.forest.compiled import private_copy
        from engine.forest.serve import load

        private_copy()
        try:
            model = load(artefact.folder / FILE, threads)
        except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile) as error:
            raise BadModel(f"{FILE} cannot be read as a binned forest: {error}") from error
        signature = artefact.manifest.signature
        check, outputs = input_check(signature), outputs_of(signature)
        features = signature.inputs[0].name

        def predict(inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
            check(inputs)
            # kernels are kept compiled for float64 only
            return outputs(model.predict(inputs[features].astype(np.float64, copy=False)))

        yield predict
