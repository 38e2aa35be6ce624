"""What a plan for a language model's serving is made of. Names as in vLLM: TTFT, TPOT, ITL, goodput."""

from __future__ import annotations

from pydantic import Field

from engine.records.base import Record
from engine.records.planning import Figures


class TokenSettings(Figures):
    """A step of the engine takes fixed + per sequence · decoding sequences + per prompt token · prefilled tokens."""

    fixed_ms: float = Field(gt=0, le=1e6)
    per_sequence_ms: float = Field(0.0, ge=0, le=1e6)
    per_prompt_token_ms: float = Field(0.0, ge=0, le=1e6)
    cap: int = Field(32, ge=1, le=10_000, description="Most sequences at a time.")
    kv_tokens: int | None = Field(None, ge=1, description="Tokens that the KV memory holds; None: no limit.")
    slo_ttft_ms: float = Field(2000.0, gt=0, le=1e9)
    slo_tpot_ms: float = Field(200.0, gt=0, le=1e9)
    price_per_hour: float = Field(0.0, ge=0, le=1e9)


class ModelShape(Figures):
    """What the memory of a decoder depends on."""

    layers: int = Field(ge=1, le=10_000)
    kv_heads: int = Field(ge=1, le=10_000)
    head_dim: int = Field(ge=1, le=100_000)
    bytes_per_value: float = Field(2.0, gt=0, le=8)
    weight_gb: float = Field(gt=0, le=1e6)
    memory_gb: float = Field(gt=0, le=1e6, description="Of the device.")
    memory_fraction: float = Field(0.9, gt=0, le=1, description="Of it, for weights and KV.")
    bandwidth_gb_s: float | None = Field(None, gt=0, le=1e6, description="Of the device's memory.")


class TokenMemory(Record):
    """What fits, and how fast one sequence can be decoded at best."""

    kv_bytes_per_token: int
    kv_tokens: int
    decode_floor_ms: float | None = Field(description="Reading the weights once; None without a bandwidth.")


class TokenRun(Record):
    """One way of batching under one traffic. None: it cannot keep up, or no request has such a time."""

    name: str
    saturated_tokens_per_s: float = Field(description="Output tokens, all requests waiting at once.")
    saturated_requests_per_s: float
    overloaded: bool
    ttft_p50_ms: float | None
    ttft_p99_ms: float | None
    tpot_p50_ms: float | None
    tpot_p99_ms: float | None
    latency_p50_ms: float | None
    latency_p99_ms: float | None
    tokens_per_s: float | None
    goodput_per_s: float | None = Field(description="Requests within every SLO, per second.")
    cost_per_million_full: float = Field(description="Per million output tokens when always saturated.")
    cost_per_million_real: float | None = Field(description="At this traffic.")


class TokenPlan(Record):
    """Continuous against static batching of the same requests."""

    settings: TokenSettings
    n_requests: int
    rate_per_s: float
    mean_prompt_tokens: float
    mean_output_tokens: float
    continuous: TokenRun
    static: TokenRun


class TokenBenchmark(Record):
    """A measurement of another tool under vLLM's names; None where the tool does not say."""

    tool: str
    name: str
    n_requests: int | None
    requests_per_s: float | None
    tokens_per_s: float | None
    ttft_mean_ms: float | None
    ttft_p50_ms: float | None
    ttft_p99_ms: float | None
    tpot_mean_ms: float | None = Field(description="(latency - TTFT) / (tokens - 1), mean of requests.")
    tpot_p50_ms: float | None
    tpot_p99_ms: float | None
    itl_mean_ms: float | None = Field(description="Every gap between tokens, pooled.")
    itl_p99_ms: float | None
    latency_p50_ms: float | None
    latency_p99_ms: float | None
    goodput_per_s: float | None
    renamed: tuple[str, ...] = Field((), description="What the tool calls otherwise.")
