import pytest

from engine.catalogue import bridge, catalogue, story
from engine.export.lightgbm_to_onnx import LightgbmToOnnx
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


@pytest.mark.parametrize(
    ("lever", "model_format", "title"),
    [(Int8Dynamic, "lightgbm", LightgbmToOnnx.title), (Int8Dynamic, "onnx", None), (LightgbmToOnnx, "onnx", None)],
)
def test_the_step_that_leads_to_a_lever(lever, model_format, title):
    assert bridge(lever, model_format) == title
