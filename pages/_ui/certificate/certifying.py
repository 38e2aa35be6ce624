"""The explicit act: Certify. Says what it reads and what it uses up, does it while one waits, and shows the outcome."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from engine.errors import WhetstoneError
from engine.jobs.certify import certify
from engine.records import Certificate, EvalSetInfo, Experiment, Study
from engine.settings import settings
from engine.workspace import Workspace
from pages._ui import loaders
from pages._ui.identity import current_user
from pages._ui.parts import refusal
from pages._ui.text import plain, sentence
from pages._ui.variants import name_of


def certify_action(study: Study, run: Experiment, *, key: str, primary: bool = False) -> None:
    """The button for a variant that was not certified yet, else the way to its certificate."""
    issued = loaders.certificates(study.id, loaders.version())
    known = certificate_of(issued, run)
    if known is not None:
        certificate_link(known)
        return
    reason = why_not(study, run, issued, loaders.eval_set(study.eval_set_id, loaders.version()))
    asked = st.button(
        "Certify",
        icon=":material/verified:",
        type="primary" if primary and reason is None else "secondary",
        disabled=reason is not None,
        help=reason or left_text(study, issued),
        key=f"{key}-certify",
    )
    if asked:
        _confirm(study, run, issued, key)


def certificate_of(issued: Sequence[Certificate], run: Experiment) -> Certificate | None:
    """The certificate of a run, if it has one."""
    return next((one for one in issued if one.experiment_id == run.id), None)


def certificate_link(known: Certificate) -> None:
    """The way to a certificate."""
    st.page_link("certificate.py", label="Certificate", icon=":material/verified:", query_params={"id": known.id})


def can_be_certified(run: Experiment) -> bool:
    """True where the button has a meaning at all: a finished variant that was judged."""
    return run.status == "succeeded" and not run.is_baseline and run.quality is not None


def why_not(study: Study, run: Experiment, issued: Sequence[Certificate], info: EvalSetInfo) -> str | None:
    """Why the button is disabled, in a sentence; None when it may be pressed."""
    limit = study.promise.band.n_certificates
    if study.promise.band.metric is None:
        return "This study has no labels, so there is nothing to certify: agreement and timing only."
    if not info.splits.get("certification"):
        return "No rows were set aside for certification. A new study with more rows can have some."
    if len(issued) >= limit:
        return (
            f"All {limit} certificates that this promise allows on these rows are used. "
            "Make a new study with rows that were not certified on."
        )
    return None


def left_text(study: Study, issued: Sequence[Certificate]) -> str:
    """How many of the certificates of this promise are left."""
    limit = study.promise.band.n_certificates
    return f"{limit - len(issued)} of {limit} certificates left on these rows."


@st.dialog("Certify this variant", icon=":material/verified:")
def _confirm(study: Study, run: Experiment, issued: Sequence[Certificate], key: str) -> None:
    n_rows = loaders.eval_set(study.eval_set_id, loaders.version()).splits["certification"]
    st.markdown(
        f"**{plain(name_of(run), 90)}** and the original will answer the **{n_rows:,} certification rows**, which no "
        "lever, no choice and no table has read. The promise made in advance decides."
    )
    st.markdown(
        f"{left_text(study, issued)} This uses one, whatever the verdict, and cannot be undone. It takes seconds, "
        "longer while something is being timed."
    )
    if st.button("Read the rows and certify", type="primary", icon=":material/verified:", key=f"{key}-certify-go"):
        issue_and_show(run)


def issue_and_show(run: Experiment) -> None:
    """Certify while the person waits, then go to the certificate; a refusal is said and uses nothing."""
    bar = st.progress(0.0, text="Starting")

    def tell(fraction: float, text: str) -> None:
        bar.progress(min(1.0, fraction), text=sentence(text, 120))

    try:
        made = certify(loaders.ledger(), Workspace(settings().home), run.id, current_user(), tell)
    except WhetstoneError as error:
        bar.empty()
        refusal(error, lead="Nothing was certified and no certificate was used. ")
        return
    st.switch_page("certificate.py", query_params={"id": made.id})
