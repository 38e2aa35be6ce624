"""Serving a language model step by step: continuous batching (Yu et al. 2022, Orca, OSDI) against static batches.

A step takes fixed + per sequence · decoding sequences + per prompt token · tokens prefilled in it, in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.errors import InvalidRequest
from engine.simulation.compiled import compiled

MOST_TOKENS = 500_000_000


@dataclass(frozen=True)
class TokenTimes:
    """Of every request, (n,) float64 seconds since it came; makespan_s from 0 to the last token."""

    ttft_s: np.ndarray
    latency_s: np.ndarray
    output_tokens: np.ndarray
    makespan_s: float

    @property
    def tpot_s(self) -> np.ndarray:
        """(n,) float64: (latency - TTFT) / (tokens - 1); NaN for a single token."""
        gaps = self.output_tokens - 1
        spread = np.full(len(gaps), np.nan)
        return np.asarray(np.divide(self.latency_s - self.ttft_s, gaps, out=spread, where=gaps > 0))


@dataclass(frozen=True)
class Requests:
    """Arrivals (n,) float64 seconds ascending; prompt and output tokens (n,) int64, at least 1."""

    arrivals_s: np.ndarray
    prompt_tokens: np.ndarray
    output_tokens: np.ndarray

    def at_once(self) -> Requests:
        """The same, all of them waiting at time 0."""
        return Requests(np.zeros(len(self.arrivals_s)), self.prompt_tokens, self.output_tokens)


def requests(arrivals_s: np.ndarray, prompt_tokens: np.ndarray, output_tokens: np.ndarray) -> Requests:
    """Checked. Raises InvalidRequest for no traffic, tokens below 1, or more than can be simulated."""
    arrivals = np.ascontiguousarray(arrivals_s, dtype=np.float64)
    prompts, outputs = (np.ascontiguousarray(tokens, dtype=np.int64) for tokens in (prompt_tokens, output_tokens))
    if not len(arrivals):
        raise InvalidRequest("no traffic: there is not one request")
    if not arrivals.shape == prompts.shape == outputs.shape:
        raise InvalidRequest(f"{len(arrivals)} arrivals, {len(prompts)} prompts, {len(outputs)} outputs: not the same")
    if not np.isfinite(arrivals).all() or arrivals[0] < 0 or (np.diff(arrivals) < 0).any():
        raise InvalidRequest("arrivals must be finite and ascend from 0 s on")
    if min(prompts.min(), outputs.min()) < 1:
        raise InvalidRequest("every request has at least 1 prompt token and 1 output token")
    if outputs.sum() > MOST_TOKENS:
        raise InvalidRequest(f"{outputs.sum():,} output tokens are more than the {MOST_TOKENS:,} simulated at a time")
    return Requests(arrivals, prompts, outputs)


def continuous(asked: Requests, cap: int, kv_tokens: int | None, step_s: tuple[float, float, float]) -> TokenTimes:
    """Requests join at every step while a slot and KV memory for prompt and output are free.

    step_s: fixed, per decoding sequence, per prompt token. Raises InvalidRequest for one that KV memory never holds.
    """
    return _run(_continuous, asked, cap, kv_tokens, step_s)


def static(asked: Requests, cap: int, kv_tokens: int | None, step_s: tuple[float, float, float]) -> TokenTimes:
    """Those that wait form a batch, which is held until its longest ends and returned as a whole."""
    return _run(_static, asked, cap, kv_tokens, step_s)


def _run(
    loop: object, asked: Requests, cap: int, kv_tokens: int | None, step_s: tuple[float, float, float]
) -> TokenTimes:
    needs = asked.prompt_tokens + asked.output_tokens
    if kv_tokens is not None and needs.max() > kv_tokens:
        raise InvalidRequest(f"a request of {needs.max():,} tokens is larger than the KV memory of {kv_tokens:,}")
    ttft, latency = np.empty(len(needs)), np.empty(len(needs))
    room = int(needs.sum()) if kv_tokens is None else kv_tokens
    end = compiled(loop)(  # type: ignore[arg-type]
        asked.arrivals_s, asked.prompt_tokens, asked.output_tokens, cap, room, *map(float, step_s), ttft, latency
    )
    return TokenTimes(ttft, latency, asked.output_tokens, float(end))


def _continuous(
    arrivals: np.ndarray,
    prompts: np.ndarray,
    outputs: np.ndarray,
    cap: int,
    room: int,
    fixed: float,
    per_sequence: float,
    per_prompt_token: float,
    ttft: np.ndarray,
    latency: np.ndarray,
) -> float:
    n, now, head, running, used = len(arrivals), 0.0, 0, 0, 0
    who, left = np.empty(cap, np.int64), np.empty(cap, np.int64)
    while head < n or running:
        if not running and arrivals[head] > now:
            now = arrivals[head]
        decoding, prefill = running, 0
        while head < n and arrivals[head] <= now and running < cap and used + prompts[head] + outputs[head] <= room:
            who[running], left[running] = head, outputs[head]
            used += prompts[head] + outputs[head]
            prefill += prompts[head]
            running += 1
            head += 1
        now += fixed + per_sequence * decoding + per_prompt_token * prefill
        kept = 0
        for k in range(running):
            request = who[k]
            if left[k] == outputs[request]:
                ttft[request] = now - arrivals[request]
            if left[k] == 1:
                latency[request] = now - arrivals[request]
                used -= prompts[request] + outputs[request]
            else:
                who[kept], left[kept] = request, left[k] - 1
                kept += 1
        running = kept
    return now


def _static(
    arrivals: np.ndarray,
    prompts: np.ndarray,
    outputs: np.ndarray,
    cap: int,
    room: int,
    fixed: float,
    per_sequence: float,
    per_prompt_token: float,
    ttft: np.ndarray,
    latency: np.ndarray,
) -> float:
    n, now, head = len(arrivals), 0.0, 0
    while head < n:
        now = max(now, arrivals[head])
        end, used, prefill, longest = head, 0, 0, 0
        while end < n and end - head < cap and arrivals[end] <= now and used + prompts[end] + outputs[end] <= room:
            used += prompts[end] + outputs[end]
            prefill += prompts[end]
            longest = max(longest, outputs[end])
            end += 1
        now += fixed + per_prompt_token * prefill
        for k in range(head, end):
            ttft[k] = now - arrivals[k]
        now += (longest - 1) * (fixed + per_sequence * (end - head))
        for k in range(head, end):
            latency[k] = now - arrivals[k]
        head = end
    return now
