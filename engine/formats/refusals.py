"""Why a file that is no known model is refused, and what to do: by content, with the name only as a hint."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import pickletools
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

from engine.errors import BadModel
from engine.formats.archive import is_zip, open_archive

KNOWN = (
    "Whetstone reads ONNX (a file, or a zip with its data files), LightGBM text, XGBoost JSON or UBJ and "
    "torch.export .pt2 or TorchScript"
)
TORCH_SNIPPET = (
    "program = torch.export.export(model.eval(), (example,), dynamic_shapes=({0: torch.export.Dim('batch')},))\n"
    "torch.export.save(program, 'model.pt2')"
)
LIGHTGBM_SNIPPET = "booster.save_model('model.txt')  # scikit-learn wrapper: model.booster_.save_model('model.txt')"
XGBOOST_SNIPPET = "booster.save_model('model.ubj')  # or model.json"
SKLEARN_SNIPPET = (
    "open('model.onnx', 'wb').write(skl2onnx.to_onnx(model, X[:1].astype('float32')).SerializeToString())\n"
    "# HistGradientBoosting has no converter: train its twin, LGBMClassifier or LGBMRegressor"
)
_PICKLE = (
    "refused: this is a pickled Python object, and opening one runs whatever code it holds. "
    "Export the model in the program that made it:\n"
)
_OLD_PT2 = "this .pt2 was saved by an old torch: load it there and save it again with torch 2.13:\n"
_AS_DATA = "offer it as the evaluation set, not as the model"
_SKOPS = (
    "this is a skops file: opening it means trusting the Python types it names, so it is not opened here. "
    "Export the model in the program that made it:\n" + SKLEARN_SNIPPET
)
# (how the content begins, at which byte): what it is, what to do
_BEGINNINGS: tuple[tuple[int, bytes, str], ...] = (
    (0, b"PAR1", f"a Parquet table: {_AS_DATA}"),
    (0, b"ARROW1", f"an Arrow or Feather table: {_AS_DATA}"),
    (0, b"FEA1", f"a Feather table: {_AS_DATA}"),
    (0, b"\x93NUMPY", "a NumPy array: offer it as evaluation data in an NPZ, not as the model"),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file (Keras?): convert the model with tf2onnx and upload the ONNX file"),
    (4, b"TFL3", "a TensorFlow Lite model: convert the original with tf2onnx and upload the ONNX file"),
    (0, b"GGUF", "a GGUF file of a language model, which is not supported: upload ONNX"),
    (0, b"CBM1", "a CatBoost model: export it with model.save_model('model.onnx', format='onnx')"),
    (0, b"binf", f"an XGBoost model in its old binary form: load it and save it again:\n{XGBOOST_SNIPPET}"),
    (0, b"{L\x00\x00\x00\x00\x00\x00\x00\x06Config", f"an XGBoost snapshot: save the model alone:\n{XGBOOST_SNIPPET}"),
    (0, b"\x7fELF", "a compiled program, not a model"),
    (0, b"MZ", "a compiled program, not a model"),
    (0, b"%PDF", "a PDF document, not a model"),
)
_PACKED: tuple[tuple[bytes, Callable[[bytes], bytes]], ...] = (
    (b"\x1f\x8b", lambda data: gzip.GzipFile(fileobj=io.BytesIO(data)).read(4096)),
    (b"BZh", lambda data: bz2.BZ2Decompressor().decompress(data, 4096)),
    (b"\xfd7zXZ\x00", lambda data: lzma.LZMADecompressor().decompress(data, 4096)),
    (b"\x5d\x00\x00", lambda data: lzma.LZMADecompressor(format=lzma.FORMAT_ALONE).decompress(data, 4096)),
    (b"x", lambda data: zlib.decompressobj().decompress(data, 4096)),
)


def explain(head: bytes, path: Path, name: str) -> str:
    """The sentence for a file that no format recognises. head: its first bytes; name: what the user calls it."""
    if is_zip(head):
        return _explain_archive(path)
    if is_pickle(head):
        return _pickle(name)
    for magic, unpack in _PACKED:
        if head.startswith(magic) and (inside := _unpacked(unpack, head)):
            return _pickle(name) if is_pickle(inside) else "the file is compressed: unpack it and upload what is inside"
    for position, magic, what in _BEGINNINGS:
        if head[position : position + len(magic)] == magic:
            return f"this is {what}"
    return _explain_text(head) or (
        f"{name!r} is not a model that can be used here: its content, whatever the name says, is of no known kind "
        f"(it begins with {head[:12].hex(' ')}). {KNOWN}"
    )


def is_pickle(head: bytes) -> bool:
    """Does it begin like a pickle? Reads the operations without carrying out any."""
    if len(head) > 2 and head[0] == 0x80:
        return head[1] <= 5
    n_operations = 0
    try:  # protocols 0 and 1 have no mark: text is hardly ever a row of their operations
        for operation, _, _ in pickletools.genops(head):
            n_operations += 1
            if operation.name == "STOP":
                return n_operations >= 3
    except (ValueError, UnicodeDecodeError, IndexError):
        return n_operations >= 20
    return False


def _pickle(name: str) -> str:
    snippet = TORCH_SNIPPET if name.lower().endswith((".pt", ".pth", ".pt2", ".ckpt", ".bin")) else SKLEARN_SNIPPET
    return _PICKLE + snippet + (f"\n{LIGHTGBM_SNIPPET}" if snippet is SKLEARN_SNIPPET else "")


def _unpacked(unpack: Callable[[bytes], bytes], head: bytes) -> bytes:
    try:
        return unpack(head)
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError):
        return b""


def _explain_archive(path: Path) -> str:
    try:
        with open_archive(path) as archive:
            names = archive.names
    except BadModel as error:
        return str(error)
    return explain_members(names)


def explain_members(names: Iterable[str]) -> str:
    """The sentence for a zip archive that is no known model, by the names of its members."""
    names = sorted(names)
    inner = {name.partition("/")[2] or name for name in names}
    for holds, sentence in (
        ("data.pkl" in inner, _PICKLE + TORCH_SNIPPET),
        ("serialized_exported_program.json" in inner, f"{_OLD_PT2}{TORCH_SNIPPET}"),
        (all(name.endswith(".npy") for name in names), f"this is an NPZ of arrays: {_AS_DATA}"),
        ("schema.json" in inner, _SKOPS),
        ("[Content_Types].xml" in inner, "this is an office document: save a table as CSV and offer it as data"),
        ("model.weights.h5" in inner, "this is a Keras model: convert it with tf2onnx and upload the ONNX file"),
    ):
        if holds:
            return sentence
    return f"the zip archive holds no .onnx file (it holds {', '.join(names[:3])[:200]}). {KNOWN}"


def _explain_text(head: bytes) -> str | None:
    if head[8:10] == b'{"' and b"dtype" in head:
        return f"this is a safetensors file: it holds weights without the network. Export both:\n{TORCH_SNIPPET}"
    text = head.decode("utf-8", "replace")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = head.decode("utf-16", "replace")
    lines = text.splitlines()
    if not lines or sum(character in "\0\ufffd" for character in text) > len(text) // 50:
        return None
    body = text.lstrip()
    for holds, what in (
        (body.startswith("{") and '"learner"' in text, f"no XGBoost model as save_model writes it:\n{XGBOOST_SNIPPET}"),
        (
            text.startswith("booster[") or (body.startswith("[") and '"nodeid"' in text),
            f"an XGBoost dump, which cannot be loaded again; save the model itself:\n{XGBOOST_SNIPPET}",
        ),
        (
            body.startswith("{") and '"tree_info"' in text,
            f"a LightGBM dump, which cannot be loaded again; save the model itself:\n{LIGHTGBM_SNIPPET}",
        ),
    ):
        if holds:
            return f"this is {what}"
    for separator in (",", ";", "\t", "|"):
        counts = {line.count(separator) for line in lines[:20][: max(1, len(lines) - 1)]}
        if len(counts) == 1 and counts != {0}:
            return f"this looks like a table of text (CSV): {_AS_DATA}"
    return None
