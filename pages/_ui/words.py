"""Words for what the engine names by code: metrics, goals, levers, presets."""

from __future__ import annotations

import re

from engine.records import METRICS as FACTS
from engine.records import Band, Goal, Metric, Preset, QualityVerdict, Recipe
from pages._ui.parts import Kind

GOALS = {"p50": "Median latency (p50)", "p99": "Slowest calls (p99 latency)", "cost": "Cost per 1,000 predictions"}
METRICS = {name: facts.title for name, facts in FACTS.items()}
SMALLER_IS_BETTER = frozenset(name for name, facts in FACTS.items() if not facts.larger_is_better)
CERTIFIED: dict[QualityVerdict, tuple[Kind, str, str | None]] = {  # verdict -> bar, badge, its text where another
    "pass": ("pass", "Pass", "Certified"),
    "exact": ("pass", "Pass", "Certified: the same answers"),
    "fail": ("fail", "Fail", "Fail"),
    "not certified": ("open", "Not certified", "Not certified"),
    "too few rows": ("open", "Too few rows", "Not certified: too few rows"),
}
PRESETS: dict[Preset, str] = {
    "quick": "Quick: 3 process pairs",
    "standard": "Standard: 10 process pairs",
    "strict": "Strict: 20 process pairs",
}
_FACTOR = re.compile(r"(?<=\d)x\b")
REASONS = {
    "error": "It failed",
    "signal": "A library crashed",
    "timeout": "It took too long",
    "memory": "It ran out of memory",
    "cancelled": "Stopped",
    "interrupted": "The runner was stopped",
}


def metric_name(metric: Metric | None) -> str:
    """A metric as the head of a column or tile."""
    name = METRICS[metric] if metric else "Quality"
    return name[0].upper() + name[1:]


def drop_unit(band: Band) -> str:
    """What a drop is counted in on the screen."""
    return "% of the baseline" if band.relative else "points"


def with_times_sign(reason: str) -> str:
    """A reason as a screen writes it: '2.97× of the 3× goal' for the terminal's 2.97x."""
    return _FACTOR.sub("×", reason)


def cost_unit(baseline_per_1k: float) -> tuple[str, int]:
    """What a cost column is called, and what a cost per 1,000 is multiplied by: very small costs are per million."""
    return ("Cost per million", 1000) if baseline_per_1k < 0.01 else ("Cost per 1,000", 1)


def goal_sentence(goal: Goal) -> str:
    """'p50 latency at least 3× better'."""
    what = {"p50": "p50 latency", "p99": "p99 latency", "cost": "cost per 1,000"}[goal.kind]
    return f"{what} at least {goal.factor:g}× better"


def family(recipe: Recipe) -> str:
    """The kind of change that names a variant's mark: the last step that is no export, else the last."""
    families = [step.lever.split(".")[0] for step in recipe.steps]
    return next((name for name in reversed(families) if name != "export"), families[-1] if families else "runtime")
