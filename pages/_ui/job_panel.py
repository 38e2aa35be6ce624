"""Running and waiting jobs, live: one fragment that asks the queue every second, less often when nothing runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from engine.errors import WhetstoneError
from engine.jobs.submit import cancel, retry
from engine.records import TERMINAL, Experiment, ExperimentSummary, JobState
from engine.reports import numbers
from pages._ui import loaders
from pages._ui.gain import gain
from pages._ui.identity import current_user
from pages._ui.job_words import ALONE, ordinal, progress_text, waits_for
from pages._ui.parts import STATUS, md_badge
from pages._ui.request_line import request_share
from pages._ui.text import plain, sentence
from pages._ui.variants import name_of

POLL_S, IDLE_POLL_S = 1.0, 5.0  # the second so that a run that somebody else started is seen here, too
N_LIVE, N_LOG_LINES = 8, 40
EMPTY_LINE = "\u00a0"  # keeps its height, so that nothing below moves when a line comes


def live_jobs(study_id: str | None, *, key: str) -> None:
    """All unfinished jobs (None: of every study) with progress, log and Stop. Says once when one of them ended."""
    seen = loaders.version()
    names = _names(loaders.active_jobs(study_id), seen, with_study=study_id is None)
    _announce(study_id, names, seen, key)

    @st.fragment(run_every=POLL_S if names else IDLE_POLL_S, key=f"{key}-live")
    def panel() -> None:
        draw_live(study_id, names, key=key)

    panel()


def draw_live(study_id: str | None, names: Mapping[str, str], *, key: str) -> None:
    """What happens every second: a look that all who watch share, a row per job.

    A whole run follows when a job came or ended.
    """
    states = loaders.watched_jobs(study_id)
    if {state.experiment_id for state in states} != names.keys():
        st.rerun()  # figures changed
    if not states:
        return
    everything = (
        loaders.watched_jobs(None) if study_id and any(state.status == "queued" for state in states) else states
    )
    waiting = [one.experiment_id for one in everything if one.status == "queued"]
    places = {experiment_id: place for place, experiment_id in enumerate(waiting, 1)}
    running = len(waiting) < len(everything)
    for state in states[:N_LIVE]:
        _live_row(state, names[state.experiment_id], key, places.get(state.experiment_id), running=running)
    if len(states) > N_LIVE:
        st.caption(f"{len(states) - N_LIVE} more wait behind these.")


def _names(states: Sequence[JobState], seen: loaders.Seen, *, with_study: bool) -> dict[str, str]:
    """Experiment id -> what it is called, safe; read in whole runs only."""
    runs = [loaders.experiment(state.experiment_id, seen) for state in states]
    names = {run.id: plain(name_of(run), 70) for run in runs}
    if with_study:
        for run in runs:
            names[run.id] = f"{plain(loaders.study(run.spec.study_id, seen).name, 50)} · {names[run.id]}"
    return names


def _announce(study_id: str | None, names: Mapping[str, str], seen: loaders.Seen, key: str) -> None:
    """A notification for each run that was going on when this session looked last, and has ended."""
    before: tuple[str | None, dict[str, str]] | None = st.session_state.get(f"{key}-watched")
    st.session_state[f"{key}-watched"] = (study_id, dict(names))
    if before is None or before[0] != study_id:
        return
    for experiment_id in before[1].keys() - names.keys():
        run = loaders.experiment(experiment_id, seen)
        if run.status in TERMINAL - {"cancelled"}:
            done = run.status == "succeeded"
            text = _outcome(run, seen) if done else sentence(run.error.message if run.error else run.status, 160)
            icon = ":material/check:" if done else ":material/error:"
            st.toast(f"**{before[1][experiment_id]}**  \n{text}", icon=icon, duration="long")


def _outcome(run: Experiment, seen: loaders.Seen) -> str:
    study = loaders.study(run.spec.study_id, seen)
    rows = loaders.compare(study.id, study.workload.batch_size, seen)
    row = next((row for row in rows if row.experiment == run.id), None)
    if row is None or row.is_baseline:
        return f"Measured: {numbers.latency(row.p50_ms)} a call." if row else "Done."
    original = next((row for row in rows if row.is_baseline), None)
    whole = request_share(study, original.p50_ms if original else None, seen)
    return f"{gain(row, {}, whole=whole)}."


def _live_row(state: JobState, name: str, key: str, place: int | None, *, running: bool) -> None:
    with st.container(key=f"{key}-job-{state.experiment_id}", gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", wrap=False):
            text = f"Queued, {ordinal(place)}" if place else None
            st.markdown(f"**{name}** {md_badge(STATUS[state.status], text)}", width="stretch")
            st.button(
                "Stopping" if state.cancel_requested else "Stop" if state.status == "running" else "Remove",
                icon=":material/stop_circle:",
                type="tertiary",
                disabled=state.cancel_requested,
                key=f"{key}-stop-{state.experiment_id}",
                on_click=_stop,
                args=(state.experiment_id,),
            )
        if state.status == "running":
            st.progress(state.progress or 0.0, text=progress_text(state))
            st.caption(ALONE if state.phase == "waiting" else _last_line(state))
            _log(state, key)
        else:
            st.caption(waits_for(place, running=running))


def _last_line(state: JobState) -> str:
    """What it says it is doing, else the last line it printed."""
    if state.message:
        return plain(state.message, 120)
    lines = loaders.ledger().queue.log_tail(state.experiment_id, 1)
    return plain(lines[-1].line, 120) if lines else EMPTY_LINE


def _log(state: JobState, key: str) -> None:
    """The end of the log, read only while somebody looks at it."""
    box = st.expander(
        "Log", icon=":material/description:", key=f"{key}-log-{state.experiment_id}", on_change="rerun", type="compact"
    )
    if box.open:
        lines = loaders.ledger().queue.log_tail(state.experiment_id, N_LOG_LINES)
        text = "\n".join(f"{line.written_at:%H:%M:%S}  {line.line}" for line in lines)
        box.code(text or "Nothing was printed yet.", language=None, height=180)


def retry_button(run: Experiment | ExperimentSummary, label: str, *, key: str) -> None:
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
        loaders.look_again()
    except WhetstoneError as error:
        st.toast(plain(error, 300), icon=":material/error:")
    else:
        st.toast(done, icon=":material/check:")
