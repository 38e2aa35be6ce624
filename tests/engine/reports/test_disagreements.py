from engine.records import Disagreement
from engine.reports.disagreements import COLUMNS, disagreement_rows
from engine.reports.export_table import to_csv, to_json

FOUND = Disagreement(
    row=7, kind="bad flip", label="=cmd()", baseline="yes", candidate="no", difference=0.25,
    slices={"city": "-Bonn", "row": "x"},
)  # fmt: skip


def test_slices_are_columns_of_their_own():
    (row,) = disagreement_rows([FOUND])
    assert list(row) == [*COLUMNS, "slice: city", "slice: row"]
    assert row["slice: city"] == "-Bonn"


def test_text_from_the_data_is_no_formula():
    lines = to_csv(disagreement_rows([FOUND])).decode().splitlines()
    assert lines[1] == "7,bad flip,'=cmd(),yes,no,,,0.25,,'-Bonn,x"


def test_without_rows_the_header_is_left():
    assert to_csv([], COLUMNS).decode() == ",".join(COLUMNS) + "\n"
    assert to_json([]) == b"[]\n"
