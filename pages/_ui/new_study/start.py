"""The promise in plain words, and the button that freezes it."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from engine.errors import WhetstoneError
from engine.jobs.start import create_study
from engine.quality.capability import certificate_alpha
from engine.records import METRICS, Promise, Workload
from engine.reports import numbers
from engine.settings import settings
from engine.study import Bound, Terms
from pages._ui import loaders, uploads
from pages._ui.identity import current_user
from pages._ui.new_study import drafts
from pages._ui.new_study.classes import confirmed
from pages._ui.new_study.state import Brought, begin, go_to
from pages._ui.parts import card_title, refusal
from pages._ui.text import plain
from pages._ui.words import drop_unit

WHAT = {
    "p50": ("median latency", "shorter"),
    "p99": ("p99 latency, that of the slowest call in a hundred,", "shorter"),
    "cost": ("cost per 1,000 predictions at full use", "lower"),
}


@dataclass(frozen=True)
class Serving:
    """How the model is asked, on how many cores that are here, and what an hour of it costs."""

    workload: Workload
    price_per_hour: float | None
    currency: str
    cores: int


def freeze_card(state: Brought, bound: Bound, name: str, terms: Terms, made: Promise, serving: Serving) -> None:
    """What will hold, in words; what is missing; the button."""
    missing = _missing(name, made, serving)
    if missing is None and not confirmed(state, bound):
        missing = "Confirm in the data step which label belongs to which score first."
    with st.container(border=True, key="ns-freeze"):
        card_title("In plain words")
        for line in in_words(state, bound, made, serving):
            st.markdown(line)
        with st.container(horizontal=True, vertical_alignment="center"):
            go = st.button(
                "Freeze the promise and measure", type="primary", icon=":material/lock:", key="ns-go",
                disabled=missing is not None,
            )  # fmt: skip
            st.button("Back", key="ns-promise-back", on_click=go_to, args=("Data",))
            st.caption(missing or "The baseline starts at once; about a minute.", width="content")
    if go and missing is None:
        _start(state, bound, name, terms, serving)


def in_words(state: Brought, bound: Bound, made: Promise, serving: Serving) -> list[str]:
    """The promise as sentences; safe Markdown."""
    goal, band, work = made.goal, made.band, serving.workload
    what, better = WHAT[goal.kind]
    items = "item" if work.batch_size == 1 else "items"
    asked = f"{work.batch_size:,} {items} per call, {work.threads} thread{'s' if work.threads > 1 else ''}"
    lines = [
        f"A variant of **{plain(state.model_name, 60)}** keeps the promise when its {what} is **at least "
        f"{goal.factor:g}× {better}** than the original's, at {asked},"
    ]
    if band.metric is None:
        lines[0] = lines[0].rstrip(",") + "."
        lines.append("Quality is not judged: there are no labels. How far the answers move is shown.")
    else:
        unit, title = drop_unit(band), METRICS[band.metric].title
        tau = f" at τ = {band.tau:g}" if band.tau is not None else ""
        said = f"and it loses **at most {band.max_drop * 100:.2f} {unit}** of {title}{tau}"
        parts = [f"slice of {plain(', '.join(band.slices), 120)}"] if band.slices else []
        if METRICS[band.metric].class_wise or bound.signature.task == "multilabel":
            parts.append("class")
        if parts:
            said += f", and **at most {band.slice_max_drop * 100:.2f} {unit}** in each {' and each '.join(parts)}"
        lines[0] += f" {said}."
        held = bound.info.splits.get("certification", 0)
        n = band.n_certificates
        lines.append(
            f"Variants are compared on {bound.info.splits.get('selection', 0):,} selection rows. Up to **{n}** of them "
            f"may be certified on {held:,} rows that nothing reads before, "
            + (f"each at α = {certificate_alpha(band):.2g}, so that" if n > 1 else "so that")
            + f" a false certificate stays below {numbers.percent(band.alpha)}."
        )
    if serving.price_per_hour is not None:
        lines.append(f"One replica costs {numbers.money(serving.price_per_hour, serving.currency)} an hour.")
    lines.append(
        ":gray[:material/lock: Goal, band, metric and slices freeze when the baseline starts, before any variant is "
        "scored. The name may change later; to promise something else, start a new study from this one.]"
    )
    return lines


def _missing(name: str, made: Promise, serving: Serving) -> str | None:
    if not name:
        return "Give the study a name first."
    if made.goal.kind == "cost" and serving.price_per_hour is None:
        return "A goal in cost needs the price of a replica-hour first."
    if serving.workload.threads > serving.cores:
        return f"Ask for at most {serving.cores} threads first."
    if not serving.currency:
        return "Name the currency first."
    return None


def _start(state: Brought, bound: Bound, name: str, terms: Terms, serving: Serving) -> None:
    assert state.model is not None
    try:
        request = state.request(
            name=name,
            terms=terms,
            workload=serving.workload,
            price_per_hour=serving.price_per_hour,
            currency=serving.currency,
            created_by=current_user(),
        )
        with st.spinner("Storing the study and starting its baseline"):
            loaders.ledger().add_model(state.model, state.model_name)
            state.study_id = create_study(loaders.ledger(), request, bound).id
    except WhetstoneError as error:
        refusal(error)
        return
    leave(state)


def leave(state: Brought) -> None:
    """To the study that was made; nothing of the draft stays."""
    query = {"study": state.study_id or ""}
    drafts.forget(state.draft_id)
    if state.data_file:
        uploads.forget(state.data_file, settings().home)
    begin(Brought())
    st.switch_page("study.py", query_params=query)
