"""How the model does on the first selection rows: the quickest way to see that labels and scores belong together."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from engine.data.stored import load_split
from engine.quality import metrics
from engine.quality.answers import compare
from engine.quality.judged import Judged, known_rows
from engine.records import METRICS, Band, Metric, Record, Signature


class FirstLook(Record):
    """One metric of the untouched model on a few rows. guess: what answering at random would reach, where known."""

    metric: Metric
    value: float
    n_rows: int
    guess: float | None = None

    @property
    def doubtful(self) -> bool:
        """No better than a guess: the order of the classes, or the output that is judged, may be another one."""
        return self.guess is not None and self.value <= self.guess


def first_look(evalset: Path, outputs: Mapping[str, np.ndarray], signature: Signature) -> FirstLook | None:
    """outputs: (m, ...) each, for the first m selection rows. None where nothing is judged row by row."""
    task, name, kind = signature.task, signature.score_output, signature.output_kind
    labels = load_split(evalset, "selection").labels
    if task is None or name is None or kind is None or labels is None or task == "ranking":
        return None
    metric: Metric | None = "accuracy" if task in METRICS["accuracy"].tasks else metrics.auto_metric(task)
    if metric is None or not METRICS[metric].needs_label:
        return None
    output = np.asarray(outputs[name])
    labels = np.asarray(labels[: len(output)])
    known = known_rows(labels, metric, len(output))
    if not known.any():
        return None
    found = compare(output, output, labels, kind, task)
    judged = Judged.of(found, labels, pd.DataFrame(index=range(len(output))), known, task, Band(metric=metric))
    value = metrics.lose(metric, judged.rows(metric), 0.05, bounded=False).baseline
    if value is None:
        return None
    n_classes = len(signature.classes or ())
    guess = 1 / n_classes if metric == "accuracy" and n_classes else None
    return FirstLook(metric=metric, value=value, n_rows=int(known.sum()), guess=guess)
