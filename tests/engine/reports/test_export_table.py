import csv
import io
import json

import openpyxl
import pandas as pd
import pytest

from engine.records import Step
from engine.reports.compare import COLUMNS, compare_rows
from engine.reports.export_table import to_csv, to_json, to_markdown, to_text, to_xlsx

NASTY = ["=1+1", "+1", "-5", "@SUM(A1)", "\tx", "\r=1", "\n=1", "＝1"]


@pytest.fixture
def rows(lab):
    slices = [('=HYPERLINK("http://x")', 0.015, "within band")]
    variant = lab.variant(
        Step(lever="pruning.fewer_trees", params={"keep_fraction": 0.33}),
        quality=lab.quality(-0.002, slices=slices),
    )
    return compare_rows(lab.study(price_per_hour=0.1), [lab.baseline(), variant, lab.failed("q", message="a | b <i>")])


def test_csv_reads_back(rows):
    frame = pd.read_csv(io.BytesIO(to_csv(rows)))
    assert tuple(frame) == COLUMNS
    assert frame.speedup.tolist()[:2] == [1.0, pytest.approx(4.0)]
    assert frame.metric_drop[1] == -0.002  # a negative number stays a number
    assert frame.cost_per_1k[0] == rows[0].cost_per_1k  # with all its digits
    assert frame.p50_ms.isna().tolist() == [False, False, True]
    assert frame.recipe[1] == "pruning.fewer_trees(keep_fraction=0.33)"


@pytest.mark.parametrize("text", NASTY)
def test_csv_disarms_formulas(text):
    line = next(csv.DictReader(io.StringIO(to_csv([{"name": text, "n": -1}]).decode(), newline="")))
    assert line == {"name": "'" + text.replace("\r", "\n"), "n": "-1"}


def test_csv_disarms_headers_too():
    assert to_csv([{"=1+1": 2}]).decode().splitlines()[0] == "'=1+1"


def test_csv_leaves_other_text_alone():
    for text in ("carrier = HA", "original", "naïve, “quoted”", "a\nb", "'x"):
        line = next(csv.DictReader(io.StringIO(to_csv([{"name": text}]).decode(), newline="")))
        assert line == {"name": text}


def test_xlsx_keeps_types(rows):
    sheet = openpyxl.load_workbook(io.BytesIO(to_xlsx(rows))).active
    head, *body = list(sheet.iter_rows())
    assert tuple(cell.value for cell in head) == COLUMNS
    at = {name: position for position, name in enumerate(COLUMNS)}
    assert body[1][at["metric_drop"]].value == -0.002
    assert body[1][at["metric_drop"]].data_type == "n"
    assert body[0][at["size_bytes"]].value == 4000
    assert body[2][at["p50_ms"]].value is None
    assert sheet.freeze_panes == "A2"


@pytest.mark.parametrize("text", [*NASTY[:4], "http://x", "{=1}"])
def test_xlsx_has_no_formula_and_no_link(text):
    sheet = openpyxl.load_workbook(io.BytesIO(to_xlsx([{"name": text}]))).active
    assert (sheet["A2"].value, sheet["A2"].data_type, sheet["A2"].hyperlink) == (text, "s", None)


def test_xlsx_cuts_what_no_cell_can_hold():
    sheet = openpyxl.load_workbook(io.BytesIO(to_xlsx([{"name": "x" * 40_000}]))).active
    assert len(sheet["A2"].value) == 32_767


def test_decimals_of_the_screen_are_how_excel_and_markdown_write_numbers():
    table, places = [{"name": "x", "ms": 0.11345, "n": 12}], {"ms": 3, "n": 0}
    sheet = openpyxl.load_workbook(io.BytesIO(to_xlsx(table, places))).active
    assert (sheet["B2"].value, sheet["B2"].number_format) == (0.11345, "#,##0.000")
    assert (sheet["C2"].value, sheet["C2"].number_format) == (12, "#,##0")
    assert to_markdown(table, places).decode().splitlines()[2] == "| x | 0.113 | 12 |"


def test_a_zero_has_no_sign():
    assert to_markdown([{"drop": -0.0}]).decode().splitlines()[2] == "| 0 |"
    assert to_markdown([{"drop": -0.001}], {"drop": 2}).decode().splitlines()[2] == "| 0.00 |"


def test_json_is_typed(rows):
    found = json.loads(to_json(rows))
    assert [tuple(one) for one in found] == [COLUMNS] * 3
    assert found[2]["p50_ms"] is None
    assert found[1]["worst_slice"] == 'carrier = =HYPERLINK("http://x")'
    assert found[0]["speedup"] == 1.0


def test_markdown_is_one_table(rows):
    lines = to_markdown(rows).decode().splitlines()
    assert len(lines) == 5
    assert {line.count(" | ") for line in lines} == {len(COLUMNS) - 1}
    assert lines[4].endswith(r"| a \| b &lt;i&gt; |")
    assert "| 4 |" in lines[3]
    cells = dict(zip(COLUMNS, lines[1].strip("| ").split(" | "), strict=True))
    assert (cells["speedup"], cells["recipe"]) == ("---:", "---")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("<script>", "&lt;script&gt;"),
        ("![x](http://y)", r"!\[x\](http://y)"),
        (":red[x]", r":red\[x\]"),
        ("*a* `b` $c$ \\", r"\*a\* \`b\` \$c\$ \\"),
        ("two\nlines\x1b[31m", r"two lines \[31m"),
    ],
)
def test_markdown_disarms_text(text, written):
    assert to_markdown([{"name": text}]).decode().splitlines()[2] == f"| {written} |"


def test_the_terminal_table_lines_up(rows):
    lines = to_text(rows).decode().splitlines()
    assert len(lines) == 4
    at = lines[0].index("runtime")
    assert all(line[at - 2 : at] == "  " for line in lines)
    assert "4.0× (3.92 to 4.08), faster" in lines[2]
    assert lines[3].endswith("a | b <i>")


def test_the_terminal_never_sees_control_characters(lab):
    rows = compare_rows(lab.study(), [lab.failed(message="bad \x1b[2J \u202e name")])
    assert "\x1b" not in to_text(rows).decode()
    assert "\u202e" not in to_text(rows).decode()


def test_an_empty_table_keeps_its_header():
    assert to_csv([]).decode() == ",".join(COLUMNS) + "\n"
    assert json.loads(to_json([])) == []
    assert len(to_markdown([]).decode().splitlines()) == 2
    assert openpyxl.load_workbook(io.BytesIO(to_xlsx([]))).active["A1"].value == "experiment"
