import numpy as np
import pytest

from engine.errors import BadModel
from engine.output_files import OutputFiles


def test_what_comes_in_parts_is_read_back_whole(tmp_path):
    rng = np.random.default_rng(0)
    scores, classes = rng.random((10, 3)).astype(np.float32), np.array([f"class {'x' * i}" for i in range(10)])
    with OutputFiles(tmp_path, ["label", "scores"]) as files:
        for start in (0, 4, 8):
            rows = slice(start, min(start + 4, 10))
            files.append({"scores": scores[rows], "label": classes[rows]})
    assert np.load(tmp_path / "0.npy").tolist() == classes.tolist()
    again = np.load(tmp_path / "1.npy", mmap_mode="r")
    assert again.dtype == np.float32
    np.testing.assert_array_equal(again, scores)


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (np.zeros((2, 4)), r"output 's' gives float64\[3\] per row at first and float64\[4\] after 5 rows"),
        (np.zeros((2, 3), np.float32), r"float32\[3\] after 5 rows"),
    ],
)
def test_rows_that_give_something_else_are_refused(tmp_path, second, said):
    with OutputFiles(tmp_path, ["s"]) as files:
        files.append({"s": np.zeros((5, 3))})
        with pytest.raises(BadModel, match=said):
            files.append({"s": second})
