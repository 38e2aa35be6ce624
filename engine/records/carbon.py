"""What an estimate of energy and carbon is made of; every input is the user's and printed beside the result."""

from __future__ import annotations

from pydantic import Field

from engine.records.base import Record
from engine.records.planning import Figures


class CarbonSettings(Figures):
    """A fleet, its power, and the grid it hangs on."""

    n_replicas: int = Field(1, ge=1, le=100_000)
    active_w: float = Field(gt=0, le=1e6, description="Power of a replica while it serves.")
    idle_w: float = Field(0.0, ge=0, le=1e6, description="Power of a replica that waits.")
    busy_ms: float = Field(gt=0, le=1e9, description="Time a request keeps a replica busy.")
    rate_per_s: float = Field(gt=0, le=1e9)
    pue: float = Field(1.2, ge=1, le=10, description="Power usage effectiveness of the building.")
    grams_per_kwh: float = Field(475.0, ge=0, le=5000, description="Of the grid; 475 is a world average.")


class CarbonPlan(Record):
    """Energy and carbon dioxide equivalents of a fleet. An estimate."""

    settings: CarbonSettings
    busy_fraction: float
    kwh_per_call: float = Field(description="Active and idle, with the building.")
    kwh_per_call_active: float
    grams_per_1k: float
    grams_per_1k_idle: float = Field(description="Part of it that waiting replicas take.")
    kg_per_month: float = Field(description="30 days of 24 hours.")
