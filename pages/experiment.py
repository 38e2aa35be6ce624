"""Everything about one run: outcome, figures, quality, lineage, machine, log, files."""

import streamlit as st

from engine.records import TERMINAL
from pages._ui import loaders
from pages._ui.agreement import agreement_cards
from pages._ui.batch_curve import batch_section
from pages._ui.call_times import call_times
from pages._ui.certifying import certificate_of, certify_action
from pages._ui.details import environment_table, lineage, log_section, quality_section, timing_table
from pages._ui.explanations import about
from pages._ui.job_panel import live_jobs, retry_button
from pages._ui.keys import experiment_or_stop
from pages._ui.operators import operators_section
from pages._ui.parts import STATUS, badge, head, problem
from pages._ui.payload import artefact_download
from pages._ui.resources import resources_card, threads_card
from pages._ui.standing import run_verdict
from pages._ui.text import plain, sentence
from pages._ui.variants import name_of
from pages._ui.words import REASONS
from pages._ui.worst_rows import worst_rows

run = experiment_or_stop("Experiment")
study = loaders.study(run.spec.study_id, loaders.version())
head(
    plain(name_of(run)),
    context=f"{plain(study.name, 60)} · {run.created_at:%d %b %Y, %H:%M} UTC · {plain(run.created_by, 40)} · {run.id}",
)
with st.container(horizontal=True, vertical_alignment="center"):
    badge("Baseline" if run.is_baseline and run.status == "succeeded" else STATUS[run.status])
    st.page_link("study.py", label="Study", icon=":material/stairs:", query_params={"study": study.id})
    st.page_link("compare.py", label="Compare", icon=":material/compare_arrows:", query_params={"study": study.id})
    if run.retry_of:
        st.page_link("experiment.py", label="First try", icon=":material/history:", query_params={"id": run.retry_of})

if run.status not in TERMINAL:
    with st.container(border=True, key="ex-live"):
        live_jobs(study.id, key="ex")
if run.error:
    problem(f"**{REASONS[run.error.reason]}.** {sentence(run.error.message)}", "read the log below, then run it again.")
if run.status == "succeeded":
    rows = loaders.compare(study.id, study.workload.batch_size, loaders.version())
    issued = loaders.certificates(study.id, loaders.version())

    def certify() -> None:
        """The button beside the verdict."""
        certify_action(study, run, key="ex")

    run_verdict(study, run, rows, certificate_of(issued, run), key="ex", actions=certify)
    st.subheader("Time", anchor=False, help=about("time"))
    timing_table(run)
    call_times(study, run)
    batch_section(study, run)
    operators_section(run)
    with st.grid(2, min_column_width=360):
        resources_card(study, run)
        threads_card(study, run)
    quality_section(study, run)
    if run.quality and not run.is_baseline:
        agreement_cards(run.quality)
    worst_rows(study, run)
with st.container(horizontal=True, key="ex-actions"):
    if run.status in TERMINAL:
        retry_button(run, "Run again" if run.status == "succeeded" else "Retry", key="ex")
    artefact_download(run)
if run.chain:
    st.subheader("Lineage", anchor=False)
    lineage(study, run)
log_section(run)
environment_table(run)
