"""The untouched model in figures, and what was promised about it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import streamlit as st

from engine.quality.power import rows_for_band
from engine.quality.slices import n_min
from engine.records import METRICS as METRIC_FACTS
from engine.records import Band, Certificate, EvalSetInfo, Experiment, Interval, Measurement, Study
from engine.reports import numbers
from engine.reports.money import cost_per_1k
from pages._ui.certifying import certificate_link
from pages._ui.explanations import why
from pages._ui.flags import merged
from pages._ui.parts import badge, card_title, md_badge, tile, warn
from pages._ui.text import plain
from pages._ui.variants import recipe_name
from pages._ui.words import CERTIFIED, METRICS, cost_unit, drop_unit, goal_sentence, metric_name


def baseline_tiles(study: Study, run: Experiment) -> None:
    """The figures of the finished baseline at the primary batch."""
    measured = primary(run, study)
    if measured is None:
        return
    tiles = _tiles(study, run, measured)
    with st.grid(5 if len(tiles) > 8 else 4, min_column_width=128):
        for label, value, note, meaning in tiles:
            tile(label, value, note, meaning)
    warn(merged([measured]))


def _tiles(study: Study, run: Experiment, measured: Measurement) -> list[tuple[str, str, str, str]]:
    """(label, value, what stands below it, what it means)."""
    load = f"load {numbers.latency(measured.load_ms)}"
    per_call = f"batch {measured.workload.batch_size:,}"
    found = [
        ("p50 latency", numbers.latency(measured.p50_ms.value), _spread(measured.p50_ms), why("p50_ms")),
        ("p95 latency", _tail(measured.p95_ms), _spread(measured.p95_ms), why("p95_ms")),
        ("p99 latency", _tail(measured.p99_ms), _spread(measured.p99_ms), why("p99_ms")),
        ("First call", numbers.latency(measured.cold_start_ms), load, why("cold_start_ms")),
        ("Items per second", numbers.rate(measured.items_per_s).split(numbers.SPACE)[0], per_call, why("items_per_s")),
        ("Memory", numbers.size(measured.peak_bytes), "one process", why("peak_bytes")),
    ]
    if run.artefact:
        found.append(("Size", numbers.size(run.artefact.size_bytes), "on disk", why("size_bytes")))
    if (cost := cost_per_1k(study.price_per_hour, measured.items_per_s)) is not None:
        label, factor = cost_unit(cost)
        found.append((label, numbers.money(cost * factor, study.currency), "at full use", why("cost_per_1k")))
    if run.quality and run.quality.candidate is not None:
        value = numbers.quality(run.quality.candidate, run.quality.metric)
        found.append((metric_name(run.quality.metric), value, f"{run.quality.n_rows:,} rows", why("metric_value")))
    return found


def primary(run: Experiment, study: Study) -> Measurement | None:
    """The measurement at the study's own batch, else the first."""
    return next((m for m in run.measurements if m.workload == study.workload), next(iter(run.measurements), None))


def promise_card(study: Study, frozen: datetime | None, issued: Sequence[Certificate], info: EvalSetInfo) -> None:
    """Goal, band and confidence, whether they may still change, and what was certified by them."""
    band = study.promise.band

    def lock() -> None:
        badge("Promise set", f"Frozen {frozen:%d %b, %H:%M} UTC") if frozen else badge("Promise open", "Not frozen yet")

    with st.container(border=True, key="st-promise", height="stretch"):
        card_title("The promise", lock)
        unit = drop_unit(band)
        rows = {"Goal": f"**{goal_sentence(study.promise.goal)}**"}
        if band.metric is None:
            rows["Quality"] = "not judged: the data has no labels"
        else:
            rows["Overall"] = f"lose at most **{band.max_drop * 100:.2f} {unit}** of {METRICS[band.metric]}"
            if band.slices:
                rows["Each slice"] = f"lose at most **{band.slice_max_drop * 100:.2f} {unit}**"
                rows["Slices by"] = plain(", ".join(band.slices), 120)
        rows["Confidence"] = f"{1 - band.alpha:.0%}, same rows for both"
        rows["Asked"] = f"{study.workload.batch_size} per call, {study.workload.threads} thread" + (
            "s" if study.workload.threads > 1 else ""
        )
        if band.metric is not None:
            rows["Certificates"] = f"**{len(issued)} of {band.n_certificates}** used"
        st.table(rows, border="horizontal")
        for one in issued:
            _certificate_line(one)
        if band.metric is not None:
            st.caption(f":material/info: {plain(can_certify(band, info), 400)}")
        st.caption(
            f"Set by {plain(study.created_by, 40)} before any variant was scored. To change it, make a new study."
        )


def can_certify(band: Band, info: EvalSetInfo) -> str:
    """What the certification rows can and cannot show, at the share of doubt that one certificate may use."""
    n_rows = info.splits.get("certification", 0)
    if not n_rows:
        return "No rows are set aside for certification."
    text = f"{n_rows:,} rows are set aside for certification; nothing reads them before you certify."
    if band.relative or not METRIC_FACTS[band.metric or "accuracy"].fixed_scale or band.max_drop <= 0:
        return text
    alpha = band.alpha / band.n_certificates
    least, each = n_min(band.max_drop, alpha), n_min(band.slice_max_drop, alpha)
    if least is not None and n_rows < least:
        return f"{text} Too few for this band: {least:,} are the least."
    needed = rows_for_band(band.max_drop, alpha=alpha)
    slices = f" A slice needs {each:,} of its own." if each is not None and band.slices else ""
    return f"{text} {needed[0].upper()}{needed[1:]}.{slices}"


def _certificate_line(one: Certificate) -> None:
    _, word, label = CERTIFIED[one.quality.verdict]
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f"{md_badge(word, label)} {plain(recipe_name(one.recipe), 60)}")
        certificate_link(one)


def _tail(value: Interval | None) -> str:
    return numbers.latency(value.value) if value else "–"


def _spread(value: Interval | None) -> str:
    if value is None:
        return "too few calls"
    if value.low is None or value.high is None:
        return "no interval"
    return f"± {numbers.latency((value.high - value.low) / 2)}"
