"""The few variants that are looked at closely: which they are, and what only their whole records can tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice

import streamlit as st

from pages._ui import loaders
from pages._ui.compare import view
from pages._ui.compare.curves import curves_card
from pages._ui.compare.data import Compared, finished
from pages._ui.compare.ladder import ladder_card
from pages._ui.compare.order import Filters
from pages._ui.compare.slices import slices_card
from pages._ui.compare.variants import Variant

MOST_OPTIONS, AT_FIRST = 100, 5
Card = Callable[[Compared, Sequence[Variant], loaders.Seen], bool]
FOLDS: dict[str, tuple[str, Card, str]] = {  # key -> title, what is drawn once it is open, and what if there is nothing
    "cm-fold-slices": ("Quality by slice and class", slices_card, "None of these was judged by slices or classes."),
    "cm-fold-curves": ("Time by batch size", curves_card, "None of these was timed at more than one batch size."),
    "cm-fold-ladder": ("What each step brought", ladder_card, "None of these has more than one step."),
}


def closer(looked: Compared, filters: Filters, best: Sequence[str], seen: loaders.Seen) -> None:
    """Choose up to ten; without a choice those that stand best are drawn. Figures are made for folds that are open."""
    there = finished(looked.study.id, looked.beside.batch, filters, seen)
    if not there:
        return
    st.subheader("Up close", anchor=False)
    by_id = looked.by_id
    chosen = list(view.value("chosen"))
    names = {key: by_id[key].name for key in dict.fromkeys([*chosen, *options(there, best)])}
    st.multiselect(
        "Variants", list(names), key=view.FIELDS["chosen"].key, max_selections=view.MOST_CHOSEN, on_change=_unfold,
        format_func=lambda key: str(names.get(key, key))[:60], label_visibility="collapsed",
        placeholder=f"Choose up to {view.MOST_CHOSEN} variants for slices, batch sizes and steps",
    )  # fmt: skip
    taken = [by_id[key] for key in (view.value("chosen") or at_first(there, best))]
    if not view.value("chosen"):
        st.caption(f"Nothing is chosen, so this is about {len(taken)}: what stands best, then the first of the table.")
    for key, (title, draw, nothing) in FOLDS.items():
        if key not in st.session_state:
            st.session_state[key] = bool(chosen)
        fold = st.expander(title, key=key, on_change="rerun", type="compact")
        if fold.open:
            with fold:
                if not draw(looked, taken, seen):
                    st.caption(nothing)


def _unfold() -> None:
    """Callback of the choice: who chooses wants to see."""
    view.touch()
    if view.value("chosen"):
        st.session_state.update(dict.fromkeys(FOLDS, True))


def options(there: Mapping[str, Variant], best: Sequence[str]) -> list[str]:
    """What can be chosen: all, or of very many those that stand best and the first of the table."""
    if len(there) <= MOST_OPTIONS:
        return list(there)
    return list(dict.fromkeys([*(key for key in best if key in there), *islice(there, MOST_OPTIONS)]))


def at_first(there: Mapping[str, Variant], best: Sequence[str]) -> list[str]:
    """Those that stand best, filled up from the table."""
    return list(dict.fromkeys([*(key for key in best if key in there), *islice(there, AT_FIRST)]))[:AT_FIRST]
