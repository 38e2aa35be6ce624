"""Step 3: what must hold, in advance. Starting freezes it."""

from __future__ import annotations

from typing import Final

import streamlit as st

from engine.errors import WhetstoneError
from engine.jobs.start import create_study
from engine.quality.capability import capability
from engine.records import EvalSetInfo, Goal, Study, Workload
from engine.study import StudyRequest, Terms, checked
from pages._ui import loaders
from pages._ui.identity import current_user
from pages._ui.parts import card_title, problem, refusal
from pages._ui.steps.data import choices
from pages._ui.steps.state import Brought, go_to, start_over
from pages._ui.text import plain
from pages._ui.words import GOALS, METRICS, drop_unit

KEEP: Final = "session"  # a value typed here survives a visit to another step


def promise_step(state: Brought) -> None:
    """Ask for goal, band and workload; create the study and start its baseline."""
    if state.study_id is not None:  # the other half of a double click made it
        _leave(state)
    if state.model is None or state.profile is None or state.checked is None:
        missing = "Data" if state.model else "Model"
        st.markdown("The promise is set once the model and the data are known to belong together.")
        st.button(
            f"Go to the {missing.lower()}",
            icon=":material/arrow_back:",
            key="ns-promise-missing",
            on_click=go_to,
            args=(missing,),
        )
        return
    with st.container(border=True, key="ns-promise-form"):
        card_title("What must hold?")
        name = st.text_input(
            "Name of the study",
            value=state.model_name.rsplit(".", 1)[0][:80],
            max_chars=200,
            key="ns-name",
            persist_state=KEEP,
        )
        fields = {**_band(state.checked[1], state.checked[2]), **_work(state)}
        st.caption(
            "The promise cannot be changed once the first measurement has started. To change it, make a new study."
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            go = st.button("Freeze the promise and measure", type="primary", icon=":material/lock:", key="ns-go")
            st.button("Back", key="ns-promise-back", on_click=go_to, args=("Data",))
    if go:
        _start(state, name, fields)


def _band(study: Study, info: EvalSetInfo) -> dict[str, object]:
    band = study.promise.band
    unit = drop_unit(band)
    with st.grid(2, min_column_width=200):
        kind = st.selectbox("Goal", list(GOALS), format_func=lambda key: GOALS[key], key="ns-goal", persist_state=KEEP)
        factor = st.number_input(
            "At least this many times better", 1.1, 1000.0, 3.0, 0.5, format="%.1f", key="ns-factor",
            persist_state=KEEP, help="Met when the whole 95 % interval of the speed-up lies above it.",
        )  # fmt: skip
        if band.metric is None:
            st.caption("No labels, so no quality can be lost on paper: agreement with the original and time are shown.")
            return {"goal": {"kind": kind, "factor": factor}}
        overall = st.number_input(
            f"Lose at most, overall ({unit})", 0.0, 100.0, 1.0, 0.1, format="%.2f", key="ns-drop", persist_state=KEEP,
            help=f"Of {METRICS[band.metric]}, on all rows.",
        )  # fmt: skip
        each = st.number_input(
            f"Lose at most, any slice ({unit})", 0.0, 100.0, 2.0, 0.1, format="%.2f", key="ns-slice-drop",
            persist_state=KEEP, disabled=not band.slices,
            help="A slice is all rows with one value in a slice column, for example one region.",
        )  # fmt: skip
        n_certificates = st.number_input(
            "Certificates", 1, 20, 3, key="ns-certificates", persist_state=KEEP,
            help="How many variants may be judged on the certification rows. The more, the stricter each is judged.",
        )  # fmt: skip
    judged = ", ".join(plain(column, 40) for column in band.slices) or "none; mark slice columns in the data step"
    st.caption(f"Judged by {METRICS[band.metric]}. Slices: {judged}.")
    if not band.relative:
        st.caption(f":material/info: {plain(capability(info.splits.get('certification', 0), overall / 100), 400)}.")
    return {
        "goal": {"kind": kind, "factor": factor},
        "max_drop": overall / 100,
        "slice_max_drop": each / 100,
        "n_certificates": n_certificates,
    }


def _work(state: Brought) -> dict[str, object]:
    fixed = state.model.signature.fixed_batch if state.model else None
    with st.grid(4, min_column_width=150):
        batch = st.number_input(
            "Items per call", 1, 65536, fixed or 1, key="ns-batch", persist_state=KEEP, disabled=bool(fixed),
            help="The batch size that the promise is about." + (f" This model takes {fixed} only." if fixed else ""),
        )  # fmt: skip
        threads = st.number_input(
            "Threads", 1, 256, 1, key="ns-threads", persist_state=KEEP, help="Cores that one serving process may use."
        )
        price = st.number_input(
            "Price of a replica-hour", 0.0, None, None, key="ns-price", persist_state=KEEP,
            placeholder="no price, no cost",
            help="What one serving process costs for an hour. Without it no cost is shown.",
        )  # fmt: skip
        currency = st.text_input("Currency", "USD", max_chars=8, key="ns-currency", persist_state=KEEP)
    return {"batch": batch, "threads": threads, "price": price or None, "currency": currency}


def _start(state: Brought, name: str, said: dict[str, object]) -> None:
    assert state.model is not None
    assert state.table_id is not None
    terms = {key: said[key] for key in ("max_drop", "slice_max_drop", "n_certificates") if key in said}
    try:
        request = checked(
            StudyRequest,
            name=name.strip(),
            model_id=state.model.id,
            table_id=state.table_id,
            train_table_id=state.train_table_id,
            choices=choices(state),
            terms=checked(Terms, goal=checked(Goal, **said["goal"]), **terms),  # type: ignore[arg-type]
            workload=checked(Workload, batch_size=said["batch"], threads=said["threads"]),
            price_per_hour=said["price"],
            currency=said["currency"],
            created_by=current_user(),
        )
        if request.terms.goal.kind == "cost" and request.price_per_hour is None:
            problem("**A goal in cost needs the price of a replica-hour.**", "fill it in, or choose another goal.")
            return
        with st.spinner("Storing the study and starting its baseline"):
            loaders.ledger().add_model(state.model, state.model_name)
            state.study_id = create_study(loaders.ledger(), request).id
    except WhetstoneError as error:
        refusal(error)
        return
    _leave(state)


def _leave(state: Brought) -> None:
    query = {"study": state.study_id or ""}
    start_over()
    st.switch_page("study.py", query_params=query)
