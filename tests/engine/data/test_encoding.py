import pytest

from engine.data.encoding import CHUNK_BYTES, detect_encoding
from engine.data.limits import MAX_LINE_BYTES
from engine.errors import BadData

TEXTS = {
    "latin-1": "Größe;Straße\n5;Köln\n",
    "cp1252": "a;b\n“quoted” – 5 €;1\n" * 5,
    "cp1251": "имя;цена\nпривет;5\n" * 10,
    "cp932": "名前;値段\n東京;5\n" * 10,
    "gb18030": "姓名;城市\n王;北京\n" * 10,
}


@pytest.mark.parametrize("encoding", TEXTS)
def test_an_old_encoding_is_found(tmp_path, encoding):
    path = tmp_path / "file.csv"
    path.write_bytes(TEXTS[encoding].encode(encoding))
    assert TEXTS[encoding].encode(encoding).decode(detect_encoding(path)) == TEXTS[encoding]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_unicode_is_certain(tmp_path, encoding):
    path = tmp_path / "file.csv"
    path.write_bytes("größe;b\nä;1\n".encode(encoding))
    assert detect_encoding(path) == encoding


def test_a_letter_cut_by_the_chunk_border_is_still_utf8(tmp_path):
    path = tmp_path / "file.csv"
    path.write_bytes(b"a" * (CHUNK_BYTES - 1) + "ä\n".encode())
    assert detect_encoding(path) == "utf-8"


def test_the_first_odd_byte_may_come_late(tmp_path):
    path = tmp_path / "file.csv"
    path.write_bytes(b"abc;1\n" * (CHUNK_BYTES // 3) + "Köln;2\n".encode("latin-1"))
    assert detect_encoding(path) == "latin-1"


def test_a_cut_letter_at_the_very_end_is_not_utf8(tmp_path):
    path = tmp_path / "file.csv"
    path.write_bytes(b"a;b\n1;" + "ä".encode()[:1])
    assert detect_encoding(path) != "utf-8"


def test_a_line_may_not_be_endless(tmp_path):
    path = tmp_path / "file.csv"
    path.write_bytes(b"a,b\n" + b"1" * (MAX_LINE_BYTES + 1) + b"\n2,3\n")
    with pytest.raises(BadData, match="one line of 4 MiB"):
        detect_encoding(path)
    path.write_bytes(b"a,b\n" + b"1" * MAX_LINE_BYTES + b"\n2,3\n")
    assert detect_encoding(path) == "utf-8"


def test_zero_bytes_are_no_text(tmp_path):
    path = tmp_path / "file.csv"
    path.write_bytes("é;b\n".encode("utf-16-le"))
    with pytest.raises(BadData, match="zero bytes"):
        detect_encoding(path)
