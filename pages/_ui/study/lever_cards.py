"""The catalogue of levers as cards: what each does, when it helps and hurts, and what to expect of it here."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from engine.catalogue import Entry, catalogue
from engine.records import Manifest
from pages._ui import loaders
from pages._ui.new_study.model import FORMATS
from pages._ui.parts import badge, md_badge, nothing_found
from pages._ui.study.chain import Draft
from pages._ui.text import plain, sentence

GROUPS = {"export": "Export", "quantisation": "Quantise", "pruning": "Prune", "distillation": "Distil"}
NEAR, ALL = "For this model", "All"


def lever_cards(reached: Manifest, draft: Draft) -> None:
    """What can be added to a chain that has come as far as `reached`."""
    entries = catalogue(reached, loaders.machine())
    st.subheader("Levers", anchor=False)
    shown = _filtered(entries)
    if not shown:
        nothing_found("levers", _clear, key="st-levers")
        return
    with st.grid(3, min_column_width=236):
        for entry in shown:
            _fitting(entry, draft) if entry.fits else _unfit(entry)


def _filtered(entries: Sequence[Entry]) -> list[Entry]:
    groups = [group for group in GROUPS if any(entry.group == group for entry in entries)]
    options = [NEAR, ALL, *groups]
    st.session_state.setdefault("pick-st-levers", NEAR)
    chosen = st.pills(
        "Show", options, required=True, key="pick-st-levers", format_func=lambda one: GROUPS.get(one, one),
        label_visibility="collapsed",
    )  # fmt: skip
    if chosen == NEAR:  # what fits, and what would fit after one step
        return [one for one in entries if one.fits or one.bridge]
    return [one for one in entries if chosen in (ALL, None, one.group)]


def _clear() -> None:
    st.session_state["pick-st-levers"] = ALL


def _fitting(entry: Entry, draft: Draft) -> None:
    slug = entry.name.replace(".", "-")
    with st.container(border=True, height="stretch", key=f"lever-st-{slug}", gap="small"):
        st.markdown(f"**{entry.lever.title}**", help=_said(entry.story.more, 600) if entry.story.more else None)
        st.markdown(_said(entry.story.what, 300))
        if entry.prediction:
            st.markdown(f"{md_badge(entry.prediction.word)} {sentence(entry.prediction.reason, 300)}")
        _small(entry)
        st.space("stretch")
        st.button(
            "Add to the recipe", icon=":material/add:", key=f"st-add-{slug}", on_click=draft.add, args=(entry.name,)
        )


def _small(entry: Entry) -> None:
    """When it helps and hurts, and where it is from."""
    story = entry.story
    small = [_marked(text) for text in (story.helps, story.hurts) if text]
    if story.source:
        small.append(f"**Source** {_said(story.source, 300)}")
    if small:
        st.caption("\n\n".join(small))


def _marked(text: str) -> str:
    """The sentence with its first word, Helps or Hurts, in bold."""
    first, _, rest = text.partition(" ")
    return f"**{first}** {_said(rest, 500)}"


def _said(text: str, limit: int) -> str:
    """Words of a docstring; what it marks as code is said without the marks."""
    return plain(text.replace("`", ""), limit)


def _unfit(entry: Entry) -> None:
    slug = entry.name.replace(".", "-")
    with st.container(border=True, height="stretch", key=f"unfit-st-{slug}", gap="small"):
        st.markdown(f":gray[**{entry.lever.title}**]")
        badge("Does not fit")
        st.markdown(f":gray[{plain(readable(entry.reason or ''), 200)}]")
        if entry.bridge:
            st.markdown(f":gray[Add “{entry.bridge}” to the recipe first.]")
        st.caption(_said(entry.story.what, 300))


def readable(reason: str) -> str:
    """The reason of a misfit as a sentence, formats in the words of the screen."""
    for code, word in FORMATS.items():
        reason = reason.replace(code, word)
    return reason[:1].upper() + reason[1:] + "."
