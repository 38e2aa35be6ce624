"""A short document as HTML, Markdown or plain text: headings, paragraphs and tables. Everything in it is text.

The HTML is one file without script, style sheet or picture from elsewhere, made to be printed on A4.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from engine.reports.export_table import CONTROL

STYLE = """
@page { size: A4; margin: 9mm 12mm; }
* { box-sizing: border-box; }
body { font: 8.25pt/1.27 "Source Sans 3", "Helvetica Neue", Arial, sans-serif; color: #14171a; background: #fff;
       max-width: 184mm; margin: 12mm auto; padding: 0 4mm; }
h1 { font-size: 15pt; margin: 0 0 1mm; } h2 { font-size: 9.5pt; margin: 2.2mm 0 0.3mm; }
p { margin: 0 0 0.8mm; } .note { color: #565d65; font-size: 7.5pt; }
.banner { border: 1px solid #dddad3; border-left: 5px solid #565d65; padding: 2mm 3.5mm; margin: 2mm 0 3mm; }
.good { border-left-color: #0b6e55; } .bad { border-left-color: #b3370e; } .open { border-left-color: #855400; }
.banner b { font-size: 11.5pt; }
.halves { display: grid; grid-template-columns: 1fr 1fr; column-gap: 7mm; }
.pairs th { width: 1%; padding-right: 4mm; }
table { border-collapse: collapse; width: 100%; margin: 0.5mm 0 1mm; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 0.25mm 2mm 0.25mm 0; border-bottom: 1px solid #ecebe7; vertical-align: top;
         overflow-wrap: anywhere; }
th { color: #565d65; font-weight: 600; white-space: nowrap; } tr { break-inside: avoid; } h2 { break-after: avoid; }
@media print { body { margin: 0; padding: 0; max-width: none; } }
"""


@dataclass(frozen=True)
class Table:
    """A header and rows of text. Without a header the first column names the second."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Section:
    """A heading, then paragraphs, then a table, then a note in small print. half: may stand beside the next one."""

    heading: str
    paragraphs: tuple[str, ...] = ()
    table: Table | None = None
    note: str | None = None
    half: bool = False


@dataclass(frozen=True)
class Document:
    """tone: good, bad or open, the colour beside the verdict."""

    title: str
    verdict: str
    lines: tuple[str, ...]
    tone: str
    sections: tuple[Section, ...]


def to_html(document: Document) -> bytes:
    """One self-contained page."""
    body = [
        f"<h1>{_escaped(document.title)}</h1>",
        f'<div class="banner {document.tone}"><b>{_escaped(document.verdict)}</b>',
        *(f"<p>{_escaped(line)}</p>" for line in document.lines),
        "</div>",
    ]
    for half, sections in groupby(document.sections, lambda section: section.half):
        parts = [part for section in sections for part in _html_section(section)]
        body += ['<div class="halves">', *parts, "</div>"] if half else parts
    head = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{_escaped(document.title)}</title>\n<style>{STYLE}</style></head>\n<body>\n"
    )
    return (head + "\n".join(body) + "\n</body></html>\n").encode()


def to_markdown(document: Document) -> bytes:
    """GitHub Markdown."""
    lines = [f"# {_marked(document.title)}", "", f"**{_marked(document.verdict)}**", ""]
    lines += [part for line in document.lines for part in (_marked(line), "")]
    for section in document.sections:
        lines += [f"## {_marked(section.heading)}", ""]
        lines += [part for text in section.paragraphs for part in (_marked(text), "")]
        if section.table:
            header = section.table.header or ("",) * len(section.table.rows[0])
            lines += [_line(header), _line(["---"] * len(header), plain=True)]
            lines += [_line(row) for row in section.table.rows]
            lines.append("")
        lines += [f"*{_marked(section.note)}*", ""] if section.note else []
    return ("\n".join(lines).rstrip() + "\n").encode()


def to_text(document: Document) -> bytes:
    """For a terminal."""
    lines = [printable(document.title), "", printable(document.verdict).upper()]
    lines += [f"  {printable(line)}" for line in document.lines]
    for section in document.sections:
        lines += ["", printable(section.heading)]
        lines += [f"  {printable(text)}" for text in section.paragraphs]
        if section.table:
            lines += _text_table(section.table)
        lines += [f"  {printable(section.note)}"] if section.note else []
    return ("\n".join(lines) + "\n").encode()


def printable(text: str) -> str:
    """One line without control characters."""
    return " ".join(CONTROL.sub(" ", text).split())


def _html_section(section: Section) -> list[str]:
    return [
        f"<section><h2>{_escaped(section.heading)}</h2>",
        *(f"<p>{_escaped(text)}</p>" for text in section.paragraphs),
        *(_html_table(section.table) if section.table else []),
        *([f'<p class="note">{_escaped(section.note)}</p>'] if section.note else []),
        "</section>",
    ]


def _html_table(table: Table) -> list[str]:
    rows = ["<table>" if table.header else '<table class="pairs">']
    if table.header:
        rows.append("<tr>" + "".join(f"<th>{_escaped(cell)}</th>" for cell in table.header) + "</tr>")
    for row in table.rows:
        cells = [f"<td>{_escaped(cell)}</td>" for cell in row]
        if not table.header:
            cells[0] = f"<th>{_escaped(row[0])}</th>"
        rows.append("<tr>" + "".join(cells) + "</tr>")
    return [*rows, "</table>"]


def _text_table(table: Table) -> list[str]:
    lines = [[printable(cell) for cell in row] for row in ([table.header] if table.header else []) + list(table.rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    return [
        ("  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))).rstrip()
        for line in lines
    ]


def _line(cells: Sequence[str], *, plain: bool = False) -> str:
    return "| " + " | ".join(cell if plain else _marked(cell) for cell in cells) + " |"


def _escaped(text: str) -> str:
    return html.escape(printable(text))


def _marked(text: str) -> str:
    return re.sub(r"([\\`*_\[\]|~$#])", r"\\\1", html.escape(printable(text), quote=False))
