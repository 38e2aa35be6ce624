"""The fields of the cost plan; each is part of the address, so that a link shows the same plan."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from engine.planning.traffic import day_wave
from engine.records.checked import checked
from engine.records.planning import Demand, Reserve
from engine.reports.numbers import SYMBOLS

PEAK = 278.0
MOST = 1_000_000.0


@dataclass(frozen=True)
class Asked:
    """What the fields say."""

    demand: Demand
    reserve: Reserve
    currency: str
    p99_ms: float | None


def cost_form(currency: str) -> Asked:
    """Draw the fields. currency: that of the study. Raises InvalidRequest for values that cannot go together."""
    with st.grid(4, min_column_width=150, vertical_alignment="bottom"):
        peak = st.number_input("Peak, requests/s", 0.01, MOST, PEAK, 1.0, "%g", "pl-peak", bind="query-params")
        headroom = st.number_input("Headroom, %", 0, 1000, 30, key="pl-headroom", bind="query-params")
        fewest = st.number_input("Fewest replicas", 1, 1000, 2, key="pl-fewest", bind="query-params")
        known = list(SYMBOLS)
        options = known if currency in known else [currency, *known]
        chosen = st.selectbox("Currency", options, options.index(currency), key="pl-currency", bind="query-params")
        low = st.number_input(
            "Quietest hour, %", 0, 100, None, key="pl-low", bind="query-params", placeholder="flat",
            help="Of the peak: the day becomes one wave between this and the peak. Empty: the peak around the clock.",
        )  # fmt: skip
        hour = st.number_input("Busiest hour", 0, 23, 14, key="pl-hour", bind="query-params", disabled=low is None)
        p99_ms = st.number_input(
            "p99 limit, ms", 0.01, 1e6, None, 1.0, "%g", "pl-p99", bind="query-params", placeholder="none",
            help="Waiting and service together; says how many replicas keep it at the peak.",
        )  # fmt: skip
        spare = st.toggle(
            "Spare replica", key="pl-spare", bind="query-params", help="The peak still fits after one replica is lost."
        )  # fmt: skip
    day = () if low is None else day_wave(peak, low / 100, hour)
    return Asked(
        demand=checked(Demand, peak_per_s=peak, day_per_s=day),
        reserve=checked(Reserve, headroom=headroom / 100, min_replicas=fewest, spare=spare),
        currency=chosen,
        p99_ms=p99_ms,
    )
