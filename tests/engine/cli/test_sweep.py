import json

import pytest

from engine.environment import usable_cores


@pytest.fixture(scope="module")
def runs(shell, study):
    """Recipe -> experiment id."""
    return {
        "/".join(step["lever"] for step in run["spec"]["recipe"]["steps"]): run["id"]
        for run in json.loads(shell("experiments", "--study", study, "--json"))
    }


def test_the_table_and_the_line(shell, runs):
    text = shell("sweep", runs["pruning.fewer_trees"], "--p95-ms", "10000").replace("\N{NARROW NO-BREAK SPACE}", " ")
    variant, original = text.split("original, 1 thread")
    assert variant.startswith("variant, 1 thread\nbatch  p50")
    for part in (variant, original):
        assert [line.split()[0] for line in part.splitlines() if line[:1].isdigit()] == ["1", "8"]
        assert "call time = " in part
        assert "500 candidates in one call against 500 calls" in part
        assert "largest batch with p95 within 10.0 s: 8" in part


def test_the_same_as_json(shell, runs):
    answer = json.loads(shell("sweep", runs["pruning.fewer_trees"], "--p95-ms", "0.000001", "--json"))
    assert set(answer) == {"experiment", "recipe", "variant", "original"}
    (variant,) = answer["variant"]
    assert [row["batch_size"] for row in variant["rows"]] == [1, 8]
    assert variant["largest_within_budget"] is None
    assert variant["one_call"]["n_items"] == 500
    fit = variant["curve"]["fit"]  # two points: on the line, unless noise would bend it below zero
    assert fit["max_residual"] < 1e-6 or 0 in (fit["fixed_ms"], fit["per_item_ms"])


def test_the_baseline_has_one_arm(shell, runs):
    assert set(json.loads(shell("sweep", runs[""], "--json"))) == {"experiment", "recipe", "original"}


def test_what_cannot_be_shown_is_said(shell):
    assert "no experiment" in shell.refused("sweep", "01NOSUCH")
    assert shell.run("sweep", "01NOSUCH", "--p95-ms", "-1").returncode != 0


@pytest.mark.slow
def test_too_many_threads_are_refused_before_anything_is_queued(shell, study):
    before = shell("experiments", "--study", study)
    said = shell.refused("run", study, "--threads", f"1,{usable_cores() + 1}")
    assert f"{usable_cores() + 1} threads asked for, {usable_cores()} cores may be used here" in said
    assert "--threads takes whole numbers" in shell.refused("run", study, "--threads", "many")
    assert shell("experiments", "--study", study) == before


@pytest.mark.slow
@pytest.mark.skipif(usable_cores() < 2, reason="needs two cores")
@pytest.mark.slow
def test_a_sweep_of_batches_and_threads(shell, study):
    steps = ("--step", "export.lightgbm_to_onnx", "--preset", "quick")
    run = shell("run", study, *steps, "--batch", "sweep", "--threads", "2,1").split()[-1]
    one, two = json.loads(shell("sweep", run, "--json"))["variant"]
    assert (one["threads"], two["threads"]) == (1, 2)  # the study's own first
    for found in (one, two):
        assert [row["batch_size"] for row in found["rows"]] == [1, 2, 4, 8, 16, 32, 64, 128]
        rates = [row["items_per_s"]["value"] for row in found["rows"]]
        assert rates[-1] > rates[0]
