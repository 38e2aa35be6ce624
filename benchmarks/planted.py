"""The timed child with a known difference in it: the model takes 5 % longer than it does."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from engine import children

if TYPE_CHECKING:
    import numpy as np

    from engine.plugin import Predict
    from engine.sandbox import Talk

PLANTED = 0.05


def serve_arm(request: dict[str, Any], talk: Talk) -> dict[str, Any]:
    """`engine.children.serve_arm` around a slower model."""
    return children.serve_arm(request, talk, slower)


def slower(predict: Predict) -> Predict:
    """The same answers, after busily waiting for another 5 % of what they took."""

    def planted(inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        begun = time.perf_counter_ns()
        outputs = predict(inputs)
        end = begun + (time.perf_counter_ns() - begun) * (1 + PLANTED)
        while time.perf_counter_ns() < end:
            pass
        return outputs

    return planted
