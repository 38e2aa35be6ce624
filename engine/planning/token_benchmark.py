"""Measurements of `vllm bench serve`, GuideLLM and AIPerf (or genai-perf), brought under vLLM's names.

What vLLM calls TPOT, the mean gap of one request without its first token, GuideLLM and AIPerf call inter-token
latency; GuideLLM's own TPOT counts the first token and is left out. Only vLLM pools every gap as ITL.
"""

from __future__ import annotations

import json
import math
from typing import Any

from engine.errors import BadData
from engine.records.tokens import TokenBenchmark

MOST_CHARS = 200_000_000


def read_benchmark(text: str) -> tuple[TokenBenchmark, ...]:
    """One result per run in the file. Raises BadData for what is none of the three, naming what was looked for."""
    if len(text) > MOST_CHARS:
        raise BadData(f"a benchmark file has at most {MOST_CHARS / 1e6:g} million characters, this one {len(text):,}")
    try:
        found = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise BadData(f"the benchmark is no JSON: {error}") from error
    if isinstance(found, dict):
        if "mean_ttft_ms" in found:
            return (_vllm(found),)
        if isinstance(found.get("benchmarks"), list) and found["benchmarks"]:
            return tuple(_guidellm(one, number) for number, one in enumerate(found["benchmarks"], 1))
        inner = _object(found.get("records")) or found
        if isinstance(inner.get("time_to_first_token"), dict):
            return (_aiperf(inner),)
    raise BadData(
        "neither vllm bench (mean_ttft_ms), nor GuideLLM (benchmarks), nor AIPerf (time_to_first_token): is this the "
        "JSON that the tool saved?"
    )


def _vllm(found: dict[str, Any]) -> TokenBenchmark:
    keys = {f"{name}_{ours}_ms": f"{theirs}_{name}_ms" for name in ("ttft", "tpot") for ours, theirs in VLLM_WORDS}
    return TokenBenchmark(
        tool="vllm bench",
        name=str(found.get("model_id") or found.get("label") or "run"),
        n_requests=_count(found.get("completed")),
        requests_per_s=_number(found.get("request_throughput")),
        tokens_per_s=_number(found.get("output_throughput")),
        **{ours: _number(found.get(theirs)) for ours, theirs in keys.items()},
        itl_mean_ms=_number(found.get("mean_itl_ms")),
        itl_p99_ms=_number(found.get("p99_itl_ms")),
        latency_p50_ms=_number(found.get("median_e2el_ms")),
        latency_p99_ms=_number(found.get("p99_e2el_ms")),
        goodput_per_s=_number(found.get("request_goodput", found.get("request_goodput:"))),
    )


VLLM_WORDS = (("mean", "mean"), ("p50", "median"), ("p99", "p99"))


def _guidellm(one: Any, number: int) -> TokenBenchmark:
    metrics = one.get("metrics") if isinstance(one, dict) else None
    if not isinstance(metrics, dict) or "time_to_first_token_ms" not in metrics:
        raise BadData(f"benchmark {number} of the GuideLLM file has no metrics with time_to_first_token_ms")

    def part(name: str) -> dict[str, Any]:
        inner = _object(metrics.get(name))
        return _object(inner.get("successful", inner))

    def at(name: str, factor: float = 1.0) -> tuple[float | None, float | None, float | None]:
        values = part(name)
        further = _object(values.get("percentiles"))
        return (
            _number(values.get("mean"), factor),
            _number(values.get("median"), factor),
            _number(further.get("p99"), factor),
        )

    ttft, gaps, latency = at("time_to_first_token_ms"), at("inter_token_latency_ms"), at("request_latency", 1000)
    return TokenBenchmark(
        tool="GuideLLM",
        name=f"run {number}",
        n_requests=_count(part("time_to_first_token_ms").get("count")),
        requests_per_s=_number(part("requests_per_second").get("mean")),
        tokens_per_s=_number(part("output_tokens_per_second").get("mean")),
        **_named("ttft", ttft),
        **_named("tpot", gaps),
        itl_mean_ms=None,
        itl_p99_ms=None,
        latency_p50_ms=latency[1],
        latency_p99_ms=latency[2],
        goodput_per_s=None,
        renamed=("its inter_token_latency is TPOT here", "its time_per_output_token counts the first token: left out"),
    )


def _aiperf(found: dict[str, Any]) -> TokenBenchmark:
    def part(name: str) -> dict[str, Any]:
        return _object(found.get(name))

    def at(name: str) -> tuple[float | None, float | None, float | None]:
        values = part(name)
        factor = _to_ms(name, values)
        return (
            _number(values.get("avg"), factor),
            _number(values.get("p50"), factor),
            _number(values.get("p99"), factor),
        )

    latency = at("request_latency")
    return TokenBenchmark(
        tool="AIPerf",
        name="run",
        n_requests=_count(part("request_count").get("avg")),
        requests_per_s=_number(part("request_throughput").get("avg")),
        tokens_per_s=_number(part("output_token_throughput").get("avg")),
        **_named("ttft", at("time_to_first_token")),
        **_named("tpot", at("inter_token_latency")),
        itl_mean_ms=None,
        itl_p99_ms=None,
        latency_p50_ms=latency[1],
        latency_p99_ms=latency[2],
        goodput_per_s=_number(part("goodput").get("avg")),
        renamed=("its inter_token_latency is TPOT here",),
    )


def _object(value: Any) -> dict[str, Any]:
    """The value where it is an object of JSON, else an empty one."""
    return value if isinstance(value, dict) else {}


def _to_ms(name: str, values: dict[str, Any]) -> float:
    factors = {"ms": 1.0, "s": 1e3, "sec": 1e3, "us": 1e-3, "ns": 1e-6}
    unit = str(values.get("unit", "ms"))
    if unit not in factors:
        raise BadData(f"{name} has the unit {unit[:20]!r}; known are {', '.join(factors)}")
    return factors[unit]


def _named(name: str, values: tuple[float | None, float | None, float | None]) -> dict[str, float | None]:
    return {f"{name}_mean_ms": values[0], f"{name}_p50_ms": values[1], f"{name}_p99_ms": values[2]}


def _number(value: Any, factor: float = 1.0) -> float | None:
    """A finite number at or above 0, or None where there is none. Raises BadData for anything else."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise BadData(f"the benchmark holds {str(value)[:40]!r} where a number at or above 0 belongs")
    return float(value) * factor


def _count(value: Any) -> int | None:
    found = _number(value)
    return None if found is None else round(found)
