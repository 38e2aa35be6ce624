"""By content, whatever the name says; and a sentence for everything else."""

import bz2
import gzip
import lzma
import pickle
import zipfile
import zlib
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import BadModel
from engine.formats.recognise import formats, recognise
from engine.formats.refusals import is_pickle
from tests.engine.formats.taking import sentence


def refusal(path, name="") -> str:
    with pytest.raises(BadModel) as caught:
        recognise(path, name)
    sentence(caught.value)
    return str(caught.value)


def saved(path, data):
    path.write_bytes(data)
    return path


def test_formats_are_found_by_their_place():
    assert list(formats()) == ["lightgbm", "onnx", "torch_export", "torchscript", "xgboost"]


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("control_lightgbm/model.txt", "lightgbm"),
        ("lgb_crlf/model.txt", "lightgbm"),
        ("control_onnx/model.onnx", "onnx"),
        ("control_onnx_zip/model.zip", "onnx"),
        ("control_pt2_mlp/model.pt2", "torch_export"),
        ("control_torchscript/model.pt", "torchscript"),
    ],
)
def test_the_name_does_not_matter(case, expected, hostile_dir, tmp_path):
    for name in ("upload", "model.pkl", "data.csv"):
        assert recognise(saved(tmp_path / name, (hostile_dir / case).read_bytes())) == expected


def test_empty(tmp_path):
    assert "'chosen.onnx' is empty" in refusal(saved(tmp_path / "x", b""), "chosen.onnx")


@pytest.mark.parametrize("protocol", range(6))
def test_pickles_of_every_protocol(protocol, tmp_path):
    for value in ({"weights": [1.0, 2.0], "name": "x"}, [1, 2, 3], datetime.now(UTC), pd.DataFrame({"a": [1, 2]})):
        assert "pickled Python object" in refusal(saved(tmp_path / "m.onnx", pickle.dumps(value, protocol)))


@pytest.mark.parametrize(
    "pack", [zlib.compress, gzip.compress, bz2.compress, lzma.compress], ids=["zlib", "gzip", "bz2", "lzma"]
)
def test_compressed_pickles(pack, tmp_path):
    data = pickle.dumps({"model": np.arange(5000).tolist()})
    assert "pickled Python object" in refusal(saved(tmp_path / "m.joblib", pack(data)))
    assert "compressed" in refusal(saved(tmp_path / "m.txt.gz", pack(b"tree\nversion=v4\n" * 50)))


def test_the_snippet_fits_the_name(tmp_path):
    path = saved(tmp_path / "x", pickle.dumps([1]))
    assert "torch.export.save" in refusal(path, "model.pt")
    assert "skl2onnx" in refusal(path, "model.pkl")
    assert "save_model" in refusal(path, "model.joblib")


@pytest.mark.parametrize(
    "text", ["city\nParis\nLondon\n", "colour\nred\n", "list\n1\n", "(a)\n(b)\n", "]\n", "loss\n0\n"]
)
def test_text_is_no_pickle(text):
    assert not is_pickle(text.encode())


def test_data_files_are_sent_to_the_right_place(tmp_path):
    frame = pd.DataFrame({"a": [1.5, 2.5], "b": ["x", "y"], "label": [0, 1]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_csv(tmp_path / "s.csv", index=False, sep=";", encoding="utf-16")
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_feather(tmp_path / "t.feather")
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    np.savez(tmp_path / "t.npz", x=np.ones(3))
    np.save(tmp_path / "t.npy", np.ones(3))
    for path in sorted(tmp_path.iterdir()):
        assert "evaluation" in refusal(path) or "offer it as data" in refusal(path), path


def test_other_archives_are_named(tmp_path):
    for members, expected in (
        (["archive/data.pkl", "archive/version"], "pickled Python object"),
        (["serialized_exported_program.json", "version"], "old torch"),
        (["config.json", "model.weights.h5"], "Keras"),
        (["schema.json", "140234.npy"], "skops file"),
        (["readme.md"], "holds no .onnx file (it holds readme.md)"),
        (["a.onnx", "b.onnx"], None),
    ):
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            for member in members:
                archive.writestr(member, b"x")
        if expected is None:
            assert recognise(tmp_path / "a.zip") == "onnx"  # and refused by its check: one model alone
        else:
            assert expected in refusal(tmp_path / "a.zip")


def test_other_formats_are_named(tmp_path):
    for data, expected in (
        (b"binf" + bytes(50), "XGBoost"),
        (b"\x89HDF\r\n\x1a\n" + bytes(50), "tf2onnx"),
        (b'\x40\0\0\0\0\0\0\0{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', "safetensors"),
        (b"\x1c\0\0\0TFL3" + bytes(50), "TensorFlow Lite"),
        (b'{"name":"tree","version":"v4","tree_info":[]}', "LightGBM dump"),
        (b"\x7fELF" + bytes(60), "compiled program"),
        (bytes(1000), "no known kind"),
    ):
        assert expected in refusal(saved(tmp_path / "x", data))


UBJSON = b"{L\0\0\0\0\0\0\0\x07learner"


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.binary(max_size=600),
    start=st.sampled_from([b"", b"PK\x03\x04", b"\x08\x08", b"tree\n", b"\x80\x04", b"x\x9c", b'{"learner":', UBJSON]),
)
def test_any_bytes_end_in_a_format_or_a_sentence(data, start, tmp_path):
    path = saved(tmp_path / "x", start + data)
    try:
        name = recognise(path)
    except BadModel as error:
        sentence(error)
        return
    out = tmp_path / "out"
    out.mkdir(exist_ok=True)
    with pytest.raises(BadModel) as caught:
        formats()[name].take(path, out)
    sentence(caught.value)
