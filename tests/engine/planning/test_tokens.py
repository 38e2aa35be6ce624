import json

import numpy as np
import pytest

from engine.errors import BadData, InvalidRequest
from engine.planning.token_benchmark import read_benchmark
from engine.planning.tokens import (
    cost_per_million,
    decode_floor_ms,
    goodput_per_s,
    kv_bytes_per_token,
    made_up,
    memory,
    plan_tokens,
    tpot,
    tpot_with_first,
)
from engine.records.tokens import ModelShape, TokenSettings
from engine.reports.plan_tokens import answer, memory_sentence, rows
from engine.simulation.tokens import TokenTimes

ENGINE = {"fixed_ms": 15, "per_sequence_ms": 0.4, "per_prompt_token_ms": 0.08, "cap": 32}


def shape(**more):
    known = {"layers": 32, "kv_heads": 32, "head_dim": 128, "weight_gb": 14, "memory_gb": 80, "bandwidth_gb_s": 3350}
    return ModelShape(**(known | more))


def test_memory_and_the_floor_of_a_token():
    assert kv_bytes_per_token(shape()) == 524_288
    assert kv_bytes_per_token(shape(kv_heads=8)) == 131_072
    assert decode_floor_ms(14, 3350) == pytest.approx(4.18, abs=5e-3)
    fits = memory(shape())
    assert fits.kv_tokens == int((72 - 14) * 1e9 / 524_288)
    assert "at best 4.18" in memory_sentence(fits)
    assert "239/s a sequence" in memory_sentence(fits)


def test_weights_that_leave_no_memory_are_a_sentence():
    with pytest.raises(InvalidRequest, match="weights of 140 GB leave no KV memory in 90% of 80 GB"):
        memory(shape(weight_gb=140))


def test_money():
    assert cost_per_million(250, 2000) == pytest.approx(34.72, abs=5e-3)


def test_the_same_name_for_different_times():
    assert tpot(1.0, 0.2, 9) == pytest.approx(0.1)
    assert tpot_with_first(1.0, 9) == pytest.approx(0.111111, abs=5e-7)
    assert tpot(1.0, 0.2, 5) == pytest.approx(0.2) == tpot_with_first(1.0, 5)
    assert tpot(1.0, 1.0, 1) is None


def test_both_ways_of_batching():
    plan = plan_tokens(made_up(6, 2000, (50, 399), 128, 1024, 0), TokenSettings(**ENGINE, price_per_hour=3.6))
    assert plan.continuous.saturated_tokens_per_s == pytest.approx(985, rel=0.04)
    assert plan.static.saturated_tokens_per_s == pytest.approx(263, rel=0.05)
    assert plan.static.overloaded
    assert plan.static.ttft_p99_ms is None
    assert plan.continuous.goodput_per_s == pytest.approx(6, rel=0.06)
    assert plan.continuous.cost_per_million_real == pytest.approx(1000 / plan.continuous.tokens_per_s)
    assert "static batches cannot keep up" in answer(plan, "USD")
    assert rows(plan, "USD")[1]["batching"] == "static, overloaded"


def test_a_light_load_lets_both_keep_up():
    plan = plan_tokens(made_up(0.5, 300, (50, 400), 128, 1024, 0), TokenSettings(**ENGINE))
    assert not plan.static.overloaded
    assert plan.static.ttft_p99_ms > plan.continuous.ttft_p99_ms


def test_goodput_counts_who_meets_every_limit():
    ttft, latency = np.array([0.1, 3.0, 0.1, 0.2]), np.array([0.5, 3.5, 5.0, 0.2])
    times = TokenTimes(ttft, latency, np.array([5, 5, 5, 1]), 10.0)
    assert goodput_per_s(times, TokenSettings(fixed_ms=1, slo_ttft_ms=450, slo_tpot_ms=200)) == 0.2


def test_too_much_traffic_is_a_sentence():
    with pytest.raises(InvalidRequest, match=r"unstable: .* requests/s exceed .*/s, what one engine can do"):
        plan_tokens(made_up(60, 500, (50, 400), 128, 1024, 0), TokenSettings(**ENGINE))


