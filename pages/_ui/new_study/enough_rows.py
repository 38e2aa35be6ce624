"""In words: whether there are rows enough for the band, all together and slice by slice."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from engine.quality.capability import Coverage, certificate_alpha, part_name
from engine.quality.power import chance, rounded, rows_to_decide, smallest_band
from engine.quality.slices import CLASS_COLUMN, LABEL_COLUMN
from engine.records import Band, Census
from engine.reports import numbers
from pages._ui.parts import md_badge
from pages._ui.text import plain

MOST_PARTS = 10


def overall(whole: Coverage, band: Band, counted: Census, changed: float) -> list[str]:
    """What all certification rows together can show about the overall limit; safe Markdown."""
    if not whole.n_rows:
        return [f"{md_badge('Too few rows', 'No certification rows')} Variants can be compared, none can be certified."]
    if whole.needed is None:
        return [f"{md_badge('Too few rows', 'Identical answers only')} No number of rows shows that nothing is lost."]
    lines = [_verdict(whole, band, rarer_fraction(counted), changed)]
    smallest = _smallest(whole, band, rarer_fraction(counted), changed)
    if smallest is not None:
        lines.append(f"The smallest band that these rows certify four times out of five: **{smallest}**.")
    lines.append(f":gray[{_assumed(band, changed, known=chance_known(band, counted, changed))}]")
    return lines


def _verdict(whole: Coverage, band: Band, rarer: float, changed: float) -> str:
    assert band.metric is not None
    alpha, limit = certificate_alpha(band), numbers.loss_amount(band.max_drop, relative=band.relative)
    have = f"**{whole.n:,} {whole.unit}**"
    if not whole.covered:
        return (
            f"{md_badge('Too few rows')} {have} of the {whole.needed:,} that a band of {limit} needs at the least: "
            f"{whole.more:,} more are needed among the certification rows."
        )
    needed = rows_to_decide(band.metric, band.max_drop, alpha, changed=changed, rarer_fraction=rarer)
    odds = chance(band.metric, whole.n, band.max_drop, alpha, changed=changed, rarer_fraction=rarer)
    if needed is None or odds is None:
        return (
            f"{md_badge('Done', 'Can be judged')} {have}; at least {whole.needed:,} are needed for {limit}. How wide "
            "the bound will be depends on how the errors move: the first variants show it."
        )
    if whole.n < needed:
        return (
            f"{md_badge('Cannot tell', 'Only just')} {have} certify a band of {limit} in {numbers.percent(odds)} of "
            f"the cases; for four out of five you need about {rounded(needed):,}."
        )
    about = f"about {rounded(needed):,} decide four times out of five"
    return f"{md_badge('Done', 'Enough rows')} {have} for a band of {limit}: {about}."


def _smallest(whole: Coverage, band: Band, rarer: float, changed: float) -> str | None:
    assert band.metric is not None
    found = smallest_band(band.metric, whole.n, certificate_alpha(band), changed=changed, rarer_fraction=rarer)
    return None if found is None else numbers.loss_amount(found, relative=band.relative)


def _assumed(band: Band, changed: float, *, known: bool) -> str:
    alpha = f"at α = {certificate_alpha(band):.2g}"
    several = f"For each of {band.n_certificates} certificates, {alpha}"
    said = several if band.n_certificates > 1 else f"For one certificate, {alpha}"
    return said + (
        f"; where {numbers.percent(changed, 1)} of the answers change and nothing is lost." if known else "."
    )


def rarer_fraction(counted: Census) -> float:
    """Share of the rarer class among the certification rows; a half where there are not two classes."""
    whole = counted.whole
    return whole.n_rarer / whole.n_judged if whole.n_rarer is not None and whole.n_judged else 0.5


def chance_known(band: Band, counted: Census, changed: float) -> bool:
    """Something can be said about this metric beforehand."""
    assert band.metric is not None
    return chance(band.metric, 1000, 0.01, 0.05, changed=changed, rarer_fraction=rarer_fraction(counted)) is not None


def parts_table(found: Sequence[Coverage], band: Band) -> None:
    """Every slice and class that is judged: covered, or how many rows it lacks; those that lack rows first."""
    if not found:
        return
    short = [one for one in found if not one.covered]
    n_covered = len(found) - len(short)
    by_class = any(one.column in (CLASS_COLUMN, LABEL_COLUMN) for one in found)
    st.markdown(
        f"**Slices{' and classes' if by_class else ''}:** {n_covered:,} of {len(found):,} have rows enough for "
        f"{numbers.loss_amount(band.slice_max_drop, relative=band.relative)}."
    )
    rows = {_name(one): _line(one) for one in [*short, *(one for one in found if one.covered)][:MOST_PARTS]}
    st.table(rows, border="horizontal", alt="What each slice can certify")
    if len(found) > MOST_PARTS:
        left = len(found) - MOST_PARTS
        st.caption(f"and {left:,} more; those with too few rows come first.")
    if short:
        said = "keep everything from being certified" if band.require_all_slices else "are listed as not covered"
        st.caption(f":material/info: Slices with too few rows {said}.")


def _name(one: Coverage) -> str:
    return plain(part_name(one.column, one.value), 60)


def _line(one: Coverage) -> str:
    if one.covered:
        return f"{md_badge('Done', 'Covered')} {one.n:,} {one.unit}"
    if one.more is None:
        return f"{md_badge('Too few rows', 'Identical answers only')} {one.n:,} {one.unit}"
    return f"{md_badge('Too few rows')} {one.n:,} {one.unit}, needs {one.more:,} more"
