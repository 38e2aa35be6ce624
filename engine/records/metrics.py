"""What is known of every metric. The formulas stand in `engine/quality/metrics.py` under the same names."""

from __future__ import annotations

from pydantic import Field

from engine.records.base import Record
from engine.records.words import Metric, Task

TANGO = "Tango's score bound (1998)"
DELONG = "DeLong's bound (1988)"
DELONG_LABELS = "DeLong's bound (1988), the labels of a row taken together"
TANGO_LABELS = "Tango's score bound (1998) at the effective number of decisions (Rao and Scott 1992)"
BOOTSTRAP = "percentile bootstrap of rows, stratified by class, 2,000 resamples"
MEAN = "BCa bootstrap of the paired means below 5,000 rows, t bound from there on"
QUERIES = "BCa bootstrap over queries below 5,000 queries, t bound from there on"


class MetricFacts(Record):
    """How a metric is named, which way it points, and how its loss is bounded."""

    title: str
    tasks: tuple[Task, ...] = Field(description="Tasks it can judge.")
    larger_is_better: bool
    fixed_scale: bool = Field(description="It lies in 0..1 and a drop is a difference; else a share of the baseline.")
    bound: str = Field(description="How the bound of the drop is found; with a group column groups are the units.")
    needs_label: bool = True
    class_wise: bool = Field(False, description="It can be judged on the rows of one class.")


METRICS: dict[Metric, MetricFacts] = {
    "roc_auc": MetricFacts(title="ROC AUC", tasks=("binary",), larger_is_better=True, fixed_scale=True, bound=DELONG),
    "macro_roc_auc": MetricFacts(
        title="macro ROC AUC", tasks=("multilabel",), larger_is_better=True, fixed_scale=True, bound=DELONG_LABELS
    ),
    "pr_auc": MetricFacts(title="PR AUC", tasks=("binary",), larger_is_better=True, fixed_scale=True, bound=BOOTSTRAP),
    "f1": MetricFacts(title="F1", tasks=("binary",), larger_is_better=True, fixed_scale=True, bound=BOOTSTRAP),
    "macro_f1": MetricFacts(
        title="macro F1",
        tasks=("multiclass", "multilabel"),
        larger_is_better=True,
        fixed_scale=True,
        bound=BOOTSTRAP,
    ),
    "micro_f1": MetricFacts(
        title="micro F1", tasks=("multilabel",), larger_is_better=True, fixed_scale=True, bound=BOOTSTRAP
    ),
    "accuracy": MetricFacts(
        title="accuracy",
        tasks=("binary", "multiclass"),
        larger_is_better=True,
        fixed_scale=True,
        bound=TANGO,
        class_wise=True,
    ),
    "subset_accuracy": MetricFacts(
        title="subset accuracy", tasks=("multilabel",), larger_is_better=True, fixed_scale=True, bound=TANGO
    ),
    "hamming_loss": MetricFacts(
        title="Hamming loss", tasks=("multilabel",), larger_is_better=False, fixed_scale=True, bound=TANGO_LABELS
    ),
    "log_loss": MetricFacts(
        title="log-loss",
        tasks=("binary", "multiclass", "multilabel"),
        larger_is_better=False,
        fixed_scale=False,
        bound=MEAN,
        class_wise=True,
    ),
    "brier": MetricFacts(
        title="Brier score",
        tasks=("binary", "multilabel"),
        larger_is_better=False,
        fixed_scale=False,
        bound=MEAN,
        class_wise=True,
    ),
    "rmse": MetricFacts(title="RMSE", tasks=("regression",), larger_is_better=False, fixed_scale=False, bound=MEAN),
    "mae": MetricFacts(
        title="mean absolute error", tasks=("regression",), larger_is_better=False, fixed_scale=False, bound=MEAN
    ),
    "pinball": MetricFacts(
        title="pinball loss", tasks=("regression",), larger_is_better=False, fixed_scale=False, bound=MEAN
    ),
    "ndcg_at_10": MetricFacts(
        title="NDCG@10", tasks=("ranking",), larger_is_better=True, fixed_scale=True, bound=QUERIES
    ),
    "retrieval_agreement": MetricFacts(
        title="retrieval agreement",
        tasks=("embedding",),
        larger_is_better=True,
        fixed_scale=True,
        bound=TANGO,
        needs_label=False,
    ),
}
