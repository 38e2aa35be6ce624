"""The protocol against itself: the same model in both arms. What it still sees is this machine's noise floor.

The interval of such a run must hold 1 in 95 of 100 cases, and its half-width says what difference could be seen at
all. One model on one machine showed 0.22 % for p50 with ten pairs; each installation measures its own.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime

from pydantic import Field

from engine.measurement.presets import TimingPlan
from engine.measurement.protocol import Launch, Progress, measure
from engine.measurement.summary import comparisons
from engine.records import Comparison, Record, SpeedVerdict, Workload

PLAN = TimingPlan(
    name="self-test",
    n_pairs=10,
    n_rounds=30,
    warm_up_s=0.3,
    resolves="10 process pairs with a short warm-up, for one small model.",
)
WORKLOAD = Workload(batch_size=64)
QUANTILE_NAMES = {0.5: "p50", 0.95: "p95", 0.99: "p99", None: "mean"}


class NoiseFloor(Record):
    """What the protocol says of two equal models on one machine."""

    machine_id: str
    measured_at: datetime
    verdict: SpeedVerdict = Field(description="Of p50; faster or slower would be a false alarm.")
    ratio: float
    low: float
    high: float
    n_pairs: int
    half_widths: dict[str, float] = Field(
        description="p50, p95, p99, mean -> half of the 95 % interval as a fraction; 0.002 is ±0.2 %."
    )
    clocks: dict[str, str] = Field(description="p50, p95, p99, mean -> wall or cpu: what was compared.")

    @property
    def aa(self) -> dict[str, SpeedVerdict | float | int]:
        """The answer of `doctor --aa`."""
        names = ("verdict", "ratio", "low", "high", "n_pairs")
        return {name: getattr(self, name) for name in names}


def noise_floor(
    launch: Launch,
    machine_id: str,
    plan: TimingPlan = PLAN,
    progress: Progress = lambda fraction, text: None,
    *,
    seed: int = 0,
) -> NoiseFloor:
    """Time two arms that launch the same model, in fresh process pairs. With PLAN about a minute."""
    found = {one.quantile: one for one in comparisons(measure(launch, [WORKLOAD], plan, seed, progress))}
    p50 = found[0.5]
    return NoiseFloor(
        machine_id=machine_id,
        measured_at=datetime.now(UTC),
        verdict=p50.verdict,
        ratio=p50.ratio,
        low=p50.low,
        high=p50.high,
        n_pairs=p50.n_pairs,
        half_widths={QUANTILE_NAMES[q]: _half_width(one) for q, one in found.items()},
        clocks={QUANTILE_NAMES[q]: one.clock for q, one in found.items()},
    )


def _half_width(one: Comparison) -> float:
    return math.expm1(math.log(one.high / one.low) / 2)
