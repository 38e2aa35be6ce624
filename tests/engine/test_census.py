import numpy as np
import pandas as pd
import pytest

from engine.census import count
from engine.data.stored import INPUTS_FILE, LABELS_FILE, ROWS_FILE
from engine.quality.slices import CLASS_COLUMN, LABEL_COLUMN
from engine.records import Census, Signature


class Silent:
    def send(self, message):
        pass


@pytest.fixture
def write(tmp_path):
    def write(split, labels, **columns):
        folder = tmp_path / split
        folder.mkdir()
        (folder / INPUTS_FILE).write_text("[]")
        if labels is not None:
            np.save(folder / LABELS_FILE, np.asarray(labels))
        n = len(next(iter(columns.values()))) if columns else len(labels)
        frame = pd.DataFrame({"row": range(n), **columns}).rename(columns=lambda name: name.replace("slice_", "slice:"))
        frame.to_parquet(folder / ROWS_FILE)

    for split in ("train", "calibration"):
        write(split, [])
    return write


def counted(folder, **signature):
    return Census.model_validate(
        count({"evalset": str(folder), "signature": Signature(inputs=(), outputs=(), **signature)
               .model_dump(mode="json")}, Silent())
    )  # fmt: skip


def test_classes_and_slices_are_counted_in_every_split(tmp_path, write):
    write("selection", [0, 1, 1], slice_region=["north", "south", ""])
    write("certification", [0, 0, 1, 1], slice_region=["north", "north", "north", "south"])
    found = counted(tmp_path, task="binary", classes=("stay", "churn"))
    assert found.whole.rows == {"selection": 3, "certification": 4}
    assert (found.whole.n_judged, found.whole.n_rarer, found.whole.n_groups) == (4, 2, None)
    classes = {one.value: one.rows for one in found.classes}
    assert classes == {"stay": {"selection": 1, "certification": 2}, "churn": {"selection": 2, "certification": 2}}
    assert {one.column for one in found.classes} == {CLASS_COLUMN}
    slices = {one.value: (one.rows, one.n_rarer) for one in found.slices}
    assert slices["north"] == ({"selection": 1, "certification": 3}, 1)
    assert slices["south"] == ({"selection": 1, "certification": 1}, 0)
    assert slices["(missing)"] == ({"selection": 1}, None)


def test_dependent_rows_are_counted_by_group(tmp_path, write):
    write("selection", [0.5])
    write("certification", [1.0, 2.0, 3.0], group=["a", "a", "b"], slice_s=["x", "y", "y"])
    found = counted(tmp_path, task="regression")
    assert found.whole.n_groups == 2
    assert {one.value: one.n_groups for one in found.slices} == {"x": 1, "y": 2}
    assert found.classes == ()


def test_a_ranking_is_counted_by_queries_with_something_to_find(tmp_path, write):
    write("selection", [1.0], group=["q"])
    write("certification", [0.0, 0.0, 2.0, 1.0], group=["a", "a", "b", "c"])
    assert counted(tmp_path, task="ranking").whole.n_judged == 2


def test_a_row_may_have_several_classes(tmp_path, write):
    write("selection", np.array([[1, 0]]))
    write("certification", np.array([[1, 1], [0, 1], [0, 0]]))
    found = counted(tmp_path, task="multilabel", classes=("a", "b"))
    assert {one.value: one.rows["certification"] for one in found.classes} == {"a": 1, "b": 2}
    assert {one.column for one in found.classes} == {LABEL_COLUMN}
    assert [one.n_rarer for one in found.classes] == [1, 1]
    assert (found.whole.n_judged, found.whole.n_rarer) == (3, 1)


def test_without_labels_only_rows_are_counted(tmp_path, write):
    write("selection", None, slice_s=["x"])
    write("certification", None, slice_s=["x", "y"])
    found = counted(tmp_path, task="other")
    assert (found.whole.n_judged, found.classes, len(found.slices)) == (2, (), 2)
