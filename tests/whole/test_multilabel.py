"""Rows with several labels at once, on the command line: bring, make cheaper, compare, certify, check."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from onnx import TensorProto, helper, numpy_helper, save

from tests.engine.cli.conftest import Shell

pytestmark = pytest.mark.slow

FEATURES = [f"f{at}" for at in range(6)]
TAGS = ["spam", "urgent", "personal"]
N_HIDDEN = 32


def rows(n=3000, seed=0):
    """Tags that come together; the third is rare."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 6)).astype(np.float32)
    odds = np.stack([2 * x[:, 0] + x[:, 1], 2 * x[:, 1] - x[:, 2] - 1, 2 * x[:, 0] * x[:, 3] - 2], axis=1)
    return x, odds, (rng.random(odds.shape) < 1 / (1 + np.exp(-odds))).astype(int)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """tags.onnx, a net with one hidden layer and a sigmoid per tag, and rows.csv with one column per tag."""
    folder = tmp_path_factory.mktemp("tags")
    rng = np.random.default_rng(1)
    first, middle = rng.normal(size=(6, N_HIDDEN)), rng.normal(size=N_HIDDEN)
    x, odds, _ = rows(20_000, seed=2)
    hidden = np.c_[np.maximum(x @ first + middle, 0), np.ones(len(x))]
    last, *_ = np.linalg.lstsq(hidden, odds, rcond=None)
    constants = {"w1": first, "b1": middle, "w2": last[:-1], "b2": last[-1]}
    nodes = [
        helper.make_node(op, [a, *more], [b])
        for op, a, more, b in (
            ("MatMul", "x", ["w1"], "h1"), ("Add", "h1", ["b1"], "h2"), ("Relu", "h2", [], "h3"),
            ("MatMul", "h3", ["w2"], "s1"), ("Add", "s1", ["b2"], "s2"), ("Sigmoid", "s2", [], "tags"),
        )
    ]  # fmt: skip
    tensors = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", width]) for name, width in (("x", 6), ("tags", 3))
    ]
    held = [numpy_helper.from_array(np.float32(values), name) for name, values in constants.items()]
    graph = helper.make_graph(nodes, "tags", tensors[:1], tensors[1:], held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    save(model, folder / "tags.onnx")
    x, _, labels = rows()
    frame = pd.DataFrame(x, columns=FEATURES)
    frame[TAGS] = labels
    frame["region"] = np.where(
        np.arange(len(frame)) < 12, "tiny", np.where(np.arange(len(frame)) % 2, "north", "south")
    )
    frame.to_csv(folder / "rows.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    return Shell(tmp_path_factory.mktemp("multilabel") / "home")


@pytest.fixture(scope="module")
def study(shell, files):
    """Id of a study of the tags with its baseline."""
    words = ["--label", ",".join(TAGS), "--task", "multilabel", "--slices", "region", "--goal", "p50=1.2"]
    limits = ["--max-drop", "0.02", "--slice-max-drop", "0.05", "--name", "Tags"]
    made = shell("study", "new", "--model", files / "tags.onnx", "--data", files / "rows.csv", *words, *limits)
    return made.strip().splitlines()[-1]


@pytest.fixture(scope="module")
def variant(shell, study):
    """Id of the dynamic INT8 of the tags."""
    shell("run", study, "--step", "quantisation.int8_dynamic", "--preset", "quick")
    found = json.loads(shell("experiments", "--study", study, "--json"))
    return next(one["id"] for one in found if one["spec"]["recipe"]["steps"])


def test_the_study_knows_its_tags(shell, study):
    shown = json.loads(shell("study", "show", study, "--json"))
    signature, info = shown["study"]["signature"], shown["eval_set"]
    assert (signature["task"], signature["classes"], signature["output_kind"]) == ("multilabel", TAGS, "probabilities")
    assert [info["roles"][name] for name in TAGS] == ["label"] * 3
    assert shown["study"]["promise"]["band"]["metric"] == "macro_roc_auc"
    assert "Rows are split in proportion to the rarest label that each has" in info["notes"]


def test_variants_are_compared(shell, study, variant):
    table = list(csv.DictReader(io.StringIO(shell("compare", study, "--format", "csv"))))
    assert [row["metric"] for row in table] == ["macro_roc_auc"] * 2
    assert [row["quality_verdict"] for row in table] == ["exact", "within band"]
    assert 0.8 < float(table[0]["metric_value"]) < 1
    assert abs(float(table[1]["metric_drop"])) < 0.02


def test_rows_that_differ_name_their_tags(shell, variant):
    found = json.loads(shell("disagreements", variant, "--limit", "5", "--format", "json"))
    assert found
    assert all(set(row["label"].split(", ")) <= {*TAGS, "none"} for row in found)


def test_a_variant_is_certified_tag_by_tag_and_the_certificate_holds(shell, files, variant):
    file = files / "certificate.json"
    said = shell("certify", variant)
    assert "macro ROC AUC" in said
    assert "true label = spam" in said
    shell("certify", variant, "--format", "json", "-o", file)
    found = json.loads(file.read_text())
    report = found["quality"]
    assert (report["metric"], report["verdict"], report["n_rows"]) == ("macro_roc_auc", "pass", 1500)
    tags = {one["value"]: one["verdict"] for one in report["slices"] if one["column"] == "true label"}
    assert tags == dict.fromkeys(TAGS, "pass")
    assert report["agreement"]["n_labels"] == 3
    assert [one["name"] for one in report["classes"]] == TAGS
    assert {one["metric"] for one in report["figures"]} >= {"hamming_loss", "subset_accuracy", "micro_f1", "log_loss"}
    assert {one["value"]: one["verdict"] for one in report["slices"] if one["column"] == "region"}["tiny"] in (
        "too few rows",
        "not judged",
    )
    checked = shell.run("certify", "--check", file)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert checked.stdout.splitlines()[-1].endswith("holds")


def test_a_score_without_its_tag_is_one_sentence(shell, files):
    given = ["--model", files / "tags.onnx", "--data", files / "rows.csv", "--features", ",".join(FEATURES)]
    said = shell.refused("study", "new", *given, "--label", "spam,urgent", "--name", "Wrong")
    assert "2 labels (spam, urgent), output tags gives 3 scores per row" in said
