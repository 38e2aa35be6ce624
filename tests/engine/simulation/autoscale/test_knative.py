import numpy as np
import pytest

from engine.records.autoscaling import FleetSettings, Knative
from engine.simulation.arrivals import steps
from engine.simulation.autoscale.fleet import View
from engine.simulation.autoscale.knative import KnativeScaler, panics, wanted
from engine.simulation.autoscale.run import simulate

RULES = Knative()


def test_stable_panic_and_the_slowest_way_down():
    assert wanted(150, 3, RULES) == 3
    assert wanted(300, 2, RULES) == 5
    assert panics(300, 2, RULES)
    assert not panics(200, 2, RULES)
    assert wanted(0, 10, RULES) == 5
    assert wanted(0, 1, RULES) == 0


def test_in_panic_it_never_shrinks_and_leaves_a_window_after():
    scaler = KnativeScaler(Knative(target=1, stable_window_s=10, panic_fraction=0.2))
    load = {2: 8.0, 4: 8.0, 6: 0.0, 8: 0.0, 10: 0.0, 12: 0.0, 14: 0.0, 16: 0.0, 18: 0.0, 20: 0.0}
    total, counts, ready = 0.0, [], 2
    for at, in_flight in load.items():
        total += 2 * in_flight
        ready = scaler.decide(View(at, ready, 0, 0, int(in_flight), 0, 0.0, total))
        counts.append(ready)
    assert counts[:6] == [8, 8, 8, 8, 8, 8]
    assert counts[-1] < 8


def test_it_goes_to_zero_after_window_and_grace_and_wakes_at_once():
    arrivals = np.array([0.0, 1.0, 300.0])
    known = FleetSettings(min_replicas=0, startup_s=(5.0,))
    run = simulate(arrivals, np.full(3, 0.1), known, Knative(target=1))
    assert run.n_cold_starts == 2
    assert run.p95_ms == pytest.approx(5100)
    line = run.timeline
    gone = next(at for at, ready in zip(line.time_s, line.ready, strict=True) if at > 10 and ready == 0)
    assert 5 + 60 + 30 <= gone <= 5 + 60 + 30 + 4 * 2


def test_a_burst_is_answered_within_seconds():
    arrivals = steps(((5, 120), (200, 120)), seed=0)
    known = FleetSettings(min_replicas=1, startup_s=(2.0,))
    run = simulate(arrivals, np.full(len(arrivals), 0.05), known, Knative(target=0.7))
    assert run.most_replicas >= 10
    assert run.bad_minutes <= 1
