import json

import pytest
from click.testing import CliRunner

from engine.cli.main import cli

CACHE = ["cache", "--capacity", "100", "--rate", "278", "--model-ms", "20"]
CARBON = ["carbon", "--replicas", "8", "--active-w", "60", "--idle-w", "60", "--busy-ms", "20"]


def run(*words):
    return CliRunner().invoke(cli, ["plan", *words])


def test_a_cache_by_zipf_and_by_log(tmp_path):
    answer = json.loads(run(*CACHE, "--n-keys", "1000", "--json").output)
    assert answer["hit_fraction"] == pytest.approx(0.5765, abs=5e-5)
    (tmp_path / "keys.txt").write_text("a\nb\n" * 100)
    words = [*CACHE, "--keys", str(tmp_path / "keys.txt"), "--replica-per-s", "50", "--price", "1"]
    assert json.loads(run(*words, "--json").output)["hit_fraction_from_empty"] == 0.99
    assert run(*words).output.startswith("100.0% hits: mean 1.00")


def test_carbon_by_grid_and_by_mix():
    assert json.loads(run(*CARBON, "--rate", "278", "--json").output)["grams_per_1k"] == pytest.approx(
        0.273381, abs=5e-7
    )
    mixed = json.loads(run(*CARBON, "--rate", "278", "--mix", "coal:0.5", "--mix", "wind:0.5", "--json").output)
    assert mixed["settings"]["grams_per_kwh"] == 510.5
    assert run(*CARBON, "--rate", "278").output.startswith("Estimate: ")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (CACHE, "which keys?"),
        ([*CACHE, "--n-keys", "10", "--rate", "0"], "rate_per_s = 0.0"),
        ([*CARBON, "--rate", "1000"], "unstable: 1,000/s exceeds 400/s"),
        ([*CARBON, "--rate", "1", "--grid", "1", "--mix", "coal:1"], "not both"),
        ([*CARBON, "--rate", "1", "--mix", "coal"], "write source:share"),
    ],
)
def test_what_cannot_be_is_one_sentence(words, says):
    result = run(*words)
    assert result.exit_code != 0
    assert says in str(result.exception) + result.output
