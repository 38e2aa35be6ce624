from engine.catalogue import bridge, catalogue, story
from engine.export.lightgbm_to_onnx import LightgbmToOnnx
from engine.export.onnx_optimise import OnnxOptimise
from engine.plugin import Lever, levers
from engine.quantisation.int8_dynamic import Int8Dynamic
from engine.records import Manifest, Signature, TensorSpec

FOREST = Manifest(
    id="a" * 64,
    format="lightgbm",
    signature=Signature(
        inputs=(TensorSpec(name="features", dtype="float64", shape=("batch", 12)),),
        outputs=(TensorSpec(name="score", dtype="float64", shape=("batch",)),),
    ),
    size_bytes=1,
    n_trees=1200,
)


class Told(Lever):
    """Does one thing.

    Needs nothing. Helps here, e.g. where rows are few. Hurts there; never Helps
    there. Source: Somebody (2020), a title.
    """


class Untold(Lever):
    """Does one thing."""


def test_a_docstring_is_taken_apart_at_its_marks():
    found = story(Told)
    assert found.what == "Does one thing."
    assert found.more == "Needs nothing."
    assert found.helps == "Helps here, e.g. where rows are few."
    assert found.hurts == "Hurts there; never Helps there."
    assert found.source == "Somebody (2020), a title."
    assert story(Untold).more is story(Untold).helps is story(Untold).hurts is story(Untold).source is None


def test_what_fits_comes_first_and_the_promising_of_it():
    entries = catalogue(FOREST, {"cpu_flags": []})
    assert {entry.name for entry in entries} == set(levers())
    fits = [entry.fits for entry in entries]
    assert fits == sorted(fits, reverse=True)
    words = [entry.prediction.word for entry in entries if entry.prediction]
    order = ["Likely faster", "Worth a try", "No difference", "Likely slower"]
    assert words == sorted(words, key=order.index)
    assert len(set(words)) > 1
    assert all(entry.prediction is None for entry in entries if not entry.fits)


def test_without_a_model_nothing_is_said_about_fit():
    assert all(entry.fits and entry.prediction is None and entry.bridge is None for entry in catalogue(None, {}))


def test_the_step_that_leads_to_a_lever_and_why_it_does_not():
    assert bridge(OnnxOptimise, FOREST, {}) == (LightgbmToOnnx, None)
    way, still = bridge(Int8Dynamic, FOREST, {})
    assert way is LightgbmToOnnx
    assert "no MatMul/Conv inside" in still
    assert bridge(LightgbmToOnnx, FOREST, {}) is None
    assert bridge(LightgbmToOnnx, FOREST.model_copy(update={"format": "torch_export"}), {}) is None
    entries = {entry.name: entry for entry in catalogue(FOREST, {})}
    assert entries["export.onnx_optimise"].bridge == LightgbmToOnnx.title
    int8 = entries["quantisation.int8_dynamic"]
    assert int8.bridge is None
    assert int8.reason.startswith("takes onnx; this model is lightgbm; after LightGBM to ONNX: no MatMul/Conv inside")
