"""What every runtime promises."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from engine.errors import Mismatch
from engine.plugin import levers, make, reference_runtime, runtimes
from tests.model_zoo import (
    NETS,
    SCRIPTS,
    binned_artefact,
    forest_artefact,
    net_artefact,
    onnx_net_artefact,
    sample_inputs,
    script_artefact,
    xgboost_artefact,
)

ROOT = Path(__file__).parents[2]
SOURCES = {
    "lightgbm": dict.fromkeys(("binary", "multiclass", "categorical", "rf"), forest_artefact),
    "xgboost": dict.fromkeys(("xgb_binary", "xgb_multiclass", "xgb_dart"), xgboost_artefact),
    "torch_export": dict.fromkeys(NETS, net_artefact),
    "torchscript": dict.fromkeys(SCRIPTS, script_artefact),
    "onnx": dict.fromkeys(NETS, onnx_net_artefact),
    "trees_binned": dict.fromkeys(("binary", "multiclass", "categorical", "rf"), binned_artefact),
}
NAMES = sorted(runtimes())
PAIRS = [(name, source) for name in NAMES for kind in sorted(runtimes()[name].accepts) for source in SOURCES[kind]]


def artefact_for(name, source, folder):
    kind = next(kind for kind in runtimes()[name].accepts if source in SOURCES[kind])
    return SOURCES[kind][source](source, folder)


@pytest.mark.parametrize("name", NAMES)
def test_says_what_it_does_and_describes_each_field(name):
    cls = runtimes()[name]
    assert cls.plugin_name() == name
    assert len(cls.__doc__.strip().split("\n\n")) >= 2
    assert 3 <= len(cls.title) <= 40
    assert all(field.description and len(field.description) > 20 for field in cls.model_fields.values())


@pytest.mark.parametrize("name", NAMES)
def test_parameters_survive_json(name):
    runtime = runtimes()[name]()
    assert make(runtimes(), name, runtime.model_dump(mode="json")) == runtime


@pytest.mark.parametrize("name", NAMES)
def test_a_foreign_format_is_refused_with_a_reason(name, tmp_path):
    manifest = forest_artefact("binary", tmp_path).manifest.model_copy(update={"format": "unheard_of"})
    assert "unheard_of" in runtimes()[name].fits(manifest, {})


@pytest.mark.parametrize("model_format", ["lightgbm", "onnx", "torch_export", "torchscript", "trees_binned", "xgboost"])
def test_each_format_has_one_reference(model_format):
    found = [name for name, cls in runtimes().items() if cls.reference and model_format in cls.accepts]
    assert found == [reference_runtime(model_format)]


@pytest.mark.parametrize(("name", "source"), PAIRS)
def test_predict_gives_the_signature_in_host_memory_twice_the_same(name, source, tmp_path):
    artefact = artefact_for(name, source, tmp_path)
    assert runtimes()[name].fits(artefact.manifest, {}) is None
    signature = artefact.manifest.signature
    inputs = sample_inputs(signature, n_rows=9)
    kept = {key: values.copy() for key, values in inputs.items()}
    with runtimes()[name]().open(artefact, threads=1) as predict:
        first, second = predict(inputs), predict(inputs)
        single = None
        if signature.fixed_batch is None:
            single = predict({key: values[:1] for key, values in inputs.items()})
    n_rows = signature.fixed_batch or 9
    assert list(first) == [spec.name for spec in signature.outputs]
    for spec in signature.outputs:
        value = first[spec.name]
        assert isinstance(value, np.ndarray)
        assert value.dtype.name == spec.dtype
        assert value.shape == tuple(n_rows if isinstance(axis, str) else axis for axis in spec.shape)
        assert np.isfinite(value).all()
        np.testing.assert_array_equal(value, second[spec.name])
        if single is not None:
            assert len(single[spec.name]) == 1
            np.testing.assert_allclose(single[spec.name], value[:1], atol=1e-5)
    for key, values in inputs.items():
        np.testing.assert_array_equal(values, kept[key])


@pytest.mark.parametrize("name", NAMES)
def test_inputs_that_do_not_belong_are_a_message(name, tmp_path):
    source = next(source for n, source in PAIRS if n == name)
    artefact = artefact_for(name, source, tmp_path)
    inputs = sample_inputs(artefact.manifest.signature)
    with runtimes()[name]().open(artefact, threads=1) as predict:
        with pytest.raises(Mismatch, match="takes the inputs"):
            predict({})
        with pytest.raises(Mismatch, match="complex128"):
            predict({key: values.astype(np.complex128) for key, values in inputs.items()})


def test_catalogue_is_light():
    """Half a second is the promise; measured inside the child, best of three, so that a busy machine does not count."""
    code = (
        "import sys, time; t = time.process_time(); import engine.plugin as p; found = [*p.levers(), *p.runtimes()];"
        "heavy = {'torch', 'onnx', 'onnxruntime', 'lightgbm', 'xgboost', 'sklearn', 'onnxscript', 'pandas', 'numba'}"
        " & set(sys.modules);"
        "print(time.process_time() - t, len(found), sorted(heavy))"
    )
    runs = [
        subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, text=True).split(maxsplit=2) for _ in range(3)
    ]
    assert {run[2].strip() for run in runs} == {"[]"}
    assert int(runs[0][1]) == len(levers()) + len(runtimes()) >= 10
    assert min(float(run[0]) for run in runs) < 0.5
