"""The oracle is ONNX Runtime: scikit-learn's models as skl2onnx writes them, and graphs made by hand."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from engine.errors import BadModel, DoesNotFit
from engine.export.onnx_trees_to_lightgbm import OnnxTreesToLightgbm
from engine.forest.forest import ZERO
from engine.forest.lightgbm_text import parse
from engine.forest.onnx_forest import to_forest
from engine.forest.onnx_tree_ensemble import to_onnx
from engine.formats import onnx as onnx_format
from engine.plugin import Artefact, Context, Split
from engine.pruning.refit_leaves import RefitLeaves
from engine.quantisation.tree_bins import TreeBins
from engine.records import Manifest
from engine.runtimes.lightgbm_native import LightgbmNative
from engine.runtimes.onnxruntime_cpu import OnnxruntimeCpu
from engine.runtimes.trees_binned import TreesBinned
from tests.model_zoo import adversarial_rows, booster, forest_text

NOTHING = Context(
    data_id="0",
    train=Split({"X": np.zeros((0, 6), np.float32)}),
    calibration=Split({"X": np.zeros((0, 6), np.float32)}),
)
N_COLUMNS = 6


def sklearn_models():
    from sklearn import ensemble, tree

    return {
        "forest of two classes": (ensemble.RandomForestClassifier(7, max_depth=5, random_state=0), 2),
        "forest of three classes": (ensemble.RandomForestClassifier(7, max_depth=5, random_state=0), 3),
        "extra trees": (ensemble.ExtraTreesClassifier(5, max_depth=6, random_state=0), 3),
        "boosting, two classes": (ensemble.GradientBoostingClassifier(n_estimators=9, random_state=0), 2),
        "boosting, three classes": (ensemble.GradientBoostingClassifier(n_estimators=9, random_state=0), 3),
        "one tree": (tree.DecisionTreeClassifier(max_depth=4, random_state=0), 3),
        "forest of numbers": (ensemble.RandomForestRegressor(7, max_depth=5, random_state=0), None),
        "boosted numbers": (ensemble.GradientBoostingRegressor(n_estimators=9, random_state=0), None),
    }


SKLEARN = sklearn_models()


def table(n_rows=400):
    random = np.random.default_rng(4)
    return np.round(random.normal(size=(n_rows, N_COLUMNS)), 2).astype(np.float32)


def artefact_of(model, folder):
    folder.mkdir()
    upload = folder.parent / "upload.onnx"
    upload.write_bytes(model.SerializeToString())
    onnx_format.take(upload, folder)
    size = sum(path.stat().st_size for path in folder.iterdir())
    return Artefact(Manifest(id="5" * 64, size_bytes=size, **onnx_format.describe(folder)), folder)


def sklearn_artefact(name, folder):
    from skl2onnx import to_onnx as convert

    (made, n_classes), rows = SKLEARN[name], table()
    value = rows[:, 0] * rows[:, 1] + rows[:, 2]
    label = value if n_classes is None else np.digitize(value, [-0.5, 0.5][: n_classes - 1])
    made.fit(rows, label)
    options = {} if n_classes is None else {id(made): {"zipmap": False}}
    return artefact_of(convert(made, rows[:1], options=options), folder)


def step(lever, source, out, context=NOTHING):
    out.mkdir()
    notes = lever.apply(source, out, context)
    kept = {"format": lever.produces or source.manifest.format, "versions": {}, "operators": ()}
    return Artefact(source.manifest.model_copy(update=kept | {"notes": notes}), out)


def edges(source):
    """Rows, and each threshold of the trees with its neighbours and NaN in every column."""
    node = next(n for n in onnx.load(source.folder / "model.onnx").graph.node if n.op_type.startswith("TreeEnsemble"))
    values = next(np.array(a.floats, np.float32) for a in node.attribute if a.name == "nodes_values")
    values = np.concatenate([values, np.nextafter(values, np.float32(9)), [np.nan, np.inf, -np.inf, 1e36]])
    values = values[np.isnan(values) | (np.abs(values) > ZERO) | (values == 0)]
    rows = np.resize(table(), (len(values) * N_COLUMNS, N_COLUMNS))
    rows[np.arange(len(rows)), np.arange(len(rows)) % N_COLUMNS] = np.repeat(values, N_COLUMNS)
    return np.concatenate([table(), rows])


@pytest.mark.parametrize("name", SKLEARN)
def test_scikit_learn_comes_in_and_goes_out_in_bins(name, tmp_path):
    source = sklearn_artefact(name, tmp_path / "source")
    assert OnnxTreesToLightgbm.fits(source.manifest, {}) is None
    text = step(OnnxTreesToLightgbm(), source, tmp_path / "text")
    binned = step(TreeBins(), text, tmp_path / "binned")
    rows = edges(source)
    inputs = {source.manifest.signature.inputs[0].name: rows}
    with OnnxruntimeCpu().open(source) as right, LightgbmNative().open(text) as two, TreesBinned().open(binned) as ours:
        expected, native, found = right(inputs), two(inputs), ours(inputs)
        single = ours({name: values[:1] for name, values in inputs.items()})
    assert found.keys() == native.keys() == expected.keys()
    for key, values in expected.items():
        assert found[key].shape == values.shape
        assert found[key].dtype == values.dtype
        if values.dtype == np.float32:
            np.testing.assert_allclose(found[key], values, rtol=3e-6, atol=3e-6)
            np.testing.assert_allclose(native[key], values, rtol=3e-6, atol=3e-6)
            np.testing.assert_array_equal(single[key], found[key][:1])
        else:
            sure = np.abs(np.diff(np.sort(expected["probabilities"], axis=1)[:, -2:]))[:, 0] > 1e-5
            np.testing.assert_array_equal(found[key][sure], values[sure])


def test_the_way_back_to_onnx_is_refused_with_what_to_do(tmp_path):
    from engine.export.lightgbm_to_onnx import LightgbmToOnnx

    source = sklearn_artefact("boosted numbers", tmp_path / "source")
    text = step(OnnxTreesToLightgbm(), source, tmp_path / "text")
    assert "quantisation.tree_bins takes them" in LightgbmToOnnx.fits(text.manifest, {})


def test_a_single_row_goes_through_the_call_for_it(tmp_path):
    source = sklearn_artefact("boosting, three classes", tmp_path / "source")
    text = step(OnnxTreesToLightgbm(), source, tmp_path / "text")
    inputs = {"X": table()[:1]}
    with LightgbmNative(single_row=True).open(text) as one, LightgbmNative().open(text) as whole:
        for key, values in whole(inputs).items():
            np.testing.assert_array_equal(one(inputs)[key], values)


def test_leaves_can_be_refitted(tmp_path):
    source = sklearn_artefact("boosted numbers", tmp_path / "source")
    text = step(OnnxTreesToLightgbm(), source, tmp_path / "text")
    rows = Split({"X": table()}, np.zeros(len(table())))
    context = Context(data_id="0", train=rows, calibration=rows)
    third = step(RefitLeaves(keep_rounds=3, max_rows=400), text, tmp_path / "third", context)
    with LightgbmNative().open(text) as right, LightgbmNative().open(third) as found:
        inputs = {"X": table()}
        gap = found(inputs)["variable"] - right(inputs)["variable"]
    assert gap.shape == (400, 1)
    assert np.sqrt((gap**2).mean()) < 0.3
    assert third.manifest.notes["score_gap_refitted"] < third.manifest.notes["score_gap_truncated"]


@pytest.mark.parametrize("name", ["multiclassova", "binary", "regression", "rf"])
def test_our_own_double_precision_export_comes_back_bit_for_bit(name):
    """TreeEnsemble 5: the sums before average and link, at every row that matters."""
    from engine.forest.serve import Model

    model = to_onnx(parse(forest_text(name)))
    node = next(n for n in model.graph.node if n.op_type == "TreeEnsemble")
    node.input[0] = model.graph.input[0].name
    del model.graph.node[:]
    model.graph.node.append(node)
    forest = to_forest(model, parse(forest_text(name)).feature_names, single=False)
    rows = adversarial_rows(name)
    from engine.forest.binned import pack

    found = Model(dict(pack(forest).arrays)).predict(rows, raw=True)
    np.testing.assert_array_equal(found, booster(name).predict(rows, raw_score=True, num_threads=1))


def stump(mode="BRANCH_LEQ", tracks=0, threshold=0.5, **more):
    """One node: 1.0 where it is true, 2.0 where it is false."""
    attributes = {
        "n_targets": 1,
        "nodes_treeids": [0, 0, 0],
        "nodes_nodeids": [0, 1, 2],
        "nodes_featureids": [1, 0, 0],
        "nodes_values": [threshold, 0.0, 0.0],
        "nodes_modes": [mode, "LEAF", "LEAF"],
        "nodes_truenodeids": [1, 0, 0],
        "nodes_falsenodeids": [2, 0, 0],
        "nodes_missing_value_tracks_true": [tracks, 0, 0],
        "target_treeids": [0, 0],
        "target_nodeids": [1, 2],
        "target_ids": [0, 0],
        "target_weights": [1.0, 2.0],
    }
    node = helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", **attributes | more)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 1])],
    )
    versions = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=versions, ir_version=8)


@pytest.mark.parametrize("tracks", [0, 1])
@pytest.mark.parametrize("mode", ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GT", "BRANCH_GTE"])
def test_every_comparison_and_every_side_of_nan(mode, tracks, tmp_path):
    source = artefact_of(stump(mode, tracks), tmp_path / "source")
    text = step(OnnxTreesToLightgbm(), source, tmp_path / "text")
    half = np.float32(0.5)
    values = [0.5, np.nextafter(half, np.float32(1)), np.nextafter(half, np.float32(0)), np.nan, np.inf, -np.inf, 0.0]
    inputs = {"x": np.array([[0.0, value] for value in values], np.float32)}
    with OnnxruntimeCpu().open(source) as right, LightgbmNative().open(text) as found:
        np.testing.assert_array_equal(found(inputs)["y"], right(inputs)["y"])


def test_average_and_base_value(tmp_path):
    source = artefact_of(stump(aggregate_function="AVERAGE", base_values=[10.0]), tmp_path / "source")
    text = step(OnnxTreesToLightgbm(), source, tmp_path / "text")
    inputs = {"x": table()[:, :2]}
    with OnnxruntimeCpu().open(source) as right, LightgbmNative().open(text) as found:
        np.testing.assert_array_equal(found(inputs)["y"], right(inputs)["y"])


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"mode": "BRANCH_EQ"}, DoesNotFit, "equality cannot"),
        ({"aggregate_function": "MIN"}, DoesNotFit, "no counterpart"),
        ({"post_transform": "PROBIT"}, DoesNotFit, "no counterpart"),
        ({"nodes_featureids": [9, 0, 0]}, BadModel, "asks feature 9, the input has 2 columns"),
        ({"nodes_truenodeids": [7, 0, 0]}, BadModel, "named and not there"),
        ({"nodes_truenodeids": [0, 0, 0]}, BadModel, "circle|not form a tree"),
        ({"target_ids": [0, 4]}, BadModel, "adds to score 4"),
    ],
)
def test_what_cannot_be_said_is_refused(change, error, words):
    with pytest.raises(error, match=words):
        to_forest(stump(**change), ("a", "b"), single=True)


def test_a_net_and_a_zip_map_are_refused():
    from tests.engine.formats.onnx_models import model

    with pytest.raises(DoesNotFit, match="no trees inside"):
        to_forest(model(), ("a",), single=True)
    made = stump()
    made.graph.node.append(helper.make_node("ZipMap", ["y"], ["z"], domain="ai.onnx.ml"))
    with pytest.raises(DoesNotFit, match="ZipMap beside them"):
        to_forest(made, ("a", "b"), single=True)
