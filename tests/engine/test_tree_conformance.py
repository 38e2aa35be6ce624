"""The gate as it runs: rows made and answered in confined children."""

import numpy as np
import pytest

from engine.errors import ParityFailed
from engine.forest.lightgbm_text import parse, write
from engine.plugin import Artefact
from engine.records import Choice, Recipe, Step
from engine.tree_conformance import check_line, sentence
from tests.model_zoo import binned_artefact, forest_artefact, forest_text, net_artefact, rows

OWN = Choice(name="trees_binned")
BINS = Recipe(steps=(Step(lever="quantisation.tree_bins"),))


@pytest.fixture
def evalset(tmp_path):
    folder = tmp_path / "evalset" / "selection"
    folder.mkdir(parents=True)
    (folder / "inputs.json").write_text('["features"]')
    np.save(folder / "input_0.npy", rows("categorical"))
    return folder.parent


def test_an_exact_conversion_passes_and_says_how_many_rows_were_asked(tmp_path, evalset):
    line = [forest_artefact("categorical", tmp_path / "a"), binned_artefact("categorical", tmp_path / "b")]
    (found,) = check_line(line, BINS, OWN, evalset, 1)
    assert (found.what, found.exact, found.n_differ) == ("quantisation.tree_bins", True, 0)
    assert found.n_rows > 300
    assert 0 < found.n_made < found.n_rows
    assert "agree" in sentence(found)


def test_a_wrong_artefact_is_refused_with_the_column(tmp_path, evalset):
    """Bins of a model whose categories go the other way: what a converter that misreads them makes."""
    from engine.forest.binned import pack
    from engine.forest.binned import write as write_bins

    right = forest_artefact("categorical", tmp_path / "a")
    wrong = binned_artefact("categorical", tmp_path / "b")
    text = write(parse(forest_text("categorical"))).replace("cat_threshold=", "cat_threshold=1", 1)
    write_bins(pack(parse("\n".join(line for line in text.split("\n") if "tree_sizes" not in line))), wrong.folder)
    with pytest.raises(ParityFailed, match=r"tree_bins does not give .* rows .* differ, .*'Column_[34]'.*not timed"):
        check_line([right, wrong], BINS, OWN, evalset, 1)


def test_another_runtime_of_the_same_file_is_asked_too(tmp_path, evalset):
    runtime = Choice(name="lightgbm_native", params={"single_row": True})
    (found,) = check_line([forest_artefact("categorical", tmp_path / "a")], Recipe(), runtime, evalset, 1)
    assert (found.what, found.n_differ) == ("lightgbm_native", 0)


@pytest.mark.slow
def test_trees_from_onnx_are_asked_from_the_step_that_read_them_on(tmp_path):
    from engine.quantisation.tree_bins import TreeBins
    from tests.engine.export.test_onnx_trees_to_lightgbm import OnnxTreesToLightgbm, sklearn_artefact, step, table

    source = sklearn_artefact("boosting, three classes", tmp_path / "source")
    text = step(OnnxTreesToLightgbm(), source, tmp_path / "text")
    binned = step(TreeBins(), text, tmp_path / "binned")
    folder = tmp_path / "evalset" / "selection"
    folder.mkdir(parents=True)
    (folder / "inputs.json").write_text('["X"]')
    np.save(folder / "input_0.npy", table())
    steps = (Step(lever="export.onnx_trees_to_lightgbm"), Step(lever="quantisation.tree_bins"))
    read, bins = check_line([source, text, binned], Recipe(steps=steps), OWN, folder.parent, 1)
    assert (read.what, read.exact) == ("export.onnx_trees_to_lightgbm", False)
    assert read.n_differ < 0.01 * read.n_rows, "but for values that LightGBM reads as 0"
    assert (bins.what, bins.exact, bins.n_differ) == ("quantisation.tree_bins", True, 0)


def test_a_lever_that_changes_answers_and_a_net_are_not_asked(tmp_path, evalset):
    line = [forest_artefact("categorical", tmp_path / "a"), forest_artefact("categorical", tmp_path / "b")]
    recipe = Recipe(steps=(Step(lever="pruning.fewer_trees"),))
    assert check_line(line, recipe, Choice(name="lightgbm_native"), evalset, 1) == ()
    net = Artefact(net_artefact("tabular", tmp_path / "c").manifest, tmp_path / "c")
    assert check_line([net], Recipe(), Choice(name="onnxruntime_cpu"), evalset, 1) == ()