@pytest.mark.parametrize(
    ("rate", "n", "prompt", "mean"), [(0, 10, (1, 2), 5), (1, 0, (1, 2), 5), (1, 10, (5, 2), 5), (1, 10, (1, 2), 0)]
)
def test_impossible_traffic_is_refused(rate, n, prompt, mean):
    with pytest.raises(InvalidRequest):
        made_up(rate, n, prompt, mean, 100, 0)


VLLM = {
    "model_id": "m", "completed": 1000, "request_throughput": 5.5, "output_throughput": 700.0, "mean_ttft_ms": 60.0,
    "median_ttft_ms": 55.0, "p99_ttft_ms": 300.0, "mean_tpot_ms": 20.0, "median_tpot_ms": 19.0, "p99_tpot_ms": 30.0,
    "mean_itl_ms": 19.5, "p99_itl_ms": 60.0, "median_e2el_ms": 2500.0, "p99_e2el_ms": 9000.0, "request_goodput": 5.0,
}  # fmt: skip
GUIDELLM = {
    "benchmarks": [
        {
            "metrics": {
                "requests_per_second": {"successful": {"mean": 5.5}},
                "output_tokens_per_second": {"successful": {"mean": 700.0}},
                "time_to_first_token_ms": {
                    "successful": {"mean": 60.0, "median": 55.0, "count": 1000, "percentiles": {"p99": 300.0}}
                },
                "inter_token_latency_ms": {"successful": {"mean": 20.0, "median": 19.0, "percentiles": {"p99": 30.0}}},
                "time_per_output_token_ms": {
                    "successful": {"mean": 22.0, "median": 21.0, "percentiles": {"p99": 33.0}}
                },
                "request_latency": {"successful": {"mean": 2.7, "median": 2.5, "percentiles": {"p99": 9.0}}},
            }
        }
    ]
}
AIPERF = {
    "time_to_first_token": {"unit": "ms", "avg": 60.0, "p50": 55.0, "p99": 300.0},
    "inter_token_latency": {"unit": "ms", "avg": 20.0, "p50": 19.0, "p99": 30.0},
    "request_latency": {"unit": "ms", "avg": 2700.0, "p50": 2500.0, "p99": 9000.0},
    "output_token_throughput": {"unit": "tokens/sec", "avg": 700.0},
    "request_throughput": {"unit": "requests/sec", "avg": 5.5},
    "request_count": {"unit": "requests", "avg": 1000.0},
}


def test_three_tools_say_the_same_under_one_name():
    known = [read_benchmark(json.dumps(found))[0] for found in (VLLM, GUIDELLM, AIPERF, {"records": AIPERF})]
    names = ["n_requests", "requests_per_s", "tokens_per_s", "latency_p50_ms", "latency_p99_ms",
             *(f"{what}_{q}_ms" for what in ("ttft", "tpot") for q in ("mean", "p50", "p99"))]  # fmt: skip
    for name in names:
        assert len({getattr(one, name) for one in known}) == 1, name
    assert (known[0].itl_p99_ms, known[1].itl_p99_ms) == (60, None)
    assert known[0].goodput_per_s == 5
    assert "counts the first token" in known[1].renamed[1]


def test_units_are_read():
    seconds = {"time_to_first_token": {"unit": "sec", "avg": 0.06}}
    assert read_benchmark(json.dumps(seconds))[0].ttft_mean_ms == 60


@pytest.mark.parametrize(
    "found",
    [
        [],
        {},
        {"benchmarks": []},
        {"benchmarks": [3]},
        VLLM | {"p99_ttft_ms": "fast"},
        VLLM | {"p99_ttft_ms": -1},
        {"time_to_first_token": {"unit": "days", "avg": 1}},
    ],
)
def test_what_is_no_benchmark_is_refused(found):
    with pytest.raises(BadData):
        read_benchmark(json.dumps(found))


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000])
def test_what_is_no_json_is_refused(text):
    with pytest.raises(BadData):
        read_benchmark(text)
