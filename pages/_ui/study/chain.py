"""The chain of steps that is being put together, kept in the session; one per study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import streamlit as st

from engine.errors import WhetstoneError
from engine.plugin import Lever, levers
from engine.records import Choice, Experiment
from pages._ui import loaders
from pages._ui.text import plain
from pages._ui.variants import name_of

_UIDS = count(1)


@dataclass
class Item:
    """One step: which lever, what its form starts from, and what its widgets are keyed by."""

    lever: str
    given: dict[str, Any] = field(default_factory=dict)
    uid: int = field(default_factory=lambda: next(_UIDS))

    @property
    def cls(self) -> type[Lever]:
        """The lever."""
        return levers()[self.lever]


@dataclass
class Draft:
    """The steps, and what they were taken from; `runtime` is the one to begin with, where another run gave it."""

    steps: list[Item] = field(default_factory=list)
    runtime: Choice | None = None
    origin: str = ""  # safe
    uid: int = field(default_factory=lambda: next(_UIDS))

    def add(self, lever: str) -> None:
        """Put a lever at the end."""
        self.steps.append(Item(lever))

    def remove(self, position: int) -> None:
        """Take one step out; those after it stay."""
        del self.steps[position]

    def move(self, position: int, by: int) -> None:
        """Let a step change places with its neighbour."""
        self.steps.insert(position + by, self.steps.pop(position))

    def clear(self) -> None:
        """Start anew; the forms of the runtime, too."""
        self.steps, self.runtime, self.origin, self.uid = [], None, "", next(_UIDS)


def draft_of(study_id: str) -> Draft:
    """The draft of a study in this session. `?start=<experiment>` fills it once, then leaves the address."""
    draft: Draft = st.session_state.setdefault(f"st-draft-{study_id}", Draft())
    asked = st.query_params.get("start")
    if asked:
        del st.query_params["start"]
        _take(draft, asked, study_id)
    return draft


def _take(draft: Draft, experiment_id: str, study_id: str) -> None:
    try:
        run = loaders.experiment(experiment_id, loaders.version())
    except WhetstoneError:
        st.toast("No run has the id that the address names as a start.", icon=":material/error:")
        return
    if gone := _gone(run):
        st.toast(f"This release has no {plain(', '.join(gone), 120)}.", icon=":material/error:")
        return
    draft.clear()
    draft.steps = [Item(step.lever, dict(step.params)) for step in run.spec.recipe.steps]
    draft.runtime, draft.origin = run.spec.runtime, plain(name_of(run), 90)
    st.session_state["st-preset"] = run.spec.preset
    st.session_state[batches_key(study_id)] = sorted({one.batch_size for one in run.spec.workloads})
    st.session_state[threads_key(study_id)] = sorted({one.threads for one in run.spec.workloads})


def batches_key(study_id: str) -> str:
    """Key of the batch sizes that are picked."""
    return f"pick-st-batches-{study_id}"


def threads_key(study_id: str) -> str:
    """Key of the numbers of threads that are picked."""
    return f"pick-st-threads-{study_id}"


def _gone(run: Experiment) -> Sequence[str]:
    """Levers of a run that this release does not have any more."""
    return [step.lever for step in run.spec.recipe.steps if step.lever not in levers()]
