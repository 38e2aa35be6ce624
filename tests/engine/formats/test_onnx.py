"""What is taken, refused and told of ONNX models that are not hostile by design."""

import json
import shutil

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from engine.errors import BadModel
from engine.formats import onnx as onnx_format
from engine.formats.onnx_check import MAX_NODES
from tests.engine.formats.onnx_models import FLOAT, ending_in, info, model, weights
from tests.engine.formats.taking import predict, sentence, take_here


def taken(made, tmp_path, **options):
    onnx.save(made, tmp_path / "in.onnx")
    return take_here(tmp_path / "in.onnx", tmp_path / "out", **options)


def refused(made, tmp_path) -> str:
    onnx.save(made, tmp_path / "in.onnx")
    with pytest.raises(BadModel) as caught:
        take_here(tmp_path / "in.onnx", tmp_path / "out")
    return sentence(caught.value)


# ---------------------------------------------------------------- what it tells
def test_several_inputs_with_named_fixed_and_unnamed_axes(tmp_path):
    nodes = [helper.make_node("Gather", ["e", "codes"], ["g"]), helper.make_node("Concat", ["g", "x"], ["y"], axis=1)]
    inputs = [info("codes", ("batch",), TensorProto.INT64), info("x", (None, 4)), info("w2", ())]
    made = model(nodes, inputs, [info("y", (None, None))], [weights("e", (9, 2)), weights("w2", ())])
    signature = taken(made, tmp_path).signature
    assert [(spec.name, spec.dtype, spec.shape) for spec in signature.inputs] == [
        ("codes", "int64", ("batch",)),
        ("x", "float32", ("batch", 4)),
    ]
    assert signature.outputs[0].shape == ("batch", "y_1")
    assert signature.fixed_batch is None


@pytest.mark.parametrize("text", ['["a", "b b", "c,d", "é"]', "a,b b ,c,d"])
def test_feature_names_belong_to_the_wide_input(text, tmp_path):
    columns = taken(model(feature_names=text), tmp_path).signature.inputs[0].columns
    assert columns == (("a", "b b", "c,d", "é") if text.startswith("[") else ("a", "b b", "c", "d"))


@pytest.mark.parametrize("names", [["a", "b", "c"], ["a", "b", "c", "a"]])
def test_feature_names_that_do_not_fit_are_said_and_not_used(names, tmp_path):
    manifest = taken(model(feature_names=json.dumps(names)), tmp_path)
    assert manifest.signature.inputs[0].columns is None
    assert "feature_names" in manifest.warnings[0]


def test_feature_names_with_two_wide_inputs_are_not_guessed(tmp_path):
    made = model([helper.make_node("Add", ["x", "z"], ["y"])], [info("x"), info("z")], [info("y")], [])
    made.metadata_props.add(key="feature_names", value="a,b,c,d")
    manifest = taken(made, tmp_path)
    assert {spec.columns for spec in manifest.signature.inputs} == {None}
    assert "2 inputs have rank 2" in manifest.warnings[0]


@pytest.mark.parametrize(
    ("operators", "n_columns", "task", "kind"),
    [
        (["Softmax"], 2, "binary", "probabilities"),
        (["Softmax", "Identity"], 5, "multiclass", "probabilities"),
        (["Sigmoid"], 1, "binary", "probabilities"),
        (["Sigmoid"], 3, None, "probabilities"),
        (["LogSoftmax"], 3, None, "logits"),
        (["Relu"], 3, None, None),
        (["LpNormalization"], 8, "embedding", "embedding"),
    ],
)
def test_the_ending_proposes_kind_and_task(operators, n_columns, task, kind, tmp_path):
    signature = taken(ending_in(*operators, shape=("N", n_columns), n_columns=n_columns), tmp_path).signature
    assert (signature.score_output, signature.task, signature.output_kind) == ("y", task, kind)


def test_classes_from_metadata(tmp_path):
    signature = taken(ending_in("Softmax", classes='["cat", "dog"]'), tmp_path).signature
    assert signature.classes == ("cat", "dog")


@pytest.fixture(scope="module")
def classified():
    from skl2onnx import to_onnx
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LinearRegression, LogisticRegression

    x = np.random.default_rng(0).normal(size=(200, 4)).astype(np.float32)
    labels = np.array([10, 9, 2])[np.argmax(x[:, :3], axis=1)]
    plain = {"zipmap": False}
    many = LogisticRegression().fit(x, labels)
    forest = RandomForestClassifier(7, random_state=0).fit(x, labels)
    line = LinearRegression().fit(x, x[:, 0])
    return x, {
        "zipped": (many, to_onnx(many, x[:1])),
        "plain": (many, to_onnx(many, x[:1], options={id(many): plain})),
        "forest": (forest, to_onnx(forest, x[:1], options={id(forest): plain})),
        "line": (line, to_onnx(line, x[:1])),
    }


@pytest.mark.parametrize("name", ["zipped", "plain", "forest"])
def test_classes_stand_in_the_order_of_the_columns(name, classified, tmp_path):
    from engine.plugin import Artefact
    from engine.runtimes.onnxruntime_cpu import OnnxruntimeCpu

    x, fitted = classified
    estimator, made = fitted[name]
    manifest = taken(made, tmp_path)
    signature = manifest.signature
    assert (signature.task, signature.output_kind, signature.classes) == (
        "multiclass",
        "probabilities",
        ("2", "9", "10"),
    )
    with OnnxruntimeCpu().open(Artefact(manifest, tmp_path / "out")) as call:
        scores = call({signature.inputs[0].name: x})[signature.score_output]
    assert scores.shape == (200, 3)
    assert np.allclose(scores, estimator.predict_proba(x), atol=1e-5)
    assert (manifest.n_trees, manifest.n_parameters) == ((7, None) if name == "forest" else (None, 15))


