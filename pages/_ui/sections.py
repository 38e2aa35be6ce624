"""Long pages: headings one can go to, the line that leads there, and parts that are drawn when they are opened."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import streamlit as st

from pages._ui.explanations import about


def slug(title: str) -> str:
    """'Where the time goes' -> where-the-time-goes."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def section(title: str, part: str | None = None) -> None:
    """The heading of a section; `part`: what explains it (explanations.SECTIONS)."""
    st.subheader(title, anchor=slug(title), help=about(part) if part else None)


def contents(titles: Sequence[str], *, key: str) -> None:
    """One line with a link to every section of the page."""
    with st.container(key=f"{key}-contents"):
        links = " · ".join(f"[{title}](#{slug(title)})" for title in titles)
        st.markdown(f":small[:gray[On this page:] {links}]")


def fold(label: str, draw: Callable[[], None], *, key: str, icon: str, expanded: bool = False) -> None:
    """A part that costs nothing while it is closed: `draw` is called when somebody opens it."""
    box = st.expander(label, expanded, icon=f":material/{icon}:", key=key, on_change="rerun")
    if box.open:
        with box:
            draw()
