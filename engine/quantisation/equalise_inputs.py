"""The scale of each input column folded into the first layer, before INT8."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from engine.errors import DoesNotFit
from engine.graph.kind import kind_of
from engine.graph.onnx_files import check_result, load_model, save_model
from engine.graph.onnx_quantise import why_nothing_inside
from engine.graph.onnx_weights import constants, consumers, drop_unused, to_array
from engine.plugin import Artefact, Context, Lever, Prediction
from engine.records import Manifest

if TYPE_CHECKING:
    import numpy as np
    from onnx import ModelProto, NodeProto

MIN_SPREAD = 1.2  # columns whose ranges differ by less gain nothing


class EqualiseInputs(Lever):
    """Divides each input column by its largest value and multiplies the first layer's weights by it.

    The answers stay the same within rounding; what changes is what INT8 sees next: one column of large values no longer
    takes all 8 bits. Helps nets on tables whose columns have different scales, before INT8. Hurts nothing but a little
    time, one multiplication per value, and does nothing by itself for speed. Source: Nagel et al. (2019), Data-Free
    Quantization Through Weight Equalization and Bias Correction, applied to the inputs.
    """

    title = "Equalise inputs"
    accepts = frozenset({"onnx"})
    libraries = ("onnx", "onnxruntime")
    exact = True

    max_rows: int = Field(
        100_000, ge=1, le=10_000_000, description="Calibration rows whose largest values are taken, from the first on."
    )

    @classmethod
    def fits(cls, manifest: Manifest, machine: Mapping[str, Any]) -> str | None:
        """As every plug-in; and columns are needed: an input of rank 2 with numbers."""
        reason = super().fits(manifest, machine) or why_nothing_inside(manifest)
        return reason or (None if _columns(manifest) else "needs an input of columns (rank 2, float32); this has none")

    @classmethod
    def predicts(cls, manifest: Manifest, machine: Mapping[str, Any]) -> Prediction | None:
        """It prepares for INT8 and does nothing for speed itself."""
        if kind_of(manifest) not in (None, "dense"):
            return Prediction("No difference", "made for nets on tables: images and tokens have one scale already")
        return Prediction("No difference", "a step before INT8: it keeps the answers and gains no time by itself")

    def apply(self, source: Artefact, out: Path, context: Context) -> dict[str, Any]:
        """Write model.onnx with a Mul before each first layer. Raises DoesNotFit when no layer could be changed."""
        import numpy as np

        if context.calibration.n_rows == 0:
            raise DoesNotFit("needs calibration rows; this study has none (see Data for how rows are split)")
        model = load_model(source.folder)
        changed: list[str] = []
        spreads: list[float] = []
        reasons: list[str] = []
        for name in _columns(source.manifest):
            rows = np.abs(context.calibration.inputs[name][: self.max_rows])
            largest = np.nanmax(np.where(np.isfinite(rows), rows, np.nan), axis=0, initial=0.0).astype(np.float32)
            largest[largest == 0] = 1.0  # a column that is never used keeps its scale
            spread = float(largest.max() / largest.min())
            if spread < MIN_SPREAD:
                reasons.append(
                    f"the columns of {name!r} have the same scale (largest values within {spread:.2g} times)"
                )
            elif (why := _fold(model, name, largest)) is not None:
                reasons.append(why)
            else:
                changed.append(name)
                spreads.append(spread)
        if not changed:
            raise DoesNotFit("; ".join(reasons))
        drop_unused(model)
        save_model(model, out)
        check_result(out, source.manifest.signature)
        return {
            "equalised": ", ".join(changed),
            "spread_before": max(spreads),
            "rows_used": min(context.calibration.n_rows, self.max_rows),
            "answers": "the same within rounding",
        }


def _columns(manifest: Manifest) -> list[str]:
    return [spec.name for spec in manifest.signature.inputs if len(spec.shape) == 2 and spec.dtype == "float32"]


def _fold(model: ModelProto, name: str, largest: np.ndarray) -> str | None:
    """Put Mul(x, 1/largest) behind the input and `largest` into every layer that reads it; None, or why not."""
    from onnx import helper, numpy_helper

    readers = consumers(model, name)
    stored = constants(model)
    if not readers or not all(_is_layer(node, name, stored) for node in readers):
        what = ", ".join(sorted({node.op_type for node in readers})) or "nothing"
        return f"the input {name!r} goes into {what}, not straight into a dense layer with stored weights"
    scaled = f"{name}_equalised"
    graph = model.graph
    for position, node in enumerate(readers):
        values = to_array(stored[node.input[1]])
        turned = any(entry.name == "transB" and entry.i for entry in node.attribute)
        grown = values * (largest[None, :] if turned else largest[:, None])
        weight = f"{node.input[1]}_equalised_{position}"
        graph.initializer.append(numpy_helper.from_array(grown.astype(values.dtype), weight))
        node.input[0], node.input[1] = scaled, weight
    graph.initializer.append(numpy_helper.from_array(1.0 / largest, f"{name}_scale"))
    graph.node.insert(0, helper.make_node("Mul", [name, f"{name}_scale"], [scaled], name=f"equalise_{name}"))
    return None


def _is_layer(node: NodeProto, name: str, stored: Mapping[str, Any]) -> bool:
    turned = any(entry.name == "transA" and entry.i for entry in node.attribute)
    return node.op_type in ("MatMul", "Gemm") and node.input[0] == name and node.input[1] in stored and not turned
