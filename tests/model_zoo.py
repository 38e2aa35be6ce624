"""Tiny models of every family, made once per test session, and artefacts around them."""

from functools import cache

import lightgbm as lgb
import numpy as np
import pandas as pd

from engine.forest.lightgbm_text import parse
from engine.plugin import Artefact
from engine.records import Manifest, Signature, TensorSpec

# name -> (parameters, kind of data); every trap of gradient boosting that changes predictions is among them
FORESTS = {
    "binary": ({"objective": "binary"}, "missing"),
    "sigmoid2": ({"objective": "binary", "sigmoid": 2.0}, "plain"),
    "multiclass": ({"objective": "multiclass", "num_class": 3}, "categorical"),
    "multiclassova": ({"objective": "multiclassova", "num_class": 3, "sigmoid": 1.5}, "plain"),
    "regression": ({"objective": "regression"}, "plain"),
    "categorical": ({"objective": "binary"}, "categorical"),
    "rf": ({"objective": "binary", "boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6}, "plain"),
    "dart": ({"objective": "binary", "boosting": "dart"}, "plain"),
    "poisson": ({"objective": "poisson"}, "plain"),
    "root": ({"objective": "regression", "reg_sqrt": True}, "plain"),
    "root_l1": ({"objective": "regression_l1", "reg_sqrt": True}, "plain"),
    "cross_entropy": ({"objective": "cross_entropy"}, "plain"),
    "cross_entropy_lambda": ({"objective": "cross_entropy_lambda"}, "plain"),
    "ranking": ({"objective": "lambdarank"}, "plain"),
    "zero_as_missing": ({"objective": "binary", "zero_as_missing": True}, "missing"),
    "no_missing": ({"objective": "binary", "use_missing": False}, "missing"),
    "constant": ({"objective": "regression", "min_data_in_leaf": 10_000}, "plain"),
    "linear": ({"objective": "regression", "linear_tree": True}, "plain"),
    "custom": ({"objective": "custom"}, "plain"),
}
N_ROWS, N_COLUMNS, N_CODES = 600, 5, 70


@cache
def rows(kind):
    """(600, 5) float64; the last column is a code in categorical data; 10 % NaN and 20 % zeros in missing data."""
    random = np.random.default_rng(7)
    table = random.normal(size=(N_ROWS, N_COLUMNS)) * np.array([1, 1e-3, 1e6, 1, 1])
    if kind == "categorical":
        table[:, 3] = random.integers(0, 4, N_ROWS)
        table[:, 4] = random.integers(0, N_CODES, N_ROWS)
    if kind == "missing":
        table[random.random(table.shape) < 0.2] = 0.0
        table[random.random(table.shape) < 0.1] = np.nan
    return table


def _labels(table, params):
    signal = np.nan_to_num(table[:, 0]) + np.nan_to_num(table[:, 2]) / 1e6 + np.sin(table[:, 4] * 1.7)
    signal = np.nan_to_num(signal)
    n_classes = params.get("num_class", 3 if params["objective"] == "lambdarank" else 2)
    if params["objective"].startswith(("regression", "poisson")):
        return np.abs(signal) * 3
    return np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes)).astype(float)


def _pull(scores, data):
    return scores - data.get_label(), np.ones(len(scores))


@cache
def booster(name, n_rounds=12):
    """The trained LightGBM model of FORESTS."""
    params, kind = FORESTS[name]
    table = rows(kind)
    params = {"num_leaves": 9, "num_threads": 1, "seed": 1, "verbose": -1, "min_data_per_group": 5, **params}
    if params["objective"] == "custom":
        params["objective"] = _pull
    data = lgb.Dataset(
        table,
        _labels(table, FORESTS[name][0]),
        group=[60] * 10 if params["objective"] == "lambdarank" else None,
        categorical_feature=[3, 4] if kind == "categorical" else [],
    )
    return lgb.train(params, data, n_rounds)


@cache
def forest_text(name):
    """Its file, as LightGBM writes it."""
    return booster(name).model_to_string()


@cache
def colours_text():
    """A model trained from a data frame with one category column called colour."""
    random = np.random.default_rng(3)
    table = pd.DataFrame(random.normal(size=(300, 2)), columns=["a", "b"])
    table["colour"] = pd.Categorical(random.choice(["red", "green", "blue"], 300))
    label = ((table.colour == "green") ^ (table.a > 0)).astype(int)
    params = {"objective": "binary", "verbose": -1, "num_threads": 1, "min_data_per_group": 2, "num_leaves": 5}
    return lgb.train(params, lgb.Dataset(table, label), 5).model_to_string()


