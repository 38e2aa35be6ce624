"""The processes that are timed: cores, threads, confinement (cases P29 and P30)."""

import json
import os

import numpy as np
import psutil
import pytest

from engine import environment, timing
from engine.errors import DoesNotFit
from engine.measurement.presets import TimingPlan
from engine.measurement.protocol import measure
from engine.measurement.summary import comparisons
from engine.records import Choice, Workload
from engine.timing import Launcher, timing_cores
from tests.model_zoo import onnx_net_artefact, sample_inputs

PLAN = TimingPlan(name="test", n_pairs=2, n_rounds=4, round_s=0.01, warm_up_calls=5, warm_up_s=0.02, resolves="")


@pytest.fixture
def launcher(tmp_path):
    artefact = onnx_net_artefact("tabular", tmp_path / "model")
    signature = artefact.manifest.signature
    place = tmp_path / "evalset" / "selection"
    place.mkdir(parents=True)
    for at, values in enumerate(sample_inputs(signature, n_rows=100).values()):
        np.save(place / f"input_{at}.npy", values)
    (place / "inputs.json").write_text(json.dumps([spec.name for spec in signature.inputs]))
    arm = (artefact, Choice(name="onnxruntime_cpu"))
    return Launcher({"baseline": arm, "variant": arm}, signature, tmp_path / "evalset")


@pytest.fixture
def container(monkeypatch):
    """A container with that CPU quota on a large host."""

    def quota(cores):
        monkeypatch.setattr(environment, "cpu_quota", lambda: cores)
        monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(64)), raising=False)

    return quota


@pytest.mark.parametrize(("quota", "usable"), [(2.0, 2), (2.5, 2), (0.5, 1), (None, 64), (128.0, 64)])
def test_usable_cores_are_the_smaller_of_affinity_and_quota(container, quota, usable):
    container(quota)
    assert environment.usable_cores() == usable


def test_more_threads_than_the_quota_gives_are_refused(container):
    container(2.0)
    assert timing_cores(2) == [62, 63]
    with pytest.raises(DoesNotFit, match=r"3 threads asked for, 2 cores may be used here \(affinity and container"):
        timing_cores(3)


def test_both_arms_of_a_pair_are_alive_on_the_same_core(launcher):
    with launcher("baseline", 0, 1) as first, launcher("variant", 0, 1) as second:
        for child in (first, second):
            child.ask({"do": "hello", "batch": 4})
        pinned = [os.sched_getaffinity(child.pid) for child in (first, second)]
        assert first.pid != second.pid
    assert pinned == [{max(os.sched_getaffinity(0))}] * 2


@pytest.mark.skipif(environment.usable_cores() < 2, reason="needs two cores")
def test_every_number_of_threads_has_its_cores(launcher):
    seen = {}
    for threads in (1, 2):
        with launcher("baseline", 0, threads) as child:
            child.ask({"do": "hello", "batch": 1})
            seen[threads] = len(os.sched_getaffinity(child.pid))
    assert seen == {1: 1, 2: 2}


def test_a_threads_sweep_compares_each_number_of_threads_with_itself(launcher):
    workloads = [Workload(batch_size=8, threads=n) for n in range(1, min(2, environment.usable_cores()) + 1)]
    timings = measure(launcher, workloads, PLAN)
    assert {one.workload for one in comparisons(timings)} == set(workloads)
    assert timings.n_pool_rows == 100
    assert all(one.peak_bytes > 10e6 and one.load_ms > 0 for one in timings.processes)


def test_too_many_threads_are_refused_before_anything_starts(launcher, monkeypatch):
    monkeypatch.setattr(timing.sandbox, "conversation", lambda *a, **k: pytest.fail("started"))
    with pytest.raises(DoesNotFit), launcher("baseline", 0, 500):
        pass


@pytest.mark.skipif(environment.usable_cores() < 2, reason="needs two cores")
def test_an_arm_that_waits_uses_no_processor(launcher):
    """P30: the pool of the session that is not timed must sleep, not spin, while the other one is measured."""
    with launcher("baseline", 0, 2) as timed, launcher("variant", 0, 2) as waiting:
        for child in (timed, waiting):
            child.ask({"do": "round", "batch": 64, "calls": 200})
        before = sum(psutil.Process(waiting.pid).cpu_times()[:2])
        timed.ask({"do": "warm", "batch": 64, "calls": 1, "seconds": 1.0})
        used = sum(psutil.Process(waiting.pid).cpu_times()[:2]) - before
    assert used < 0.2
