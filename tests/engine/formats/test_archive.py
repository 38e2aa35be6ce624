import io
import stat
import zipfile

import pytest

from engine.errors import BadModel
from engine.formats.archive import open_archive


def packed(path, *members, **options):
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return path


def test_members_are_read_in_pieces(tmp_path):
    big = bytes(range(256)) * 20_000
    path = packed(tmp_path / "a.zip", ("folder/", b""), ("folder/big.bin", big), ("small", b"x"))
    with open_archive(path) as archive:
        assert archive.names == ["folder/big.bin", "small"]
        pieces = list(archive.chunks("folder/big.bin"))
        assert b"".join(pieces) == big
        assert max(map(len, pieces)) <= 1 << 20
        with pytest.raises(BadModel, match="allowed are 100"):
            archive.read("folder/big.bin", 100)


@pytest.mark.parametrize(
    "name", ["../x", "a/../../x", "/etc/passwd", "a\\b", "C:x", "a//b", "x\n", "a/" * 12 + "x", "n" * 300, "<b>"]
)
def test_odd_names_are_refused(name, tmp_path):
    packed(tmp_path / "a.zip", (name, b"x"))
    with pytest.raises(BadModel, match="member name"), open_archive(tmp_path / "a.zip"):
        pass


def test_links_are_refused(tmp_path):
    link = zipfile.ZipInfo("w.bin")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    packed(tmp_path / "a.zip", (link, b"/etc/passwd"))
    with pytest.raises(BadModel, match="link"), open_archive(tmp_path / "a.zip"):
        pass


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_repeats_are_refused(tmp_path):
    packed(tmp_path / "a.zip", ("x", b"1"), ("x", b"2"))
    with pytest.raises(BadModel, match="occurs twice"), open_archive(tmp_path / "a.zip"):
        pass


def test_bombs_are_refused_and_ordinary_compression_is_not(tmp_path):
    packed(tmp_path / "bomb.zip", ("x", bytes(64 << 20)), compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(BadModel, match="factor of 100"), open_archive(tmp_path / "bomb.zip"):
        pass
    packed(tmp_path / "fine.zip", ("x", bytes(8 << 20)), compression=zipfile.ZIP_DEFLATED)
    with open_archive(tmp_path / "fine.zip") as archive:
        assert archive.size("x") == 8 << 20


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_a_cut_archive_is_a_message(share, tmp_path):
    whole = io.BytesIO()
    packed(whole, ("x", b"y" * 10_000))
    (tmp_path / "a.zip").write_bytes(whole.getvalue()[: int(len(whole.getvalue()) * share)])
    with pytest.raises(BadModel, match="damaged or cut off"), open_archive(tmp_path / "a.zip"):
        pass


def test_a_changed_byte_is_found(tmp_path):
    path = packed(tmp_path / "a.zip", ("x", b"y" * 10_000))
    data = bytearray(path.read_bytes())
    data[5000] ^= 1
    path.write_bytes(data)
    with open_archive(path) as archive, pytest.raises(BadModel, match="damaged"):
        archive.read("x", 1 << 20)
