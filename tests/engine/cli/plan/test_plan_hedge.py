import json

import numpy as np
import pytest
from click.testing import CliRunner

from engine.cli.main import cli


@pytest.fixture
def samples(tmp_path):
    rng = np.random.default_rng(0)
    values = rng.lognormal(3, 0.25, 6000) + np.where(rng.random(6000) < 0.02, rng.exponential(300, 6000), 0)
    path = tmp_path / "latencies.csv"
    path.write_text("latency_ms\n" + "\n".join(f"{value:.4f}" for value in values))
    return path


def run(*words):
    return CliRunner().invoke(cli, ["plan", "hedge", *words])


def test_json_and_words_agree(samples):
    answer = json.loads(run("--samples", str(samples), "--fan-out", "100", "--json").output)
    assert answer["hedge"] is True
    assert answer["extra_fraction"] == pytest.approx(0.02, abs=2e-4)
    assert answer["any_slow_fraction"] == pytest.approx(0.633968, abs=1e-6)
    assert run("--samples", str(samples), "--fan-out", "100").output.startswith(answer["answer"])


@pytest.mark.parametrize(
    ("words", "says"), [(["--budget", "0.2"], "budget"), (["--utilisation", "1.1"], "unstable"), ([], "--samples")]
)
def test_what_cannot_be_is_one_sentence(samples, words, says):
    result = run(*(["--samples", str(samples)] if words else []), *words)
    assert result.exit_code != 0
    assert says in str(result.exception) + result.output
