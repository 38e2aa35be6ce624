"""The row a list shows of a run."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from engine.records import Experiment, Recipe, Step, Workload
from storage.summary import describe_recipe, summarise
from tests import history


def run(**changes):
    spec = history.spec("s", batch_sizes=changes.pop("batch_sizes", (1, 32)), recipe=changes.pop("recipe", None))
    asked = Experiment(id="x", spec=spec, status="queued", created_at=datetime.now(UTC))
    return asked.model_copy(update=changes)


def done(**changes):
    class Claimed:
        experiment_id, attempt, created_at, created_by, retry_of = "x", 1, datetime.now(UTC), "ada", None
        spec = history.spec("s", batch_sizes=(1, 32), recipe=history.FEWER_TREES)

    return history.finished(Claimed).model_copy(update=changes)


@pytest.mark.parametrize(("primary", "batch_size", "p50_ms"), [(32, 32, 64.0), (1, 1, 2.0), (7, 1, 2.0)])
def test_the_primary_batch_is_shown_else_the_first(primary, batch_size, p50_ms):
    row = summarise(done(), Workload(batch_size=primary))
    assert (row["batch_size"], row["p50_ms"]) == (batch_size, p50_ms)


def test_a_ratio_turned_round_swaps_its_bounds():
    row = summarise(done(), Workload())
    assert (row["speedup_low"], row["speedup"], row["speedup_high"]) == (1 / 0.8, 1 / 0.5, 1 / 0.4)


@pytest.mark.parametrize("ratio", [0.0, float("inf")])
def test_a_ratio_without_an_inverse_is_not_measured(ratio):
    comparison = done().comparisons[0].model_copy(update={"ratio": ratio})
    assert summarise(done(comparisons=(comparison,)), Workload())["speedup"] is None


def test_the_speedup_of_the_median_is_shown_not_of_the_tail():
    tail = done().comparisons[0].model_copy(update={"quantile": 0.99, "ratio": 0.1})
    assert summarise(done(comparisons=(tail,)), Workload())["speedup"] is None


def test_the_baseline_has_the_speedup_one_once_it_is_done():
    baseline = done(comparisons=(), spec=history.spec("s"))
    assert summarise(baseline, Workload())["speedup"] == 1.0
    assert summarise(baseline.model_copy(update={"status": "queued"}), Workload())["speedup"] is None


def test_what_was_not_measured_is_none_and_what_was_asked_is_said():
    row = summarise(run(recipe=history.FEWER_TREES, batch_sizes=(8,)), Workload())
    assert row["recipe"] == "pruning.fewer_trees(keep_fraction=0.5)"
    assert row["batch_size"] == 8
    unknown = {"p50_ms", "p95_ms", "p99_ms", "speedup", "size_bytes", "metric_value", "worst_slice", "artefact_id"}
    assert {row[name] for name in unknown} == {None}


def test_the_worst_slice_is_the_one_with_the_largest_known_drop():
    row = summarise(done(), Workload())
    assert (row["worst_slice"], row["worst_slice_drop"]) == ("carrier=DL", 0.03)
    gain = [
        found.model_copy(update={"drop": drop})
        for found, drop in zip(done().quality.slices[:2], (-0.2, -0.1), strict=True)
    ]
    better = done().quality.model_copy(update={"slices": tuple(gain)})
    assert summarise(done(quality=better), Workload())["worst_slice_drop"] == -0.1


def test_a_chain_reads_in_order():
    steps = (Step(lever="pruning.fewer_trees", params={"keep_fraction": 0.5}), Step(lever="export.lightgbm_to_onnx"))
    chain = history.spec("s", recipe=Recipe(steps=steps))
    assert describe_recipe(chain) == "pruning.fewer_trees(keep_fraction=0.5) → export.lightgbm_to_onnx"
    assert describe_recipe(history.spec("s")) == "original"
