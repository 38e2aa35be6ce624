"""What a plan for serving a language model says, in sentences and in rows."""

from __future__ import annotations

from engine.records.tokens import TokenBenchmark, TokenMemory, TokenPlan, TokenRun
from engine.reports.numbers import MISSING, latency, money, significant, times


def answer(plan: TokenPlan, currency: str) -> str:
    """The answer first: what continuous batching brings, and what a million tokens cost."""
    ours, theirs = plan.continuous, plan.static
    text = (
        f"Continuous batching: {times(ours.saturated_tokens_per_s / theirs.saturated_tokens_per_s)} the tokens of "
        f"static batches when saturated; at {significant(plan.rate_per_s)} requests/s "
        f"TTFT p99 {latency(ours.ttft_p99_ms)}"
    )
    text += ", static batches cannot keep up" if theirs.overloaded else f" against {latency(theirs.ttft_p99_ms)}"
    if plan.settings.price_per_hour:
        text += f"; {money(ours.cost_per_million_real, currency)} per million output tokens at this traffic"
    return text


def rows(plan: TokenPlan, currency: str) -> list[dict[str, str]]:
    """One row per way of batching."""
    return [_row(run, currency) for run in (plan.continuous, plan.static)]


def _row(run: TokenRun, currency: str) -> dict[str, str]:
    return {
        "batching": run.name + (", overloaded" if run.overloaded else ""),
        "tokens/s, saturated": significant(run.saturated_tokens_per_s),
        "TTFT p50": latency(run.ttft_p50_ms),
        "TTFT p99": latency(run.ttft_p99_ms),
        "TPOT p50": latency(run.tpot_p50_ms),
        "TPOT p99": latency(run.tpot_p99_ms),
        "whole p99": latency(run.latency_p99_ms),
        "goodput": MISSING if run.goodput_per_s is None else f"{significant(run.goodput_per_s)}/s",
        "per million, saturated": money(run.cost_per_million_full, currency),
        "per million, real": money(run.cost_per_million_real, currency),
    }


def notes(plan: TokenPlan) -> list[str]:
    """Formulas, and what the plan does not know."""
    known = plan.settings
    return [
        f"a step takes {known.fixed_ms:g} ms + {known.per_sequence_ms:g} ms × decoding sequences + "
        f"{known.per_prompt_token_ms:g} ms × prompt tokens, at most {known.cap:,} sequences; "
        f"{plan.mean_prompt_tokens:,.0f} prompt and {plan.mean_output_tokens:,.0f} output tokens in the mean",
        "TPOT = (whole − TTFT) / (tokens − 1), single tokens left out; goodput: requests within TTFT "
        f"{latency(known.slo_ttft_ms)} and TPOT {latency(known.slo_tpot_ms)}, per second",
        "not in it: chunked prefill, prefix caching, preemption, speculative decoding, the network; fit the three "
        "coefficients to your own engine",
    ]


def memory_sentence(memory: TokenMemory) -> str:
    """How many tokens fit, and the floor of a token."""
    text = f"KV memory: {memory.kv_bytes_per_token:,} bytes a token, {memory.kv_tokens:,} tokens fit beside the weights"
    if memory.decode_floor_ms is None:
        return text
    return (
        f"{text}; at best {latency(memory.decode_floor_ms)} a token, {1000 / memory.decode_floor_ms:,.0f}/s a sequence"
    )


def benchmark_rows(found: tuple[TokenBenchmark, ...]) -> list[dict[str, str]]:
    """One row per imported run, under one set of names."""
    return [
        {
            "tool": one.tool,
            "run": one.name,
            "requests/s": MISSING if one.requests_per_s is None else significant(one.requests_per_s),
            "tokens/s": MISSING if one.tokens_per_s is None else significant(one.tokens_per_s),
            "TTFT p50": latency(one.ttft_p50_ms),
            "TTFT p99": latency(one.ttft_p99_ms),
            "TPOT p50": latency(one.tpot_p50_ms),
            "TPOT p99": latency(one.tpot_p99_ms),
            "whole p99": latency(one.latency_p99_ms),
        }
        for one in found
    ]
