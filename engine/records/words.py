"""The closed vocabularies: one word, one meaning, everywhere."""

from __future__ import annotations

from typing import Literal

Task = Literal["binary", "multiclass", "multilabel", "regression", "ranking", "embedding", "other"]
OutputKind = Literal["logits", "probabilities", "value", "raw score", "embedding"]
Role = Literal["feature", "label", "slice", "group", "id", "weight", "split", "ignored"]
SplitName = Literal["train", "calibration", "selection", "certification"]
Metric = Literal[
    "roc_auc", "macro_roc_auc", "pr_auc", "f1", "macro_f1", "micro_f1", "accuracy", "subset_accuracy", "hamming_loss",
    "log_loss", "brier", "rmse", "mae", "pinball", "ndcg_at_10", "retrieval_agreement",
]  # fmt: skip
Preset = Literal["quick", "standard", "strict"]
Status = Literal["queued", "running", "succeeded", "failed", "cancelled", "interrupted"]
Clock = Literal["wall", "cpu"]
SpeedVerdict = Literal["faster", "slower", "no difference", "cannot tell"]
QualityVerdict = Literal[
    "within band", "outside", "too few rows", "exact", "pass", "fail", "not certified", "not judged"
]
DisagreementKind = Literal["no answer", "bad flip", "other flip", "good flip", "worse", "better", "differs"]

TORCH_FORMATS: frozenset[str] = frozenset({"torch_export", "torchscript"})  # what PyTorch writes and runs
TERMINAL: frozenset[str] = frozenset({"succeeded", "failed", "cancelled", "interrupted"})
