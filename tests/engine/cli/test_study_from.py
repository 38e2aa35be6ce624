"""A study that starts from another: same model and rows, another promise; or something about them is new."""

import json

import pytest


def shown(shell, study):
    return json.loads(shell("study", "show", study, "--json"))


def new(shell, *words):
    return shown(shell, shell("study", "new", "--no-wait", *words).split()[-1])


@pytest.mark.slow
def test_only_the_promise_is_another_one(shell, study):
    first, second = shown(shell, study), new(shell, "--from", study, "--name", "again", "--max-drop", "0.02")
    for name in ("eval_set_id", "model_id", "source", "signature"):
        assert second["study"][name] == first["study"][name]
    assert first["study"]["source"]["data_name"] == "eval.csv"
    assert second["study"]["promise"]["band"]["max_drop"] == 0.02
    said = shell.refused("study", "new", "--from", study, "--judged-slices", "age", "--name", "x", "--no-wait")
    assert "the slice column 'age' is not in the evaluation set; it has region" in said


@pytest.mark.slow
def test_what_was_said_about_the_rows_goes_on_and_can_be_changed(shell, study, own_files):
    words = ["--model", own_files / "model.txt", "--slices", "region,e", "--judged-slices", "e", "--name", "by e"]
    made = new(shell, "--from", study, *words)
    assert {part["column"] for part in made["eval_set"]["slices"]} == {"region", "e"}
    assert made["study"]["promise"]["band"]["slices"] == ["e"]
    assert made["study"]["source"]["choices"] == {"label": "churned", "slices": ["region", "e"]}


@pytest.mark.slow
def test_without_files_and_without_a_study_it_says_what_to_name(shell, own_files):
    assert "--model FILE" in shell.refused("study", "new", "--name", "x")
    assert "--data FILE" in shell.refused("study", "new", "--model", own_files / "model.txt", "--name", "x")
    assert "no study" in shell.refused("study", "new", "--from", "nothing", "--name", "x")
