"""What serving a language model takes: memory, time to the first token, tokens a second, money per million."""

from __future__ import annotations

import math

import numpy as np

from engine.errors import InvalidRequest
from engine.records.tokens import ModelShape, TokenMemory, TokenPlan, TokenRun, TokenSettings
from engine.simulation.tokens import Requests, TokenTimes, continuous, requests, static

GB = 1e9


def kv_bytes_per_token(shape: ModelShape) -> int:
    """Key and value of every layer: 2 · layers · KV heads · head size · bytes."""
    return round(2 * shape.layers * shape.kv_heads * shape.head_dim * shape.bytes_per_value)


def decode_floor_ms(weight_gb: float, bandwidth_gb_s: float) -> float:
    """Least time of a token of one sequence: all weights are read once."""
    return 1000 * weight_gb / bandwidth_gb_s


def memory(shape: ModelShape) -> TokenMemory:
    """Tokens that fit beside the weights. Raises InvalidRequest when not one does."""
    per_token = kv_bytes_per_token(shape)
    free = shape.memory_gb * shape.memory_fraction - shape.weight_gb
    if free * GB < per_token:
        raise InvalidRequest(
            f"weights of {shape.weight_gb:g} GB leave no KV memory in {shape.memory_fraction:.0%} of "
            f"{shape.memory_gb:g} GB: use fewer bits, or a larger or a second device"
        )
    floor_ms = None if shape.bandwidth_gb_s is None else decode_floor_ms(shape.weight_gb, shape.bandwidth_gb_s)
    return TokenMemory(kv_bytes_per_token=per_token, kv_tokens=int(free * GB / per_token), decode_floor_ms=floor_ms)


def cost_per_million(price_per_hour: float, tokens_per_s: float) -> float:
    """Price over the tokens of an hour, times a million."""
    return price_per_hour / (3600 * tokens_per_s) * 1e6


def tpot(latency: float, ttft: float, n_tokens: int) -> float | None:
    """Time per output token as vLLM has it, the first one left out; None for a single token. GuideLLM calls it ITL."""
    return (latency - ttft) / (n_tokens - 1) if n_tokens > 1 else None


def tpot_with_first(latency: float, n_tokens: int) -> float:
    """What GuideLLM calls TPOT: latency over all tokens, the first one included."""
    return latency / n_tokens


def made_up(
    rate_per_s: float, n_requests: int, prompt: tuple[int, int], mean_output: float, most_output: int, seed: int
) -> Requests:
    """Independent arrivals, prompts uniform between the bounds, outputs geometric and cut at the most."""
    low, high = prompt
    if not (1 <= low <= high <= 10_000_000 and 1 <= mean_output <= 1e6 and most_output >= 1):
        raise InvalidRequest(
            f"prompts need bounds from 1 up, outputs a mean and a most of at least 1; got {low} to {high}, "
            f"{mean_output:g} and {most_output}"
        )
    if not rate_per_s > 0 or not 1 <= n_requests <= 1_000_000:
        raise InvalidRequest(f"no traffic: {n_requests:,} requests at {rate_per_s:g}/s; 1 to 1,000,000 are simulated")
    rng = np.random.default_rng(seed)
    outputs = np.clip(rng.geometric(1 / mean_output, n_requests), 1, most_output)
    prompts = rng.integers(low, high + 1, n_requests)
    return requests(np.cumsum(rng.exponential(1 / rate_per_s, n_requests)), prompts, outputs)


def plan_tokens(asked: Requests, settings: TokenSettings) -> TokenPlan:
    """Both ways of batching. Raises InvalidRequest when even continuous batching cannot keep up."""
    span_s = float(asked.arrivals_s[-1])
    rate_per_s = len(asked.arrivals_s) / span_s if span_s else math.inf
    runs = {name: _run(name, asked, settings, rate_per_s) for name in ("continuous", "static")}
    best = runs["continuous"]
    if best.overloaded:
        raise InvalidRequest(
            f"unstable: {rate_per_s:,.3g} requests/s exceed {best.saturated_requests_per_s:,.3g}/s, what one engine "
            "can do with continuous batching; plan more of them"
        )
    return TokenPlan(
        settings=settings,
        n_requests=len(asked.arrivals_s),
        rate_per_s=rate_per_s,
        mean_prompt_tokens=float(asked.prompt_tokens.mean()),
        mean_output_tokens=float(asked.output_tokens.mean()),
        **runs,
    )


def goodput_per_s(times: TokenTimes, settings: TokenSettings) -> float:
    """Requests within every SLO over the duration; the TPOT of a single token counts as 0."""
    tpot_ms = 1000 * np.nan_to_num(times.tpot_s)
    good = (1000 * times.ttft_s <= settings.slo_ttft_ms) & (tpot_ms <= settings.slo_tpot_ms)
    return float(good.sum() / times.makespan_s)


def _run(name: str, asked: Requests, settings: TokenSettings, rate_per_s: float) -> TokenRun:
    loop = continuous if name == "continuous" else static
    step_s = (settings.fixed_ms / 1000, settings.per_sequence_ms / 1000, settings.per_prompt_token_ms / 1000)
    full = loop(asked.at_once(), settings.cap, settings.kv_tokens, step_s)
    n, n_tokens = len(asked.arrivals_s), int(asked.output_tokens.sum())
    most_per_s, tokens_per_s = n / full.makespan_s, n_tokens / full.makespan_s
    overloaded = math.isfinite(rate_per_s) and rate_per_s >= most_per_s
    times = None if overloaded else loop(asked, settings.cap, settings.kv_tokens, step_s)
    real = None if times is None else n_tokens / times.makespan_s
    return TokenRun(
        name=name,
        saturated_tokens_per_s=tokens_per_s,
        saturated_requests_per_s=most_per_s,
        overloaded=overloaded,
        **_quantiles(times),
        tokens_per_s=real,
        goodput_per_s=None if times is None else goodput_per_s(times, settings),
        cost_per_million_full=cost_per_million(settings.price_per_hour, tokens_per_s),
        cost_per_million_real=None if real is None else cost_per_million(settings.price_per_hour, real),
    )


def _quantiles(times: TokenTimes | None) -> dict[str, float | None]:
    names = ("ttft", "tpot", "latency")
    if times is None:
        return {f"{name}_p{q}_ms": None for name in names for q in (50, 99)}
    tpot_s = times.tpot_s[~np.isnan(times.tpot_s)]
    values = dict(zip(names, (times.ttft_s, tpot_s, times.latency_s), strict=True))
    return {f"{name}_p{q}_ms": _rank_ms(values[name], q / 100) for name in names for q in (50, 99)}


def _rank_ms(seconds: np.ndarray, quantile: float) -> float | None:
    """Nearest rank; None without a value."""
    if not len(seconds):
        return None
    rank = max(math.ceil(len(seconds) * quantile - 1e-9), 1) - 1
    return 1000 * float(np.partition(seconds, rank)[rank])
