import pytest

from engine.graph.kind import EIGHT_BIT, is_small, kind_of, unit
from engine.records import Manifest, Signature, TensorSpec


def manifest(*, operators=(), n_trees=None, n_parameters=None, shape=("batch", 30), dtype="float32"):
    return Manifest(
        id="a" * 64,
        format="onnx",
        signature=Signature(
            inputs=(TensorSpec(name="x", dtype=dtype, shape=shape),),
            outputs=(TensorSpec(name="y", dtype="float32", shape=("batch",)),),
        ),
        size_bytes=1,
        operators=operators,
        n_trees=n_trees,
        n_parameters=n_parameters,
    )


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        ({"n_trees": 10}, "trees"),
        ({"operators": ("TreeEnsembleClassifier", "ZipMap")}, "trees"),
        ({"operators": ("Conv", "Gemm", "Relu")}, "convolutions"),
        ({"operators": ("Conv", "LayerNormalization", "MatMul", "Softmax")}, "transformer"),
        ({"operators": ("Gather", "MatMul", "ReduceMean", "Softmax")}, "transformer"),
        ({"operators": ("Gemm", "Softmax")}, "dense"),
        ({"operators": ("Scaler", "LinearClassifier")}, None),
        ({"n_parameters": 9, "shape": ("batch", 3, 8, 8)}, "convolutions"),
        ({"n_parameters": 9, "dtype": "int64"}, "transformer"),
        ({"n_parameters": 9}, "dense"),
        ({}, None),
    ],
)
def test_kind(facts, kind):
    assert kind_of(manifest(**facts)) == kind


def test_small_is_said_only_of_what_is_counted():
    assert is_small(manifest(n_parameters=40_000))
    assert not is_small(manifest(n_parameters=10_000_000))
    assert not is_small(manifest())


def test_the_unit_is_named_where_the_machine_has_one():
    assert unit({"cpu_flags": ["avx2", "avx_vnni"]}, EIGHT_BIT) == "avx_vnni"
    assert unit({"cpu_flags": ["avx2"]}, EIGHT_BIT) is None
    assert unit({}, EIGHT_BIT) is None
