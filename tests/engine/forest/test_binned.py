"""The oracle is LightGBM itself: the same bits, at every row at which two readings of a tree may part."""

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lightgbm as lgb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine.forest.serve
from engine.errors import DoesNotFit
from engine.forest.binned import pack, why_not, write
from engine.forest.forest import PLAIN, Forest, Tree
from engine.forest.lightgbm_text import parse
from engine.forest.lightgbm_text import write as write_text
from engine.forest.serve import Model
from tests.model_zoo import FORESTS, N_COLUMNS, adversarial_rows, booster, forest_text, rows

REFUSED = {"linear": "linear trees cannot be binned"}
EXACT = [name for name in FORESTS if name not in REFUSED]
KERNELS = {"few rows": 1 << 30, "blocks": 0}  # from how many rows on blocks answer


def model_of(forest, kernel="blocks", sample=None):
    model = Model(dict(pack(forest, sample).arrays))
    if model.switch is not None:
        model.switch = KERNELS[kernel]
    return model


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", EXACT)
def test_answers_are_the_native_bits(name, kernel):
    """The trap models: averaging, sigmoid, one-against-all, square root, zero as missing, categories, DART …"""
    table = adversarial_rows(name)
    model = model_of(parse(forest_text(name)), kernel, rows(FORESTS[name][1]))
    np.testing.assert_array_equal(
        model.predict(table, raw=True), booster(name).predict(table, raw_score=True, num_threads=1)
    )
    right = booster(name).predict(table, num_threads=1)
    found = model.predict(table)
    assert found.shape == right.shape
    np.testing.assert_array_max_ulp(found, right, maxulp=1)


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_binned_form_is_refused_with_the_reason(name):
    forest = parse(forest_text(name))
    assert REFUSED[name] in why_not(forest)
    with pytest.raises(DoesNotFit, match=REFUSED[name]):
        pack(forest)


def trained(n_rows=3000, n_columns=4, n_rounds=8, categories=(), **params):
    random = np.random.default_rng(11)
    x = random.normal(size=(n_rows, n_columns))
    for column in categories:
        x[:, column] = random.integers(0, 300, n_rows)
    x[random.random(x.shape) < 0.05] = np.nan
    y = (np.nan_to_num(x[:, 0] * x[:, 1]) + np.sin(np.nan_to_num(x[:, 2])) > 0).astype(float)
    own = {"objective": "binary", "verbose": -1, "num_threads": 1, "seed": 1, "min_data_in_leaf": 2}
    own |= {"min_data_per_group": 2, "cat_smooth": 1}
    return lgb.train(own | params, lgb.Dataset(x, y, categorical_feature=list(categories)), n_rounds), x


SHAPES = {  # leaves of a tree -> kernel for few rows
    "two leaves": ({"num_leaves": 2}, "quickscorer"),
    "sixty-four leaves": ({"num_leaves": 64}, "quickscorer"),
    "sixty-five leaves": ({"num_leaves": 65}, "level_walk"),
    "256 leaves": ({"num_leaves": 256}, "level_walk"),
    "700 leaves, no blocks": ({"num_leaves": 700}, "level_walk"),
    "16-bit bins": ({"num_leaves": 60, "max_bin": 2000, "min_data_in_bin": 1, "n_rounds": 200}, "quickscorer"),
    "300 categories": ({"num_leaves": 40, "categories": (1, 3)}, "quickscorer"),
    "300 categories, many leaves": ({"num_leaves": 90, "categories": (1, 3)}, "level_walk"),
}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_number_of_leaves_and_bins(shape, kernel):
    params, few = SHAPES[shape]
    trees, x = trained(**params)
    model = model_of(parse(trees.model_to_string()), kernel, x)
    assert model.few == few
    assert (model.switch is None) == ("no blocks" in shape)
    if shape == "16-bit bins":
        assert model.arrays["nans"].dtype == np.uint16
    x = np.concatenate([x, np.nextafter(x, np.inf), np.floor(x), x * 100, np.full((1, 4), np.nan)])
    np.testing.assert_array_equal(model.predict(x, raw=True), trees.predict(x, raw_score=True, num_threads=1))


