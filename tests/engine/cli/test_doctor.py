import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def doctor(home, *arguments):
    environment = os.environ | {"WHETSTONE_HOME": str(home), "WHETSTONE_LOCK_DIR": str(home / "locks")}
    command = [sys.executable, "-m", "engine", "doctor", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, text=True, capture_output=True, timeout=300, check=False)


@pytest.mark.slow
def test_aa_answers_and_is_remembered(tmp_path):
    done = doctor(tmp_path, "--aa", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert set(answer["aa"]) == {"verdict", "ratio", "low", "high", "n_pairs"}
    assert answer["aa"]["verdict"] in ("no difference", "cannot tell")
    assert answer["aa"]["n_pairs"] == 10
    later = json.loads(doctor(tmp_path, "--json").stdout)
    assert "aa" not in later
    assert later["noise_floor"] == answer["noise_floor"]


def test_a_machine_that_was_not_measured_says_how(tmp_path):
    done = doctor(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "not measured here; measure it with: doctor --aa" in done.stdout
