import csv
import io
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.data.cells import MISSING_WORDS
from engine.data.limits import MAX_COLUMNS
from engine.data.profile import ROW_NUMBER_NOTE
from engine.data.read import read
from engine.errors import BadData


def column(folder, profile, name):
    return pq.read_table(folder / "table.parquet")[f"c{profile.column(name).position}"].to_pylist()


def kinds(profile):
    return {one.name: (one.kind, one.dtype) for one in profile.columns}


def test_the_record_of_a_plain_file(read_text):
    folder, profile = read_text("id,x,city,label\n1,0.5,Oslo,yes\n2,,Bern,no\n3,1e3,,yes\n")
    assert kinds(profile) == {
        "id": ("whole number", "int64"),
        "x": ("number", "float64"),
        "city": ("text", "string"),
        "label": ("text", "string"),
    }
    assert (profile.format, profile.n_rows) == ("csv", 3)
    assert [one.n_missing for one in profile.columns] == [0, 1, 1, 0]
    assert [one.n_unique for one in profile.columns] == [3, 2, 2, 2]
    assert profile.head == (("1", "0.5", "Oslo", "yes"), ("2", "", "Bern", "no"), ("3", "1000.0", "", "yes"))
    assert column(folder, profile, "x") == [0.5, None, 1000.0]


@pytest.mark.parametrize("name", ["latin1.csv", "bom.csv"])
def test_p13_encodings_give_the_same_table(public_cases, read_file, name):
    folder, profile = read_file(public_cases / "P13" / name)
    other, same = read_file(public_cases / "P13" / "bom.csv")
    assert profile.names == ["f0", "f1", "f2", "f3", "größe"]
    assert pq.read_table(folder / "table.parquet").equals(pq.read_table(other / "table.parquet"))
    assert profile.columns == same.columns
    assert profile.reading["separator"] == ";"
    assert profile.reading["encoding"] == {"latin1.csv": "latin-1", "bom.csv": "utf-8-sig"}[name]


def test_p14_label_text_is_no_blank(public_cases, read_file):
    folder, profile = read_file(public_cases / "P14" / "eval.csv")
    assert set(column(folder, profile, "label")) == {"NA", "EU"}
    assert (profile.n_rows, profile.column("label").n_missing) == (200, 0)


def test_p15_the_index_column_is_seen(public_cases, read_file):
    _, profile = read_file(public_cases / "P15" / "eval.csv")
    assert profile.columns[0].row_number
    assert profile.notes[0] == ROW_NUMBER_NOTE
    assert not any(one.row_number for one in profile.columns[1:])


def test_a_named_first_column_is_no_row_number(read_text):
    _, profile = read_text("n,label\n0,1\n1,0\n")
    assert not profile.columns[0].row_number
    assert profile.notes == ()


@pytest.mark.parametrize("word", ["NA", "None", "null", "N/A", "nan", "NaN"])
def test_a_missing_word_is_text_among_text(read_text, word):
    folder, profile = read_text(f"a,label\n1,{word}\n2,other\n")
    assert column(folder, profile, "label") == [word, "other"]


def test_a_missing_word_among_numbers_is_kept_and_noted(read_text):
    folder, profile = read_text("a,b,label\n1,NaN,0\n2,1.5,NA\n3,,1\n")
    assert column(folder, profile, "b") == [None, 1.5, None]
    assert kinds(profile)["label"] == ("whole number", "string")
    assert column(folder, profile, "label") == ["0", "NA", "1"]
    assert profile.notes == (
        "Column label: numbers and NA; as a feature the words are missing values, as a label they stay as written",
    )


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["007", "8"], "text"),
        (["1234567890123456789", "2"], "text"),
        (["0", "-5"], "whole number"),
        (["+1", "2"], "whole number"),
        ([" 1", "2 "], "whole number"),
        (["1.", ".5"], "number"),
        (["inf", "1"], "number"),
        (["1_000", "2"], "text"),
        (["0x10", "2"], "text"),
        (["True", "False"], "true/false"),
        (["true", "True"], "text"),
        (["True", "1"], "text"),
        (["NA", "NA"], "text"),
        (["", ""], "number"),
    ],
)
def test_what_a_column_is(read_text, cells, kind):
    _, profile = read_text("a,label\n" + "".join(f"{cell},1\n" for cell in cells))
    assert profile.columns[0].kind == kind


def test_true_and_false_stay_as_written(read_text):
    folder, profile = read_text("a,label\n1,TRUE\n2,FALSE\n")
    assert column(folder, profile, "label") == ["TRUE", "FALSE"]


def test_a_column_decides_by_its_last_row(tmp_path, read_file):
    path = tmp_path / "long.csv"
    path.write_text("a,label\n" + "1,0\n" * 3_000_000 + "x,0\n")
    _, profile = read_file(path)
    assert (profile.n_rows, profile.columns[0].kind) == (3_000_001, "text")


def test_the_comma_as_decimal_mark(read_text):
    folder, profile = read_text("a;b;label\n1,5;1,234;0\n-0,25;2;1\n")
    assert column(folder, profile, "a") == [1.5, -0.25]
    assert column(folder, profile, "b") == [1.234, 2.0]
    assert profile.reading["decimal"] == ","
    assert "decimal mark" in profile.notes[0]


