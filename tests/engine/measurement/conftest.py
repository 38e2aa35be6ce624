import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from engine.measurement.presets import TimingPlan
from engine.measurement.timings import Round, Served, Timings
from engine.records import Workload

ONE = Workload()


class Pipe:
    """A channel to a real child process over its standard streams."""

    def __init__(self, process):
        self.process = process

    def ask(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


class Launcher:
    """launch(arm, pair, threads) for arms given as (width, repeats) of the tiny net, all on one core, one thread."""

    def __init__(self, **nets):
        self.nets = nets
        self.started = []

    @contextmanager
    def __call__(self, arm, pair, threads):
        child = subprocess.Popen(
            [sys.executable, str(Path(__file__).parent / "arm_process.py"), *map(str, self.nets[arm])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
        )
        self.started.append((pair, arm, child))
        try:
            yield Pipe(child)
        finally:
            child.stdin.close()
            child.wait(timeout=10)
            child.stdout.close()


@pytest.fixture
def processes():
    return Launcher


@pytest.fixture
def small_plan():
    return TimingPlan(
        name="small",
        n_pairs=3,
        n_rounds=5,
        round_s=0.01,
        max_calls=100,
        warm_up_calls=20,
        warm_up_s=0.05,
        cell_s=2.0,
        resolves="",
    )


@pytest.fixture
def timings_of(small_plan):
    """Timings made by hand: {arm: [calls of pair 0, calls of pair 1, ...]} in nanoseconds, one round each."""

    def build(
        calls, workload=ONE, load_average=0.0, stops=(), cpu_fraction=1.0, n_involuntary=0, cpu_each=None, start=0,
        n_pool_rows=1, floor_ns=1000.0, **plan
    ):  # fmt: skip
        n_pairs = len(next(iter(calls.values())))
        rounds, served = [], []
        for arm, pairs in calls.items():
            for pair, ns in enumerate(pairs):
                total = np.asarray(ns, np.int64)
                wall = int(total.sum())
                rounds.append(
                    Round(
                        pair=pair,
                        arm=arm,
                        workload=workload,
                        number=0,
                        total_ns=total,
                        prepare_ns=1e3,
                        model_ns=2e6,
                        post_ns=3e3,
                        wall_ns=wall,
                        cpu_ns=int(wall * cpu_fraction),
                        n_involuntary=n_involuntary,
                        start=start,
                        cpu_each_ns=None if cpu_each is None else np.asarray(cpu_each[arm][pair], np.int64),
                    )
                )
                served.append(
                    Served(
                        pair=pair,
                        arm=arm,
                        threads=workload.threads,
                        load_ms=10.0 + pair,
                        cold_start_ms=50.0,
                        peak_bytes=1000 + pair,
                        n_warm_up={workload: 60},
                        floor_ns={workload: floor_ns},
                    )
                )
        return Timings(
            plan=small_plan.model_copy(update={"n_pairs": n_pairs, **plan}),
            seed=7,
            arms=tuple(calls),
            workloads=(workload,),
            load_average=load_average,
            n_cores=2,
            rounds=tuple(rounds),
            processes=tuple(served),
            stops=tuple(stops),
            n_pool_rows=n_pool_rows,
        )

    return build
