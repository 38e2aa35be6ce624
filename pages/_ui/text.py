"""Text that people typed, shown as text: never as Markdown, HTML, a colour, an icon, a link or a formula."""

from __future__ import annotations

import html
import re

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")  # every ASCII punctuation mark: Markdown lets a backslash disarm each
_LATER = re.compile(r"(?<=:)(?=[\w/+-])|(?<=@)(?=\w)|(?i:(?<=www))(?=\.)")
_JOINER = "\u2060"  # invisible; icons, emoji and bare links are looked for after Markdown, where backslashes are gone
_WHITE = re.compile(r"\s+")


def plain(text: object, limit: int = 200) -> str:
    """The text for anything that reads Markdown (titles, labels, captions, `st.table`); one line, cut at `limit`."""
    line = shorten(_WHITE.sub(" ", str(text)).strip(), limit)
    return _PUNCTUATION.sub(r"\\\1", _LATER.sub(_JOINER, line))


def sentence(text: object, limit: int = 2000) -> str:
    """`plain`, with a capital at its beginning and a full stop at its end."""
    line = str(text).strip()
    line = line[:1].upper() + line[1:]
    return plain(line if line.endswith((".", "?", "!", ":", "…")) else line + ".", limit)


def for_chart(text: object, limit: int = 60) -> str:
    """The text for Plotly, which reads a small HTML and fills `%{…}`."""
    line = html.escape(shorten(_WHITE.sub(" ", str(text)).strip(), limit), quote=False)
    return line.replace("%{", "%" + _JOINER + "{")


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters, the last one an ellipsis when something was cut."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def both_ends(text: str, limit: int) -> str:
    """At most `limit` characters, cut in the middle: names of chains differ at their end."""
    if len(text) <= limit:
        return text
    head = (limit - 1) // 2
    return f"{text[:head].rstrip()}…{text[len(text) - (limit - 1 - head) :].lstrip()}"


def file_stem(text: object) -> str:
    """A name for a download: letters, digits, dash; never empty, never a path."""
    stem = re.sub(r"[^A-Za-z0-9]+", "-", str(text)).strip("-").lower()
    return stem[:60] or "whetstone"
