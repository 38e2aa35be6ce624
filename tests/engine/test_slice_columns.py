import json

import numpy as np
import pandas as pd

from engine.quality import found
from engine.records import Signature, TensorSpec
from engine.slice_columns import slice_columns

N = 60
RNG = np.random.default_rng(0)
TABLE = np.stack([RNG.normal(size=N), RNG.integers(0, 3, N), np.r_[[np.nan], RNG.integers(0, 2, N - 1)]], axis=1)
SIGNATURE = Signature(
    inputs=(
        TensorSpec(
            name="features", dtype="float64", shape=("n", 3), columns=("size", "wheels", "kind"),
            categories={"kind": ("van", "bus")},
        ),
        TensorSpec(name="colour", dtype="string", shape=("n",)),
        TensorSpec(name="picture", dtype="float32", shape=("n", 2, 2)),
    ),
    outputs=(),
)  # fmt: skip


def evalset(folder, table=TABLE, colours=("red", "", "blue"), **declared):
    for split, values in (("train", table * [10, 1, 1]), ("selection", table)):
        place = folder / split
        place.mkdir()
        (place / "inputs.json").write_text(json.dumps(["features", "colour", "picture"]))
        np.save(place / "input_0.npy", values)
        np.save(place / "input_1.npy", np.resize(np.array(colours), len(values)))
        np.save(place / "input_2.npy", np.zeros((len(values), 2, 2), np.float32))
        columns = {f"slice:{name}": np.resize(values_of, len(values)) for name, values_of in declared.items()}
        pd.DataFrame({"row": np.arange(len(values)), **columns}).to_parquet(place / "rows.parquet")
    return folder


def texts(column):
    codes, values = column
    return [values[code] for code in codes]


def test_declared_columns_come_first_and_every_kind_of_input_has_one(tmp_path):
    columns = slice_columns(evalset(tmp_path, city=["Bonn", "Ulm"]), "selection", SIGNATURE)
    assert list(columns) == ["city", "size", "wheels", "kind", "colour"]  # a picture has no slices
    assert texts(columns["city"])[:3] == ["Bonn", "Ulm", "Bonn"]
    assert texts(columns["wheels"]) == [f"{value:g}" for value in TABLE[:, 1]]
    assert texts(columns["kind"])[0] == "(missing)"
    assert set(texts(columns["kind"])) == {"(missing)", "van", "bus"}
    assert set(texts(columns["colour"])) == {"red", "(missing)", "blue"}


def test_the_train_rows_decide_the_quarters(tmp_path):
    codes, values = slice_columns(evalset(tmp_path), "selection", SIGNATURE)["size"]
    edges = np.quantile(TABLE[:, 0] * 10, (0.25, 0.5, 0.75))
    assert codes.tolist() == np.searchsorted(edges, TABLE[:, 0]).tolist()
    assert values[0] == f"up to {edges[0]:.4g}"


def test_a_declared_column_is_not_there_twice(tmp_path):
    columns = slice_columns(evalset(tmp_path, wheels=["few", "many"]), "selection", SIGNATURE)
    assert texts(columns["wheels"])[:2] == ["few", "many"]


def test_a_column_with_too_many_texts_is_left_out(tmp_path):
    colours = tuple(f"c{at}" for at in range(found.MOST_VALUES + 1))
    assert "colour" not in slice_columns(evalset(tmp_path, colours=colours), "selection", SIGNATURE)


def test_a_column_without_a_value_is_constant(tmp_path):
    table = TABLE.copy()
    table[:, 0] = np.nan
    codes, values = slice_columns(evalset(tmp_path, table), "selection", SIGNATURE)["size"]
    assert {values[code] for code in codes} == {"(missing)"}
