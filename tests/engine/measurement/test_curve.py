import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InvalidRequest
from engine.measurement.curve import curve

SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
LINE = curve({n: 5 + 0.2 * n for n in SIZES})


def test_the_vectors_of_a_fixed_cost_and_a_price_per_item():
    """5 ms a call and 0.2 ms an item."""
    few = curve({1: 5.2, 8: 6.6, 32: 11.4, 128: 30.6})
    assert (few.fit.fixed_ms, few.fit.per_item_ms) == pytest.approx((5, 0.2))
    assert few.fit.r_squared == pytest.approx(1)
    assert few.fit.max_residual < 1e-9
    assert [round(few.items_per_s(n)) for n in (1, 8, 32, 128)] == [192, 1212, 2807, 4183]
    assert [round(few.items_per_s(n)) for n in (2, 4, 16, 64)] == [370, 690, 1951, 3596]  # not measured: on the line
    assert [round(few.one_call(n).ratio, 1) for n in (1, 8, 32, 128)] == [1, 6.3, 14.6, 21.8]
    assert few.marginal_ms == pytest.approx(0.2)


def test_500_candidates_in_one_call():
    found = LINE.one_call(500)
    assert found.ratio == pytest.approx(500 * 5.2 / 105)
    assert found.how == "from the line"
    assert curve({1: 5.2, 500: 130.0}).one_call(500).model_dump() == {"n_items": 500, "ratio": 20.0, "how": "measured"}


def test_500_candidates_without_a_line_are_full_calls():
    stairs = curve({1: 1.0, 8: 1.0, 16: 9.0, 32: 9.0})
    assert not stairs.fit.holds
    found = stairs.one_call(500)
    assert found.ratio == pytest.approx(500 / (9.0 * 16))  # 15.6 calls of 32
    assert "calls of 32" in found.how


def test_one_call_needs_batch_1():
    assert curve({8: 3.0}).one_call(500) is None
    assert curve({1: 3.0}).one_call(500) is None  # and something to put beside it


@pytest.mark.parametrize(("fixed_ms", "per_item_ms", "expected"), [(0.5, 1.0, 16), (0.0, 1.0, 1), (5.0, 0.2, None)])
def test_where_the_throughput_flattens(fixed_ms, per_item_ms, expected):
    assert curve({n: fixed_ms + per_item_ms * n for n in SIZES}).flattens_at == expected


def test_steps_are_kept_as_a_table():
    """Padding to 8: the line misses by more than 15 %, so the neighbours decide."""
    stairs = curve({1: 8.0, 4: 8.0, 8: 8.0, 16: 16.0, 24: 24.0})
    assert stairs.fit.max_residual > 0.15
    assert stairs.call_ms(4) == 8.0
    assert stairs.call_ms(12) == 12.0
    assert stairs.marginal_ms == pytest.approx(1.0)
    with pytest.raises(InvalidRequest, match=r"from 1 to 24 .* a batch of 25 is outside"):
        stairs.call_ms(25)


def test_one_size_has_no_line():
    only = curve({16: 4.0})
    assert only.fit is None
    assert only.marginal_ms is None
    assert only.flattens_at is None
    with pytest.raises(InvalidRequest):
        only.call_ms(1)


def test_neither_part_is_negative():
    falling = curve({1: 2.0, 2: 3.9, 4: 8.4, 8: 17.0})  # a free line would start below 0
    assert falling.fit.fixed_ms == 0
    assert falling.fit.per_item_ms > 0
    constant = curve({1: 3.0, 2: 2.9, 4: 2.8})
    assert constant.fit.per_item_ms == 0
    assert constant.marginal_ms == 0


@given(
    st.floats(0.01, 100), st.floats(0.001, 10), st.lists(st.sampled_from(SIZES), min_size=3, max_size=8, unique=True),
    st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_the_fit_is_numpys_weighted_polynomial(fixed_ms, per_item_ms, sizes, seed):
    noise = np.random.default_rng(seed).uniform(0.99, 1.01, len(sizes))
    points = {n: (fixed_ms + per_item_ms * n) * wobble for n, wobble in zip(sorted(sizes), noise, strict=True)}
    slope, start = np.polyfit(list(points), list(points.values()), 1, w=1 / np.array(list(points.values())))
    found = curve(points).fit
    if slope >= 0 and start >= 0:
        assert found.fixed_ms == pytest.approx(start, rel=1e-6, abs=1e-6)
        assert found.per_item_ms == pytest.approx(slope, rel=1e-6, abs=1e-6)
    assert found.max_residual < 0.15
