"""What every lever promises. A new lever is here as soon as its file exists."""

import hashlib
import re
import typing
from functools import cache

import numpy as np
import pytest

from engine.catalogue import story
from engine.errors import DoesNotFit
from engine.plugin import Context, Outlook, Split, levers, make, reference_runtime, runtimes
from tests.model_zoo import (
    NETS,
    SCRIPTS,
    forest_artefact,
    net_artefact,
    onnx_net_artefact,
    sample_inputs,
    script_artefact,
    xgboost_artefact,
    zipmap_artefact,
)

FORESTS = ("binary", "multiclass", "regression", "categorical", "zero_as_missing", "rf")
XGBOOSTS = ("xgb_binary", "xgb_multiclass", "xgb_regression", "xgb_dart")
SOURCES = {
    "lightgbm": dict.fromkeys(FORESTS, forest_artefact),
    "xgboost": dict.fromkeys(XGBOOSTS, xgboost_artefact),
    "torch_export": dict.fromkeys(NETS, net_artefact),
    "torchscript": dict.fromkeys(SCRIPTS, script_artefact),
    "onnx": dict.fromkeys(NETS, onnx_net_artefact) | {"zipmap": lambda _, folder: zipmap_artefact(folder)},
}
NAMES = sorted(levers())
PAIRS = [(lever, source) for lever in NAMES for kind in sorted(levers()[lever].accepts) for source in SOURCES[kind]]
# The only pairs that may be refused, with a part of the reason.
REFUSED = {
    ("quantisation.int8_dynamic", "zipmap"): "no MatMul/Conv inside",
    ("quantisation.int8_static", "zipmap"): "no MatMul/Conv inside",
    ("quantisation.float16", "zipmap"): "no MatMul/Conv inside",
    ("quantisation.weights_int4", "zipmap"): "no MatMul/Conv inside",
    ("quantisation.weights_int8", "zipmap"): "no MatMul/Conv inside",
    ("quantisation.equalise_inputs", "zipmap"): "not straight into a dense layer",
    ("quantisation.equalise_inputs", "conv"): "needs an input of columns",
    ("quantisation.equalise_inputs", "transformer"): "needs an input of columns",
    ("quantisation.equalise_inputs", "two_outputs"): "have the same scale",
    ("pruning.weights", "zipmap"): "no MatMul/Conv inside",
    ("pruning.channels", "transformer"): "no channel was removed",
    ("pruning.channels", "two_outputs"): "no channel was removed",
    ("pruning.channels", "ts_transformer"): "no channel was removed",
    ("pruning.channels", "ts_two_outputs"): "no channel was removed",
}
REFUSED |= {
    ("export.onnx_trees_to_lightgbm", name): "no trees inside|needs one|needs a known" for name in SOURCES["onnx"]
}


@cache
def class_of(name):
    return levers()[name]


def source_of(lever, name, folder):
    kind = next(kind for kind in sorted(class_of(lever).accepts) if name in SOURCES[kind])
    return SOURCES[kind][name](name, folder)


