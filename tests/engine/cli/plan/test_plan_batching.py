import json

import pytest
from click.testing import CliRunner

from engine.cli.main import cli

SETTING = ["--rate", "1000", "--p95-ms", "20"]


def run(*words):
    return CliRunner().invoke(cli, ["plan", "batching", *words])


def test_the_chosen_cap_and_wait_with_the_grid():
    found = json.loads(run("--a", "5", "--b", "0.2", *SETTING, "--json").output)
    assert (found["cap"], found["wait_ms"]) == (16, 0)
    assert len(found["grid"]) == 40
    assert found["at_peak"]["p95_ms"] == pytest.approx(12.72, rel=0.02)
    assert found["at_low"]["p50_ms"] == pytest.approx(5.2)


def test_measured_points_become_a_line_or_a_table(tmp_path):
    line = ["--point", "1:5.2", "--point", "8:6.6", "--point", "32:11.4", "--point", "128:30.6"]
    text = run(*line, *SETTING, "--triton", str(tmp_path / "config.pbtxt")).output.replace("\u202f", " ")
    assert text.startswith("Batch at most 16 and wait 0 ms")
    assert "call time = 5 ms + 0.2 ms per request" in text
    assert "max_batch_size: 16" in (tmp_path / "config.pbtxt").read_text()
    bent = ["--point", "1:5", "--point", "8:6", "--point", "16:20"]
    assert "measured at batches 1, 8, 16" in run(*bent, "--rate", "500", "--p95-ms", "30").output


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (SETTING, "say how long a call takes in one way"),
        (["--a", "5", "--point", "1:5", *SETTING], "in one way"),
        (["--a", "0", *SETTING], "a call takes time"),
        (["--point", "x", *SETTING], "write batch:ms"),
        (["--point", "0:5", *SETTING], "the batch must be at least 1"),
        (["--a", "5", "--rate", "0", "--p95-ms", "20"], "traffic must be above 0"),
        (["--a", "5", "--rate", "1", "--p95-ms", "4"], "a call of one request alone takes 5 ms"),
        (["--a", "5", *SETTING, "--caps", "many"], "--caps 'many' cannot be read"),
        (["--a", "5", *SETTING, "--caps", "1", "--triton", "config.pbtxt"], "no config to write: unstable"),
    ],
)
def test_silly_words_get_one_line(words, says):
    done = run(*words)
    assert done.exit_code == 1
    assert done.output.startswith("Error: ")
    assert says in done.output
    assert len(done.output.strip().splitlines()) == 1
