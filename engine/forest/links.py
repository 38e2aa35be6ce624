"""From raw scores to answers, as LightGBM turns one into the other."""

from __future__ import annotations

import numpy as np

from engine.forest.forest import Objective


def answer(objective: Objective, raw: np.ndarray) -> np.ndarray:
    """What `Booster.predict` gives for raw scores (n, n_classes), already averaged where the forest averages.

    (n, n_classes) float64, within an ulp or two of LightGBM's own (another library's exponential).
    """
    link, slope = objective.link, objective.sigmoid
    with np.errstate(over="ignore"):
        if link in ("sigmoid", "sigmoid per class"):
            return np.asarray(1.0 / (1.0 + np.exp(-slope * raw)))
        if link == "softmax":
            grown = np.exp(raw - raw.max(axis=1, keepdims=True))
            return np.asarray(grown / grown.sum(axis=1, keepdims=True))
        if link == "exp":
            return np.asarray(np.exp(raw))
        if link == "log1p exp":
            return np.asarray(np.log1p(np.exp(raw)))
    return np.asarray(raw * np.abs(raw)) if link == "signed square" else np.array(raw, np.float64)
