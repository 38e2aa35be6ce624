"""One study: where it stands, the original in figures, what was promised, what runs, and what can be tried next."""

import streamlit as st

from engine.records import ExperimentSummary
from pages._ui import loaders
from pages._ui.job_panel import live_jobs
from pages._ui.keys import study_or_stop
from pages._ui.new_study.model import FORMATS
from pages._ui.parts import card_title, head
from pages._ui.request_line import operators_card, request_card, request_share
from pages._ui.standing import study_verdict
from pages._ui.study.baseline import baseline_tiles, primary
from pages._ui.study.curves import curves_fold
from pages._ui.study.ended_jobs import ended_jobs
from pages._ui.study.promise_card import promise_card
from pages._ui.study.recipe_builder import recipe_builder
from pages._ui.text import plain

QUEUE_PX, ROW_PX = 430, 70  # a height of its own: what runs may come and go, and nothing below it moves

study = study_or_stop("Study")
seen = loaders.version()
manifest, model_name = loaders.model(study.model_id, seen)
info = loaders.eval_set(study.eval_set_id, seen)
runs = loaders.summaries(study.id, seen)
rows = loaders.compare(study.id, study.workload.batch_size, seen)
issued = loaders.certificates(study.id, seen)
lead = next((run for run in reversed(runs) if run.is_baseline and run.status == "succeeded"), None)
baseline = loaders.experiment(lead.id, seen) if lead else None
measured = primary(baseline, study) if baseline else None
model_ms = measured.p50_ms.value if measured else None
whole = request_share(study, model_ms, seen)

machine = loaders.machine()
head(
    plain(study.name),
    context=f"{plain(model_name, 60)} · {FORMATS.get(manifest.format, manifest.format)} · "
    f"{info.n_rows:,} evaluation rows · {plain(machine['processor'], 40)}, {machine['usable_cores']} cores",
)


def to_compare(best: ExperimentSummary | None) -> None:
    """The way to the table."""
    query = {"study": study.id}
    st.page_link("compare.py", label="Compare", icon=":material/compare_arrows:", query_params=query)


study_verdict(study, runs, issued, key="st", actions=to_compare, whole=whole)
st.subheader("Baseline", anchor=False)
baseline_tiles(study, baseline)
with st.grid(2, min_column_width=360):
    operators_card(baseline)
    request_card(study, model_ms, seen)
    promise_card(study, issued, info, seen)
    with st.container(border=True, key="st-queue", height="stretch"):
        card_title("Queue")
        with st.container(height=min(QUEUE_PX, ROW_PX * (len(runs) + 1) + 20), border=False, key="st-queue-rows"):
            live_jobs(study.id, key="st")
            ended_jobs(runs, rows, whole, key="st")
curves_fold(study, manifest)
st.subheader("Try something", anchor=False)
recipe_builder(study, manifest, runs)
