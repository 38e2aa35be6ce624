"""How much is measured: three presets, fixed before the run.

What a preset can tell apart is the half-width t(.975, P-1) * sd / sqrt(P) of the interval over P pairs. The spread
between the processes of a pair was 0.31 % of p50 when one small model was timed against itself on a shared two-core
machine (120 pairs, interleaved rounds, one pinned core); 1 % is a restless machine.
"""

from __future__ import annotations

from engine.records import Preset, Record


class TimingPlan(Record):
    """Everything a timing run decides in advance.

    n_rounds: of an arm in a pair; a model so slow that min_calls outlast round_s gets fewer, never below fewest_rounds.
    """

    name: str
    n_pairs: int
    n_rounds: int = 50
    fewest_rounds: int = 10
    round_s: float = 0.01
    min_calls: int = 3
    max_calls: int = 300
    warm_up_calls: int = 50
    warm_up_s: float = 1.0
    warm_up_limit_s: float = 5.0
    cell_s: float = 10.0
    resolves: str

    @property
    def later_warm_up_calls(self) -> int:
        """Warm-up calls of the second and later workloads of a process: only the new shape is cold there."""
        return min(10, self.warm_up_calls)

    @property
    def later_warm_up_s(self) -> float:
        """Warm-up time of the second and later workloads of a process."""
        return self.warm_up_s / 5


PRESETS: dict[Preset, TimingPlan] = {
    "quick": TimingPlan(
        name="quick",
        n_pairs=3,
        warm_up_s=0.5,
        warm_up_limit_s=2.0,
        cell_s=4.0,
        resolves="3 process pairs: p50 to about ±0.8 % on a steady machine and ±2.5 % on a restless one. "
        "p99 only where 170 calls take less than 4 s. For a first look.",
    ),
    "standard": TimingPlan(
        name="standard",
        n_pairs=10,
        resolves="10 process pairs: p50 to about ±0.2 % on a steady machine and ±0.7 % on a restless one. "
        "For a decision.",
    ),
    "strict": TimingPlan(
        name="strict",
        n_pairs=20,
        resolves="20 process pairs: p50 to about ±0.1 % on a steady machine and ±0.5 % on a restless one. "
        "For a close call, or for p99.",
    ),
}
