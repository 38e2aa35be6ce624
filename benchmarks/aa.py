"""Equal models and a planted +5 %: what our protocol calls different, beside naive tests on the same recorded calls.

Two samples as ONNX files, each 20 times: three arms (the model, the same model, the model made 5 % slower) in ten
fresh process triples through the real launcher. About 20 minutes on a quiet machine with two cores.
WHETSTONE_BENCH_REPEATS=2 makes it a trial.
"""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.figures import cell
from benchmarks.sample_study import SampleStudy, onnx_sample
from engine.measurement.presets import TimingPlan
from engine.measurement.protocol import Launch, measure
from engine.measurement.statistics import BAND
from engine.measurement.summary import comparisons
from engine.measurement.timings import Timings
from engine.records import Choice, Comparison, Workload
from engine.sandbox import Child
from engine.timing import Launcher

SAMPLES = {"digits_cnn": 4, "diamonds_price": 64}  # sample -> rows of a call
N_REPEATS = int(os.environ.get("WHETSTONE_BENCH_REPEATS") or 20)
PLAN = TimingPlan(
    name="bench",
    n_pairs=10,
    warm_up_calls=20,
    warm_up_s=0.2,
    resolves="10 process triples, for a benchmark",
)
ARMS = ("baseline", "variant", "planted")
N_BOOTSTRAP = 1000


@dataclass(frozen=True)
class Seen:
    """Whether a test saw a difference, by its verdict or its interval, in A/A and with +5 %."""

    aa: bool
    planted: bool


def table() -> list[str]:
    """Markdown lines."""
    lines = [
        "## Equal models, and 5 % planted",
        f"{N_REPEATS} repetitions per model, each of {PLAN.n_pairs} fresh process triples on one core: the model, the",
        "same model, and the same model made 5 % slower. The naive tests see calls of the same repetition.",
        "Of equal models none should be called different; the planted 5 % should always be found.",
        "",
        "| model | test | equal models called different | planted 5 % found |",
        "|---|---|---|---|",
    ]
    notes: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, batch in SAMPLES.items():
            found, said = _model(onnx_sample(name, Path(folder) / name), Workload(batch_size=batch))
            lines += [
                f"| {name}, batch {batch} | {test} | {sum(one.aa for one in seen)} of {len(seen)} "
                f"| {sum(one.planted for one in seen)} of {len(seen)} |"
                for test, seen in found.items()
            ]
            notes += ["", f"{name}: {said}"]
    return lines + notes


def _model(sample: SampleStudy, workload: Workload) -> tuple[dict[str, list[Seen]], str]:
    found: dict[str, list[Seen]] = {}
    p50_ms, half_widths, planted = [], [], []
    for number in range(N_REPEATS):
        print(f"{sample.name}: {number + 1} of {N_REPEATS}", file=sys.stderr, flush=True)
        timings = measure(_launch(sample), [workload], PLAN, seed=number, arms=ARMS)
        aa, slower = _p50(timings, "variant"), _p50(timings, "planted")
        p50_ms.append(float(np.median(timings.calls_ns("baseline", workload))) / 1e6)
        half_widths.append(100 * (aa.high / aa.low - 1) / 2)
        planted.append(slower.ratio)
        for test, seen in _tests(timings, workload, aa, slower, np.random.default_rng(number)).items():
            found.setdefault(test, []).append(seen)
    said = (
        f"p50 {cell(p50_ms, 'ms')}; half-width of the A/A interval {cell(half_widths, '%', 2)}; "
        f"planted ratio {cell(planted, '', 4)}."
    )
    return found, said


def _tests(
    timings: Timings, workload: Workload, aa: Comparison, slower: Comparison, rng: np.random.Generator
) -> dict[str, Seen]:
    base, same, more = (timings.calls_by_pair(arm, workload) for arm in ARMS)
    apart = [_bootstrap(base[0], other[1], rng) for other in (same, more)]
    beside = [_bootstrap(base[0], other[0], rng) for other in (same, more)]
    return {
        "A in one process, then B in a later one; bootstrap over calls": _outside(apart, 0.0),
        f"the same with a ±{BAND:.0%} band": _outside(apart, BAND),
        "one process each, alternating; bootstrap over calls": _outside(beside, 0.0),
        f"**ours: {PLAN.n_pairs} process pairs, t interval, ±{BAND:.0%} band**": Seen(
            aa=aa.verdict in ("faster", "slower"), planted=slower.verdict == "slower"
        ),
    }


def _outside(intervals: list[tuple[float, float]], band: float) -> Seen:
    (aa_low, aa_high), (low, _) = intervals
    return Seen(aa=aa_low > 1 + band or aa_high < 1 / (1 + band), planted=low > 1 + band)


def _bootstrap(first: np.ndarray, second: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """95 % percentile interval of the ratio of medians when calls are resampled as if they were independent."""
    medians = [np.median(rng.choice(calls, (N_BOOTSTRAP, len(calls))), axis=1) for calls in (first, second)]
    low, high = np.percentile(medians[1] / medians[0], [2.5, 97.5])
    return float(low), float(high)


def _p50(timings: Timings, arm: str) -> Comparison:
    """The comparison of one arm with the baseline, as a run stores it."""
    renamed = {"baseline": "baseline", arm: "variant"}
    two = replace(
        timings,
        arms=("baseline", "variant"),
        rounds=tuple(replace(one, arm=renamed[one.arm]) for one in timings.rounds if one.arm in renamed),
        processes=tuple(replace(one, arm=renamed[one.arm]) for one in timings.processes if one.arm in renamed),
    )
    return next(one for one in comparisons(two) if one.quantile == 0.5)


def _launch(sample: SampleStudy) -> Launch:
    arms = {arm: (sample.artefact, Choice(name="onnxruntime_cpu")) for arm in ARMS}
    plain = Launcher(arms, sample.study.signature, sample.evalset)
    planted = replace(plain, target="benchmarks.planted:serve_arm")

    def launch(arm: str, pair: int, threads: int) -> AbstractContextManager[Child]:
        return (planted if arm == "planted" else plain)(arm, pair, threads)

    return launch
