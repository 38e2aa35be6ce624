"""What the cells of a split column may say."""

from __future__ import annotations

from engine.records import SplitName

SPLIT_NAMES: dict[str, SplitName] = {
    "train": "train", "training": "train", "fit": "train",
    "calibration": "calibration", "calib": "calibration", "cal": "calibration",
    "selection": "selection", "val": "selection", "valid": "selection", "validation": "selection", "dev": "selection",
    "certification": "certification", "test": "certification", "testing": "certification",
    "holdout": "certification", "hold-out": "certification",
}  # fmt: skip
