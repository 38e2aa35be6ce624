"""What is known of a chain before anything is built."""

import pytest

from engine.errors import InvalidRecipe
from engine.plugin import levers
from engine.recipe import expected, normalised_choice, walk, why_not
from engine.records import Choice, Manifest, Recipe, Signature, Step, TensorSpec

MACHINE = {"cpu_flags": []}
FOREST = Manifest(
    id="a" * 64,
    format="lightgbm",
    signature=Signature(
        inputs=(TensorSpec(name="features", dtype="float64", shape=("batch", 12)),),
        outputs=(TensorSpec(name="score", dtype="float64", shape=("batch",)),),
    ),
    size_bytes=1,
    n_trees=1200,
    versions={"objective": "binary"},
)
FEWER, TO_ONNX, INT8, OPTIMISE = (
    "pruning.fewer_trees",
    "export.lightgbm_to_onnx",
    "quantisation.int8_dynamic",
    "export.onnx_optimise",
)


def chain(*names):
    return [levers()[name] for name in names]


def recipe(*names):
    return Recipe(steps=tuple(Step(lever=name) for name in names))


def test_each_step_is_looked_at_where_it_stands():
    found = walk(chain(FEWER, TO_ONNX, OPTIMISE), FOREST, MACHINE)
    assert [one.after.format for one in found] == ["lightgbm", "onnx", "onnx"]
    assert [one.reason for one in found] == [None, None, None]
    turned = walk(chain(TO_ONNX, FEWER), FOREST, MACHINE)
    assert turned[0].reason is None
    assert turned[1].before.format == "onnx"
    assert "this model is onnx" in turned[1].reason


def test_an_exported_forest_has_nothing_to_store_in_fewer_bits():
    found = walk(chain(TO_ONNX, INT8), FOREST, MACHINE)
    assert "no MatMul/Conv inside" in found[1].reason
    assert why_not(recipe(TO_ONNX, INT8), FOREST, MACHINE) == f"{INT8}: {found[1].reason}"


def test_a_chain_that_fits_and_one_whose_formats_do_not_meet():
    assert why_not(recipe(), FOREST, MACHINE) is None
    assert why_not(recipe(FEWER, TO_ONNX), FOREST, MACHINE) is None
    with pytest.raises(InvalidRecipe, match="takes lightgbm, but step 1 gives onnx"):
        why_not(recipe(TO_ONNX, FEWER), FOREST, MACHINE)


def test_in_another_format_nothing_is_known_of_the_graph():
    after = expected(levers()[TO_ONNX], FOREST)
    assert (after.format, after.n_trees, after.versions) == ("onnx", 1200, {})
    assert expected(levers()[FEWER], FOREST) == FOREST


def test_a_runtime_is_the_same_whether_its_defaults_are_spelled_or_not():
    spelled = Choice(name="onnxruntime_cpu", params={"optimisation": "all", "spinning": True})
    assert normalised_choice(spelled) == Choice(name="onnxruntime_cpu", params={"spinning": True})
    with pytest.raises(InvalidRecipe, match="optimisation"):
        normalised_choice(Choice(name="onnxruntime_cpu", params={"optimisation": "most"}))
