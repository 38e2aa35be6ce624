"""Read a CSV file twice: once to learn what each column is, once to store it. Memory stays at a few blocks."""

from __future__ import annotations

import codecs
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from engine.data.cells import Survey, to_numbers
from engine.data.encoding import check_encoding, detect_encoding
from engine.data.limits import MAX_CELL_BYTES, MAX_LINE_BYTES, check_columns, looks_numeric, names_text, size_text
from engine.data.profile import ColumnKind, TableProfile
from engine.data.separator import check_separator, header_of, sniff_separator
from engine.data.table_writer import PlainColumns, preview
from engine.errors import BadData

if TYPE_CHECKING:
    from engine.sandbox import Talk

BLOCK_BYTES = 2 * MAX_LINE_BYTES
SAMPLE_BYTES = 256 << 10


@dataclass(frozen=True)
class _Layout:
    path: Path
    encoding: str
    separator: str
    names: list[str]


def read_csv(path: Path, out: Path, talk: Talk, encoding: str | None, separator: str | None) -> TableProfile:
    """Store the table in `out` and describe it. Raises BadData with the row where something is wrong."""
    layout = _layout(path, encoding, separator)
    surveys = [Survey(commas=layout.separator != ",") for _ in layout.names]
    n_rows = 0
    for batch in _batches(layout):
        for survey, cells in zip(surveys, batch.columns, strict=True):
            survey.add(cells)
        n_rows += batch.num_rows
        talk.send({"progress": 0.0, "message": f"{n_rows:,} rows looked at"})
    if not n_rows:
        raise BadData(f"the file has a header ({names_text(layout.names)}) and no rows")
    decimal = "," if any(survey.needs_comma and survey.comma_proven for survey in surveys) else "."
    kinds = [survey.kind(decimal) for survey in surveys]
    columns = [(at, name, kinds[at], _stored(kinds[at], surveys[at])) for at, name in enumerate(layout.names)]
    done = 0
    with PlainColumns(out, columns) as store:
        for batch in _batches(layout):
            store.add([_store(cells, kinds[at], columns[at][3], decimal) for at, cells in enumerate(batch.columns)])
            done += batch.num_rows
            talk.send({"progress": done / n_rows, "message": f"{done:,} of {n_rows:,} rows stored"})
    reading = {"format": "csv", "encoding": layout.encoding, "separator": layout.separator, "decimal": decimal}
    return TableProfile(
        format="csv",
        n_rows=n_rows,
        columns=tuple(statistics.profile() for statistics in store.statistics.values()),
        reading=reading,
        notes=tuple(_notes(layout.names, surveys, decimal)),
        head=preview({at: statistics.head for at, statistics in store.statistics.items()}),
    )


def _layout(path: Path, encoding: str | None, separator: str | None) -> _Layout:
    encoding = check_encoding(encoding, path) if encoding else detect_encoding(path)
    sample = _sample(path, encoding)
    separator = check_separator(separator) if separator else sniff_separator(sample)
    names = header_of(sample, separator)
    if len(names) < 2:
        raise BadData(f"only one column was found with the separator {separator!r}; name another separator")
    names = [name or f"Unnamed: {at}" for at, name in enumerate(names)]
    check_columns(names)
    if all(looks_numeric(name) for name in names) and names != [str(at) for at in range(len(names))]:
        raise BadData(
            f"the first line holds only numbers ({names_text(names, 4)}); add a header line with column names"
        )
    return _Layout(path, encoding, separator, names)


def _sample(path: Path, encoding: str) -> str:
    """Whole first lines: at least the header, at most about 256 KiB where the header is shorter."""
    with path.open("rb") as file:
        raw = file.read(SAMPLE_BYTES)
        text = _decoded(raw, encoding)
        if "\n" not in text and "\r" not in text:
            raw += file.read(2 * MAX_LINE_BYTES)
            text = _decoded(raw, encoding)
        whole = not file.read(1)
    if whole:
        return text
    cut = max(text.rfind("\n"), text.rfind("\r"))
    return text[: cut + 1] if cut >= 0 else text


def _decoded(raw: bytes, encoding: str) -> str:
    try:
        return codecs.getincrementaldecoder(encoding)().decode(raw)
    except UnicodeError as error:
        raise _undecodable(encoding, error) from error


def _undecodable(encoding: str, error: UnicodeError) -> BadData:
    return BadData(f"the file cannot be read as {encoding} ({error}); name its encoding, for example latin-1 or cp1252")


