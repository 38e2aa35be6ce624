"""A home with one study of a small own model, filled through the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Shell:
    """`python -m engine` on one home."""

    home: Path

    def run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"WHETSTONE_HOME": str(self.home), "WHETSTONE_USER": "asha"}
        environment.pop("WHETSTONE_DATABASE_URL", None)
        command = [sys.executable, "-m", "engine", *map(str, words)]
        return subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False
        )

    def __call__(self, *words: str | Path) -> str:
        done = self.run(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def refused(self, *words: str | Path) -> str:
        """The one line that a failing command prints."""
        done = self.run(*words)
        assert done.returncode != 0
        lines = [line for line in done.stderr.strip().splitlines() if line.startswith("Error: ")]
        assert len(lines) == 1, done.stderr
        assert "Traceback" not in done.stderr
        return lines[0]


@pytest.fixture(scope="session")
def own_files(tmp_path_factory) -> Path:
    """model.txt and eval.csv of a small booster with three regions, one of them tiny."""
    import lightgbm as lgb

    folder = tmp_path_factory.mktemp("own")
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.normal(size=(3000, 5)), columns=list("abcde"))
    label = (table.a * table.b + 0.5 * table.c + rng.normal(size=3000) * 0.3 > 0).astype(int)
    settings = {"objective": "binary", "verbose": -1, "num_threads": 1, "seed": 1}
    lgb.train(settings, lgb.Dataset(table, label), 120).save_model(folder / "model.txt")
    region = np.where(np.arange(3000) < 12, "tiny", np.where(np.arange(3000) % 2, "north", "=south"))
    table.assign(churned=label, region=region).to_csv(folder / "eval.csv", index=False)
    return folder


@pytest.fixture(scope="session")
def shell(tmp_path_factory) -> Shell:
    return Shell(tmp_path_factory.mktemp("cli") / "home")


@pytest.fixture(scope="session")
def study(shell, own_files) -> str:
    """Id of a study with its baseline and a chain of two levers at two batches."""
    words = ["--label", "churned", "--slices", "region", "--price", "0.10", "--goal", "p50=1.2", "--name", "Churn"]
    made = shell("study", "new", "--model", own_files / "model.txt", "--data", own_files / "eval.csv", *words)
    study_id = made.strip().splitlines()[-1]
    steps = ["--step", "pruning.fewer_trees:keep_fraction=0.4", "--step", "export.lightgbm_to_onnx"]
    shell("run", study_id, *steps, "--batch", "1,8", "--preset", "quick")
    return study_id