def adversarial_rows(name):
    """Rows of the model's data plus every value at which two readings of a tree may part."""
    forest = parse(forest_text(name))
    thresholds = np.unique(np.concatenate([tree.threshold[~tree.categorical] for tree in forest.trees] + [[0.0]]))
    tiny = 1.0000000180025095e-35
    values = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e36, -1e36, 9e-36, -9e-36, 1e-35, tiny, -tiny]
    values += [np.nextafter(tiny, 1), -np.nextafter(tiny, 1), np.nextafter(tiny, 0), 1e-300, -1e-300]
    values += [3.7, -0.5, -1.0, 0.99999, 1e9, 3e9, -3e9, 2.0**31, 2.0**31 - 1, 2.0**40, *range(-2, 80)]
    picked = thresholds[:: max(1, len(thresholds) // 150)]
    values = np.concatenate([values, picked, np.nextafter(picked, np.inf), np.nextafter(picked, -np.inf)])
    base = rows(FORESTS[name][1])
    random = np.random.default_rng(5)
    table = base[random.integers(0, len(base), 1500)].copy()
    mask = random.random(table.shape) < 0.5
    table[mask] = random.choice(values, mask.sum())
    return np.concatenate([base, table, np.repeat(values[:, None], N_COLUMNS, axis=1)])


def forest_artefact(name, folder):
    """An artefact as the LightGBM format describes it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.txt").write_text(forest_text(name))
    forest = parse(forest_text(name))
    shape = ("n",) if forest.n_classes == 1 else ("n", forest.n_classes)
    signature = Signature(
        inputs=(
            TensorSpec(name="features", dtype="float64", shape=("n", forest.n_features), columns=forest.feature_names),
        ),
        outputs=(TensorSpec(name="score", dtype="float64", shape=shape),),
        score_output="score",
    )
    size = (folder / "model.txt").stat().st_size
    manifest = Manifest(id="0" * 64, format="lightgbm", signature=signature, size_bytes=size, n_trees=len(forest.trees))
    return Artefact(manifest, folder)


# ---------------------------------------------------------------- XGBoost
# name -> (parameters, kind of data)
XGBOOST = {
    "xgb_binary": ({"objective": "binary:logistic"}, "missing"),
    "xgb_multiclass": ({"objective": "multi:softprob", "num_class": 3}, "plain"),
    "xgb_regression": ({"objective": "reg:squarederror"}, "plain"),
    "xgb_poisson": ({"objective": "count:poisson"}, "plain"),
    "xgb_dart": ({"objective": "binary:logistic", "booster": "dart", "rate_drop": 0.3}, "plain"),
    "xgb_lossguide": ({"objective": "reg:squarederror", "grow_policy": "lossguide", "max_leaves": 20}, "missing"),
    "xgb_forest": ({"objective": "multi:softprob", "num_class": 3, "num_parallel_tree": 3, "subsample": 0.5}, "plain"),
    "xgb_ranking": ({"objective": "rank:ndcg"}, "plain"),
    "xgb_categorical": ({"objective": "binary:logistic", "max_cat_to_onehot": 3}, "categorical"),
    "xgb_logitraw": ({"objective": "binary:logitraw"}, "plain"),
    "xgb_hinge": ({"objective": "binary:hinge"}, "plain"),
    "xgb_softmax": ({"objective": "multi:softmax", "num_class": 3}, "plain"),
}


@cache
def xgboost_booster(name, n_rounds=8, **more):
    """The trained XGBoost model of XGBOOST."""
    import xgboost

    params, kind = XGBOOST[name]
    table = rows(kind)
    task = {"multi": "multiclass", "rank": "lambdarank", "reg": "regression", "count": "poisson"}
    label = _labels(table, params | {"objective": task.get(params["objective"].split(":")[0], "binary")})
    types = ["q"] * 3 + ["c"] * 2 if kind == "categorical" else None
    data = xgboost.DMatrix(table, label, feature_types=types, enable_categorical=kind == "categorical")
    if params["objective"] == "rank:ndcg":
        data.set_group([60] * 10)
    settings = {"max_depth": 4, "nthread": 1, "seed": 1, "tree_method": "hist", "verbosity": 0, **params, **more}
    return xgboost.train(settings, data, n_rounds)


@cache
def xgboost_bytes(name, form="ubj"):
    """Its file as XGBoost writes it: "ubj" or "json"."""
    return bytes(xgboost_booster(name).save_raw(form))


def xgboost_artefact(name, folder):
    """An artefact as the XGBoost format takes and describes it."""
    from engine.formats import xgboost as xgboost_format

    folder.mkdir(parents=True, exist_ok=True)
    upload = folder.parent / f"{folder.name}.upload"
    upload.write_bytes(xgboost_bytes(name))
    xgboost_format.take(upload, folder)
    upload.unlink()
    size = (folder / "model.ubj").stat().st_size
    return Artefact(Manifest(id="3" * 64, size_bytes=size, **xgboost_format.describe(folder)), folder)


def binned_artefact(name, folder):
    """The same forest in bins, as `quantisation.tree_bins` writes it."""
    from engine.forest.binned import pack, write

    plain = forest_artefact(name, folder)
    (folder / "model.txt").unlink()
    packed = pack(parse(forest_text(name)))
    write(packed, folder)
    return Artefact(plain.manifest.model_copy(update={"format": "trees_binned", "notes": packed.facts}), folder)


# ---------------------------------------------------------------- nets
def _nets():
    import torch
    from torch import nn

    class Conv(nn.Module):
        def __init__(self):
            super().__init__()
            self.features = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2))
            self.head = nn.Linear(8, 10)

        def forward(self, image):
            return self.head(self.features(image).mean((2, 3)))

    class Transformer(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(50, 16)
            self.query, self.key, self.value = (nn.Linear(16, 16) for _ in range(3))
            self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 3)

        def forward(self, ids, mask):
            x = self.embedding(ids)
            m = mask[:, None, None, :].to(x.dtype)
            parts = [layer(x)[:, None] for layer in (self.query, self.key, self.value)]
            y = nn.functional.scaled_dot_product_attention(*parts, attn_mask=(1.0 - m) * -10000.0)
            x = self.norm(x + y[:, 0])
            weights = mask[:, :, None].to(x.dtype)
            return self.head((x * weights).sum(1) / weights.sum(1).clamp(min=1e-9))

    class TwoOutputs(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.head = nn.Linear(6, 8), nn.Linear(8, 1)

        def forward(self, left, right):
            hidden = torch.relu(self.body(torch.cat([left, right], 1)))
            return {"score": torch.sigmoid(self.head(hidden)), "hidden": hidden}

    torch.manual_seed(0)
    tabular = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
    x, ids = torch.randn(4, 6), torch.randint(0, 50, (4, 7))
    return {
        "tabular": (tabular, (x,), True),
        "static": (tabular, (x,), False),
        "conv": (Conv(), (torch.randn(4, 1, 8, 8),), True),
        "transformer": (Transformer(), (ids, torch.ones_like(ids)), True),
        "two_outputs": (TwoOutputs(), (x[:, :2], x[:, 2:]), True),
    }


NETS = ("tabular", "static", "conv", "transformer", "two_outputs")


@cache
def net(name):
    """(module in evaluation mode, its exported program)."""
    import torch

    module, example, dynamic = _nets()[name]
    module.eval()
    shapes = tuple({0: torch.export.Dim("batch")} for _ in example) if dynamic else None
    return module, torch.export.export(module, example, dynamic_shapes=shapes)


@cache
def net_bytes(name):
    """The .pt2 archive with its sample inputs emptied, as intake rewrites it."""
    import io
    import zipfile

    import torch

    saved, clean = io.BytesIO(), io.BytesIO()
    torch.export.save(net(name)[1], saved)
    with zipfile.ZipFile(saved) as source, zipfile.ZipFile(clean, "w", zipfile.ZIP_STORED) as target:
        for member in source.namelist():
            target.writestr(member, b"" if "sample_inputs" in member else source.read(member))
    return clean.getvalue()


@cache
def script_bytes(name):
    """The TorchScript trace of a net of NETS ("ts_conv" of "conv"), as torch saves it."""
    import io

    import torch

    module, example, _ = _nets()[name.removeprefix("ts_")]
    saved = io.BytesIO()
    torch.jit.save(torch.jit.trace(module.eval(), example, strict=False), saved)
    return saved.getvalue()


SCRIPTS = ("ts_tabular", "ts_conv", "ts_transformer", "ts_two_outputs")


def script_artefact(name, folder):
    """An artefact as the TorchScript format takes and describes it."""
    from engine.formats import torchscript

    folder.mkdir(parents=True, exist_ok=True)
    upload = folder.parent / f"{folder.name}.upload"
    upload.write_bytes(script_bytes(name))
    torchscript.take(upload, folder)
    upload.unlink()
    size = (folder / "model.pt").stat().st_size
    return Artefact(Manifest(id="4" * 64, size_bytes=size, **torchscript.describe(folder)), folder)


def _spec(name, value):
    shape = tuple(axis if isinstance(axis, int) else "n" for axis in value.shape)
    return TensorSpec(name=name, dtype=str(value.dtype).removeprefix("torch."), shape=shape)


def net_artefact(name, folder):
    """An artefact as the torch.export format describes it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.pt2").write_bytes(net_bytes(name))
    program = net(name)[1]
    values = {node.name: node.meta["val"] for node in program.graph.nodes if node.op != "output"}
    signature = Signature(
        inputs=tuple(_spec(key, values[key]) for key in program.graph_signature.user_inputs),
        outputs=tuple(_spec(f"output_{i}", values[key]) for i, key in enumerate(program.graph_signature.user_outputs)),
        score_output="output_0",
        output_kind="logits",
    )
    size = (folder / "model.pt2").stat().st_size
    n_parameters = sum(p.numel() for p in net(name)[0].parameters())
    manifest = Manifest(
        id="1" * 64, format="torch_export", signature=signature, size_bytes=size, n_parameters=n_parameters
    )
    return Artefact(manifest, folder)


def sample_inputs(signature, n_rows=12, seed=0):
    """Rows that fit a signature: codes below 50, ones for a mask, normal numbers otherwise."""
    random = np.random.default_rng(seed)
    inputs = {}
    for spec in signature.inputs:
        shape = (spec.shape[0] if isinstance(spec.shape[0], int) else n_rows, *(a for a in spec.shape[1:]))
        if spec.dtype == "string":
            inputs[spec.name] = random.choice(["red", "blue"], shape)
        elif spec.dtype.startswith("int"):
            low = 1 if "mask" in spec.name else 0
            inputs[spec.name] = random.integers(low, 2 if low else 50, shape).astype(spec.dtype)
        else:
            inputs[spec.name] = random.normal(size=shape).astype(spec.dtype)
    return inputs


def onnx_artefact(model, folder, **manifest):
    """An artefact around an ONNX model; the signature is what the file declares (ZipMap: float32 (n, K))."""
    import onnx

    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / "model.onnx")
    initial = {tensor.name for tensor in model.graph.initializer}

    def spec(value):
        kind = value.type.WhichOneof("value")
        if kind != "tensor_type":
            return TensorSpec(name=value.name, dtype="float32", shape=("n", 2))
        tensor = value.type.tensor_type
        shape = tuple(d.dim_value if d.HasField("dim_value") else d.dim_param or "n" for d in tensor.shape.dim)
        if tensor.elem_type == onnx.TensorProto.STRING:
            return TensorSpec(name=value.name, dtype="string", shape=shape)
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type).name
        return TensorSpec(name=value.name, dtype=dtype, shape=shape)

    signature = Signature(
        inputs=tuple(spec(value) for value in model.graph.input if value.name not in initial),
        outputs=tuple(spec(value) for value in model.graph.output),
    )
    size = (folder / "model.onnx").stat().st_size
    return Artefact(Manifest(id="2" * 64, format="onnx", signature=signature, size_bytes=size, **manifest), folder)


