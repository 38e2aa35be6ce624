import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.reports.amdahl import Share, gain, of_request, share, whole_request_speedup


@pytest.mark.parametrize(
    ("model_ms", "request_ms", "ceiling"),
    [(4, 10, 1.6667), (2, 25, 1.0870), (0.5, 1, 2.0), (99, 100, 100.0)],
)
def test_ceiling_vectors(model_ms, request_ms, ceiling):
    assert Share(model_ms=model_ms, request_ms=request_ms).ceiling == pytest.approx(ceiling, abs=5e-5)


def test_a_model_twice_as_fast_in_a_request_of_which_it_is_two_fifths():
    assert whole_request_speedup(4, 10, 2) == pytest.approx(1.25)


times = st.floats(0.001, 1e4)


@given(model=times, rest=st.floats(0, 1e4), speedup=st.floats(0.01, 1e4))
def test_the_whole_is_the_request_with_the_model_replaced(model, rest, speedup):
    known = Share(model_ms=model, request_ms=model + rest)
    assert known.whole(speedup) == pytest.approx((model + rest) / (rest + model / speedup), rel=1e-6)
    assert known.whole(speedup) <= known.ceiling * (1 + 1e-9)
    assert known.whole(1) == pytest.approx(1)


def test_a_request_that_is_nothing_but_the_model_has_no_ceiling():
    known = share(5, 5)
    assert math.isinf(known.ceiling)
    assert known.whole(3) == pytest.approx(3)
    assert known.sentence == "The model is 100% of the request, so what the model gains, the request gains"


@pytest.mark.parametrize(("model_ms", "request_ms"), [(None, 5), (5, None), (5, 4.9), (0, 5), (-1, 5)])
def test_nothing_is_said_of_what_is_not_known_or_cannot_be(model_ms, request_ms):
    assert share(model_ms, request_ms) is None
    assert whole_request_speedup(model_ms, request_ms, 2) is None
    assert of_request(share(model_ms, request_ms), 2) is None


def test_the_words():
    assert share(2, 25).sentence == "The model is 8% of the request, so optimising it can give at most 1.09×"
    assert share(0.05, 25).sentence.startswith("The model is 0.2% of the request")
    assert of_request(share(2, 25), 3) == "1.06× for the whole request"
    assert of_request(share(2, 25), None) is None
    assert gain(12.49) == "12.5×"
