import numpy as np
import pytest

from engine.errors import ParityFailed
from engine.parity import check


def test_equal_outputs_pass_and_nan_equals_nan():
    right = {"y": np.array([1.0, np.nan, np.inf])}
    assert check(right, {"y": right["y"].copy()}, "export") == {"y": 0.0}


def test_rounding_of_the_precision_passes():
    right = {"y": np.linspace(-5, 5, 100, dtype=np.float32)}
    assert check(right, {"y": right["y"] + np.float32(1e-5)}, "export")["y"] < 1e-4


@pytest.mark.parametrize(
    ("got", "words"),
    [
        (np.array([1.0, 2.0, 3.5]), "1 of 3 rows differ, by up to 0.5 in output 'y'"),
        (np.array([1.0, 2.0, np.nan]), "1 of 3 rows differ, by up to inf"),
        (np.array([1.0, 2.0]), "has the shape (2,), the original (3,)"),
    ],
)
def test_what_differs_is_named(got, words):
    with pytest.raises(ParityFailed) as raised:
        check({"y": np.array([1.0, 2.0, 3.0])}, {"y": got}, "export")
    assert words in str(raised.value)


def test_a_missing_output_is_named():
    with pytest.raises(ParityFailed, match="'y' is missing"):
        check({"y": np.zeros(2)}, {"z": np.zeros(2)}, "export")


def test_double_precision_is_held_to_double_precision():
    right = np.array([0.25, 0.75])
    with pytest.raises(ParityFailed):
        check({"y": right}, {"y": right + 1e-6}, "export")


def test_labels_as_text_must_be_the_same():
    right = {"label": np.array(["yes", "no"])}
    check(right, {"label": np.array(["yes", "no"])}, "export")
    with pytest.raises(ParityFailed):
        check(right, {"label": np.array(["yes", "yes"])}, "export")
