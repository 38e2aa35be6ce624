import json

import pytest
from click.testing import CliRunner

from engine.cli.main import cli

STEP = [
    *("--rate", "20:300", "--rate", "100:300", "--service-ms", "20", "--target", "30"),
    *("--startup-s", "20", "--price", "40", "--currency", "INR"),
]


def run(*words):
    return CliRunner().invoke(cli, ["plan", "autoscale", *words])


def test_json_holds_both_fleets_the_timeline_and_the_yaml():
    answer = json.loads(run(*STEP, "--json").output)
    assert answer["static"]["most_replicas"] == 3
    assert answer["static"]["cost"] == pytest.approx(3 * 40 / 6, rel=0.01)
    assert answer["scaled"]["n_requests"] == answer["static"]["n_requests"]
    assert len(answer["scaled"]["timeline"]["time_s"]) > 30
    assert answer["yaml"].startswith("apiVersion: autoscaling/v2")
    assert answer["recommended"] in ("static", {"target": 30})


def test_words_answer_first_and_name_what_is_not_known():
    text = run(*STEP).output
    assert text.splitlines()[0].startswith(("Keep 3 fixed replicas", "Scale by "))
    assert "not in it" in text


def test_a_trace_and_the_yaml_alone(tmp_path):
    (tmp_path / "trace.csv").write_text("arrival_s\n" + "\n".join(str(i / 2) for i in range(400)))
    words = ["--trace", str(tmp_path / "trace.csv"), "--service-ms", "100", "--target", "5", "--scaler", "keda"]
    answer = json.loads(run(*words, "--min", "0", "--startup-s", "3", "--json").output)
    assert answer["scaled"]["n_requests"] == 400
    assert answer["scaled"]["n_cold_starts"] == 1
    assert run(*words, "--yaml").output.startswith("apiVersion: keda.sh/v1alpha1")


@pytest.mark.parametrize(("scaler", "begins"), [("knative", "apiVersion: serving"), ("ray-serve", "applications:")])
def test_the_other_scalers(scaler, begins):
    answer = json.loads(run(*STEP, "--scaler", scaler, "--target", "0.6", "--json").output)
    assert answer["scaler"]["kind"] == scaler.replace("-", "_")
    assert answer["scaled"]["most_replicas"] > 2
    assert answer["yaml"].startswith(begins)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--service-ms", "20", "--target", "30"], "traffic is steps"),
        (["--rate", "5", "--service-ms", "20", "--target", "30"], "write 2 numbers"),
        (["--rate", "0:100", "--service-ms", "20", "--target", "30"], "no traffic"),
        (["--rate", "5:1e9", "--service-ms", "20", "--target", "30"], "are more than the 5,000,000"),
        ([*STEP, "--target", "inf"], "target = inf"),
        ([*STEP, "--service-ms", "nan"], "needs a mean above 0 s"),
        ([*STEP, "--max", "1"], "min replicas 2 are more than max replicas 1"),
        ([*STEP, "--slo-ms", "10"], "below the service time"),
        ([*STEP, "--startup-s", "-1"], "startup_s"),
        ([*STEP, "--scaler", "keda", "--signal", "cpu", "--target", "0.5"], "cannot wake an empty fleet"),
    ],
)
def test_what_cannot_be_is_one_sentence(words, says):
    result = run(*words)
    assert result.exit_code != 0
    assert says in str(result.exception) + result.output
