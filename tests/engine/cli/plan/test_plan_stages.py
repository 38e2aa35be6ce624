import json

import pytest
from click.testing import CliRunner

from engine.cli.main import cli

STAGES = ["network=4", "feature fetch=15", "preprocessing=1", "model=2", "postprocessing=1"]
REQUEST = [word for stage in STAGES for word in ("--stage", stage)] + ["--total", "25"]


def run(*words):
    return CliRunner().invoke(cli, ["plan", "stages", *words])


def test_the_25_ms_request_names_feature_fetch():
    found = json.loads(run(*REQUEST, "--what-if", "feature fetch=4", "--json").output)
    assert found["largest_at_p50"] == "feature fetch"
    assert round(found["model_ceiling"], 2) == 1.09
    assert found["after"]["mean_ms"] == pytest.approx(14)
    text = run(*REQUEST, "--what-if", "model=x0.5").output
    assert text.startswith("Feature fetch is the largest stage")
    assert "1.04× faster" in text


def test_a_file(tmp_path):
    (tmp_path / "trace.csv").write_text("fetch,net\n" + "15,4\n" * 4000)
    found = json.loads(run("--trace", str(tmp_path / "trace.csv"), "--model", "net", "--json").output)
    assert (found["largest_at_p99"], found["n_requests"]) == ("fetch", 4000)
    assert found["model_ceiling"] == pytest.approx(19 / 15)


def test_several_files_are_replicas(tmp_path):
    (tmp_path / "a.csv").write_text("model\n" + "5\n" * 600)
    (tmp_path / "b.csv").write_text("model\n" + "50\n" * 600)
    words = ["--trace", str(tmp_path / "a.csv"), "--trace", str(tmp_path / "b.csv")]
    assert json.loads(run(*words, "--json").output)["replicas"][0]["name"].endswith("b.csv")
    assert "The requests of 2 replicas are pooled" in run(*words).output


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "by --trace FILE, or by --stage"),
        (["--stage", "model"], "write name=ms"),
        (["--stage", "=2"], "names no stage"),
        (["--stage", "model=2", "--what-if", "model=fast"], "name=x0.5"),
        (["--stage", "model=2", "--what-if", "gpu=1"], "there is no stage 'gpu'"),
        (["--stage", "model=2", "--model", "gpu"], "there is no stage 'gpu'"),
        (["--stage", "model=2", "--total", "1"], "more than its total"),
    ],
)
def test_silly_words_get_one_line(words, says):
    done = run(*words)
    assert done.exit_code == 1
    assert done.output.startswith("Error: ")
    assert says in done.output
    assert len(done.output.strip().splitlines()) == 1
