import numpy as np
import pytest

from engine.errors import InvalidRequest
from engine.simulation.tokens import continuous, requests, static

STEP = (0.01, 0.001, 0.0001)
TWO = ([0, 0], [10, 10], [2, 4])


def asked(arrivals, prompts, outputs):
    return requests(np.array(arrivals, float), np.array(prompts), np.array(outputs))


def test_two_requests_continuous():
    times = continuous(asked(*TWO), 2, None, STEP)
    assert times.ttft_s == pytest.approx([0.012, 0.012])
    assert times.latency_s == pytest.approx([0.024, 0.046])
    assert times.tpot_s == pytest.approx([0.012, 0.011333], abs=5e-7)
    assert times.makespan_s == pytest.approx(0.046)


def test_two_requests_static():
    times = static(asked(*TWO), 2, None, STEP)
    assert times.latency_s == pytest.approx([0.048, 0.048])


def test_one_at_a_time():
    for kv_tokens, cap in ((None, 1), (14, 2)):  # the slot or the memory holds the second back
        times = continuous(asked(*TWO), cap, kv_tokens, STEP)
        assert times.ttft_s == pytest.approx([0.011, 0.033])
        assert times.latency_s == pytest.approx([0.022, 0.066])


@pytest.fixture(scope="module")
def many():
    rng = np.random.default_rng(0)
    n = 2000
    outputs = np.clip(rng.geometric(1 / 128, n), 1, 1024)
    prompts = rng.integers(50, 400, n)
    return np.zeros(n), np.cumsum(rng.exponential(1 / 6.0, n)), prompts, outputs


def test_saturated_engines(many):
    at_once, _, prompts, outputs = many
    rates = [outputs.sum() / loop(asked(at_once, prompts, outputs), 32, None, (0.015, 0.0004, 8e-5)).makespan_s
             for loop in (continuous, static)]  # fmt: skip
    assert [round(rate) for rate in rates] == [985, 263]


def test_six_requests_a_second(many):
    _, arrivals, prompts, outputs = many
    times = continuous(asked(arrivals, prompts, outputs), 32, None, (0.015, 0.0004, 8e-5))
    assert np.quantile(times.ttft_s, [0.5, 0.99]) == pytest.approx([0.056, 0.313], abs=5e-4)
    waiting = static(asked(arrivals, prompts, outputs), 32, None, (0.015, 0.0004, 8e-5))
    assert np.quantile(waiting.ttft_s, 0.99) > 100


def test_a_request_with_one_token_has_no_time_between_tokens():
    times = continuous(asked([0, 5], [1, 1], [1, 2]), 2, None, STEP)
    assert np.isnan(times.tpot_s[0])
    assert times.latency_s[0] == times.ttft_s[0]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (([], [], []), "no traffic"),
        (([0], [1, 2], [1]), "not the same"),
        (([1, 0], [1, 1], [1, 1]), "ascend"),
        (([0], [0], [1]), "at least 1 prompt token"),
    ],
)
def test_what_is_no_traffic_is_refused(values, says):
    with pytest.raises(InvalidRequest, match=says):
        asked(*values)


def test_a_request_that_never_fits_is_a_sentence():
    with pytest.raises(InvalidRequest, match="a request of 14 tokens is larger than the KV memory of 13"):
        continuous(asked(*TWO), 2, 13, STEP)