@pytest.mark.parametrize("n", [0, 1, 7, 13, 14, 15, 16, 27, 28, 63, 64, 65, 127, 511, 512, 513, 1025, 1500])
def test_every_number_of_rows(n):
    table = np.resize(adversarial_rows("multiclass"), (n, N_COLUMNS))
    model = Model(dict(pack(parse(forest_text("multiclass"))).arrays))
    found = model.predict(table)
    assert found.shape == (n, 3)
    right = booster("multiclass").predict(table, num_threads=1) if n else np.zeros((0, 3))
    np.testing.assert_array_max_ulp(found, right, maxulp=1)


def test_threads_share_the_blocks():
    table = np.tile(adversarial_rows("binary"), (3, 1))
    arrays = pack(parse(forest_text("binary"))).arrays
    np.testing.assert_array_equal(Model(dict(arrays), threads=3).predict(table), Model(dict(arrays)).predict(table))


def test_callers_side_by_side_each_have_room_of_their_own():
    model, table = Model(dict(pack(parse(forest_text("categorical"))).arrays)), adversarial_rows("categorical")
    right = model.predict(table)
    parts = [(i, size) for size in (1, 7, 64, 600) for i in range(0, len(table) - size, max(1, len(table) // 40))]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda part: model.predict(table[part[0] : part[0] + part[1]]), parts))
    for (i, size), answers in zip(parts, found, strict=True):
        np.testing.assert_array_equal(answers, right[i : i + size])


def test_float32_rows_answer_as_their_float64_values():
    table = adversarial_rows("categorical").astype(np.float32)
    for kernel in KERNELS:
        model = model_of(parse(forest_text("categorical")), kernel)
        np.testing.assert_array_equal(
            model.predict(table, raw=True), booster("categorical").predict(table.astype(np.float64), raw_score=True)
        )


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.zeros((2, N_COLUMNS + 1)), r"shape \(n, 5\), got \(2, 6\)"),
        (np.zeros(N_COLUMNS), r"got \(5,\)"),
        (np.zeros((2, N_COLUMNS), np.int64), "expected float64 or float32, got int64"),
        ([[0.0] * N_COLUMNS], "got list"),
    ],
)
def test_rows_that_do_not_fit_are_said(values, words):
    with pytest.raises(ValueError, match=words):
        Model(dict(pack(parse(forest_text("binary"))).arrays)).predict(values)


def test_rows_in_any_memory_order():
    model = Model(dict(pack(parse(forest_text("binary"))).arrays))
    table = adversarial_rows("binary")
    np.testing.assert_array_equal(model.predict(np.asfortranarray(table)), model.predict(table))
    np.testing.assert_array_equal(model.predict(table[::2]), model.predict(table)[::2])


# ------------------------------------------------------------------ random forests
ODD = (0.0, -0.0, 1e-35, -1e-35, 1.0000000180025095e-35, 1e-300, 1.0, -1.0, 0.1, 1e36, -1e36, 3.0, 1e300)
LEAF = st.floats(-1e6, 1e6)


