"""Rebuilding a sample: what it refuses, and that it makes the same files again."""

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import sample_models
from engine.errors import DoesNotFit
from sample_models import packages

ROOT = Path(__file__).parents[2]


def test_rebuilding_an_unknown_sample_says_so_in_one_line():
    done = subprocess.run(
        [sys.executable, "-m", "sample_models.rebuild", "mnist"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "no sample is called 'mnist'; there are: diamonds_price, digits_cnn, flight_delay"
    ]


def test_a_missing_package_says_what_to_install():
    with pytest.raises(DoesNotFit, match="pip install no_such_package"):
        packages.folder_of("no_such_package")


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(sample_models.samples()))
def test_rebuilding_gives_the_same_data_and_as_good_a_model(name, columns, read_columns, parts_of, measure, tmp_path):
    code = f"from pathlib import Path; from sample_models.{name} import rebuild; rebuild(Path({str(tmp_path)!r}))"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True)
    sample = sample_models.find(name)
    again = read_columns(tmp_path / sample.data.name)
    assert again.keys() == columns[name].keys()
    for key, values in again.items():
        pairs = zip(parts_of(values), parts_of(columns[name][key]), strict=True)
        assert all(pd.Series(new).equals(pd.Series(old)) for new, old in pairs), key
    rows = again["split"] == "selection"
    assert measure[name](tmp_path / sample.model.name, again, rows) == pytest.approx(sample.metric_value, abs=0.01)
