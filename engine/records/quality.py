"""How good a candidate is beside the original, on the same rows in the same order."""

from __future__ import annotations

from pydantic import Field

from engine.records.base import Record
from engine.records.results import Interval
from engine.records.words import DisagreementKind, Metric, QualityVerdict, SplitName


class SliceQuality(Record):
    """The metric on one slice. Missing values carry a reason."""

    column: str
    value: str
    n_rows: int
    baseline: float | None
    candidate: float | None
    drop: float | None
    bound: float | None = Field(None, description="One-sided upper bound of the drop.")
    harm_p: float | None = Field(
        None, description="p of 'this slice got worse', corrected for the number of slices (Holm 1979)."
    )
    verdict: QualityVerdict
    reason: str | None = None


class Agreement(Record):
    """How far the candidate's outputs are from the original's, on the same rows; needs no label."""

    flip_fraction: float | None = Field(
        None, description="Rows whose most likely class changed; multilabel: decisions on one label that changed."
    )
    bad_flip_fraction: float | None = Field(
        None, description="Labelled rows (decisions) only the original answers rightly."
    )
    good_flip_fraction: float | None = Field(
        None, description="Labelled rows (decisions) only the candidate answers rightly."
    )
    row_flip_fraction: float | None = Field(None, description="Multilabel: rows with any decision that changed.")
    n_labels: int | None = Field(None, description="Multilabel: decisions per row.")
    max_abs_diff: float | None = Field(description="None where no row has a finite answer.")
    p99_abs_diff: float | None
    mean_kl_nats: float | None = None
    max_kl_nats: float | None = None
    mean_js_nats: float | None = Field(None, description="Jensen-Shannon divergence: symmetric, at most ln 2.")
    top_k: int | None = None
    top_k_overlap: float | None = Field(None, description="Share of the top k classes that both models name.")
    identical: bool


class MetricFigure(Record):
    """Another metric of the task, without a verdict."""

    metric: Metric
    baseline: float | None
    candidate: float | None


class ClassFigure(Record):
    """One class, by its true rows and by what each model calls it; None where nothing is there to divide by.

    Multilabel: one label; its rows are those that have it.
    """

    name: str
    n_rows: int
    recall: tuple[float | None, float | None] = Field(description="Baseline, candidate.")
    precision: tuple[float | None, float | None]
    f1: tuple[float | None, float | None]
    roc_auc: tuple[float | None, float | None] | None = Field(
        None, description="Multilabel: rows that have the label against those that do not."
    )
    calibration_error: tuple[float, float] | None = Field(
        None, description="Multilabel: of the label's probability, bins of equal width."
    )


class Calibration(Record):
    """Expected calibration error of the most likely class: |confidence - accuracy| over bins, weighted by rows.

    Multilabel: |probability - share of rows that have the label|, averaged over the labels.
    """

    n_bins: int
    equal_width: tuple[float, float] = Field(description="Baseline, candidate; bins of equal width.")
    equal_mass: tuple[float, float] = Field(description="The same with equally many rows per bin.")
    change: Interval = Field(description="Candidate - baseline, equal width, bootstrap over the same rows.")


class FoundSlice(Record):
    """A slice nobody declared, found on one half of the rows and looked at again on the other. Exploratory."""

    conditions: dict[str, str] = Field(description="Column -> value; all hold.")
    n_rows: int = Field(description="In the half that confirms.")
    mean_loss: float = Field(description="Mean extra loss per row in the slice, in the half that confirms.")
    mean_loss_elsewhere: float
    harm_p: float = Field(description="p of 'more is lost here than elsewhere', Holm over all found slices.")
    confirmed: bool


class Disagreement(Record):
    """One row to which the two models give different answers."""

    row: int = Field(description="In the evaluation file, counted from 1.")
    kind: DisagreementKind = Field(
        description="bad flip: only the original was right (of several labels: on more); other flip: neither or nobody "
        "knows; worse: the error grew."
    )
    label: str | None = None
    baseline: str = Field(description="Most likely class, every label that is given, or the value.")
    candidate: str
    baseline_score: float | None = Field(None, description="Probability of that class, or the value.")
    candidate_score: float | None = None
    difference: float | None = Field(description="Largest |difference| of one output; None without an answer.")
    kl_nats: float | None = None
    slices: dict[str, str] = Field(default_factory=dict)


class QualityReport(Record):
    """Quality of one candidate against the original."""

    split: SplitName
    metric: Metric | None
    relative: bool
    baseline: float | None
    candidate: float | None
    drop: float | None
    bound: float | None
    alpha: float | None = Field(None, description="Chance that `bound` is too low, as far as the method holds.")
    verdict: QualityVerdict
    reason: str | None = None
    slices: tuple[SliceQuality, ...] = ()
    agreement: Agreement
    n_rows: int
    n_groups: int | None = Field(None, description="Independent units, where a group column makes rows dependent.")
    figures: tuple[MetricFigure, ...] = ()
    classes: tuple[ClassFigure, ...] = ()
    calibration: Calibration | None = None
    found: tuple[FoundSlice, ...] = ()
    notes: tuple[str, ...] = ()
