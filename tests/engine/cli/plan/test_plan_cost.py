import json

import pytest
from click.testing import CliRunner

from engine.cli.main import cli

TABLE = [
    "--peak",
    "278",
    "--headroom",
    "0.3",
    "--min-replicas",
    "2",
    "--machine",
    "cpu:50:40",
    "--machine",
    "gpu:600:250",
]


def run(*words):
    return CliRunner().invoke(cli, ["plan", "cost", *words])


def test_the_278_requests_table():
    answer = json.loads(run(*TABLE, "--json").output)
    cpu, gpu = answer["machines"]
    assert answer["break_even_peak"] == 462
    assert (cpu["name"], cpu["replicas"], cpu["cost_per_month"]) == ("cpu", 8, 230_400)
    assert (gpu["name"], gpu["replicas"], gpu["cost_per_month"]) == ("gpu", 2, 360_000)
    assert [round(one["cost_per_1k_full"], 3) for one in (cpu, gpu)] == [0.222, 0.116]
    assert [round(one["cost_per_1k_real"], 4) for one in (cpu, gpu)] == [0.3197, 0.4996]


def test_the_day_and_the_words():
    text = run(*TABLE, "--currency", "INR", "--day-low", "0.2").output.replace("\u202f", " ")
    assert text.startswith("8 cpu replicas, ₹2.3 lakh a month; the gpu would pay off from a peak of 462 requests/s\n")
    for part in ("₹4,640", "₹7,680", "39.6%", "₹12,000", "₹3.6 lakh", "95.5 ms"):
        assert part in text


def test_a_day_from_a_file_and_savings(tmp_path):
    (tmp_path / "day.csv").write_text("requests_per_s\n" + "\n".join(["100"] * 12 + ["278"] * 12))
    machines = ["--machine", "before:50:40", "--machine", "after:150:40:120:180", "--baseline", "before"]
    answer = json.loads(run("--day", str(tmp_path / "day.csv"), *machines, "--json").output)
    assert answer["demand"]["mean_per_s"] == 189
    saved = answer["savings"][0]
    assert saved["name"] == "after"
    assert saved["saved_per_month"] == {"value": 5 * 28_800, "low": 4 * 28_800, "high": 5 * 28_800}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--machine", "cpu:50:40"], "how much traffic?"),
        (["--peak", "0", "--machine", "cpu:50:40"], "peak_per_s = 0.0"),
        (["--peak", "5"], "no machine to plan with"),
        (["--peak", "5", "--machine", "cpu"], "write name:requests_per_s:price_per_hour"),
        (["--peak", "5", "--machine", "cpu:0:40"], "requests/s must be above 0"),
        (["--peak", "5", "--machine", "cpu:1:1", "--baseline", "x"], "no machine is called 'x'"),
        (["--peak", "5", "--average", "0", "--machine", "cpu:1:1"], "no traffic"),
        (["--peak", "5", "--headroom", "-1", "--machine", "cpu:1:1"], "headroom = -1.0"),
    ],
)
def test_silly_words_get_one_line(words, says):
    done = run(*words)
    assert done.exit_code == 1
    assert done.output.startswith("Error: ")
    assert says in done.output
    assert len(done.output.strip().splitlines()) == 1
