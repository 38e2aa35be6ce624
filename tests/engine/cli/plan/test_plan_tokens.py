import json

import pytest
from click.testing import CliRunner

from engine.cli.main import cli

ENGINE = ["--fixed-ms", "15", "--per-sequence-ms", "0.4", "--per-prompt-token-ms", "0.08", "--rate", "4"]
SHAPE = ["--layers", "32", "--kv-heads", "8", "--head-dim", "128", "--weight-gb", "14", "--memory-gb", "80"]


def run(*words):
    return CliRunner().invoke(cli, ["plan", "tokens", *words])


def test_a_plan_with_the_memory_of_the_model():
    answer = json.loads(run(*ENGINE, *SHAPE, "--requests", "500", "--price", "3", "--json").output)
    assert answer["memory"]["kv_bytes_per_token"] == 131_072
    assert answer["settings"]["kv_tokens"] == answer["memory"]["kv_tokens"]
    assert answer["continuous"]["saturated_tokens_per_s"] > 2 * answer["static"]["saturated_tokens_per_s"]
    assert run(*ENGINE, "--requests", "500").output.startswith("Continuous batching: ")


def test_memory_alone():
    assert run(*SHAPE).output.startswith("KV memory: 131,072 bytes a token")


def test_another_tools_benchmark(tmp_path):
    path = tmp_path / "bench.json"
    path.write_text(json.dumps({"mean_ttft_ms": 60.0, "p99_ttft_ms": 300.0, "completed": 5}))
    assert json.loads(run("--benchmark", str(path), "--json").output)[0]["ttft_p99_ms"] == 300
    assert "vllm bench" in run("--benchmark", str(path)).output


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "what to plan?"),
        (["--layers", "3"], "also needs --kv-heads"),
        ([*ENGINE, "--rate", "500"], "unstable: "),
        ([*ENGINE, "--kv-tokens", "50"], "larger than the KV memory"),
        ([*ENGINE, "--cap", "0"], "cap = 0"),
        ([*ENGINE, "--prompt", "nan:3"], "--prompt 'nan:3' cannot be read"),
    ],
)
def test_what_cannot_be_is_one_sentence(words, says):
    result = run(*words)
    assert result.exit_code != 0
    assert says in str(result.exception) + result.output
