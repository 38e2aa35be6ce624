import json

import pytest


@pytest.fixture(scope="module")
def runs(shell, study):
    """Recipe -> whole record."""
    return {
        "/".join(step["lever"] for step in run["spec"]["recipe"]["steps"]): run
        for run in json.loads(shell("experiments", "--study", study, "--json"))
    }


def test_before_beside_after(shell, runs):
    run = runs["pruning.fewer_trees/export.lightgbm_to_onnx"]
    text = shell("profile", run["id"])
    assert text.startswith("The trees ")
    assert "operator " in text
    assert "share after" in text
    assert "TreeEnsemble" in text
    answer = json.loads(shell("profile", run["id"], "--json"))
    assert answer == {"experiment": run["id"], **run["operators"]}
    assert sum(cost["share"] for cost in answer["before"]) == pytest.approx(1)
    assert sum(cost["n"] for cost in answer["before"] if "tree" in cost["op"]) == 120


def test_the_original_alone(shell, runs):
    answer = json.loads(shell("profile", runs[""]["id"], "--json"))
    assert answer["after"] == []
    assert answer["reading"].startswith("The time goes to ")
    assert "share after" not in shell("profile", runs[""]["id"])


def test_what_else_a_run_keeps(runs):
    for run in runs.values():
        assert 0 < run["compressed_bytes"] < run["artefact"]["size_bytes"]
        assert run["environment"]["machine_id"]
        for measured in [*run["measurements"], *run["baselines"]]:
            assert 0 < measured["floor_ms"] < measured["p50_ms"]["value"]
            assert 0 < measured["cpu_utilisation"] <= 1.1
            assert measured["load_ms"] > 0
            assert measured["peak_bytes"] > 10e6
            assert measured["n_warm_up"] >= 10


def test_no_such_experiment(shell):
    assert "no experiment" in shell.refused("profile", "01NOSUCH")
