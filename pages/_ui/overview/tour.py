"""The guided tour: five steps of a first study, which tick themselves. Put away once, it stays away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import streamlit as st

from engine.records import ExperimentSummary, Study
from pages._ui import loaders
from pages._ui.identity import current_user
from pages._ui.parts import card_title
from pages._ui.preferences import remember, remembered

T = TypeVar("T")
AUTOMATIC = "export.torch_to_onnx"  # the row that every torch study gets by itself
HIDDEN = "tour.hidden"


@dataclass(frozen=True)
class Stop:
    """One step: what to do, and the page where."""

    name: str
    title: str
    text: str
    page: str


STOPS = (
    Stop("studied", "Measure a model", "Run a sample, or bring your own. Its baseline is measured by itself.", ""),
    Stop("tried", "Try a lever", "Add a change to the recipe of the study, and queue it.", "study.py"),
    Stop("compared", "Compare", "See it beside the original: speed, quality, every slice.", "compare.py"),
    Stop("certified", "Certify", "Judge the one you would ship on rows that no choice has seen.", "compare.py"),
    Stop("exported", "Take it with you", "Download the table as it is shown, or the certificate.", "compare.py"),
)


def visited(name: str) -> None:
    """Tick the step that consists in looking at a page."""
    remember(f"tour.{name}", True)


def exporting(make: Callable[[], T]) -> Callable[[], T]:
    """`make` for a download button; the step `exported` is ticked when somebody downloads."""
    ledger, user = loaders.ledger(), current_user()  # the button works outside of the page's session

    def made() -> T:
        ledger.set_preference(user, "tour.exported", True)
        return make()

    return made


def ticked(seen: loaders.Seen, user: str) -> dict[str, bool]:
    """Step -> done, by what this person has in the history and has looked at."""
    looked = loaders.ledger().preferences(user)  # a download writes past the session
    done = {f"tour.{name}" for name in _did(seen, user)} | looked.keys()
    return {stop.name: f"tour.{stop.name}" in done for stop in STOPS}


@st.cache_resource(show_spinner=False, max_entries=16)
def _did(seen: loaders.Seen, user: str) -> frozenset[str]:
    """The steps that show in the history."""
    mine = [run for run in loaders.summaries(None, seen) if run.created_by == user]
    done = {
        "studied": any(run.is_baseline and run.status == "succeeded" for run in mine),
        "tried": any(_asked_for(run) for run in mine),
        "certified": any(one.created_by == user for one in loaders.certificates(None, seen)),
    }
    return frozenset(name for name, is_done in done.items() if is_done)


def tour(studies: Sequence[Study], seen: loaders.Seen) -> None:
    """The checklist, unless it was put away."""
    if remembered(HIDDEN, False):
        return
    user = current_user()
    done = ticked(seen, user)
    following = next((stop.name for stop in STOPS if not done[stop.name]), None)
    study = next((one for one in studies if one.created_by == user), studies[0] if studies else None)
    with st.container(border=True, key="ov-tour", gap="small"):
        card_title(f"First steps: {sum(done.values())} of {len(STOPS)}", _put_away)
        with st.grid(len(STOPS), min_column_width=150):
            for stop in STOPS:
                _step(stop, done[stop.name], study if stop.name == following else None)


def offer_tour() -> None:
    """The way to have the checklist back, where it was put away."""
    if remembered(HIDDEN, False):
        st.button(
            "Show the first steps", icon=":material/checklist:", type="tertiary", key="ov-tour-show",
            on_click=remember, args=(HIDDEN, False),
        )  # fmt: skip


def _step(stop: Stop, done: bool, study: Study | None) -> None:
    """study: where the step can be taken now; None: it is done, or not the next one."""
    with st.container(gap="xxsmall", key=f"ov-tour-{stop.name}"):
        icon = ":green[:material/check_circle:]" if done else ":gray[:material/radio_button_unchecked:]"
        st.markdown(f"{icon} **{stop.title}**" + (" :gray[done]" if done else ""))
        st.caption(stop.text)
        if study is not None and stop.page:
            st.page_link(stop.page, label="Go there", icon=":material/arrow_forward:", query_params={"study": study.id})


def _put_away() -> None:
    st.button(
        "Put away", icon=":material/close:", type="tertiary", key="ov-tour-hide", on_click=remember,
        args=(HIDDEN, True), help="It stays away until you ask for it at the end of this page.",
    )  # fmt: skip


def _asked_for(run: ExperimentSummary) -> bool:
    """True for what somebody queued, not for the rows that a study begins with."""
    steps = [step.lever for step in run.spec.recipe.steps]
    return bool(steps or run.comparisons) and not (steps == [AUTOMATIC] and run.spec.preset == "quick")
