import json

import pytest
from click.testing import CliRunner

from engine.cli.main import cli


def run(*words):
    return CliRunner().invoke(cli, ["plan", "pack", *words])


def test_a_file_and_single_items(tmp_path):
    (tmp_path / "items.csv").write_text("name,memory_mb,compute_milli,priority\na,8000,300,high\nb,6000,500,\n")
    words = ["--items", str(tmp_path / "items.csv"), "--item", "c:5000:200", "--node", "16000:1000", "--price", "1"]
    answer = json.loads(run(*words, "--json").output)
    assert (len(answer["loads"]), answer["optimal"], answer["cost_per_month"]) == (2, True, 1440)
    assert run(*words).output.startswith("3 models on 2 nodes; no fewer can hold them; $1,440 a month against $2,160")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--node", "16000"], "--node '16000' cannot be read"),
        (["--node", "16000:1000"], "nothing to pack"),
        (["--node", "inf:1000", "--item", "a:1:1"], "--node 'inf:1000' cannot be read"),
        (["--node", "16000:1000", "--item", "a:20000:1"], "a needs 20,000 MB"),
        (["--node", "16000:1000", "--item", "a:x:1"], "memory_mb = 'x'"),
    ],
)
def test_what_cannot_be_is_one_sentence(words, says):
    result = run(*words)
    assert result.exit_code != 0
    assert says in str(result.exception) + result.output
