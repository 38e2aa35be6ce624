import numpy as np
import pytest

from engine.errors import InvalidRequest
from engine.records.autoscaling import FleetSettings, RayServe
from engine.simulation.autoscale.fleet import View
from engine.simulation.autoscale.ray_serve import RayServeScaler, wanted
from engine.simulation.autoscale.run import simulate


def test_the_rule():
    assert wanted(3, 15, RayServe()) == 8
    assert wanted(4, 8, RayServe()) == 4
    assert wanted(10, 4, RayServe()) == 2
    assert wanted(10, 4, RayServe(down_factor=0.05)) == 9  # stuck at 10 by rounding: one less
    assert wanted(4, 16, RayServe(up_factor=0.5)) == 6


def looks(scaler, ready, in_flight, n):
    counts = []
    for i in range(1, n + 1):
        at = round(i * scaler.rules.loop_s, 6)
        counts.append(scaler.decide(View(at, ready, 0, 0, in_flight, 0, 0.0, at * in_flight)))
    return counts


def test_upwards_a_decision_holds_for_more_than_300_loops():
    counts = looks(RayServeScaler(RayServe()), 3, 15, 301)
    assert set(counts[:300]) == {3}
    assert counts[300] == 8


def test_downwards_for_more_than_6000_and_to_zero_only_from_one():
    counts = looks(RayServeScaler(RayServe()), 3, 0, 6001)
    assert set(counts[:6000]) == {3}
    assert counts[6000] == 1
    assert looks(RayServeScaler(RayServe(down_delay_s=1)), 1, 0, 11)[-1] == 0


def test_an_empty_fleet_wakes_without_delay():
    run = simulate(np.array([3.0]), np.array([1.0]), FleetSettings(min_replicas=0, startup_s=(4.0,)), RayServe())
    assert run.p50_ms == pytest.approx(5000)


def test_too_many_looks_are_a_sentence():
    with pytest.raises(InvalidRequest, match=r"more than 1,000,000 looks"):
        simulate(np.array([0.0, 200_000.0]), np.ones(2), FleetSettings(), RayServe())