def test_thousands_are_not_guessed(read_text):
    folder, profile = read_text("a;label\n1,234;0\n5,678;1\n")
    assert column(folder, profile, "a") == ["1,234", "5,678"]
    assert "1,234 may mean 1.234 or 1234" in profile.notes[0]


def test_a_comma_between_quotes_is_text_where_commas_separate(read_text):
    _, profile = read_text('a,label\n"1,5",0\n"2,5",1\n')
    assert profile.columns[0].kind == "text"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,label\n", "has a header \\(a, label\\) and no rows"),
        ("a\n1\n", "only one column"),
        ("a,a,label\n1,2,3\n", "more than once: a"),
        ("1,1,2\n3,4,5\n", "lack a header line"),
        ("1.5,2.5\n3,4\n", "only numbers"),
        ("a,b,label\n1,2,3\n1,2\n", "row 2 has 2 values, the header 3 names"),
        ("a,b,label\n1,2,3\n\n4,5,6\n1,2,3,4\n", "row 3 has 4 values"),
        ('a,label\n1,"x\n' + "2,3\n" * 3_000_000, "row 1, column label: a text of 11.4 MiB.* left open"),
        ('a,label\n1,x\n1,"y\n2,3\n', "row 2: a quotation mark is opened and never closed"),
        (b"a,label\n1,\xff\xfe\x81\n", "cannot be read as utf-8"),
        ("a" * 501 + ",label\n1,2\n", "a column name of 501"),
        (",".join(f"c{at}" for at in range(MAX_COLUMNS + 1)) + "\n", "10,001 columns; at most 10,000"),
    ],
)
def test_a_table_that_cannot_be_read_says_where(read_text, text, said):
    options = {"encoding": "utf-8"} if isinstance(text, bytes) else {}
    with pytest.raises(BadData, match=said):
        read_text(text, **options)


def test_columns_named_by_position_are_names(read_text):
    assert read_text("0,1,2\n5,6,7\n")[1].names == ["0", "1", "2"]


def test_encoding_and_separator_can_be_changed(read_text):
    raw = "a,b;label\nö,1;2\n".encode("cp850")
    _, profile = read_text(raw, encoding="cp850", separator=";")
    assert (profile.names, profile.head[0]) == (["a,b", "label"], ("ö,1", "2"))
    assert profile.reading == {"format": "csv", "encoding": "cp850", "separator": ";", "decimal": "."}


@pytest.mark.parametrize("encoding", ["klingon", "rot13", "zip", "base64"])
def test_an_encoding_must_be_one_of_text(read_text, encoding):
    with pytest.raises(BadData, match="encoding"):
        read_text("a,b\n1,2\n", encoding=encoding)


def test_utf8_may_be_named_for_a_file_with_a_mark(read_text):
    _, profile = read_text("a,b\n1,2\n".encode("utf-8-sig"), encoding="UTF-8")
    assert (profile.names, profile.reading["encoding"]) == (["a", "b"], "utf-8-sig")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_marked_unicode_is_read(read_text, encoding):
    _, profile = read_text("größe;b\nä;1\n".encode(encoding))
    assert (profile.names, profile.head) == (["größe", "b"], (("ä", "1"),))


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_line_ends_of_every_system(read_text, end):
    _, profile = read_text(end.join(["a,b", "1,x", "2,y", ""]))
    assert profile.head == (("1", "x"), ("2", "y"))


def test_progress_is_told(tmp_path, talk):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    read({"path": str(tmp_path / "a.csv"), "out": str(tmp_path)}, talk)
    assert talk.messages[-1] == {"progress": 1.0, "message": "1 of 1 rows stored"}


# Cells as they are; what cannot stand in a text file (lone surrogates, NUL and other controls) is left out.
TEXT = st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=12)
NUMBER = st.floats(allow_nan=False, width=64) | st.integers(-(10**17), 10**17)


@settings(max_examples=60, deadline=None)
@given(
    words=st.lists(TEXT, min_size=1, max_size=8).map(lambda cells: ["word", *cells]),
    numbers=st.data(),
    separator=st.sampled_from(",;\t|"),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_any_table_of_text_and_numbers_survives(words, numbers, separator, end):
    values = numbers.draw(st.lists(NUMBER, min_size=len(words), max_size=len(words)))
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=separator, lineterminator=end)
    writer.writerow(["text", "value"])
    writer.writerows(zip(words, values, strict=True))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.csv"
        path.write_bytes(buffer.getvalue().encode())
        profile = read({"path": str(path), "out": folder, "separator": separator}, Quiet())
        table = pq.read_table(Path(folder) / "table.parquet")
    assert table["c0"].to_pylist() == [word or None for word in words]
    assert table["c1"].to_pylist() == (
        values if all(isinstance(v, int) for v in values) else [float(v) for v in values]
    )
    assert profile["columns"][1]["kind"] in ("number", "whole number")


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from([*sorted(MISSING_WORDS), "", "1", "2.5", "word"]), min_size=1, max_size=6))
def test_no_label_word_is_ever_lost(cells):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.csv"
        path.write_text("a,label\n" + "".join(f"0,{cell}\n" for cell in cells))
        read({"path": str(path), "out": folder}, Quiet())
        stored = pq.read_table(Path(folder) / "table.parquet")["c1"].to_pylist()
    lost = [cell for cell, value in zip(cells, stored, strict=True) if value is None and cell not in ("", "nan")]
    assert lost == []


class Quiet:
    def send(self, message):
        pass
