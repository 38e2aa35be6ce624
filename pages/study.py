"""One study: where it stands, its baseline, its promise, what runs, and what can be tried next."""

import streamlit as st

from engine.records import Experiment
from pages._ui import loaders
from pages._ui.baseline import baseline_tiles, promise_card
from pages._ui.job_panel import ended_jobs, live_jobs
from pages._ui.keys import study_or_stop
from pages._ui.parts import card_title, head
from pages._ui.recipe_builder import recipe_builder
from pages._ui.standing import study_verdict
from pages._ui.steps.model import FORMATS
from pages._ui.text import plain

study = study_or_stop("Study")
seen = loaders.version()
manifest, model_name = loaders.model(study.model_id, seen)
info = loaders.eval_set(study.eval_set_id, seen)
runs = loaders.experiments(study.id, seen)
issued = loaders.certificates(study.id, seen)
baseline = next((run for run in reversed(runs) if run.is_baseline and run.status == "succeeded"), None)

machine = loaders.machine()
head(
    plain(study.name),
    context=f"{plain(model_name, 60)} · {FORMATS.get(manifest.format, manifest.format)} · "
    f"{info.n_rows:,} evaluation rows · {plain(machine['processor'], 40)}, {machine['usable_cores']} cores",
)


def to_compare(best: Experiment | None) -> None:
    """The way to the table."""
    query = {"study": study.id}
    st.page_link("compare.py", label="Compare", icon=":material/compare_arrows:", query_params=query)


study_verdict(study, runs, issued, key="st", actions=to_compare)
if baseline:
    st.subheader("Baseline", anchor=False)
    baseline_tiles(study, baseline)
grid = st.grid(2, min_column_width=360)
with grid:
    promise_card(study, loaders.frozen_at(study.id, seen), issued, info)
    with st.container(border=True, key="st-queue", height="stretch"):
        card_title("Queue")
        live_jobs(study.id, key="st")
        ended_jobs(runs, key="st")
st.subheader("Try something", anchor=False)
recipe_builder(study, manifest, runs)