@st.composite
def random_tree(draw, n_features):
    n_leaves = draw(st.integers(1, 40))
    left, right, open_ends = [], [], [None]
    for node in range(n_leaves - 1):
        end = draw(st.integers(0, len(open_ends) - 1))
        place = open_ends.pop(end)
        if place:
            (left if place[1] == 0 else right)[place[0]] = node
        left.append(0)
        right.append(0)
        open_ends += [(node, 0), (node, 1)]
    for leaf, place in enumerate(open_ends):
        if place:
            (left if place[1] == 0 else right)[place[0]] = ~leaf
    n_nodes = n_leaves - 1
    categorical = np.array([draw(st.booleans()) and draw(st.booleans()) for _ in range(n_nodes)], bool)
    sets = [draw(st.lists(st.integers(0, 99), min_size=1, max_size=8)) for _ in range(int(categorical.sum()))]
    words = []
    for codes in sets:
        bits = np.zeros(128, np.uint8)
        bits[codes] = 1
        words.append(np.packbits(bits, bitorder="little").view("<u4")[: max(codes) // 32 + 1])
    thresholds = st.one_of(st.sampled_from(ODD), st.floats(-1e300, 1e300))
    threshold = np.array([draw(thresholds) for _ in range(n_nodes)], np.float64)
    threshold[categorical] = np.arange(len(sets))
    rule = np.array([draw(st.integers(0, 5)) for _ in range(n_nodes)], np.int64)
    return Tree(
        # categories have a column of their own: a feature is one or the other
        feature=np.where(
            categorical, n_features, [draw(st.integers(0, n_features - 1)) for _ in range(n_nodes)]
        ).astype(np.int32),
        threshold=threshold,
        decision=(categorical | (rule % 2) * 2 | (rule // 2) * 4).astype(np.uint8),
        left=np.array(left, np.int32),
        right=np.array(right, np.int32),
        leaf_value=np.array([draw(LEAF) for _ in range(n_leaves)]),
        set_bounds=np.cumsum([0, *map(len, words)]).astype(np.int64),
        set_words=np.concatenate([np.zeros(0, np.uint32), *words]).astype(np.uint32),
    )


@st.composite
def random_forest(draw):
    n_features, n_classes = draw(st.integers(1, 4)), draw(st.sampled_from([1, 1, 3]))
    trees = [draw(random_tree(n_features)) for _ in range(n_classes * draw(st.integers(1, 4)))]
    objective = parse(forest_text("multiclass")).objective if n_classes == 3 else PLAIN
    names = tuple(f"f{i}" for i in range(n_features + 1))
    return Forest(tuple(trees), objective, n_classes, names, ("[-1:1]",) * (n_features + 1))


def rows_for(forest, seed):
    random = np.random.default_rng(seed)
    thresholds = np.concatenate([tree.threshold[~tree.categorical] for tree in forest.trees])
    values = np.concatenate(
        [
            ODD,
            [np.nan, np.inf, -np.inf, 3.7, -0.5, 3e9],
            thresholds,
            *(np.nextafter(thresholds, s) for s in (-np.inf, np.inf)),
        ]
    )
    table = random.choice(values, (300, forest.n_features))
    table[:, -1] = random.choice([*range(-1, 101), np.nan, np.inf, 2.5, -0.7, 3e9], 300)
    return table


@given(random_forest(), st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_random_forests_answer_as_lightgbm(forest, seed):
    native = lgb.Booster(model_str=write_text(forest))
    table = rows_for(forest, seed)
    right = native.predict(table, raw_score=True, num_threads=1)
    packed = pack(forest, table if seed % 2 else None).arrays
    for switch in KERNELS.values():
        model = Model(dict(packed))
        model.switch = switch
        np.testing.assert_array_equal(model.predict(table, raw=True), right)


# ------------------------------------------------------------------ the file
def test_the_file_is_small_and_the_same_each_time(tmp_path):
    forest = parse(forest_text("categorical"))
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        write(pack(forest, rows("categorical")), tmp_path / folder)
    first = (tmp_path / "a" / "forest.npz").read_bytes()
    assert first == (tmp_path / "b" / "forest.npz").read_bytes()
    assert len(first) < len(forest_text("categorical"))
    with np.load(tmp_path / "a" / "forest.npz", allow_pickle=False) as file:
        assert json.loads(str(file["about"]))["version"] == 1
        assert not any(file[name].dtype.hasobject for name in file.files)


def test_leaves_of_16_bits_are_kept_as_such():
    from engine.forest.leaf_grid import to_grid

    forest, _ = to_grid(parse(forest_text("binary")))
    packed = pack(forest)
    assert packed.arrays["leaf_step"].dtype == np.int16
    assert packed.facts["bits_per_leaf"] == 16
    table = adversarial_rows("binary")
    native = lgb.Booster(model_str=write_text(forest))
    np.testing.assert_array_equal(
        Model(dict(packed.arrays)).predict(table, raw=True), native.predict(table, raw_score=True)
    )


POSITIONS = {  # what a kernel follows -> a value that points outside
    "features": 99, "starts": 99, "tree_node": -1, "tree_leaf": 10**6, "nodes": 65_000, "codes": 10**9,
    "row_from": 10**6, "row_rank": 10**6, "row_upto": 10**6, "row_tree": 10**6, "row_leaf": 200, "row_codes": 10**9,
    "row_nodes": (1 << 63) + 5, "row_root": 10**6, "row_order": 10**6, "row_level": 10**6,
}  # fmt: skip


@pytest.mark.parametrize("name", POSITIONS)
def test_a_position_outside_its_table_is_refused(name):
    forest = parse(forest_text("categorical"))
    if name.startswith("row_") and name not in pack(forest).arrays:
        forest = parse(trained(num_leaves=90, categories=(1, 3))[0].model_to_string())
    arrays = dict(pack(forest).arrays)
    arrays[name] = arrays[name].copy()
    arrays[name].reshape(-1)[-1 if name != "row_upto" else 0] = POSITIONS[name]
    with pytest.raises(ValueError, match="damaged"):
        Model(arrays)


def test_another_version_is_said():
    arrays = dict(pack(parse(forest_text("binary"))).arrays)
    arrays["about"] = np.array(json.dumps(json.loads(str(arrays["about"])) | {"version": 2}))
    with pytest.raises(ValueError, match="version 2, this loader reads version 1"):
        Model(arrays)


def test_the_loader_is_shipped_alone(tmp_path):
    """Copied beside a service under another name, without Whetstone on the path: numpy and numba suffice."""
    forest = parse(forest_text("multiclass"))
    write(pack(forest), tmp_path)
    source = Path(engine.forest.serve.__file__).parent
    shutil.copytree(source, tmp_path / "trees", ignore=shutil.ignore_patterns("__pycache__"))
    table = adversarial_rows("multiclass")
    np.save(tmp_path / "rows.npy", table)
    code = (
        "import sys, numpy as np; sys.path.insert(0, '.'); import trees; assert 'numba' not in sys.modules;"
        "model = trees.load('forest.npz'); rows = np.load('rows.npy');"
        "np.save('few.npy', np.concatenate([model.predict(rows[i:i + 5]) for i in range(0, len(rows), 5)]));"
        "np.save('many.npy', model.predict(rows)); assert 'engine' not in sys.modules"
    )
    subprocess.run([sys.executable, "-I", "-c", code], cwd=tmp_path, check=True)
    right = booster("multiclass").predict(table, num_threads=1)
    for name in ("few", "many"):
        np.testing.assert_array_max_ulp(np.load(tmp_path / f"{name}.npy"), right, maxulp=1)


def test_kernels_run_without_being_compiled(tmp_path):
    """Plain Python is what the compiled code is read against: the same answers, in a process without numba."""
    write(pack(parse(forest_text("categorical"))), tmp_path)
    np.save(tmp_path / "rows.npy", adversarial_rows("categorical")[-200:])
    code = (
        "import sys, numpy as np; from engine.forest.serve import kernels; import engine.forest.serve as serve;"
        "plain = lambda name, *form: kernels.block_kernel(*form) if name == 'block' else getattr(kernels, name);"
        "serve.compiled = plain; np.seterr(over='ignore'); model = serve.load('forest.npz');"
        "rows = np.load('rows.npy'); out = [model.predict(rows, raw=True)]; model.switch = 10**9;"
        "out.append(model.predict(rows, raw=True)); np.save('out.npy', out); assert 'numba' not in sys.modules"
    )
    root = Path(__file__).parents[3]
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(root)}, check=True)
    right = booster("categorical").predict(np.load(tmp_path / "rows.npy"), raw_score=True, num_threads=1)
    for found in np.load(tmp_path / "out.npy"):
        np.testing.assert_array_equal(found, right)
