"""The few variants that are looked at closely: which they are, and what only their whole records can tell."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages._ui import loaders
from pages._ui.compare import view
from pages._ui.compare.curves import curves_card
from pages._ui.compare.data import Compared
from pages._ui.compare.ladder import ladder_card
from pages._ui.compare.slices import slices_card
from pages._ui.compare.variants import Variant

MOST_OPTIONS, AT_FIRST = 100, 5


def closer(looked: Compared, shown: Sequence[Variant], best: Sequence[str], seen: loaders.Seen) -> None:
    """Choose up to ten; without a choice those that stand best are drawn."""
    finished = [one for one in shown if one.row.status == "succeeded" and not one.is_baseline]
    if not finished:
        return
    st.subheader("Up close", anchor=False)
    by_id = looked.by_id
    chosen = list(view.value("chosen"))
    names = {key: by_id[key].name for key in dict.fromkeys([*chosen, *options(finished, best)])}
    st.multiselect(
        "Variants", list(names), key=view.FIELDS["chosen"].key, max_selections=view.MOST_CHOSEN, on_change=view.touch,
        format_func=lambda key: str(names.get(key, key))[:60], label_visibility="collapsed",
        placeholder=f"Choose up to {view.MOST_CHOSEN} variants for slices, batch sizes and steps",
    )  # fmt: skip
    taken = [by_id[key] for key in (view.value("chosen") or at_first(finished, best))]
    if not view.value("chosen"):
        st.caption(f"Nothing is chosen, so {len(taken)} are shown: what stands best, then the first of the table.")
    slices_card(looked, taken, seen)
    curves_card(looked, taken, seen)
    ladder_card(looked, taken, seen)


def options(finished: Sequence[Variant], best: Sequence[str]) -> list[str]:
    """What can be chosen: all, or of very many those that stand best and the first of the table."""
    there = [one.id for one in finished]
    if len(there) <= MOST_OPTIONS:
        return there
    known = set(there)
    return list(dict.fromkeys([*(key for key in best if key in known), *there[:MOST_OPTIONS]]))


def at_first(finished: Sequence[Variant], best: Sequence[str]) -> list[str]:
    """Those that stand best, filled up from the table."""
    known = {one.id for one in finished}
    return list(dict.fromkeys([*(key for key in best if key in known), *(one.id for one in finished)]))[:AT_FIRST]
