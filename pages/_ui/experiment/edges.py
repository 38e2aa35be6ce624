"""What converted or compiled trees answer at the rows where two readings of a tree may part."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from engine.plugin import levers, runtimes
from engine.records import Conformance
from engine.reports import conformance
from pages._ui.explanations import about, legend
from pages._ui.parts import card_title, md_badge
from pages._ui.text import plain

FIGURES = {"Rows": "edge_rows", "Differ": "edge_differ", "By at most": "edge_largest"}


def edges_card(found: Sequence[Conformance]) -> None:
    """A row per conversion and for the runtime."""
    with st.container(border=True, key="ex-edges", gap="small"):
        card_title("Trees at their edges", help=about("edges"))
        st.markdown(plain(conformance.edges_line(found), 400))
        st.table(edges(found), border="horizontal", hide_index=True, alt="Rows at the edges of the trees")
        legend(FIGURES, key="ex-edges-legend")


def edges(found: Sequence[Conformance]) -> pd.DataFrame:
    """What was asked, of how many rows, and how many differ, by how much and where."""
    rows = [
        {
            "Step or runtime": plain(_title(one.what), 60),
            "Promises": "the same bits" if one.exact else "single precision",
            "Rows": conformance.checked(one),
            "Differ": md_badge("Pass", "None") if not one.n_differ else f"**{one.n_differ:,}**",
            "By at most": conformance.largest(one),
            "Where most": plain(conformance.where(one) or "–", 100),
        }
        for one in found
    ]
    return pd.DataFrame(rows)


def _title(name: str) -> str:
    """The title of a lever or runtime; its name where this release has it no more."""
    plugin = levers().get(name) or runtimes().get(name)
    return plugin.title if plugin else name
