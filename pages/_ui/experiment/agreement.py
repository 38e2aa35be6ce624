"""How the answers differ from the original's, and the figures of quality that carry no verdict."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from engine.records import METRICS, Agreement, Calibration, ClassFigure, FoundSlice, MetricFigure, QualityReport
from engine.reports import numbers
from pages._ui.explanations import about, legend
from pages._ui.parts import card_title, tone
from pages._ui.text import plain

BEFORE, AFTER = "Original", "This run"
CHANGED, DECISIONS = "Most likely class changed", "Label decisions changed"  # the second where a row has many labels
FIGURES = {
    CHANGED: "flip_fraction",
    "Rows with a changed label": "row_flip_fraction",
    "Right before, wrong now": "bad_flip_fraction",
    "Wrong before, right now": "good_flip_fraction",
    "Same top classes": "top_k_overlap",
    "Largest difference of an output": "max_abs_diff",
    "99% of rows differ by at most": "p99_abs_diff",
    "KL divergence, mean": "mean_kl_nats",
    "KL divergence, largest": "max_kl_nats",
    "Jensen–Shannon, mean": "mean_js_nats",
}


CLASS_FIGURES = {"Recall": "recall", "Precision": "precision", "F1": "f1"}
LABEL_FIGURES = CLASS_FIGURES | {"ROC AUC": "roc_auc", "Calibration error": "calibration_error"}
FOUND_FIGURES = {"Extra loss per row": "mean_loss", "Elsewhere": "mean_loss_elsewhere", "Confirmed": "harm_p"}


def agreement_cards(report: QualityReport) -> None:
    """Agreement beside the other metrics and the calibration, then found slices where they exist."""
    with st.grid(2, min_column_width=360):
        _agreement_card(report.agreement)
        if report.figures or report.calibration:
            _figures_card(report)
    if report.found:
        found_card(report.found)


def classes_table(found: Sequence[ClassFigure]) -> None:
    """Class by class, with what the heads mean."""
    st.table(classes(found), border="horizontal", hide_index=True, alt="Recall and precision by class")
    st.caption("Of the original → of this run; one figure where both have the same.")
    of_labels = any(one.roc_auc or one.calibration_error for one in found)
    legend(LABEL_FIGURES if of_labels else CLASS_FIGURES, key="ex-classes-legend")


def _agreement_card(found: Agreement) -> None:
    with st.container(border=True, height="stretch", key="ex-agreement", gap="small"):
        card_title("Agreement with the original", help=about("agreement"))
        if found.identical:
            st.markdown("**The answers are bit for bit those of the original.**")
            return
        st.table(agreement(found), border="horizontal", alt="Agreement with the original")
        legend(FIGURES, key="ex-agreement-legend")


def agreement(found: Agreement) -> dict[str, str]:
    """What is known, under names that need no textbook."""
    both = f"Same top {found.top_k}" if found.top_k else "Same top classes"
    rows = {
        DECISIONS if found.n_labels else CHANGED: numbers.percent(found.flip_fraction, 2),
        "Rows with a changed label": numbers.percent(found.row_flip_fraction, 2),
        "Right before, wrong now": _coloured(found.bad_flip_fraction, "worse"),
        "Wrong before, right now": _coloured(found.good_flip_fraction, "better"),
        both: numbers.percent(found.top_k_overlap, 2),
        "Largest difference of an output": _small(found.max_abs_diff),
        "99% of rows differ by at most": _small(found.p99_abs_diff),
        "KL divergence, mean": _nats(found.mean_kl_nats),
        "KL divergence, largest": _nats(found.max_kl_nats),
        "Jensen–Shannon, mean": _nats(found.mean_js_nats),
    }
    return {name: value for name, value in rows.items() if value != numbers.MISSING}


def _figures_card(report: QualityReport) -> None:
    with st.container(border=True, height="stretch", key="ex-figures", gap="small"):
        card_title("Other figures, without a verdict", help=about("other figures"))
        st.table(figures(report.figures, report.calibration), border="horizontal", hide_index=True, alt="Other metrics")
        if report.calibration:
            st.markdown(f":gray[{calibration_sentence(report.calibration)}]")


def figures(others: Sequence[MetricFigure], calibration: Calibration | None) -> pd.DataFrame:
    """Other metrics and both calibration errors, the original beside this run."""
    rows = []
    for one in others:
        title = METRICS[one.metric].title
        values = [numbers.quality(value, one.metric) for value in (one.baseline, one.candidate)]
        rows.append((title[0].upper() + title[1:], *values))
    if calibration is not None:
        for name, pair in (("equal width", calibration.equal_width), ("equal rows", calibration.equal_mass)):
            texts = [numbers.percent(value, 2) for value in pair]
            rows.append((f"Calibration error, {calibration.n_bins} bins of {name}", *texts))
    return pd.DataFrame(rows, columns=["", BEFORE, AFTER])


def calibration_sentence(found: Calibration) -> str:
    """Whether the calibration error changed by more than the noise."""
    change = found.change
    if change.low is None or change.high is None:
        return f"The calibration error changes by {numbers.points(change.value)}."
    span = numbers.between(numbers.signed(change.low * 100, 2), numbers.signed(change.high * 100, 2))
    if change.low <= 0 <= change.high:
        return f"The calibration error does not change beyond the noise ({span} points)."
    word = "rises" if change.value > 0 else "falls"
    return f"The calibration error {word} by {abs(change.value) * 100:.2f} points ({span})."


def classes(found: Sequence[ClassFigure]) -> pd.DataFrame:
    """Recall, precision and F1 of every class or label, both models in one cell; of labels their ROC AUC, too."""
    columns = {
        "Class": [plain(one.name, 60) for one in found],
        "Rows": [f"{one.n_rows:,}" for one in found],
        "Recall": [_pair(one.recall) for one in found],
        "Precision": [_pair(one.precision) for one in found],
        "F1": [_pair(one.f1) for one in found],
    }
    for head, field in (("ROC AUC", "roc_auc"), ("Calibration error", "calibration_error")):
        values = [getattr(one, field) for one in found]
        if any(value is not None for value in values):
            columns[head] = [numbers.MISSING if value is None else _pair(value) for value in values]
    return pd.DataFrame(columns)


def found_card(found: Sequence[FoundSlice]) -> None:
    """Slices nobody declared; exploratory, so nothing here is red."""
    with st.container(border=True, key="ex-found", gap="small"):
        card_title("Slices nobody declared", help=about("found slices"))
        st.table(
            pd.DataFrame(
                {
                    "Where": [
                        plain(" and ".join(f"{key} = {value}" for key, value in one.conditions.items()), 120)
                        for one in found
                    ],
                    "Rows": [f"{one.n_rows:,}" for one in found],
                    "Extra loss per row": [numbers.significant(one.mean_loss) for one in found],
                    "Elsewhere": [numbers.significant(one.mean_loss_elsewhere) for one in found],
                    "Confirmed": ["yes" if one.confirmed else ":gray[no: may be noise]" for one in found],
                }
            ),
            border="horizontal",
            hide_index=True,
            alt="Found slices",
        )
        st.caption("Found on one half of the rows and looked at again on the other. They change no verdict.")
        legend(FOUND_FIGURES, key="ex-found-legend")


def _pair(values: tuple[float | None, float | None]) -> str:
    before, after = (numbers.percent(value, 1) for value in values)
    return before if before == after else f"{before} → {after}"


def _coloured(share: float | None, kind: str) -> str:
    if share is None:
        return numbers.MISSING
    text = numbers.percent(share, 2)
    return tone(text, kind) if share else text  # type: ignore[arg-type]


def _small(value: float | None) -> str:
    if value is None:
        return numbers.MISSING
    return "0" if value == 0 else numbers.significant(value, 2) if value >= 1e-3 else f"{value:.1e}"


def _nats(value: float | None) -> str:
    return numbers.MISSING if value is None else f"{_small(value)}{numbers.SPACE}nats"
