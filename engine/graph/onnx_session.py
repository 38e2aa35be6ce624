"""Open ONNX files with ONNX Runtime on the CPU, the same way everywhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from engine.errors import DoesNotFit

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

Level = Literal["off", "basic", "extended", "all"]
MODEL_FILE = "model.onnx"
FUSED_LAYER_NORM = ("SkipLayerNormFusion", "BiasSkipLayerNormFusion")

_LEVELS = {
    "off": "ORT_DISABLE_ALL",
    "basic": "ORT_ENABLE_BASIC",
    "extended": "ORT_ENABLE_EXTENDED",
    "all": "ORT_ENABLE_ALL",
}


def open_session(
    path: Path,
    *,
    threads: int = 1,
    level: Level = "all",
    spinning: bool = False,
    disabled: tuple[str, ...] = (),
    write_optimised: Path | None = None,
    data_file: str | None = None,
    profile_to: Path | None = None,
) -> InferenceSession:
    """A session on the CPU provider alone, from the file's own folder (external data lies beside it).

    write_optimised: where to leave the optimised graph; data_file: name of the file beside it for its weights.
    profile_to: how the file begins that `end_profiling` writes.
    Raises DoesNotFit with ONNX Runtime's reason when it cannot load the file.
    """
    import onnxruntime as ort

    ort.disable_telemetry_events()
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, _LEVELS[level])
    options.add_session_config_entry("session.intra_op.allow_spinning", "1" if spinning else "0")
    if write_optimised is not None:
        options.optimized_model_filepath = str(write_optimised)
    if data_file is not None:
        options.add_session_config_entry("session.optimized_model_external_initializers_file_name", data_file)
    if profile_to is not None:
        options.enable_profiling = True
        options.profile_file_prefix = str(profile_to)
    try:
        return ort.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"], disabled_optimizers=list(disabled) or None
        )
    except ort_errors() as error:
        raise DoesNotFit(f"ONNX Runtime {ort.__version__} cannot load this model: {reason(error)}") from error


def ort_errors() -> tuple[type[Exception], ...]:
    """Every exception ONNX Runtime raises by itself; they share no base class."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    found: list[Any] = [value for value in vars(state).values() if isinstance(value, type)]
    return tuple(value for value in found if issubclass(value, Exception))


def reason(error: Exception) -> str:
    """What ONNX Runtime says, in one line, without its codes, its source files and our folders."""
    text = re.sub(r"\[ONNXRuntimeError\] : \d+ : \w+ : ", "", str(error).strip()).split("\n")[0]
    text = re.sub(r"/?(?:[\w.+~-]+/)+([\w.+~-]+)", r"\1", text)
    return text[:300]
