"""A whole session on the command line: bring, measure, make cheaper, compare, export."""

import csv
import io
import json

import openpyxl
import pytest

COLUMNS = [
    "experiment",
    "recipe",
    "runtime",
    "device",
    "status",
    "batch_size",
    "p50_ms",
    "p95_ms",
    "p99_ms",
    "items_per_s",
    "speedup",
    "speedup_low",
    "speedup_high",
    "speedup_vs_export",
    "speed_verdict",
    "size_bytes",
    "cost_per_1k",
    "metric",
    "metric_value",
    "metric_drop",
    "worst_slice",
    "worst_slice_drop",
    "quality_verdict",
    "reason",
]


def table(shell, study, *words):
    return list(csv.DictReader(io.StringIO(shell("compare", study, "--format", "csv", *words))))


def test_the_baseline_is_first_and_every_step_has_its_row(shell, study):
    rows = table(shell, study)
    assert list(rows[0]) == COLUMNS
    assert [row["recipe"] for row in rows] == [
        "original",
        "pruning.fewer_trees(keep_fraction=0.4)",
        "pruning.fewer_trees(keep_fraction=0.4) → export.lightgbm_to_onnx",
    ]
    assert {row["status"] for row in rows} == {"succeeded"}
    assert float(rows[0]["speedup"]) == 1
    assert rows[0]["metric"] == "roc_auc"
    assert float(rows[1]["size_bytes"]) < 0.5 * float(rows[0]["size_bytes"])


def test_the_speedup_is_that_of_the_pairs(shell, study):
    for row in table(shell, study)[1:]:
        assert float(row["speedup_low"]) <= float(row["speedup"]) <= float(row["speedup_high"])
        assert row["speed_verdict"] in ("faster", "slower", "no difference", "cannot tell")
        assert float(row["cost_per_1k"]) == pytest.approx(0.10 / 3600 / float(row["items_per_s"]) * 1000)


def test_another_batch_leaves_what_was_not_measured_empty(shell, study):
    rows = table(shell, study, "--batch", "8")
    assert rows[0]["batch_size"] == "8"
    assert float(rows[1]["items_per_s"]) > 0
    assert table(shell, study, "--batch", "64")[1]["p50_ms"] == ""


def test_every_format_has_the_same_rows(shell, study, tmp_path):
    rows = table(shell, study)
    as_json = json.loads(shell("compare", study, "--format", "json"))
    assert [row["experiment"] for row in as_json] == [row["experiment"] for row in rows]
    assert set(as_json[0]) == set(COLUMNS)
    shell("compare", study, "--format", "xlsx", "-o", tmp_path / "t.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx").active
    assert [cell.value for cell in sheet[1]] == COLUMNS
    assert [row[0].value for row in sheet.iter_rows(min_row=2)] == [row["experiment"] for row in rows]
    assert shell("compare", study, "--format", "md").count("\n") == len(rows) + 2
    assert "Excel" in shell.refused("compare", study, "--format", "xlsx")


def test_a_formula_in_the_data_stays_text(shell, study):
    assert "\n=" not in shell("compare", study, "--format", "csv")


def test_experiments_and_study_as_json(shell, study):
    experiments = json.loads(shell("experiments", "--study", study, "--json"))
    assert len(experiments) == 3
    newest = experiments[0]
    assert len(newest["chain"]) == 2
    assert newest["created_by"] == "asha"
    assert newest["environment"]["confinement"]
    shown = json.loads(shell("study", "show", "Churn", "--json"))
    assert shown["study"]["id"] == study
    assert shown["promise_frozen_at"]


@pytest.mark.slow
def test_the_same_question_is_answered_from_the_cache(shell, study):
    before = len(list((shell.home / "artefacts").iterdir()))
    words = ["--step", "pruning.fewer_trees:keep_fraction=0.4,keep_rounds=0", "--preset", "quick"]
    shell("run", study, *words)
    assert len(list((shell.home / "artefacts").iterdir())) == before


def test_levers_say_which_fit(shell, study):
    rows = {row["lever"]: row for row in json.loads(shell("levers", "--for", study, "--json"))}
    assert rows["pruning.fewer_trees"]["fits"] == "yes"
    assert rows["quantisation.int8_dynamic"]["fits"].startswith("no: takes onnx")
    assert rows["pruning.fewer_trees"]["params"]["keep_fraction"]["description"]


def test_doctor_names_machine_limits_and_runtimes(shell):
    found = json.loads(shell("doctor", "--json"))
    assert found["machine"]["usable_cores"] >= 1
    assert {row["name"] for row in found["runtimes"]} >= {"lightgbm_native", "onnxruntime_cpu", "torch_eager"}
    assert all(isinstance(held, bool) for held in found["limits"].values())
    assert str(shell.home) in shell("doctor")


@pytest.mark.parametrize(
    ("words", "say"),
    [
        (["run", "nothing"], "nothing"),
        (["run", "Churn", "--step", "pruning.no_such"], "known:"),
        (["run", "Churn", "--step", "pruning.fewer_trees:keep_fraction=1.4"], "keep_fraction"),
        (["run", "Churn", "--step", "quantisation.int8_dynamic"], "takes onnx"),
        (["run", "Churn", "--step", "export.lightgbm_to_onnx", "--step", "pruning.fewer_trees"], "takes lightgbm"),
        (["run", "Churn", "--runtime", "onnxruntime_cpu"], "not lightgbm"),
        (["run", "Churn", "--batch", "0"], "--batch"),
        (["compare", "no such study"], "no such study"),
    ],
)
def test_what_cannot_be_done_is_one_line(shell, study, words, say):
    assert say in shell.refused(*words)


@pytest.mark.parametrize(
    ("change", "say"),
    [
        ({"--label": "chured"}, "chured"),
        ({"--goal": "p42=3"}, "p42"),
        pytest.param({"--goal": "fast"}, "fast", marks=pytest.mark.slow),
        pytest.param({"--max-drop": "7"}, "max_drop", marks=pytest.mark.slow),
        pytest.param({"--output": "score=percent"}, "percent", marks=pytest.mark.slow),
        pytest.param({"--metric": "rmse"}, "rmse", marks=pytest.mark.slow),
        ({"--model": "missing.txt"}, "missing.txt"),
        pytest.param({"--threads": "999"}, "threads", marks=pytest.mark.slow),
        pytest.param({"--name": ""}, "name", marks=pytest.mark.slow),
    ],
)
def test_a_study_that_cannot_be_made_leaves_nothing(shell, study, own_files, change, say):
    given = {
        "--model": own_files / "model.txt",
        "--data": own_files / "eval.csv",
        "--label": "churned",
        "--name": "Bad",
    }
    words = [word for pair in (given | change).items() for word in pair]
    before = shell("study", "list", "--json")
    assert say in shell.refused("study", "new", *words)
    assert shell("study", "list", "--json") == before
    assert list((shell.home / "tmp").glob("draft-*")) == []
