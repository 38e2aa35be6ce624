"""Energy and carbon of a fleet: power × time × building × grid. An estimate from what the user gives."""

from __future__ import annotations

from collections.abc import Mapping

from engine.errors import InvalidRequest
from engine.planning.cost import MONTH_H
from engine.records.carbon import CarbonPlan, CarbonSettings

J_PER_KWH = 3.6e6
# g CO2-eq per kWh by source, as CodeCarbon's methodology lists them
SOURCES = {
    "coal": 995.0,
    "petroleum": 816.0,
    "natural_gas": 743.0,
    "solar": 48.0,
    "geothermal": 38.0,
    "nuclear": 29.0,
    "hydroelectricity": 26.0,
    "wind": 26.0,
}


def mixed_grid(shares: Mapping[str, float]) -> float:
    """Grams per kWh of a grid from its sources' shares. Raises InvalidRequest unless they are known and sum to 1."""
    for name, share in shares.items():
        if name not in SOURCES or not 0 <= share <= 1:
            raise InvalidRequest(f"a grid is shares from 0 to 1 of {', '.join(SOURCES)}; got {name} = {share:g}")
    if abs(sum(shares.values()) - 1) > 1e-6:
        raise InvalidRequest(f"the shares of a grid sum to 1, these to {sum(shares.values()):g}")
    return sum(share * SOURCES[name] for name, share in shares.items())


def plan_carbon(settings: CarbonSettings) -> CarbonPlan:
    """Per call, per 1,000 and per month. Raises InvalidRequest when the traffic is more than the fleet can do."""
    busy_s = settings.busy_ms / 1000
    busy = settings.rate_per_s * busy_s / settings.n_replicas
    if busy > 1 + 1e-9:
        raise InvalidRequest(
            f"unstable: {settings.rate_per_s:,g}/s exceeds {settings.n_replicas / busy_s:,.0f}/s, what "
            f"{settings.n_replicas} replica{'s' if settings.n_replicas > 1 else ''} can do"
        )
    active = settings.active_w * busy_s * settings.pue / J_PER_KWH
    waiting_s = max(settings.n_replicas / settings.rate_per_s - busy_s, 0.0)  # replica-seconds per request
    idle = settings.idle_w * waiting_s * settings.pue / J_PER_KWH
    return CarbonPlan(
        settings=settings,
        busy_fraction=busy,
        kwh_per_call=active + idle,
        kwh_per_call_active=active,
        grams_per_1k=(active + idle) * settings.grams_per_kwh * 1000,
        grams_per_1k_idle=idle * settings.grams_per_kwh * 1000,
        kg_per_month=(active + idle) * settings.grams_per_kwh * settings.rate_per_s * 3600 * MONTH_H / 1000,
    )
