"""The protocol against itself through the real launcher: fresh confined processes, pinned, on a real ONNX file."""

import json

import pytest

from engine import environment, noise_floor
from engine.measurement.self_test import PLAN
from engine.noise_floor import known_noise_floor, measure_noise_floor


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    told = []
    plan = PLAN.model_copy(update={"n_pairs": 4, "n_rounds": 6, "warm_up_s": 0.1})
    found = measure_noise_floor(home, plan=plan, progress=lambda fraction, text: told.append(fraction), seed=1)
    return home, found, told


def test_equal_models_are_not_called_faster_or_slower(measured):
    _, found, told = measured
    assert found.verdict in ("no difference", "cannot tell")
    assert found.aa == {
        "verdict": found.verdict, "ratio": found.ratio, "low": found.low, "high": found.high, "n_pairs": 4,
    }  # fmt: skip
    assert found.low < found.ratio < found.high
    assert told[-1] == 1.0


def test_every_quantile_has_a_half_width(measured):
    _, found, _ = measured
    assert set(found.half_widths) == set(found.clocks) == {"p50", "p95", "p99", "mean"}
    assert all(width > 0 for width in found.half_widths.values())
    assert found.clocks["p50"] == "wall"


def test_it_is_kept_and_read_again(measured):
    home, found, _ = measured
    assert known_noise_floor(home) == found
    assert json.loads((home / "noise-floor.json").read_text())["machine_id"] == environment.machine_id()
    assert list((home / "tmp").iterdir()) == []


def test_the_floor_of_another_machine_is_not_used(measured, monkeypatch):
    home, _, _ = measured
    monkeypatch.setattr(noise_floor, "machine_id", lambda: "another")
    assert known_noise_floor(home) is None


@pytest.mark.parametrize("text", [None, "", "{}", '{"machine_id": 3'])
def test_no_floor_or_an_unreadable_one_is_none(tmp_path, text):
    if text is not None:
        (tmp_path / "noise-floor.json").write_text(text)
    assert known_noise_floor(tmp_path) is None
