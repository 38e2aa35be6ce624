import numpy as np
import pytest

from engine.data.table import open_table
from engine.errors import BadData


def gathered(table, names):
    parts, start = {name: [] for name in names}, 0
    for batch in table.batches(names):
        assert batch.start == start
        start += batch.n_rows
        for name in names:
            assert len(batch.columns[name]) == batch.n_rows
            parts[name].append(np.asarray(batch.columns[name]))
    assert start == table.profile.n_rows
    return {name: np.concatenate(values) for name, values in parts.items()}


@pytest.mark.parametrize("batch_bytes", [1, 100, 10_000, 1 << 30])
@pytest.mark.parametrize("names", [["x", "label", "w"], ["x"], ["label", "w"]])
def test_batches_of_any_size_give_the_same_rows(read_file, save_npz, monkeypatch, batch_bytes, names):
    monkeypatch.setattr("engine.data.table.BATCH_BYTES", batch_bytes)
    x, label, w = np.arange(60.0).reshape(20, 3), np.arange(20), np.arange(20) / 7
    folder, _ = read_file(save_npz(label=label, x=x, w=w))
    found = gathered(open_table(folder), names)
    assert all(np.array_equal(found[name], {"x": x, "label": label, "w": w}[name]) for name in names)


def test_rows_beyond_one_row_group(store, monkeypatch):
    values = np.arange(200_000)
    table = store(a=values)
    assert np.array_equal(gathered(table, ["a"])["a"], values)
    assert table.whole("a").to_pylist() == values.tolist()


def test_names_may_hold_anything(store):
    table = store(**{"a.b": [1, 2], "ä 'x'\n": [3, 4], "": [5, 6]})
    assert table.whole("a.b").to_pylist() == [1, 2]
    assert gathered(table, ["ä 'x'\n"])["ä 'x'\n"].tolist() == [3, 4]


def test_an_unknown_column_is_answered_with_the_known(store):
    with pytest.raises(BadData, match=r"no column is called 'lable'; the file has a, label\. Did you mean 'label'\?"):
        store(a=[1], label=[2]).column("lable")
