import hashlib

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.data.canonical import row_digests, text_digests


def same(one, other):
    return (row_digests(one) == row_digests(other)).all(axis=1).tolist()


def column(*values, dtype=np.float64):
    return {"x": np.array(values, dtype)[:, None]}


def test_six_significant_digits_of_floats():
    one = column(1.234567, 0.0, 999999.96, 9.9999999, 1e-320, np.nan, -np.inf, 1e30)
    other = column(1.2345671, -0.0, 1000000.0, 10.0, 0.0, -np.nan, -np.inf, 1.0000001e30)
    assert same(one, other) == [True] * 8
    assert same(column(1.23456, 100.0, 1.0, np.inf), column(1.23457, 100.001, -1.0, -np.inf)) == [False] * 4


@given(st.integers(100_001, 999_998), st.integers(-30, 30), st.floats(-0.49, 0.49), st.floats(-0.49, 0.49))
def test_rounding_is_to_six_digits(digits, power, one, other):
    """Any two numbers that round to the same six digits are equal, and differ from the next such number."""
    near = [(digits + part) * 10.0**power for part in (one, other, 1 + one)]
    digests = row_digests({"x": np.array(near)[:, None]})
    assert (digests[0] == digests[1]).all()
    assert (digests[0] != digests[2]).any()


def test_the_precision_of_the_file_does_not_matter_once_in_the_model_s_dtype():
    values = np.random.default_rng(0).normal(size=(500, 3)).astype(np.float32)
    from_text = np.array([[float(f"{v:.9g}") for v in row] for row in values])
    assert all(same({"x": values}, {"x": from_text.astype(np.float32)}))


def test_whole_numbers_are_exact():
    assert same(column(2**53 + 1, dtype=np.int64), column(2**53 + 2, dtype=np.int64)) == [False]
    assert same(column(7, dtype=np.int32), column(7, dtype=np.int64)) == [True]


def test_text_in_one_unicode_form():
    assert same({"x": np.array(["é", "a"])}, {"x": np.array(["e\u0301", "b"])}) == [True, False]
    assert (text_digests(["é"]) == text_digests(["e\u0301"])).all()


def test_the_order_of_the_inputs_does_not_matter_but_their_place_does():
    a, b = np.array([1.0, 2.0]), np.array([2.0, 1.0])
    assert all(same({"a": a[:, None], "b": b[:, None]}, {"b": b[:, None], "a": a[:, None]}))
    assert not any(same({"a": a[:, None], "b": b[:, None]}, {"a": b[:, None], "b": a[:, None]}))


def test_images_are_taken_as_they_are():
    image = np.zeros((2, 3, 4, 4), np.float32)
    image[1, 0, 0, 0] = 1e-12
    digests = row_digests({"x": image})
    assert (digests[0] != digests[1]).any()
    assert same({"x": image[:1]}, {"x": -image[:1]}) == [True]


def test_the_digest_is_sha_256_of_the_bytes():
    wanted = hashlib.sha256(np.array([5], np.int64).tobytes()).digest()[:16]
    assert row_digests(column(5, dtype=np.int64)).tobytes() == wanted
