"""The runs of a study that ended last: what came out, or what failed, why, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from engine.records import TERMINAL, ExperimentSummary, Failure
from engine.reports import numbers
from engine.reports.amdahl import Share
from engine.reports.failures import Diagnosis, diagnose
from engine.reports.rows import CompareRow
from engine.settings import settings
from pages._ui import loaders
from pages._ui.gain import gain
from pages._ui.job_panel import retry_button
from pages._ui.parts import STATUS, md_badge
from pages._ui.text import plain
from pages._ui.variants import name_of
from pages._ui.words import REASONS

N_ENDED, N_LOG_LINES = 5, 60
WORDS = {"faster": "Faster", "slower": "Slower", "no difference": "No difference", "cannot tell": "Cannot tell"}


def ended_jobs(
    runs: Sequence[ExperimentSummary], rows: Sequence[CompareRow], whole: Share | None, *, key: str, n: int = N_ENDED
) -> None:
    """Newest first, each with its way on. whole: the model within the request, where that is known."""
    by_id = {row.experiment: row for row in rows}
    ended = [run for run in reversed(runs) if run.status in TERMINAL]
    for run in ended[:n]:
        _ended_row(run, by_id[run.id], whole, key)
    if len(ended) > n:
        query = {"study": runs[0].study_id}
        st.page_link("compare.py", label=f"All {len(ended):,} in Compare", query_params=query)


def _ended_row(run: ExperimentSummary, row: CompareRow, whole: Share | None, key: str) -> None:
    done = run.status == "succeeded"
    word = WORDS.get(row.speed_verdict or "") if done else None
    with st.container(key=f"{key}-job-{run.id}", gap="xxsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", wrap=False):
            badges = f"{md_badge(STATUS[run.status])} {md_badge(word) if word else ''}".rstrip()
            st.markdown(f"**{plain(name_of(run), 70)}** {badges}", width="stretch")
            if not done:
                retry_button(run, "Retry", key=key)
            st.page_link(
                "experiment.py",
                label="Open" if done else "Log",
                icon=":material/arrow_forward:" if done else ":material/description:",
                query_params={"id": run.id},
            )
        st.caption(outcome(row, whole) if done else _why(run))


def outcome(row: CompareRow, whole: Share | None) -> str:
    """'3.40× faster (1.06× for the whole request) and loses 0.40 points.'."""
    if row.is_baseline:
        return f"{numbers.latency(row.p50_ms)} a call; everything else is measured against it."
    return f"{gain(row, {}, whole=whole)}."


def _why(run: ExperimentSummary) -> str:
    if run.error is None:
        return "It ended without a reason."
    found = _diagnosis(run.id, run.error.model_dump_json(), settings().database_url)
    what = f"{REASONS[run.error.reason]}: {plain(run.error.message, 200)}"
    return f"{what}  \nLikely cause: {plain(found.cause, 200)}.  \n**Next:** {plain(found.todo, 200)}."


@st.cache_data(show_spinner=False, max_entries=128)
def _diagnosis(experiment_id: str, failure: str, url: str) -> Diagnosis:
    """The log of a run that has ended does not change any more."""
    lines = loaders.ledger().queue.log_tail(experiment_id, N_LOG_LINES)
    return diagnose(Failure.model_validate_json(failure), [line.line for line in lines])
