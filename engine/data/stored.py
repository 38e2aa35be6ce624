"""Open a bound evaluation set. Nothing is read before it is used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from engine.plugin import Split
from engine.records import EvalSetInfo, SplitName

if TYPE_CHECKING:
    import pandas as pd

INPUTS_FILE, LABELS_FILE, ROWS_FILE = "inputs.json", "labels.npy", "rows.parquet"


def load_split(folder: Path, split: SplitName) -> Split:
    """Inputs and labels of a split. A split without rows has arrays of length 0."""
    place = folder / split
    names = json.loads((place / INPUTS_FILE).read_text())
    inputs = {name: _open(place / f"input_{at}.npy") for at, name in enumerate(names)}
    labels = place / LABELS_FILE
    return Split(inputs, _open(labels) if labels.exists() else None)


def load_rows(folder: Path, split: SplitName) -> pd.DataFrame:
    """One line per row of a split: row, and where given id, group, weight and "slice:<name>" per slice column."""
    import pandas as pd  # a timed process opens the arrays alone, and its memory is measured

    return pd.read_parquet(folder / split / ROWS_FILE)


def load_info(folder: Path) -> EvalSetInfo:
    """What is known of the set; its id is the name of its folder."""
    info = EvalSetInfo.model_validate_json((folder / "info.json").read_text())
    return info.model_copy(update={"id": folder.name})


def _open(path: Path) -> np.ndarray:
    """A view on the file; read whole where it is empty, because nothing can be mapped there."""
    array: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    return array
