"""Every export is the table on the screen, cell by cell."""

import csv
import io
import json

import openpyxl
import pytest
from page_history import HOSTILE, add_certificate, add_run
from shown_table import lines, unescaped, written

from engine.records import Annotation, Recipe, Step
from pages._ui import loaders
from pages._ui.compare.data import compared
from pages._ui.compare.export import as_shown, turned, write, write_every_column
from pages._ui.compare.order import ordered
from pages._ui.compare.table import comparison, side_by_side

INT8 = Step(lever="quantisation.int8_dynamic")


@pytest.fixture
def looked(study, ledger):
    """Kept, missed, failed, certified, hostile: one row of each."""
    add_run(ledger, study, Recipe(steps=(Step(lever="=1+1"),)), speedup=1, status="failed", message=HOSTILE)
    run = ledger.experiments(study_id=study.id)[1].id
    add_certificate(ledger, study, run)
    ledger.annotate(Annotation(experiment_id=run, tags=("=cmd", HOSTILE[:40]), who="Asha", when=study.created_at))
    return compared(study.id, 1, loaders.version())


@pytest.fixture(params=[False, True], ids=["plain", "intervals"])
def shown(request, looked):
    """The table as frames of Markdown and as records: every column there is, fastest first."""
    columns = list(looked.columns.values())
    rows = ordered(looked.variants, looked.columns["speedup"], descending=True)
    return columns, rows, request.param


def test_records_say_what_the_screen_says(shown):
    columns, rows, intervals = shown
    frame = comparison(columns, rows, intervals=intervals)
    records, places = as_shown(columns, rows, intervals=intervals)
    assert len(frame) == len(records) == len(rows)
    for at, record in enumerate(records):
        assert lines(frame.iloc[at], columns, record) == written(record, columns, places)


def test_side_by_side_is_the_same_turned_round(shown):
    columns, rows, intervals = shown
    frame = comparison(columns, rows, intervals=intervals)
    across = side_by_side(columns, rows, intervals=intervals)
    assert list(across["Figure"]) == list(frame.columns)[1:]
    for at, name in enumerate(list(across.columns)[1:]):
        assert unescaped(name) == rows[at].name
        assert list(across[name]) == list(frame.iloc[at])[1:]
    records, _ = as_shown(columns, rows, intervals=intervals)
    flat = turned(records)
    assert [one["Figure"] for one in flat] == [head for head in records[0] if head != "Variant"]
    assert all(flat[0][one.name] == one.outcome for one in rows)


def test_csv_and_json_carry_the_records_with_all_digits(shown):
    columns, rows, intervals = shown
    records, places = as_shown(columns, rows, intervals=intervals)
    assert json.loads(write("json", records, places)) == records
    read = list(csv.reader(io.StringIO(write("csv", records, places).decode(), newline="")))
    assert read[0] == list(records[0])
    for line, record in zip(read[1:], records, strict=True):
        for text, value in zip(line, record.values(), strict=True):
            if isinstance(value, str):
                assert text in (value, "'" + value)
            elif value is None:
                assert text == ""
            else:
                assert float(text) == value


def test_excel_shows_the_decimals_of_the_screen_and_keeps_the_rest(shown):
    columns, rows, intervals = shown
    records, places = as_shown(columns, rows, intervals=intervals)
    sheet = openpyxl.load_workbook(io.BytesIO(write("xlsx", records, places))).active
    head, *body = list(sheet.iter_rows())
    assert [cell.value for cell in head] == list(records[0])
    for line, record in zip(body, records, strict=True):
        for cell, (name, value) in zip(line, record.items(), strict=True):
            assert cell.value == (pytest.approx(value) if isinstance(value, float) else value)
            assert cell.data_type != "f"
            if name in places and isinstance(value, float):
                assert cell.number_format == "#,##0" + ("." + "0" * places[name] if places[name] else "")


def test_markdown_writes_numbers_as_the_screen_does(shown):
    columns, rows, intervals = shown
    records, places = as_shown(columns, rows, intervals=intervals)
    text = write("md", records, places).decode().splitlines()
    assert len(text) == len(records) + 2
    at = list(records[0]).index("Speed-up, ×")
    assert text[2].split(" | ")[at] == f"{records[0]['Speed-up, ×']:.2f}"


def test_text_that_could_be_a_formula_stays_text(looked):
    columns = [looked.columns["tags"]]
    records, places = as_shown(columns, looked.variants)
    names = [record["Variant"] for record in records]
    assert "=1+1" in names
    assert b"\n'=1+1," in write("csv", records, places)
    assert b"'=cmd" in write("csv", records, places)
    sheet = openpyxl.load_workbook(io.BytesIO(write("xlsx", records, places))).active
    assert all(cell.data_type in ("s", "n") for line in sheet.iter_rows() for cell in line)


def test_every_column_is_what_the_command_line_writes(looked):
    from engine.reports.rows import COLUMNS

    read = list(csv.DictReader(io.StringIO(write_every_column("csv", looked.variants).decode())))
    assert tuple(read[0]) == COLUMNS
    assert [one["experiment"] for one in read] == [one.id for one in looked.variants]
