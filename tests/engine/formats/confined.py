"""Run in a child by the tests: open a taken model in its reference runtime and ask it for three rows."""

from pathlib import Path

import numpy as np

from engine.plugin import Artefact, make, reference_runtime, runtimes
from engine.records import Manifest


def rows(spec, n_rows=3):
    """Plain values for one input: ones, with every symbolic axis 3 long."""
    shape = [axis if isinstance(axis, int) else n_rows for axis in spec.shape]
    return np.full(shape, "a") if spec.dtype == "string" else np.ones(shape, spec.dtype)


def predict(request, talk):
    manifest = Manifest.model_validate(request["manifest"])
    runtime = make(runtimes(), reference_runtime(manifest.format), {})
    with runtime.open(Artefact(manifest, Path(request["folder"]))) as call:
        outputs = call({spec.name: rows(spec) for spec in manifest.signature.inputs})
    return {name: {"shape": list(values.shape), "text": str(values)} for name, values in outputs.items()}
