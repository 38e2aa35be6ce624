"""The engine's sentences name the options of the command line; on the page they name what stands there."""

from __future__ import annotations

import re

_WORDS = (
    (re.compile(r" \(--(?:features|labels) [^)]*\)"), " under “Columns in the model's order”"),
    (re.compile(r": --features .*$"), " under “Columns in the model's order”"),
    (re.compile(r" \(--(?:label|group|task|classes|output|slices|label-separator)\b[^)]*\)"), ""),
)


def on_page(said: object) -> str:
    """The sentence without options of the command line."""
    text = str(said)
    for pattern, words in _WORDS:
        text = pattern.sub(words, text)
    return text
