"""Fixtures of every room: hostile files and the cases of the public record, made once per session when asked for."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).parent / "cases"


BIG = {"P27"}  # minutes to train; made by the tests that are about it


def _generate(script: str, folder: Path, *names: str) -> Path:
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, CASES / script, folder, *names], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "FAIL" not in done.stdout, done.stdout
    return folder


@pytest.fixture(scope="session")
def hostile_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hostile files and their legitimate controls: manifest.json, <case>/<file>, and canary/, which must stay empty."""
    return _generate("malicious_gen.py", tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="session")
def public_cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the inputs of the public record: P01/model.onnx, P01/eval.csv, …"""
    names = re.findall(r"^def (P\d+)", (CASES / "public_gen.py").read_text(), re.MULTILINE)
    return _generate("public_gen.py", tmp_path_factory.mktemp("public"), *sorted(set(names) - BIG))