def test_a_regressor_gives_a_value(classified, tmp_path):
    manifest = taken(classified[1]["line"][1], tmp_path)
    assert (manifest.signature.task, manifest.signature.output_kind) == ("regression", "value")
    assert manifest.n_parameters == 5


def test_two_float_outputs_are_not_chosen_between(tmp_path):
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("Relu", ["y"], ["z"])]
    manifest = taken(model(nodes, outputs=[info("y", ("N", 2)), info("z", ("N", 2))]), tmp_path)
    assert manifest.signature.score_output is None
    assert "which one is judged" in manifest.warnings[-1]


def test_versions_size_and_half_precision(tmp_path):
    made = model(
        inputs=[info("x", dtype=TensorProto.FLOAT16)],
        outputs=[info("y", ("N", 2), TensorProto.FLOAT16)],
        tensors=[weights(dtype=np.float16)],
    )
    made.producer_name, made.producer_version = "pytorch", "2.13"
    manifest = taken(made, tmp_path)
    assert manifest.versions == {"opset": "17", "ir": "10", "producer": "pytorch 2.13"}
    assert manifest.n_parameters == 8
    assert "half precision" in manifest.warnings[0]


# ---------------------------------------------------------------- what it refuses
def test_no_input_no_output_no_shape(tmp_path):
    assert "takes no input" in refused(model([helper.make_node("Identity", ["w"], ["y"])], [info("w")]), tmp_path)


def test_an_input_without_a_shape(tmp_path):
    assert "states no shape" in refused(model(inputs=[info("x", None)]), tmp_path)


def test_an_input_that_is_a_sequence(tmp_path):
    sequence = helper.make_tensor_sequence_value_info("x", FLOAT, None)
    made = model([helper.make_node("SequenceAt", ["x", "i"], ["y"])], [sequence, info("i", (), TensorProto.INT64)])
    assert "'x' is a sequence_type, not a tensor" in refused(made, tmp_path)


def test_a_foreign_domain_inside_a_branch_is_named(tmp_path):
    inner = helper.make_graph([helper.make_node("Evil", ["x"], ["o"], domain="acme.ops")], "b", [], [info("o")])
    plain = helper.make_graph([helper.make_node("Identity", ["x"], ["o"])], "b", [], [info("o")])
    node = helper.make_node("If", ["c"], ["y"], then_branch=plain, else_branch=inner)
    made = model([node], [info("x"), info("c", (), TensorProto.BOOL)], [info("y")], [])
    said = refused(made, tmp_path)
    assert "'Evil'" in said
    assert "'acme.ops'" in said


def functions(*bodies, domain="local"):
    """A model that calls f0; f<i> is made of the nodes of bodies[i]."""
    made = model([helper.make_node("f0", ["x"], ["y"], domain=domain)], outputs=[info("y")], tensors=[])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(domain, 1)]
    for i, calls in enumerate(bodies):
        nodes = [
            helper.make_node(name, ["a" if j == 0 else f"t{j}"], [f"t{j + 1}" if j < len(calls) - 1 else "b"], domain=d)
            for j, (name, d) in enumerate(calls)
        ]
        made.functions.append(helper.make_function(domain, f"f{i}", ["a"], ["b"], nodes, imports))
    made.opset_import.append(helper.make_opsetid(domain, 1))
    return made


def test_functions_of_the_model_itself_are_fine(tmp_path):
    manifest = taken(functions([("Neg", ""), ("f1", "local")], [("Abs", "")]), tmp_path)
    assert predict(manifest, tmp_path / "out")["y"]["shape"] == [3, 4]


def test_functions_that_call_themselves_are_refused(tmp_path):
    assert "calls itself" in refused(functions([("f1", "local")], [("f0", "local")]), tmp_path)


def test_functions_that_explode_are_counted_without_writing_them_out(tmp_path):
    doubling = [[(f"f{i + 1}", "local")] * 40 for i in range(10)]
    said = refused(functions(*doubling, [("Neg", "")]), tmp_path)
    assert f"{40**10:,} nodes, allowed are {MAX_NODES:,}" in said


@pytest.mark.parametrize("dims", [[5], [3], [1 << 40], [2, -2], [1] * 40])
def test_tensors_that_lie_about_their_shape(dims, tmp_path):
    made = model()
    made.graph.initializer[0].dims[:] = dims
    assert refused(made, tmp_path).startswith("refused: the tensor 'w'")


def test_tensors_kept_in_typed_fields_are_fine(tmp_path):
    tensor = helper.make_tensor("w", FLOAT, (4, 2), [1.0] * 8)
    assert not tensor.raw_data
    assert taken(model(tensors=[tensor]), tmp_path).n_parameters == 8
    tensor.float_data.append(1.0)
    shutil.rmtree(tmp_path / "out")
    assert "holds 9" in refused(model(tensors=[tensor]), tmp_path)


# ---------------------------------------------------------------- damage
WHOLE = ending_in("Softmax", feature_names="a,b,c,d", classes="x,y").SerializeToString()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_cut_and_changed_files_end_in_a_sentence_or_a_description(data, tmp_path):
    damaged = bytearray(WHOLE[: data.draw(st.integers(1, len(WHOLE)), "kept")])
    for position in data.draw(st.lists(st.integers(0, len(damaged) - 1), max_size=4), "changed"):
        damaged[position] = data.draw(st.integers(0, 255))
    path, out = tmp_path / "in.onnx", tmp_path / "out"
    path.write_bytes(damaged)
    out.mkdir(exist_ok=True)
    try:
        onnx_format.take(path, out)
        onnx_format.describe(out)
    except BadModel as error:
        sentence(error)
