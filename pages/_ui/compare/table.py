"""The comparison as a table of Markdown: value, interval, signed change; colour only beyond noise, and never alone."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from engine.reports import numbers
from pages._ui.compare.column import Call, Column
from pages._ui.compare.variants import Variant
from pages._ui.parts import Tone, md_badge, tone
from pages._ui.text import plain
from pages._ui.words import CERTIFIED, with_times_sign

NB = "\u00a0"  # keeps a short cell in one line
SHORT = 18  # letters, up to which a text is kept in one line
LONGEST_REASON = 120
TONES: dict[Call, Tone] = {"better": "better", "worse": "worse"}


def comparison(columns: Sequence[Column], variants: Sequence[Variant], *, intervals: bool = False) -> pd.DataFrame:
    """One row per variant, to draw with st.table."""
    table = {"Variant": [name_cell(one) for one in variants], "Result": [result_cell(one) for one in variants]}
    for column in columns:
        table[title_cell(column)] = cells(column, variants, intervals=intervals)
    return pd.DataFrame(table)


def side_by_side(columns: Sequence[Column], variants: Sequence[Variant], *, intervals: bool = False) -> pd.DataFrame:
    """The same turned round: one column per variant, for a few of them."""
    rows = comparison(columns, variants, intervals=intervals).drop(columns="Variant")
    return pd.DataFrame(
        {
            "Figure": list(rows),
            **{unbroken(one.name): list(row) for one, row in zip(variants, rows.to_numpy(), strict=True)},
        }
    )


def name_cell(one: Variant) -> str:
    """The name, which leads to the run."""
    link = f"[{unbroken(one.name)}](experiment?id={one.id})"
    name = f"**{link}**" if one.is_baseline else link
    return f"{name}  \n{md_badge('Archived')}" if one.archived else name


def unbroken(name: str) -> str:
    """A name that breaks between steps and before parameters only, however narrow its column gets."""
    text = plain(name, 90).replace(" ", NB)
    return text.replace(f"→{NB}", "→ ").replace(f"{NB}\\(", " \\(")


def title_cell(column: Column) -> str:
    """The head of a column; parameters carry names that other people chose."""
    return plain(column.title, 60).replace("Speed\\-up", "Speed\u2011up")


def result_cell(one: Variant) -> str:
    """The outcome, the certificate where there is one, and what is missing or went wrong."""
    badges = md_badge(one.outcome)
    if one.certificate is not None:
        _, word, label = CERTIFIED[one.certificate.quality.verdict]
        badges += f" {md_badge(word, label)}"
    reason = plain(with_times_sign(one.row.reason), LONGEST_REASON) if one.row.reason else ""
    return badges + (f"  \n:gray[{reason}]" if reason else "")


def cells(column: Column, variants: Sequence[Variant], *, intervals: bool = False) -> list[str]:
    """What a column says of each variant, up to three short lines."""
    values = [column.value(one) for one in variants]
    if any(isinstance(value, str) for value in values) or (column.places is None):
        heads = [_text(column.written(one)) for one in variants]
    else:
        unit = "" if column.symbol else column.unit
        heads = numbers.column(values, unit, places=column.places, symbol=column.symbol)  # type: ignore[arg-type]
    lines = []
    for one, head in zip(variants, heads, strict=True):
        more = [bounds_text(column, one) if intervals or column.always_bounds else "", moved_text(column, one)]
        lines.append("  \n".join([head, *filter(None, more)]) if head != numbers.MISSING else head)
    return lines


def bounds_text(column: Column, one: Variant) -> str:
    """'3.31 to 3.55', or 'at least 2.96' where there is one bound; in grey."""
    low, high = column.bounds(one) if column.bounds else (None, None)
    if low is None and high is None:
        return ""
    places = column.places if column.bounds_unit == column.unit else column.change_places
    texts = [
        None if bound is None else f"{bound:,.{places or 0}f}".replace("-", numbers.MINUS) for bound in (low, high)
    ]
    if texts[0] and texts[1]:
        text = numbers.between(texts[0], texts[1])
    else:
        name, bound = next(pair for pair in zip(column.bounds_names, texts, strict=True) if pair[1])
        text = f"{name} {bound}"
    return tone(text.replace(" ", NB), "same")


def moved_text(column: Column, one: Variant) -> str:
    """'▼ 79%' in colour, a grey word, or a grey signed number where nobody knows whether it is noise."""
    change, call = column.moved(one) if column.moved else (None, None)
    if call is None:
        return ""
    if call in ("better", "worse") and change is not None:
        arrow = numbers.UP if change > 0 else numbers.DOWN
        amount = f"{abs(change):,.{column.change_places}f}"
        text = f"{arrow}{numbers.SPACE}{amount}{_unit(column.change_unit)}"
    elif call == "open" and change is not None:
        text = f"{numbers.signed(change, column.change_places)}{_unit(column.change_unit)}"
    else:
        text = call
    return tone(text.replace(" ", NB), TONES.get(call, "same"))


def _unit(unit: str) -> str:
    return unit if unit in numbers.TIGHT else f"{numbers.SPACE}{unit}"


def _text(value: str) -> str:
    text = plain(value, 60)
    return text.replace(" ", NB) if len(text) <= SHORT else text
