import re

import numpy as np
import pytest

from engine.errors import DoesNotFit
from engine.plugin import Context, Split
from engine.pruning.collapse_subtrees import CollapseSubtrees
from tests.engine.pruning.pruned import apply, native
from tests.model_zoo import FORESTS, booster, forest_artefact, forest_text, rows

NOTHING = Context("0", Split({}), Split({}))


@pytest.mark.parametrize("counts", ["rows", "file"])
@pytest.mark.parametrize("name", ["binary", "multiclass", "categorical", "rf"])
def test_fewer_splits_at_a_small_change(name, counts, tmp_path):
    seen = NOTHING if counts == "file" else None
    notes, *_, out = apply(CollapseSubtrees(keep_fraction=0.6, counts=counts), name, tmp_path, seen)
    assert notes["splits_after"] <= round(0.6 * notes["splits_before"])
    table = rows(FORESTS[name][1])
    whole = booster(name).predict(table, num_threads=1)
    assert np.abs(native(out, table) - whole).mean() < 0.3 * np.abs(whole - whole.mean(axis=0)).mean()


def test_a_file_without_counts_is_said(tmp_path):
    source = forest_artefact("binary", tmp_path / "source")
    text = re.sub("(leaf_count|leaf_weight)=.*\n", "", re.sub("tree_sizes=.*\n", "", forest_text("binary")))
    (source.folder / "model.txt").write_text(text)
    with pytest.raises(DoesNotFit, match="does not say how many rows"):
        CollapseSubtrees(counts="file").apply(source, tmp_path, NOTHING)


def test_nothing_to_collapse_is_said(tmp_path):
    with pytest.raises(DoesNotFit, match="no split"):
        apply(CollapseSubtrees(), "constant", tmp_path)
