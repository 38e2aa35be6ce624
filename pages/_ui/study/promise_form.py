"""Change a promise while nobody has measured anything by it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from engine.errors import WhetstoneError
from engine.records import Band, Goal, Promise, Study
from engine.records.checked import checked
from pages._ui import loaders
from pages._ui.parts import refusal
from pages._ui.words import GOALS, METRICS, drop_unit


def promise_form(study: Study) -> None:
    """Goal, band and certificates as fields; Save refuses once the promise is frozen."""
    goal, band = study.promise.goal, study.promise.band
    kinds = [kind for kind in GOALS if kind != "cost" or study.price_per_hour is not None]
    with (
        st.expander("Change the promise", icon=":material/edit:", key="st-promise-edit"),
        st.form("st-promise-form", border=False),
    ):
        with st.grid(2, min_column_width=150):
            kind = st.selectbox(
                "Goal",
                kinds,
                index=kinds.index(goal.kind) if goal.kind in kinds else 0,
                format_func=lambda key: GOALS[key],
                key="st-goal",
            )
            factor = st.number_input(
                "At least this many times better", 1.1, 1000.0, goal.factor, 0.5, format="%.1f", key="st-factor"
            )
            if band.metric is not None:
                unit, title = drop_unit(band), METRICS[band.metric]
                overall = st.number_input(
                    f"Lose at most, overall ({unit})", 0.0, 100.0, band.max_drop * 100, 0.1, format="%.2f",
                    key="st-drop", help=f"Of {title}, on all rows.",
                )  # fmt: skip
                each = st.number_input(
                    f"Lose at most, any slice ({unit})", 0.0, 100.0, band.slice_max_drop * 100, 0.1, format="%.2f",
                    key="st-slice-drop", disabled=not band.slices, help=f"Of {title}, in each slice.",
                )  # fmt: skip
                n_certificates = st.number_input(
                    "Certificates", 1, 20, band.n_certificates, key="st-certificates",
                    help="How many variants may be judged on the certification rows. The more, the stricter each is.",
                )  # fmt: skip
        said = st.form_submit_button("Save the promise", icon=":material/save:", key="st-promise-save")
    if not said:
        return
    terms = {}
    if band.metric is not None:
        terms = {"max_drop": overall / 100, "slice_max_drop": each / 100, "n_certificates": n_certificates}
    _save(study, {"kind": kind, "factor": factor}, terms)


def _save(study: Study, goal: dict[str, Any], terms: dict[str, Any]) -> None:
    try:
        band = checked(Band, **{**study.promise.band.model_dump(), **terms})
        loaders.ledger().update_promise(study.id, Promise(goal=checked(Goal, **goal), band=band))
    except WhetstoneError as error:
        refusal(error, "make a new study to promise something else.")
    else:
        st.toast("The promise is changed.", icon=":material/check:")
        st.rerun()
