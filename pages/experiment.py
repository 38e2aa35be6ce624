"""Everything about one run: the answer first, then how it came about; what is heavy is drawn when it is opened."""

import streamlit as st

from engine.records import TERMINAL
from engine.reports.amdahl import of_request
from pages._ui import loaders
from pages._ui.certificate.certifying import certificate_of, certify_action
from pages._ui.experiment.body import run_sections
from pages._ui.experiment.head import failed_log, note, run_actions, run_head, what_failed
from pages._ui.experiment.tiles import run_tiles
from pages._ui.job_panel import live_jobs
from pages._ui.keys import experiment_or_stop
from pages._ui.request_line import request_share
from pages._ui.sections import contents, section
from pages._ui.standing import run_verdict

run = experiment_or_stop("Experiment")
seen = loaders.version()
study = loaders.study(run.spec.study_id, seen)
issued = certificate_of(loaders.certificates(study.id, seen), run)


def certify() -> None:
    """The button beside the verdict."""
    certify_action(study, run, key="ex")


run_head(study, run)
if run.status not in TERMINAL:
    with st.container(border=True, key="ex-live"):
        live_jobs(study.id, key="ex")
what_failed(run)
if run.status == "succeeded":
    rows = loaders.compare(study.id, study.workload.batch_size, seen)
    run_verdict(study, run, rows, issued, key="ex", actions=certify)
    row = next(row for row in rows if row.experiment == run.id)
    before = next((one for one in run.baselines if one.workload == study.workload), None)
    known = request_share(study, before.p50_ms.value if before else None, seen)
    if known and (whole := of_request(known, row.speedup)):
        st.caption(f"Within the request: {whole}. {known.sentence}.")
    run_tiles(study, run)
run_actions(study, run, issued)
failed_log(run)
note(run)
parts = run_sections(study, run)
contents([part.title for part in parts], key="ex")
for part in parts:
    section(part.title, part.part)
    part.draw()