def _batches(layout: _Layout) -> Iterator[pa.RecordBatch]:
    """All cells as text, in blocks of some MiB. Row numbers in messages count the data rows from 1."""
    internal = [f"c{at}" for at in range(len(layout.names))]
    ragged: list[pacsv.InvalidRow] = []

    def refuse(row: pacsv.InvalidRow) -> str:
        ragged.append(row)
        return "error"

    with contextlib.ExitStack() as stack:
        source: pa.NativeFile = stack.enter_context(pa.OSFile(str(layout.path), "rb"))
        if layout.encoding not in ("utf-8", "utf-8-sig"):
            source = stack.enter_context(pa.transcoding_input_stream(source, layout.encoding, "utf-8"))
        try:
            reader = pacsv.open_csv(
                source,
                pacsv.ReadOptions(
                    use_threads=False, block_size=BLOCK_BYTES, column_names=internal, skip_rows_after_names=1
                ),
                pacsv.ParseOptions(
                    delimiter=layout.separator, newlines_in_values=True, invalid_row_handler=refuse
                ),
                pacsv.ConvertOptions(strings_can_be_null=False, column_types=dict.fromkeys(internal, pa.string())),
            )  # fmt: skip
            first_row, last_cell = 0, ""
            for batch in reader:
                _check_cells(batch, layout.names, first_row)
                first_row, last_cell = first_row + batch.num_rows, batch.columns[-1][-1].as_py()
                yield batch
            if "\n" in last_cell and not _ends_with_quote(layout.path):
                raise BadData(
                    f"row {first_row:,}: a quotation mark is opened and never closed; the text is {last_cell[:40]!r}"
                )
        except UnicodeError as error:
            raise _undecodable(layout.encoding, error) from error
        except pa.ArrowInvalid as error:
            raise _unreadable(error, ragged, len(layout.names), layout.encoding) from error


def _check_cells(batch: pa.RecordBatch, names: list[str], first_row: int) -> None:
    for name, cells in zip(names, batch.columns, strict=True):
        lengths = pc.binary_length(cells)
        longest = pc.max(lengths).as_py() or 0
        if longest > MAX_CELL_BYTES:
            row = first_row + pc.index(lengths, longest).as_py() + 1
            raise BadData(
                f"row {row:,}, column {name}: a text of {size_text(longest)}; at most {size_text(MAX_CELL_BYTES)} are "
                "read. Is a quotation mark left open?"
            )


def _ends_with_quote(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, 2) - 64))
        return file.read().rstrip(b"\r\n\0 ").endswith(b'"')


def _unreadable(error: pa.ArrowInvalid, ragged: list[pacsv.InvalidRow], width: int, encoding: str) -> BadData:
    if ragged:
        row = ragged[0]
        at = f"row {row.number - 1:,}" if row.number is not None else "a row"
        return BadData(
            f"{at} has {row.actual_columns:,} values, the header {width:,} names; it begins {row.text[:60]!r}. "
            "Is a separator inside a text without quotes?"
        )
    text = str(error)
    if "straddling" in text:
        return BadData(f"a row is longer than {size_text(BLOCK_BYTES)}; is a quotation mark left open?")
    if "UTF8" in text or "utf8" in text:
        return BadData(f"the file cannot be read as {encoding}; name its encoding, for example latin-1 or cp1252")
    return BadData(f"the CSV cannot be read: {text.splitlines()[0][:200]}")


def _stored(kind: ColumnKind, survey: Survey) -> str:
    """How a column is stored: numbers mixed with words such as NA stay text, so that no label is lost."""
    if kind == "whole number" and not survey.other_words:
        return "int64"
    return "float64" if kind == "number" and not survey.other_words else "string"


def _store(cells: pa.StringArray, kind: ColumnKind, dtype: str, decimal: str) -> pa.Array:
    if dtype == "string":
        if decimal == "," and kind == "number":
            cells = pc.replace_substring(cells, ",", ".", max_replacements=1)
        return pc.if_else(pc.equal(cells, ""), None, cells)
    return to_numbers(cells, kind, decimal)


def _notes(names: list[str], surveys: list[Survey], decimal: str) -> Iterator[str]:
    if decimal == ",":
        yield "The comma is read as the decimal mark"
    unsure = [name for name, survey in zip(names, surveys, strict=True) if survey.needs_comma and decimal == "."]
    if unsure:
        yield (
            f"Left as text, because 1,234 may mean 1.234 or 1234: {names_text(unsure)}; "
            "write the numbers without separators of thousands"
        )
    for name, survey in zip(names, surveys, strict=True):
        if survey.other_words and survey.kind(decimal) in ("whole number", "number"):
            yield (
                f"Column {name}: numbers and {names_text(sorted(survey.other_words))}; "
                "as a feature the words are missing values, as a label they stay as written"
            )
