"""What each lever foretells, by kind of model and processor. The grounds are the measurements its module names."""

import pytest

from engine.environment import FLAGS
from engine.plugin import levers
from engine.records import Manifest, Signature, TensorSpec

VNNI, OLD, ARM = {"cpu_flags": ["avx2", "avx512_vnni"]}, {"cpu_flags": ["avx2"]}, {"cpu_flags": ["asimddp", "asimdhp"]}


def net(*operators, n_parameters=10_000_000, model_format="onnx", shape=("batch", 30), dtype="float32"):
    return model(model_format, shape, dtype, operators=operators, n_parameters=n_parameters)


def forest(n_trees, categories=None):
    return model("lightgbm", ("batch", 12), "float64", n_trees=n_trees, categories=categories)


def model(model_format, shape, dtype, *, categories=None, **facts):
    given = TensorSpec(name="x", dtype=dtype, shape=shape, categories=categories)
    result = TensorSpec(name="y", dtype="float32", shape=("batch",))
    signature = Signature(inputs=(given,), outputs=(result,))
    return Manifest(id="a" * 64, format=model_format, signature=signature, size_bytes=1, **facts)


CONVOLUTIONS = net("Conv", "Gemm")
TRANSFORMER = net("LayerNormalization", "MatMul", "Softmax")
WIDE, SMALL = net("Gemm"), net("Gemm", n_parameters=41_000)


@pytest.mark.parametrize(
    ("lever", "manifest", "machine", "word"),
    [
        ("quantisation.int8_dynamic", TRANSFORMER, VNNI, "Likely faster"),
        ("quantisation.int8_dynamic", TRANSFORMER, ARM, "Likely faster"),
        ("quantisation.int8_dynamic", TRANSFORMER, OLD, "Worth a try"),
        ("quantisation.int8_dynamic", CONVOLUTIONS, VNNI, "No difference"),
        ("quantisation.int8_dynamic", WIDE, VNNI, "Likely faster"),
        ("quantisation.int8_dynamic", SMALL, VNNI, "Likely slower"),
        ("quantisation.int8_static", CONVOLUTIONS, VNNI, "Likely faster"),
        ("quantisation.int8_static", CONVOLUTIONS, OLD, "Worth a try"),
        ("quantisation.int8_static", TRANSFORMER, VNNI, "Worth a try"),
        ("quantisation.int8_static", SMALL, VNNI, "Likely slower"),
        ("quantisation.float16", WIDE, VNNI, "No difference"),
        ("quantisation.float16", TRANSFORMER, VNNI, "Likely slower"),
        ("quantisation.float16", WIDE, ARM, "Worth a try"),
        ("quantisation.weights_int4", CONVOLUTIONS, VNNI, "No difference"),
        ("quantisation.weights_int4", TRANSFORMER, VNNI, "No difference"),
        ("quantisation.weights_int8", SMALL, VNNI, "Likely slower"),
        ("quantisation.equalise_inputs", WIDE, VNNI, "No difference"),
        ("pruning.weights", WIDE, VNNI, "No difference"),
        ("pruning.channels", net(model_format="torch_export", shape=("b", 3, 8, 8)), VNNI, "Likely faster"),
        ("pruning.channels", net(model_format="torchscript", n_parameters=900), VNNI, "Worth a try"),
        ("export.onnx_optimise", WIDE, VNNI, "No difference"),
        ("export.onnx_optimise", net("LinearClassifier", "ZipMap"), VNNI, "Worth a try"),
        ("export.torch_to_onnx", net(model_format="torch_export", shape=("b", 3, 8, 8)), VNNI, "Likely faster"),
        ("export.lightgbm_to_onnx", forest(1200), VNNI, "Worth a try"),
        ("export.lightgbm_to_onnx", forest(300), VNNI, "Likely faster"),
        ("export.lightgbm_to_onnx", forest(300, {"x": ("a", "b")}), VNNI, "Worth a try"),
        ("pruning.fewer_trees", forest(1200), VNNI, "Likely faster"),
        ("pruning.fewer_trees", forest(12), VNNI, "No difference"),
    ],
)
def test_the_word(lever, manifest, machine, word):
    cls = levers()[lever]
    assert cls.fits(manifest, machine) is None
    assert cls.predicts(manifest, machine).word == word


def test_the_reason_names_the_instruction_set_it_rests_on():
    assert "avx512_vnni" in levers()["quantisation.int8_static"].predicts(CONVOLUTIONS, VNNI).reason
    assert "VNNI" in levers()["quantisation.int8_dynamic"].predicts(WIDE, OLD).reason


def test_the_machine_tells_of_every_instruction_set_that_is_asked_for():
    from engine.graph.kind import EIGHT_BIT, HALF

    assert {*EIGHT_BIT, *HALF} <= set(FLAGS)
