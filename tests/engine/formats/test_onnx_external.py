"""Models whose weights lie in other files: zips, several files, and what is refused among them."""

import os
import zipfile

import onnx
import pytest
from onnx import TensorProto

from engine.errors import BadModel
from tests.engine.formats.onnx_models import model
from tests.engine.formats.taking import predict, sentence, take_confined, take_here


def with_data(folder, location="weights/part.bin"):
    """model.onnx with its weights in another file of the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / location).parent.mkdir(parents=True, exist_ok=True)
    made = model()
    onnx.save(made, folder / "model.onnx", save_as_external_data=True, location=location, size_threshold=0)
    return folder / "model.onnx", folder / location


@pytest.mark.parametrize("prefix", ["", "my model (1)/"])
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_zip_of_model_and_data(prefix, method, tmp_path):
    model_file, data = with_data(tmp_path / "saved")
    with zipfile.ZipFile(tmp_path / "up.zip", "w", method) as archive:
        archive.write(model_file, f"{prefix}net.onnx")
        archive.write(data, f"{prefix}weights/part.bin")
        archive.writestr(f"{prefix}readme.txt", "not taken")
    manifest = take_confined(tmp_path / "up.zip", tmp_path / "out")
    assert sorted(p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*") if p.is_file()) == [
        "model.onnx",
        "weights/part.bin",
    ]
    assert manifest.n_parameters == 8
    assert predict(manifest, tmp_path / "out")["y"]["shape"] == [3, 2]


def test_files_uploaded_together(tmp_path):
    model_file, data = with_data(tmp_path / "saved", "net.onnx.data")
    with pytest.raises(BadModel, match=r"Needs net\.onnx\.data \(not uploaded\)"):
        take_confined(model_file, tmp_path / "alone")
    manifest = take_confined(model_file, tmp_path / "out", beside={"net.onnx.data": str(data)})
    assert predict(manifest, tmp_path / "out")["y"]["shape"] == [3, 2]


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_links_among_the_files_are_refused(link, tmp_path):
    model_file, data = with_data(tmp_path / "saved", "net.onnx.data")
    link(data, tmp_path / "linked")
    with pytest.raises(BadModel, match="is a link"):
        take_here(model_file, tmp_path / "out", beside={"net.onnx.data": tmp_path / "linked"})


def test_cut_data_is_named_with_both_sizes(tmp_path):
    model_file, data = with_data(tmp_path / "saved", "net.onnx.data")
    data.write_bytes(data.read_bytes()[:-1])
    with pytest.raises(BadModel, match="cut off: it has 31 bytes, the model asks for 32"):
        take_here(model_file, tmp_path / "out", beside={"net.onnx.data": data})


@pytest.mark.parametrize(
    "entries",
    [
        {"location": "../w.bin"},
        {"location": "/etc/passwd"},
        {"location": "a/../../w.bin"},
        {"location": "C:\\w.bin"},
        {"location": "*/_ORT_MEM_ADDR_/*"},
        {"location": "other.onnx"},
        {"location": ""},
        {"location": "w.bin", "offset": "-1"},
        {"location": "w.bin", "offset": "1e3"},
        {"location": "w.bin", "length": "7"},
        {"location": "w.bin", "odd": "x"},
    ],
)
def test_places_that_are_no_plain_name(entries, tmp_path):
    made = model()
    tensor = made.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)
    (tmp_path / "w.bin").write_bytes(bytes(32))
    (tmp_path / "in.onnx").write_bytes(made.SerializeToString())
    with pytest.raises(BadModel, match="refused: the external data") as caught:
        take_here(tmp_path / "in.onnx", tmp_path / "out", beside={"w.bin": tmp_path / "w.bin"})
    sentence(caught.value)


def test_one_model_per_zip(tmp_path):
    with zipfile.ZipFile(tmp_path / "up.zip", "w") as archive:
        for name in ("a.onnx", "b.onnx"):
            archive.writestr(name, model().SerializeToString())
    with pytest.raises(BadModel, match=r"holds 2 \.onnx files"):
        take_here(tmp_path / "up.zip", tmp_path / "out")


def test_other_formats_are_one_file(hostile_dir, tmp_path):
    path = hostile_dir / "control_lightgbm" / "model.txt"
    with pytest.raises(BadModel, match="a lightgbm model is one file"):
        take_confined(path, tmp_path / "out", beside={"more.bin": str(path)})
