"""What the certification rows of a study can show: the same figures as where the promise was made."""

from __future__ import annotations

import streamlit as st

from engine.errors import NotFound
from engine.quality.capability import coverage
from engine.records import Band, Census, EvalSetInfo, PartRows, Study
from engine.reports import numbers
from pages._ui.new_study.enough_rows import overall, parts_table
from pages._ui.new_study.match import counted
from pages._ui.parts import refusal
from pages._ui.sections import fold

USUAL = 0.02  # share of the answers that a variant changes: INT8


def rows_enough(study: Study, info: EvalSetInfo) -> None:
    """In a line, and part by part when somebody opens it."""
    band = study.promise.band
    if band.metric is None:
        return
    st.caption(f":material/info: {set_aside(band, info)}")
    if info.splits.get("certification"):
        fold("What can these rows certify?", lambda: _details(study), key="st-certifiable", icon="data_thresholding")


def set_aside(band: Band, info: EvalSetInfo) -> str:
    """How many rows wait for a certificate, and whether they are fewer than any certificate needs."""
    n_rows = info.splits.get("certification", 0)
    if not n_rows:
        return "No rows are set aside for certification."
    text = f"{n_rows:,} rows are set aside for certification; nothing reads them before you certify."
    whole, *_ = coverage(Census(whole=PartRows(rows=info.splits, n_judged=n_rows)), band)
    if whole.needed is None:
        return f"{text} With a limit of 0 only identical answers are certified."
    if whole.covered:
        return text
    limit = numbers.loss_amount(band.max_drop, relative=band.relative)
    return f"{text} Too few for a band of {limit}: {whole.needed:,} are the least."


def _details(study: Study) -> None:
    band = study.promise.band
    try:
        found = counted(study.eval_set_id, study.signature.model_dump_json())
    except NotFound as error:
        refusal(error, "bring the data again in a new study.")
        return
    whole, *parts = coverage(found, band)
    for line in overall(whole, band, found, USUAL):
        st.markdown(line)
    parts_table(parts, band)
