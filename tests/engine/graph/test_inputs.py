import numpy as np
import pytest

from engine.errors import Mismatch
from engine.graph.inputs import input_check
from engine.records import Signature, TensorSpec

SIGNATURE = Signature(
    inputs=(
        TensorSpec(name="x", dtype="float32", shape=("n", 3)),
        TensorSpec(name="colour", dtype="string", shape=("n",)),
    ),
    outputs=(),
)
GOOD = {"x": np.zeros((2, 3), np.float32), "colour": np.array(["red", "blue"])}


def test_rows_that_fit_pass():
    input_check(SIGNATURE)(GOOD)
    input_check(SIGNATURE)(GOOD | {"colour": np.array(["red", None], object)})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": np.zeros((2, 3))}, "input 'x' is float64, the model takes float32"),
        ({"x": np.zeros((2, 4), np.float32)}, r"input 'x' has shape \(2, 4\), the model takes \('n', 3\)"),
        ({"x": np.zeros(3, np.float32)}, "shape"),
        ({"x": np.array([["a"] * 3] * 2)}, "the model takes float32"),
        ({"colour": np.array([1, 2])}, "the model takes string"),
        ({"more": np.zeros(2)}, "takes the inputs x, colour; got x, colour, more"),
    ],
)
def test_what_does_not_fit_is_named(change, message):
    with pytest.raises(Mismatch, match=message):
        input_check(SIGNATURE)(GOOD | change)
