"""What is taken, refused and told of ONNX models that are not hostile by design."""

import json
import os
import shutil
import zipfile

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from engine.errors import BadModel
from engine.formats import onnx as onnx_format
from engine.formats.onnx_check import MAX_NODES
from tests.engine.formats.taking import predict, sentence, take_confined, take_here

FLOAT = TensorProto.FLOAT


def info(name, shape=("N", 4), dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def weights(name="w", shape=(4, 2), dtype=np.float32):
    return numpy_helper.from_array(np.arange(np.prod(shape)).reshape(shape).astype(dtype) / 10, name)


def model(nodes=None, inputs=None, outputs=None, tensors=None, opsets=(("", 17),), **metadata):
    nodes = nodes or [helper.make_node("MatMul", ["x", "w"], ["y"])]
    tensors = [weights()] if tensors is None else tensors
    graph = helper.make_graph(nodes, "g", inputs or [info("x")], outputs or [info("y", ("N", 2))], tensors)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid(*o) for o in opsets], ir_version=10)
    helper.set_model_props(made, metadata)
    return made


def ending_in(*operators, shape=("N", 2), n_columns=2, **options):
    """MatMul, then the operators one after another."""
    nodes, last = [helper.make_node("MatMul", ["x", "w"], ["t0"])], "t0"
    for i, operator in enumerate(operators):
        following = "y" if i == len(operators) - 1 else f"t{i + 1}"
        nodes.append(helper.make_node(operator, [last], [following]))
        last = following
    return model(nodes, outputs=[info("y", shape)], tensors=[weights(shape=(4, n_columns))], **options)


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


# ---------------------------------------------------------------- data files
def with_data(folder, location="weights/part.bin"):
    """model.onnx with its weights in another file of the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / location).parent.mkdir(parents=True, exist_ok=True)
    made = model()
    onnx.save(made, folder / "model.onnx", save_as_external_data=True, location=location, size_threshold=0)
    return folder / "model.onnx", folder / location


@pytest.mark.parametrize("prefix", ["", "my model (1)/"])
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_zip_of_model_and_data(prefix, method, tmp_path):
    model_file, data = with_data(tmp_path / "saved")
    with zipfile.ZipFile(tmp_path / "up.zip", "w", method) as archive:
        archive.write(model_file, f"{prefix}net.onnx")
        archive.write(data, f"{prefix}weights/part.bin")
        archive.writestr(f"{prefix}readme.txt", "not taken")
    manifest = take_confined(tmp_path / "up.zip", tmp_path / "out")
    assert sorted(p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*") if p.is_file()) == [
        "model.onnx",
        "weights/part.bin",
    ]
    assert manifest.n_parameters == 8
    assert predict(manifest, tmp_path / "out")["y"]["shape"] == [3, 2]


def test_files_uploaded_together(tmp_path):
    model_file, data = with_data(tmp_path / "saved", "net.onnx.data")
    with pytest.raises(BadModel, match=r"Needs net\.onnx\.data \(not uploaded\)"):
        take_confined(model_file, tmp_path / "alone")
    manifest = take_confined(model_file, tmp_path / "out", beside={"net.onnx.data": str(data)})
    assert predict(manifest, tmp_path / "out")["y"]["shape"] == [3, 2]


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_links_among_the_files_are_refused(link, tmp_path):
    model_file, data = with_data(tmp_path / "saved", "net.onnx.data")
    link(data, tmp_path / "linked")
    with pytest.raises(BadModel, match="is a link"):
        take_here(model_file, tmp_path / "out", beside={"net.onnx.data": tmp_path / "linked"})


def test_cut_data_is_named_with_both_sizes(tmp_path):
    model_file, data = with_data(tmp_path / "saved", "net.onnx.data")
    data.write_bytes(data.read_bytes()[:-1])
    with pytest.raises(BadModel, match="cut off: it has 31 bytes, the model asks for 32"):
        take_here(model_file, tmp_path / "out", beside={"net.onnx.data": data})


@pytest.mark.parametrize(
    "entries",
    [
        {"location": "../w.bin"},
        {"location": "/etc/passwd"},
        {"location": "a/../../w.bin"},
        {"location": "C:\\w.bin"},
        {"location": "*/_ORT_MEM_ADDR_/*"},
        {"location": "other.onnx"},
        {"location": ""},
        {"location": "w.bin", "offset": "-1"},
        {"location": "w.bin", "offset": "1e3"},
        {"location": "w.bin", "length": "7"},
        {"location": "w.bin", "odd": "x"},
    ],
)
def test_places_that_are_no_plain_name(entries, tmp_path):
    made = model()
    tensor = made.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)
    (tmp_path / "w.bin").write_bytes(bytes(32))
    (tmp_path / "in.onnx").write_bytes(made.SerializeToString())
    with pytest.raises(BadModel, match="refused: the external data") as caught:
        take_here(tmp_path / "in.onnx", tmp_path / "out", beside={"w.bin": tmp_path / "w.bin"})
    sentence(caught.value)


def test_one_model_per_zip(tmp_path):
    with zipfile.ZipFile(tmp_path / "up.zip", "w") as archive:
        for name in ("a.onnx", "b.onnx"):
            archive.writestr(name, model().SerializeToString())
    with pytest.raises(BadModel, match=r"holds 2 \.onnx files"):
        take_here(tmp_path / "up.zip", tmp_path / "out")


def test_other_formats_are_one_file(hostile_dir, tmp_path):
    path = hostile_dir / "control_lightgbm" / "model.txt"
    with pytest.raises(BadModel, match="a lightgbm model is one file"):
        take_confined(path, tmp_path / "out", beside={"more.bin": str(path)})


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