def graph(nodes, inputs, outputs, weights=(), opset=17):
    """A small ONNX model. inputs, outputs: (name, numpy dtype or "string", shape); weights: (name, array)."""
    from onnx import TensorProto, helper, numpy_helper

    def info(name, dtype, shape):
        element = TensorProto.STRING if dtype == "string" else helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return helper.make_tensor_value_info(name, element, shape)

    body = helper.make_graph(
        nodes,
        "g",
        [info(*value) for value in inputs],
        [info(*value) for value in outputs],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in weights],
    )
    return helper.make_model(body, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def zipmap_model(labels=("yes", "no")):
    """Logistic regression as skl2onnx writes it: outputs label and a ZipMap of probabilities (case P05)."""
    from skl2onnx import to_onnx
    from sklearn.linear_model import LogisticRegression

    random = np.random.default_rng(0)
    table = random.normal(size=(100, 4)).astype(np.float32)
    label = np.where(table[:, 0] > 0, labels[0], labels[1])
    return to_onnx(LogisticRegression().fit(table, label), table[:1])


def zipmap_artefact(folder):
    """An artefact around it."""
    return onnx_artefact(zipmap_model(), folder)


@cache
def onnx_net_bytes(name):
    """The ONNX export of a net of NETS, made by PyTorch itself and not by our lever."""
    import tempfile
    from pathlib import Path

    import torch

    _, program = net(name)
    outputs = [f"output_{i}" for i in range(len(program.graph_signature.user_outputs))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        torch.onnx.export(
            program, (), path, dynamo=True, external_data=False, output_names=outputs, verbose=False, optimize=True
        )
        return path.read_bytes()


def onnx_net_artefact(name, folder):
    """The same net as an ONNX artefact."""
    import onnx

    return onnx_artefact(onnx.load_from_string(onnx_net_bytes(name)), folder)
