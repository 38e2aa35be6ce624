import importlib.util

import numpy as np
import pytest

from engine.simulation.batching import simulate
from engine.simulation.compiled import compiled


def test_loops_run_without_numba(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    compiled.cache_clear()
    try:
        assert compiled(len) is len
        done = simulate(np.array([0.0, 1, 2, 3]), 5 + 0.2 * np.arange(5), 2.0)
    finally:
        compiled.cache_clear()
    assert done.latency_ms == pytest.approx([7.6, 6.6, 5.6, 9.8])
