"""Running and waiting jobs of a study, live: one fragment, one query a second, and none when nothing runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

import streamlit as st

from engine.errors import WhetstoneError
from engine.jobs.submit import cancel, retry
from engine.records import TERMINAL, Experiment, JobState
from engine.reports import numbers
from pages._ui import loaders
from pages._ui.identity import current_user
from pages._ui.parts import STATUS, md_badge
from pages._ui.text import plain
from pages._ui.variants import name_of

POLL_S = 1.0
N_LIVE, N_ENDED = 8, 4
PHASES = {"waiting": "waiting for the machine", "build": "building", "score": "scoring", "time": "timing"}


def live_jobs(study_id: str | None, *, key: str) -> None:
    """All unfinished jobs (None: of every study) with progress and Stop. Draws nothing when none is left."""
    names = _names(loaders.active_jobs(study_id), with_study=study_id is None)

    @st.fragment(run_every=POLL_S if names else None, key=f"{key}-live")
    def panel() -> None:
        draw_live(study_id, names, key=key)

    panel()


def draw_live(study_id: str | None, names: Mapping[str, str], *, key: str) -> None:
    """What happens every second: one query, a row per job. A whole run follows when a job came or ended."""
    states = loaders.active_jobs(study_id)
    if {state.experiment_id for state in states} != names.keys():
        st.rerun()  # figures changed, and the timer must stop when nothing is left
    for state in states[:N_LIVE]:
        _live_row(state, names[state.experiment_id], key)
    if len(states) > N_LIVE:
        st.caption(f"{len(states) - N_LIVE} more wait behind these.")


def _names(states: Sequence[JobState], *, with_study: bool) -> dict[str, str]:
    """Experiment id -> what it is called, safe; read in whole runs only."""
    seen = loaders.version()
    runs = [loaders.experiment(state.experiment_id, seen) for state in states]
    names = {run.id: plain(name_of(run), 70) for run in runs}
    if with_study:
        for run in runs:
            names[run.id] = f"{plain(loaders.study(run.spec.study_id, seen).name, 50)} · {names[run.id]}"
    return names


def ended_jobs(runs: Sequence[Experiment], *, key: str, n: int = N_ENDED) -> None:
    """The runs that ended last, newest first, each with its way on."""
    ended = [run for run in reversed(runs) if run.status in TERMINAL]
    for run in ended[:n]:
        _ended_row(run, key)


def _live_row(state: JobState, name: str, key: str) -> None:
    with st.container(key=f"{key}-job-{state.experiment_id}", gap="xsmall"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown(f"**{name}** {md_badge(STATUS[state.status])}", width="stretch")
            st.button(
                "Stopping" if state.cancel_requested else "Stop",
                icon=":material/stop_circle:",
                type="tertiary",
                disabled=state.cancel_requested,
                key=f"{key}-stop-{state.experiment_id}",
                on_click=_stop,
                args=(state.experiment_id,),
            )
        if state.status == "running":
            st.progress(state.progress or 0.0, text=progress_text(state))
            if state.message:
                st.caption(plain(state.message, 120))
        else:
            st.caption("Waits for the runner.")


def progress_text(state: JobState, now: datetime | None = None) -> str:
    """'timing · 43 % · 12 s gone · about 16 s left'."""
    parts = [PHASES.get(state.phase or "", "starting")]
    if state.progress is not None:
        parts.append(f"{numbers.percent(state.progress)}")
    if state.started_at:
        gone_s = max(0.0, ((now or datetime.now(UTC)) - state.started_at).total_seconds())
        parts.append(f"{numbers.duration(gone_s)} gone")
        if state.progress and state.progress > 0.05:
            parts.append(f"about {numbers.duration(gone_s * (1 - state.progress) / state.progress)} left")
    return " · ".join(parts)


def _ended_row(run: Experiment, key: str) -> None:
    done = run.status == "succeeded"
    with st.container(horizontal=True, vertical_alignment="center", key=f"{key}-job-{run.id}"):
        with st.container(gap="xxsmall", width="stretch"):
            st.markdown(f"**{plain(name_of(run), 70)}** {md_badge(STATUS[run.status])}")
            if run.error:
                st.caption(plain(run.error.message, 200))
        if not done:
            retry_button(run, "Retry", key=key)
        st.page_link(
            "experiment.py",
            label="Open" if done else "Log",
            icon=":material/arrow_forward:" if done else ":material/description:",
            query_params={"id": run.id},
        )


def retry_button(run: Experiment, label: str, *, key: str) -> None:
    """Ask the same again, as a new run."""
    st.button(
        label,
        icon=":material/replay:",
        type="tertiary",
        key=f"{key}-retry-{run.id}",
        on_click=_retry,
        args=(run.id,),
    )


def _stop(experiment_id: str) -> None:
    _tell(lambda: cancel(loaders.ledger(), experiment_id), "It will stop in a moment.")


def _retry(experiment_id: str) -> None:
    _tell(lambda: retry(loaders.ledger(), experiment_id, current_user()), "Queued again.")


def _tell(work: Callable[[], object], done: str) -> None:
    try:
        work()
    except WhetstoneError as error:
        st.toast(plain(error, 300), icon=":material/error:")
    else:
        st.toast(done, icon=":material/check:")
