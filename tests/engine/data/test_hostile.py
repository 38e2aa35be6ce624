"""Hostile files end as their manifest says, opened as the product opens them: in the confined child."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from engine import sandbox
from engine.errors import BadData, Contained

LIMITS = sandbox.Limits(memory_bytes=2 << 30, cpu_s=60, wall_s=120)


def cases(folder, *kinds):
    return [one for one in json.loads((folder / "manifest.json").read_text()) if one["kind"] in kinds]


def read(path, out):
    out.mkdir()
    request = {"path": str(path), "out": str(out), "name": path.name}
    return sandbox.run("engine.data.read:read", request, read=[path], write=out, limits=LIMITS)


def test_hostile_data_is_refused_and_the_rest_accepted(hostile_dir, tmp_path):
    listed = cases(hostile_dir, "data")
    assert len(listed) >= 10
    for number, one in enumerate(listed):
        path = hostile_dir / one["file"]
        if one["expected"] == "accepted":
            assert read(path, tmp_path / str(number))["n_rows"] > 0, one
            continue
        with pytest.raises(BadData) as refusal:
            read(path, tmp_path / str(number))
        assert "\n" not in str(refusal.value), one
    assert list((hostile_dir / "canary").iterdir()) == []


def test_controls_are_read(hostile_dir, tmp_path):
    files = [one["file"] for one in cases(hostile_dir, "control") if "/eval." in one["file"]]
    assert len(files) == 2
    for number, file in enumerate(files):
        assert read(hostile_dir / file, tmp_path / str(number))["n_rows"] == 50


def test_models_and_pickles_given_as_data_are_refused(hostile_dir, tmp_path):
    """One child reads them all: a refusal is an answer, so that it lives on."""
    listed = cases(hostile_dir, "pickle", "pt2", "torchscript", "onnx", "lightgbm")
    paths = [str(hostile_dir / one["file"]) for one in listed]
    assert len(paths) > 50
    with sandbox.conversation(
        "tests.engine.data.reading:read_each", {"out": str(tmp_path)}, read=[hostile_dir], write=tmp_path, limits=LIMITS
    ) as child:
        ends = {path: child.ask({"path": path})["end"] for path in paths}
    assert set(ends.values()) <= {"BadData"}, ends
    assert list((hostile_dir / "canary").iterdir()) == []


def test_memory_does_not_grow_with_the_rows(tmp_path):
    """2 million rows are 480 MB as arrays; the child that stores them may fill 320 MiB, its libraries included."""
    path = tmp_path / "long.parquet"
    values = np.tile(np.random.default_rng(0).normal(size=(20_000, 30)), (100, 1))
    pq.write_table(pa.table({f"c{at}": column for at, column in enumerate(values.T)}), path)
    limits = sandbox.Limits(memory_bytes=320 << 20, cpu_s=120, wall_s=300)
    out = tmp_path / "out"
    out.mkdir()
    request = {"path": str(path), "out": str(out)}
    profile = sandbox.run("engine.data.read:read", request, read=[path], write=out, limits=limits)
    assert profile["n_rows"] == 2_000_000


def test_a_table_that_outgrows_the_disk_limit_is_one_sentence(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("a,label\n" + "\n".join(f"{x},1" for x in np.random.default_rng(0).normal(size=300_000)))
    limits = sandbox.Limits(memory_bytes=1 << 30, cpu_s=60, wall_s=60, file_bytes=1 << 20)
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(BadData, match="larger file than is allowed"):
        sandbox.run(
            "engine.data.read:read", {"path": str(path), "out": str(out)}, read=[path], write=out, limits=limits
        )


def test_files_with_bytes_changed_end_as_an_answer(tmp_path):
    """Every format, cut or with bytes overwritten: read, refused or contained, and the next file is read."""
    random = np.random.default_rng(5)
    table = pa.table({"a": random.normal(size=60), "c": list("xyz") * 20, "label": [0, 1] * 30})
    pq.write_table(table, tmp_path / "t.parquet")
    pyarrow.feather.write_feather(table, tmp_path / "t.feather", compression="lz4")
    np.savez_compressed(tmp_path / "t.npz", x=random.normal(size=(60, 3)), label=np.arange(60))
    table.to_pandas().to_csv(tmp_path / "t.csv", index=False)
    for path in sorted(tmp_path.glob("t.*")):
        good = path.read_bytes()
        with sandbox.conversation(
            "tests.engine.data.reading:read_each",
            {"out": str(tmp_path)},
            read=[tmp_path],
            write=tmp_path,
            limits=LIMITS,
        ) as child:
            for _ in range(40):
                raw = bytearray(good)
                for at in random.integers(0, len(raw), 4):
                    raw[at] = random.integers(256)
                path.write_bytes(raw[: int(random.integers(len(raw) // 2, len(raw) + 1))])
                end = ending(child, path)
                assert end in ("BadData", "read", "memory", "signal"), path.name
                if end in ("memory", "signal"):
                    break


def ending(child, path):
    try:
        return child.ask({"path": str(path)})["end"]
    except Contained as stopped:
        return stopped.reason
