"""Where the time goes: within a call by operator, and within the whole request of which the model is a part."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from engine.errors import WhetstoneError
from engine.records import Experiment, Study
from engine.reports import numbers
from engine.reports.amdahl import Share, gain, share
from pages._ui import loaders
from pages._ui.explanations import about, why
from pages._ui.identity import current_user
from pages._ui.parts import card_title
from pages._ui.text import plain

N_OPERATORS = 4


def request_share(study: Study, model_ms: float | None, seen: loaders.Seen) -> Share | None:
    """The model within the request, as it is remembered with the study; None: nobody said how long a request takes."""
    return share(model_ms, _stored(study.id, seen))


def request_card(study: Study, model_ms: float | None, seen: loaders.Seen) -> None:
    """'The model is _ ms of a _ ms request', and what that means for everything below."""
    key, stored = f"st-request-{study.id}", _stored(study.id, seen)
    known = st.session_state.get(f"{key}-known", math.nan)
    if key not in st.session_state or known != stored:  # a visit begins, or somebody else said something else
        st.session_state[key] = st.session_state[f"{key}-known"] = stored
    with st.container(border=True, key="st-request", height="stretch"):
        card_title("The whole request", help=about("whole request"))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            shown = f"**{numbers.latency(model_ms)}**" if model_ms is not None else "a part, not measured yet,"
            st.markdown(f"The model is {shown} of a", width="content")
            st.number_input(
                "Time of the whole request in ms",
                0.001,
                1e7,
                key=key,
                value=None,
                format="%.4g",
                placeholder="25",
                label_visibility="collapsed",
                width=130,
                on_change=_remember,
                args=(study.id, key),
            )
            st.markdown("ms request.", width="content")
        _consequence(study, model_ms, stored)


def _consequence(study: Study, model_ms: float | None, request_ms: float | None) -> None:
    if request_ms is None:
        st.markdown(
            ":gray[Type how long a whole request takes at its median: features, network, the model and the rest. "
            "Then every speed-up here also says what it brings to the request.]"
        )
        return
    if model_ms is None:
        st.markdown(":gray[The share is known once the original is measured.]")
        return
    known = share(model_ms, request_ms)
    if known is None:
        st.markdown(
            f":orange[:material/warning: A request of {numbers.latency(request_ms)} cannot hold a call of "
            f"{numbers.latency(model_ms)}. Type the time of the whole request, or leave it empty.]"
        )
        return
    st.markdown(f"**{known.sentence}.**", help=why("request_ceiling"))
    factor = study.promise.goal.factor
    wish = f"A model {factor:g}× faster makes the request {gain(known.whole(factor))} faster"
    st.markdown(f"{wish}; {_rest(known)}")


def _rest(known: Share) -> str:
    """Where else to look, when it is not the model."""
    rest_ms = known.request_ms - known.model_ms
    if known.fraction >= 0.5:
        return f"the other {numbers.latency(rest_ms)} stay." if rest_ms > 0 else "there is nothing else."
    return f"**the other {numbers.latency(rest_ms)} hold more**: fetching features, network, pre- and post-processing."


def operators_card(run: Experiment | None) -> None:
    """The dearest operators of the original, and the way to all of them."""
    with st.container(border=True, key="st-operators", height="stretch"):
        card_title("Where the time goes", help=about("operators"))
        profile = run.operators if run else None
        if run is None or profile is None:
            st.markdown(":gray[Profiled once the original is measured.]")
            return
        if not profile.before:
            st.markdown(plain(profile.reading, 300))
        else:
            dear, rest = profile.before[:N_OPERATORS], profile.before[N_OPERATORS:]
            rows = [(plain(one.op, 60), one.share, one.total_ms) for one in dear]
            if rest:
                rows.append((f"{len(rest)} more", sum(one.share for one in rest), sum(one.total_ms for one in rest)))
            table = {
                "Operator": [name for name, _, _ in rows],
                "Share": [numbers.percent(part) for _, part, _ in rows],
                "Per call": [numbers.latency(ms) for _, _, ms in rows],
            }
            st.table(
                pd.DataFrame(table), border="horizontal", hide_index=True, alt="The dearest operators of the original"
            )
        st.space("stretch")
        st.page_link(
            "experiment.py",
            label="Everything about the original",
            icon=":material/arrow_forward:",
            query_params={"id": run.id},
        )


def _stored(study_id: str, seen: loaders.Seen) -> float | None:
    noted = loaders.study_annotation(study_id, seen)
    return noted.request_ms if noted else None


def _remember(study_id: str, key: str) -> None:
    """Keep what was typed with the study; empty takes it back."""
    typed = st.session_state[key]
    try:
        loaders.ledger().set_request_ms(study_id, typed, current_user())
    except WhetstoneError as error:
        st.toast(plain(error, 300), icon=":material/error:")
    else:
        st.session_state[f"{key}-known"] = typed
