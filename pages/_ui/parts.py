"""Building blocks of every page: heading, verdict strip, badge, tiles, empty and error states. Home of the words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

import streamlit as st

from pages._ui.text import sentence

# The only CSS of the product, on keys only: an outcome bar on the verdict strip, a dashed edge on what does not fit,
# and readable text on a selected pill (Streamlit paints it in the primary colour, unreadable on its tint in the dark).
CSS = """<style>
[class*="st-key-verdict-"]{border-left-width:5px!important}
[class*="st-key-verdict-pass"]{border-left-color:#1D8681!important}
[class*="st-key-verdict-fail"]{border-left-color:#D0512A!important}
[class*="st-key-verdict-open"]{border-left-color:#B7791F!important}
[class*="st-key-verdict-info"]{border-left-color:#3C85B2!important}
[class*="st-key-unfit-"]{border-style:dashed!important}
[class*="st-key-pick-"] [data-selected="true"]{color:inherit!important;font-weight:600}
</style>"""

# word -> (colour, icon). Nothing else may be shown for these states.
BADGE: dict[str, tuple[str, str]] = {
    "Pass": ("green", "check_circle"),
    "Fail": ("red", "cancel"),
    "Not certified": ("orange", "help"),
    "Too few rows": ("gray", "data_thresholding"),
    "Faster": ("green", "arrow_downward"),
    "Slower": ("red", "arrow_upward"),
    "No difference": ("gray", "equal"),
    "Cannot tell": ("orange", "question_mark"),
    "Likely faster": ("green", "trending_down"),
    "Worth a try": ("blue", "science"),
    "Likely slower": ("red", "trending_up"),
    "Queued": ("gray", "schedule"),
    "Running": ("blue", "progress_activity"),
    "Done": ("green", "check"),
    "Stopped": ("gray", "stop_circle"),
    "Failed": ("red", "error"),
    "Interrupted": ("orange", "power_off"),
    "Baseline": ("gray", "flag"),
    "Plain export": ("gray", "output"),
    "Does not fit": ("gray", "block"),
    "Answer": ("blue", "lightbulb"),
    "Promise set": ("blue", "lock"),
    "Promise open": ("gray", "lock_open"),
    "Meets the promise": ("green", "check_circle"),
    "Misses the promise": ("red", "cancel"),
    "Within band": ("green", "check_circle"),
    "Outside the band": ("red", "cancel"),
    "Not judged": ("gray", "remove"),
    "Archived": ("gray", "inventory_2"),
}
STATUS = {
    "queued": "Queued",
    "running": "Running",
    "succeeded": "Done",
    "failed": "Failed",
    "cancelled": "Stopped",
    "interrupted": "Interrupted",
}
Kind = Literal["pass", "fail", "open", "info"]
Tone = Literal["better", "worse", "same"]


def badge(word: str, text: str | None = None) -> None:
    """A badge alone in a row."""
    colour, icon = BADGE[word]
    st.badge(text or word, color=colour, icon=f":material/{icon}:")  # type: ignore[arg-type]


def md_badge(word: str, text: str | None = None) -> str:
    """A badge inside text or a table. `text` must already be safe Markdown."""
    colour, icon = BADGE[word]
    return f":{colour}-badge[:material/{icon}: {text or word}]"


def tone(text: str, kind: Tone) -> str:
    """Text coloured by whether it is good; arrow and words carry the meaning, the colour repeats it."""
    return f":{ {'better': 'green', 'worse': 'red', 'same': 'gray'}[kind] }[{text}]"


def head(title: str, sub: str | None = None, *, context: str | None = None) -> None:
    """Context (which study, rows, machine), title, one sentence. All must already be safe Markdown."""
    with st.container(gap="xxsmall"):
        if context:
            st.caption(context)
        st.title(title, anchor=False)
        if sub:
            st.markdown(sub)


def card_title(text: str, right: Callable[[], None] | None = None, *, help: str | None = None) -> None:
    """Heading row of a card, with a slot on the right; `help` says what is shown and how it is computed."""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.subheader(text, anchor=False, width="content", help=help)
        if right:
            right()


def verdict(
    kind: Kind,
    word: str,
    sentence: str,
    detail: str | None = None,
    *,
    key: str,
    actions: Callable[[], None] | None = None,
    label: str | None = None,
) -> None:
    """The answer first: badge, one sentence with the number, one line of reason, at most two buttons."""
    with (
        st.container(border=True, key=f"verdict-{kind}-{key}", gap="xsmall"),
        st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"),
    ):
        with st.container(gap="xsmall", width="stretch"):
            badge(word, label)
            st.subheader(sentence, anchor=False)
            if detail:
                st.markdown(detail)
        if actions:
            with st.container(horizontal=True, width="content", vertical_alignment="center"):
                actions()


def tile(label: str, value: str, note: str | None = None, meaning: str | None = None) -> None:
    """One figure of the baseline: a neutral pill below it instead of a delta; its meaning on hover."""
    st.metric(
        label, value, delta=note, delta_color="off", delta_arrow="off", border=True, help=meaning, height="stretch"
    )


def empty(icon: str, title: str, text: str, action: Callable[[], None], *, key: str) -> None:
    """Nothing is here yet: one sentence and what to do. When filters hide everything use `nothing_found`."""
    with st.container(border=True, key=f"empty-{key}", horizontal_alignment="center", gap="small"):
        st.space("small")
        st.markdown(f"### :material/{icon}: {title}", text_alignment="center", width="content")
        st.markdown(text, text_alignment="center", width=460)
        action()
        st.space("small")


def nothing_found(what: str, clear: Callable[[], None], *, key: str) -> None:
    """Filters hide everything: other words and another way out than `empty`."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"none-{key}"):
        st.markdown(f":gray[No {what} match these filters.]", width="content")
        st.button(
            "Clear filters", type="tertiary", icon=":material/filter_alt_off:", on_click=clear, key=f"{key}-clear"
        )


def warn(flags: Iterable[str]) -> None:
    """What may have disturbed the figures above, a quiet line each."""
    lines = [f":orange[:material/warning:] {sentence(flag, 240)}" for flag in dict.fromkeys(flags)]
    if lines:
        st.caption("  \n".join(lines))


def refusal(error: object, todo: str | None = None, *, lead: str = "") -> None:
    """One of our errors: its first line as a sentence, the lines after it (a snippet to copy) as code."""
    first, _, snippet = str(error).partition("\n")
    problem(f"{lead}{sentence(first)}", todo)
    if snippet.strip():
        st.code(snippet.strip(), language="python", wrap_lines=True)


def problem(what: str, todo: str | None = None) -> None:
    """One red box: what failed (safe Markdown), then what to do next."""
    st.error(what + (f"  \n**Next:** {todo}" if todo else ""), icon=":material/error:")
