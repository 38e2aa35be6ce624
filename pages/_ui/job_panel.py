"""Running and waiting jobs of a study, live: one fragment, one query a second, and none when nothing runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
N_ENDED = 4
PHASES = {"waiting": "waiting for the machine", "build": "building", "score": "scoring", "time": "timing"}


def live_jobs(study_id: str | None, *, key: str) -> None:
    """All unfinished jobs (None: of every study) with progress and Stop. Draws nothing when none is left."""
    started_with = _ids(loaders.active_jobs(study_id))

    @st.fragment(run_every=POLL_S if started_with else None, key=f"{key}-live")
    def panel() -> None:
        states = loaders.active_jobs(study_id)
        if _ids(states) != started_with:
            st.rerun()  # a whole run: figures changed, and the timer must stop when nothing is left
        for state in states:
            _live_row(state, key, with_study=study_id is None)

    panel()


def ended_jobs(runs: Sequence[Experiment], *, key: str, n: int = N_ENDED) -> None:
    """The runs that ended last, newest first, each with its way on."""
    ended = [run for run in reversed(runs) if run.status in TERMINAL]
    for run in ended[:n]:
        _ended_row(run, key)


def _ids(states: Sequence[JobState]) -> frozenset[str]:
    return frozenset(state.experiment_id for state in states)


def _live_row(state: JobState, key: str, *, with_study: bool) -> None:
    run = loaders.experiment(state.experiment_id, loaders.version())
    name = plain(name_of(run), 70)
    if with_study:
        name = f"{plain(loaders.study(run.spec.study_id, loaders.version()).name, 50)} · {name}"
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
        parts.append(f"{state.progress:.0%}")
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
