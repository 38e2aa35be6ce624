"""The beginning of the Experiment page: what the run is called, how it stands, what can be done with it, its note."""

from __future__ import annotations

import streamlit as st

from engine.records import TERMINAL, Certificate, Experiment, Study
from engine.reports.certificate import to_html
from engine.reports.failures import diagnose
from pages._ui import loaders
from pages._ui.experiment.log import log_tail
from pages._ui.experiment.payload import artefact_download
from pages._ui.job_panel import retry_button
from pages._ui.notes import note_form
from pages._ui.parts import STATUS, badge, card_title, head, problem
from pages._ui.text import file_stem, plain, sentence
from pages._ui.variants import name_of
from pages._ui.words import REASONS

N_LOG_LINES = 60  # in which the last word of a failed run is looked for


def run_head(study: Study, run: Experiment) -> None:
    """Name, study, when and who; then the state and the ways to what is around it."""
    when = f"{run.created_at:%d %b %Y, %H:%M} UTC"
    head(plain(name_of(run)), context=f"{plain(study.name, 60)} · {when} · {plain(run.created_by, 40)} · {run.id}")
    with st.container(horizontal=True, vertical_alignment="center"):
        badge("Baseline" if run.is_baseline and run.status == "succeeded" else STATUS[run.status])
        st.page_link("study.py", label="Study", icon=":material/stairs:", query_params={"study": study.id})
        st.page_link("compare.py", label="Compare", icon=":material/compare_arrows:", query_params={"study": study.id})
        if run.retry_of:
            st.page_link(
                "experiment.py", label="The try before", icon=":material/history:", query_params={"id": run.retry_of}
            )


def what_failed(run: Experiment) -> None:
    """What failed, the likely cause, the next step."""
    if run.error is None:
        return
    lines = [line.line for line in loaders.ledger().queue.log_tail(run.id, N_LOG_LINES)]
    found = diagnose(run.error, lines)
    what = f"**{REASONS[run.error.reason]}.** {sentence(run.error.message)}"
    problem(f"{what}  \n**Likely cause:** {plain(found.cause, 300)}.", f"{plain(found.todo, 300)}.")


def failed_log(run: Experiment) -> None:
    """The log of a run that did not succeed: what one reads next."""
    if run.error is not None:
        with st.container(border=True, key="ex-failed-log", gap="small"):
            card_title("Log")
            log_tail(run)


def run_actions(study: Study, run: Experiment, known: Certificate | None) -> None:
    """Do it again, go on from it, take it away."""
    if run.status not in TERMINAL:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="ex-actions"):
        retry_button(run, "Run again" if run.status == "succeeded" else "Retry", key="ex")
        if run.spec.recipe.steps:
            st.page_link(
                "study.py",
                label="Use as a start",
                icon=":material/alt_route:",
                query_params={"study": study.id, "start": run.id},
                help="Opens the recipe of this run on the page of its study, to change or to extend.",
            )
        artefact_download(run)
        st.download_button(
            "Record",
            data=lambda: run.model_dump_json(indent=1).encode(),
            file_name=f"{file_stem(name_of(run))}-{run.id}.json",
            mime="application/json",
            icon=":material/data_object:",
            key="ex-record",
            on_click="ignore",
            help="Everything on this page as JSON, except the single calls.",
        )
        if known is not None:
            st.download_button(
                "Certificate to print",
                data=lambda: to_html(known),
                file_name=f"certificate-{file_stem(study.name)}-{known.number}.html",
                mime="text/html",
                icon=":material/print:",
                key="ex-certificate",
                on_click="ignore",
                help="One HTML file for A4.",
            )


def note_label(run: Experiment) -> str:
    """'Note and tags', with what is written there already."""
    written = loaders.ledger().annotation(run.id)
    if written is None:
        return "Note and tags"
    parts = [f":gray-badge[{plain(tag, 30)}]" for tag in written.tags]
    if written.archived:
        parts.append(":gray-badge[archived]")
    if written.note:
        parts.append(f":gray[{plain(written.note, 80)}]")
    return " ".join(["Note and tags", *parts])


def note(run: Experiment) -> None:
    """Read it and change it where the run is looked at."""
    with st.expander(note_label(run), icon=":material/edit_note:", key="ex-note-box"):
        note_form(run.id, key="ex")
