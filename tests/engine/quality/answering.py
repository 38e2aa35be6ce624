"""Both models' answers as the methods want them, from plain outputs."""

import numpy as np
import pandas as pd

from engine.quality.answers import compare
from engine.quality.judged import Judged, known_rows
from engine.records import Band


def judged(before, after, labels, task, kind="probabilities", weights=None, groups=None, tau=None, metric=None):
    """The labelled rows with both models' answers."""
    columns = {"weight": weights, "group": groups}
    rows = pd.DataFrame(
        {name: values for name, values in columns.items() if values is not None}, np.arange(len(before))
    )
    found = compare(before, after, labels, kind, task)
    known = known_rows(labels, metric or "accuracy", len(before))
    return Judged.of(found, labels, rows, known, task, Band(metric=metric, tau=tau))


def judged_rows(metric, before, after, labels, task, kind="probabilities", **more):
    """What one metric reads."""
    return judged(before, after, labels, task, kind, metric=metric, **more).rows(metric)
