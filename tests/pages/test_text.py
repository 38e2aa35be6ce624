"""Typed text stays text wherever Markdown, HTML or Plotly would read it."""

import re

import pytest

from pages._ui.text import both_ends, file_stem, for_chart, plain, sentence

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[click](javascript:alert(1))",
    "![x](http://evil.example/x.png)",
    "**bold** _it_ `code` ~~gone~~",
    "# heading",
    "$\\frac{1}{2}$",
    "| a | b |",
    ":red[danger]",
    "1. list",
    "&lt;b&gt;",
    "line one\n\n- item",
    "https://evil.example",
    "WWW.evil.example me@evil.example",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_every_mark_is_disarmed_and_nothing_is_lost(text):
    shown = plain(text)
    assert not re.search(r"(?<!\\)(?:\\\\)*[!-/:-@\[\]-`{-~]", re.sub(r"\\[!-/:-@\[-`{-~]", "", shown))
    assert re.sub(r"\\(.)", r"\1", shown).replace("\u2060", "") == " ".join(text.split())


@pytest.mark.parametrize("text", ["see http://evil.example", "https://x.y", "WWW.evil.example", "me@evil.example"])
def test_bare_links_are_broken_up(text):
    shown = plain(text).replace("\\", "")  # what is left once Markdown was read; mdast then looks for these:
    assert not re.search(r"https?://|www(?=\.)|(?<=[\w.])@(?=[\w.])", shown, re.IGNORECASE)


@pytest.mark.parametrize("text", [":red[danger]", ":material/home:", ":smile:", ":streamlit:", ":red-badge[x]"])
def test_streamlit_directives_are_broken_up(text):
    shown = plain(text).replace("\\", "")
    assert not re.search(r":[\w/+-]", shown)


def test_long_text_is_cut_with_an_ellipsis():
    assert plain("a" * 300, limit=10) == "a" * 9 + "…"


@pytest.mark.parametrize("text", ["<b>x</b>", "<a href='http://evil.example'>x</a>", "%{customdata}"])
def test_charts_get_no_markup(text):
    shown = for_chart(text)
    assert "<" not in shown
    assert "%{" not in shown


@pytest.mark.parametrize(
    ("text", "stem"), [("../../etc/passwd", "etc-passwd"), ("=cmd|' /C", "cmd-c"), ("💥", "whetstone")]
)
def test_download_names_are_never_paths(text, stem):
    assert file_stem(text) == stem


def test_a_message_is_shown_as_a_sentence():
    assert sentence("the file is empty: 0 bytes") == "The file is empty\\: 0 bytes\\."
    assert sentence("Is it so?") == "Is it so\\?"


@pytest.mark.parametrize(
    ("text", "limit", "cut"),
    [("short", 9, "short"), ("Fewer trees 0.3 → ONNX", 12, "Fewer…→ ONNX"), ("abcdef", 4, "a…ef"), ("abc", 3, "abc")],
)
def test_a_name_is_cut_in_the_middle(text, limit, cut):
    assert both_ends(text, limit) == cut
