"""Which ONNX versions the installed ONNX Runtime reads: tried, not looked up."""

from __future__ import annotations

from functools import cache
from typing import Any

from engine.errors import BadModel

_DOMAIN_NAMES = {"": "opset", "ai.onnx.ml": "opset of ai.onnx.ml"}


def check_versions(model: Any) -> None:
    """Raise BadModel when the model was made for a newer opset or file version than is read here."""
    if model.ir_version > newest_ir():
        raise BadModel(
            f"Made for ONNX file version (IR) {model.ir_version}; this server reads up to {newest_ir()}. Save it again "
            "with an older onnx package, or update onnxruntime here"
        )
    for opset in model.opset_import:
        domain = "" if opset.domain == "ai.onnx" else opset.domain
        if domain not in _DOMAIN_NAMES:
            continue
        if opset.version > newest_opset(domain):
            raise BadModel(
                f"Made for {_DOMAIN_NAMES[domain]} {opset.version}; this server reads up to {newest_opset(domain)}. "
                f"Export again with opset_version={newest_opset(domain)} or lower, or convert the file with "
                "onnx.version_converter.convert_version"
            )
        if opset.version < 1:
            raise BadModel(f"the ONNX file says opset {opset.version}, which does not exist; export it again")


@cache
def newest_opset(domain: str) -> int:
    """Newest operator set of a domain ("" or "ai.onnx.ml") that ONNX Runtime opens."""
    start = {"": 22, "ai.onnx.ml": 3}[domain]
    others = {} if domain == "" else {"": 17}
    return _last(start, lambda version: _opens({domain: version, **others}, ir_version=8))


@cache
def newest_ir() -> int:
    """Newest file version that ONNX Runtime opens."""
    return _last(8, lambda version: _opens({"": 17}, ir_version=version))


def _last(version: int, works: Any) -> int:
    while works(version + 1):
        version += 1
    return version


def _opens(opsets: dict[str, int], ir_version: int) -> bool:
    import onnx
    import onnxruntime
    from onnx import helper

    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    x, y = (helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", [x], [y])
    imports = [helper.make_opsetid(domain, version) for domain, version in opsets.items()]
    model = helper.make_model(graph, opset_imports=imports, ir_version=ir_version)
    try:
        onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except (onnxruntime.capi.onnxruntime_pybind11_state.Fail, RuntimeError):
        return False
    return True
