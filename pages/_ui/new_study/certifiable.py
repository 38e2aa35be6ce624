"""What can these rows certify? Said before the promise is set, at the alpha at which a certificate is judged."""

from __future__ import annotations

import streamlit as st

from engine.quality.capability import coverage
from engine.records import Band
from engine.study import Bound
from pages._ui import loaders
from pages._ui.explanations import about
from pages._ui.new_study.enough_rows import chance_known, overall, parts_table, rarer_fraction
from pages._ui.new_study.match import census_of
from pages._ui.new_study.power_curve import power_curve
from pages._ui.new_study.state import Brought
from pages._ui.parts import card_title

CHANGED = {0.005: "0.5% (FP16)", 0.02: "2% (INT8)", 0.05: "5% (fewer trees, distilled)"}
KEY, USUAL = "pick-ns-changed", 0.02


def certifiable_card(state: Brought, bound: Bound, band: Band) -> None:
    """The answer in a sentence, then part by part, then the curve."""
    counted = census_of(bound)
    found = coverage(counted, band)
    with st.container(border=True, key="ns-certifiable"):
        card_title("What can these rows certify?", help=about("rows needed"))
        foreseen = chance_known(band, counted, USUAL)
        changed = _changed(state) if foreseen else USUAL
        for line in overall(found[0], band, counted, changed):
            st.markdown(line)
        parts_table(found[1:], band)
        if n_before := issued_on(bound.info.id, loaders.version()):
            were = "certificates were" if n_before > 1 else "certificate was"
            st.warning(
                f"{n_before} {were} issued on these certification rows by another study. Each new one says so; rows "
                "that nothing was certified on say more.",
                icon=":material/history:",
            )
        if foreseen and found[0].n_rows:
            box = st.expander(
                "How many rows for which band", icon=":material/show_chart:", key="ns-power-box", on_change="rerun"
            )
            if box.open:
                with box:
                    power_curve(band, found[0].n, rarer_fraction(counted), changed, key="ns-power")


@st.cache_data(show_spinner=False, max_entries=8)
def issued_on(eval_set_id: str, seen: loaders.Seen) -> int:
    """Certificates on the rows of this evaluation set, whichever study they are of."""
    return sum(one.eval_set_id == eval_set_id for one in loaders.ledger().certificates())


def _changed(state: Brought) -> float:
    if KEY not in st.session_state:
        kept = state.fields.get(KEY, USUAL)
        st.session_state[KEY] = kept if kept in CHANGED else USUAL
    chosen = st.segmented_control(
        "A variant changes about",
        list(CHANGED),
        required=True,
        format_func=CHANGED.__getitem__,
        key=KEY,
        help="The share of rows on which a variant is right where the original was wrong, or the other way round.",
    )
    state.fields[KEY] = chosen or USUAL
    return chosen or USUAL
