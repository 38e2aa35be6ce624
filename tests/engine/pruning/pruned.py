"""Apply a tree lever to a forest of the zoo, with the rows it was trained on as the training split."""

import numpy as np

from engine.forest.lightgbm_text import load
from engine.plugin import Context, Split
from tests.model_zoo import FORESTS, forest_artefact, rows


def context(name, n_train=600, n_calibration=50):
    """The zoo's rows; no labels, because no tree lever may need them."""
    table = rows(FORESTS[name][1])
    splits = (Split({"features": table[:n]}) for n in (n_train, n_calibration))
    return Context("0", *splits, seed=4)


def apply(lever, name, tmp_path, seen=None):
    """(notes, forest before, forest after, folder of the result)."""
    source = forest_artefact(name, tmp_path / "source")
    out = tmp_path / "out"
    out.mkdir()
    notes = lever.apply(source, out, seen or context(name))
    return notes, load(source.folder / "model.txt"), load(out / "model.txt"), out


def native(folder, table):
    """LightGBM's own answers."""
    import lightgbm as lgb

    return np.asarray(lgb.Booster(model_file=folder / "model.txt").predict(table, num_threads=1))