def context_for(artefact):
    """24 rows, also for a model whose batch is fixed at 4."""
    inputs = sample_inputs(artefact.manifest.signature, n_rows=24)
    inputs = {name: np.concatenate([values] * (24 // len(values))) for name, values in inputs.items()}
    rows = Split(inputs=inputs, labels=np.zeros(24))
    return Context(data_id="0" * 64, train=rows, calibration=rows, seed=3)


def answers(artefact, inputs):
    runtime = make(runtimes(), reference_runtime(artefact.manifest.format), {})
    with runtime.open(artefact, threads=1) as predict:
        return predict(inputs)


def listing(folder):
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.rglob("*")}


@pytest.mark.parametrize("name", NAMES)
def test_says_what_it_does_and_describes_each_field(name):
    cls = class_of(name)
    assert cls.plugin_name() == name
    assert cls.__doc__
    told = story(cls)
    assert told.helps, "a sentence that begins with 'Helps'"
    assert told.hurts, "a sentence that begins with 'Hurts'"
    assert told.source, "a sentence that begins with 'Source:'"
    assert 3 <= len(cls.title) <= 40
    for field in cls.model_fields.values():
        assert field.description
        assert len(field.description) > 20
        assert field.default is not None


@pytest.mark.parametrize("name", NAMES)
def test_fields_are_of_kinds_a_form_can_draw(name):
    for field in class_of(name).model_fields.values():
        kind = field.annotation
        drawn = kind in (bool, int, float) or typing.get_origin(kind) is typing.Literal or kind == tuple[int, ...]
        assert drawn, kind
        if kind in (int, float):
            assert any(hasattr(bound, "ge") or hasattr(bound, "gt") for bound in field.metadata)
            assert any(hasattr(bound, "le") or hasattr(bound, "lt") for bound in field.metadata)


@pytest.mark.parametrize("name", NAMES)
def test_parameters_survive_json(name):
    lever = class_of(name)()
    assert class_of(name).model_validate_json(lever.model_dump_json()) == lever
    assert make(levers(), name, lever.model_dump(mode="json")) == lever


@pytest.mark.parametrize(("name", "source"), [(n, s) for n, s in PAIRS if s in ("binary", "conv", "transformer")])
def test_it_foretells_something_before_it_is_tried(name, source, tmp_path):
    manifest = source_of(name, source, tmp_path).manifest
    for machine in ({}, {"cpu_flags": ["avx2"]}, {"cpu_flags": ["avx2", "avx512_vnni"]}, {"cpu_flags": ["asimddp"]}):
        found = class_of(name).predicts(manifest, machine)
        assert found.word in typing.get_args(Outlook)
        assert 20 < len(found.reason) < 120
        assert not found.reason.endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_a_foreign_format_is_refused_with_a_reason(name, tmp_path):
    manifest = forest_artefact("binary", tmp_path).manifest.model_copy(update={"format": "unheard_of"})
    assert "unheard_of" in class_of(name).fits(manifest, {})


@pytest.mark.parametrize(("name", "source"), PAIRS)
def test_result_takes_the_place_of_the_source(name, source, tmp_path):
    artefact = source_of(name, source, tmp_path / "source")
    before = listing(artefact.folder)
    out = tmp_path / "out"
    out.mkdir()
    context = context_for(artefact)
    reason = class_of(name).fits(artefact.manifest, {})
    if reason is not None:
        assert re.search(REFUSED[name, source], reason)
        return
    if (name, source) in REFUSED:
        with pytest.raises(DoesNotFit, match=REFUSED[name, source]):
            class_of(name)().apply(artefact, out, context)
        assert listing(artefact.folder) == before
        return
    notes = class_of(name)().apply(artefact, out, context)
    assert listing(artefact.folder) == before
    assert all(isinstance(value, str | int | float | bool) for value in notes.values())
    produced = class_of(name).produces or artefact.manifest.format
    result = type(artefact)(artefact.manifest.model_copy(update={"format": produced}), out)
    given = sample_inputs(artefact.manifest.signature, n_rows=24)
    right, found = (answers(each, given) for each in (artefact, result))
    assert list(found) == list(right)
    for key, value in found.items():
        assert value.shape == right[key].shape
        assert value.dtype == right[key].dtype
        if value.dtype.kind == "f":
            assert np.isfinite(value).all()
            if class_of(name).exact:
                np.testing.assert_allclose(value, right[key], atol=1e-4 if value.dtype == np.float32 else 1e-9)


@pytest.mark.parametrize(
    ("name", "source"), [(n, s) for n, s in PAIRS if s in ("binary", "tabular") and (n, s) not in REFUSED]
)
def test_the_same_seed_gives_the_same_bytes(name, source, tmp_path):
    artefact = source_of(name, source, tmp_path / "source")
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
        class_of(name)().apply(artefact, tmp_path / folder, context_for(artefact))
    assert listing(tmp_path / "first") == listing(tmp_path / "second")
