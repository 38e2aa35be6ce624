"""What was promised: goal and band, whether it may still change, who keeps it, and what is left to certify."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import streamlit as st

from engine.records import Certificate, EvalSetInfo, ExperimentSummary, Study
from engine.reports.promise import standing
from pages._ui import loaders
from pages._ui.certificate.certifying import certificate_link
from pages._ui.explanations import about
from pages._ui.parts import badge, card_title, md_badge
from pages._ui.study.promise_form import promise_form
from pages._ui.study.rows_enough import rows_enough
from pages._ui.text import plain
from pages._ui.variants import name_of, recipe_name
from pages._ui.words import CERTIFIED, METRICS, drop_unit, goal_sentence


def promise_card(study: Study, issued: Sequence[Certificate], info: EvalSetInfo, seen: loaders.Seen) -> None:
    """The whole promise and how it stands."""
    frozen = loaders.frozen_at(study.id, seen)

    def lock() -> None:
        badge("Promise set", f"Frozen {frozen:%d %b, %H:%M} UTC") if frozen else badge("Promise open", "Not frozen yet")

    with st.container(border=True, key="st-promise", height="stretch"):
        card_title("The promise", lock, help=about("promise"))
        terms = _terms(study) | _state(study, issued, seen)
        st.table(terms, border="horizontal", alt="What was promised and how it stands")
        for one in issued:
            _certificate_line(one)
        rows_enough(study, info)
        if frozen is None:
            promise_form(study)
        _set_by(study, frozen, seen)


def _terms(study: Study) -> dict[str, str]:
    """What was asked for."""
    band, unit = study.promise.band, drop_unit(study.promise.band)
    rows = {"Goal": f"**{goal_sentence(study.promise.goal)}**"}
    if band.metric is None:
        rows["Quality"] = "not judged: the data has no labels"
    else:
        rows["Overall"] = f"lose at most **{band.max_drop * 100:.2f} {unit}** of {METRICS[band.metric]}"
        if band.slices:
            columns = plain(", ".join(band.slices), 120)
            rows["Each slice"] = f"lose at most **{band.slice_max_drop * 100:.2f} {unit}**, by {columns}"
    rows["Confidence"] = f"{1 - band.alpha:.0%}, same rows for both"
    threads = study.workload.threads
    rows["Asked"] = f"{study.workload.batch_size:,} per call, {threads} thread{'s' if threads > 1 else ''}"
    return rows


def _state(study: Study, issued: Sequence[Certificate], seen: loaders.Seen) -> dict[str, str]:
    """Who keeps it, and what is left of it."""
    keep = _keepers(study.id, seen)
    state = {"Kept by": "no variant yet"}
    if keep:  # one line whatever comes, so that the card keeps its height
        more = f" and {len(keep) - 1:,} more" if len(keep) > 1 else ""
        state["Kept by"] = f"[{plain(name_of(keep[-1]), 34)}](experiment?id={keep[-1].id}){more}"
    if study.promise.band.metric is not None:
        limit = study.promise.band.n_certificates
        state["Certificates"] = f"**{limit - len(issued)} of {limit}** left"
    return state


@st.cache_resource(show_spinner=False, max_entries=32)
def _keepers(study_id: str, seen: loaders.Seen) -> tuple[ExperimentSummary, ...]:
    """The runs that keep goal and band, oldest first."""
    study = loaders.study(study_id, seen)
    rows = loaders.compare(study_id, study.workload.batch_size, seen)
    keep = {row.experiment for row in rows if (found := standing(study, row)) and found.meets}
    return tuple(run for run in loaders.summaries(study_id, seen) if run.id in keep)


def _set_by(study: Study, frozen: datetime | None, seen: loaders.Seen) -> None:
    who = f"Set by {plain(study.created_by, 40)}"
    if frozen is None:
        st.caption(f"{who}. It freezes when the first measurement starts; until then it may change.")
        return
    digest = loaders.promise_hash(study.id, seen) or study.promise.fingerprint
    st.caption(
        f"{who} before any variant was scored; SHA-256 {digest[:12]}. To change it, start a new study from this one.",
        help="The digest of the promise when it froze; every certificate carries it.",
    )
    st.page_link(
        "new_study.py",
        label="New study from this one",
        icon=":material/content_copy:",
        query_params={"from": study.id},
    )


def _certificate_line(one: Certificate) -> None:
    _, word, label = CERTIFIED[one.quality.verdict]
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f"{md_badge(word, label)} {plain(recipe_name(one.recipe), 60)}")
        certificate_link(one)
