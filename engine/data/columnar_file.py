"""Read Parquet and Arrow files batch by batch, with a running count of the bytes they turn into."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from engine.data.arrow_types import is_text, stored_as, to_stored
from engine.data.limits import BATCH_BYTES, BATCH_ROWS, MAX_COLUMNS, MAX_NESTING, Budget, check_columns, names_text
from engine.data.list_columns import ListColumns
from engine.data.profile import DataFormat, TableProfile
from engine.data.table_writer import PlainColumns, preview
from engine.errors import BadData

if TYPE_CHECKING:
    from engine.sandbox import Talk

_THRIFT_BYTES = 64 << 20
_THRIFT_ITEMS = 2_000_000
_DAMAGE = (
    pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, pa.ArrowKeyError, UnicodeDecodeError, OSError,
)  # fmt: skip


def read_parquet(path: Path, out: Path, talk: Talk) -> TableProfile:
    """Store the table in `out` and describe it. Raises BadData."""
    with _parquet(path) as (file, n_rows):
        return _read("parquet", file.schema_arrow, n_rows, _parquet_batches(file), out, talk)


def read_arrow(path: Path, out: Path, talk: Talk) -> TableProfile:
    """Store the table of a Feather or Arrow file in `out` and describe it. Raises BadData."""
    with _refusing("Arrow"), pa.OSFile(str(path), "rb") as source:
        stream = source.read(4) == b"\xff\xff\xff\xff"
        source.seek(0)
        reader = pa.ipc.open_stream(source) if stream else pa.ipc.open_file(source)
        return _read("arrow", reader.schema, None, _arrow_batches(reader), out, talk)


@contextlib.contextmanager
def _refusing(what: str) -> Iterator[None]:
    """Turn the library's complaints about a damaged file into one sentence."""
    try:
        yield
    except _DAMAGE as error:
        if isinstance(error, OSError) and error.errno:  # of the disk, not of the file's content
            raise
        first = str(error).splitlines()[0][:160] if str(error) else type(error).__name__
        raise BadData(f"this {what} file is damaged or cannot be read: {first}") from error


@contextlib.contextmanager
def _parquet(path: Path) -> Iterator[tuple[pq.ParquetFile, int]]:
    limits = {"thrift_string_size_limit": _THRIFT_BYTES, "thrift_container_size_limit": _THRIFT_ITEMS}
    with _refusing("Parquet"), pq.ParquetFile(path, **limits) as probe:
        width = probe.metadata.num_columns
        if width > MAX_COLUMNS:
            raise BadData(
                f"{width:,} columns; at most {MAX_COLUMNS:,} can be read. Leave out what the model does not use"
            )
        for at in range(width):
            leaf = probe.schema.column(at)
            if leaf.max_repetition_level > MAX_NESTING:
                raise BadData(
                    f"column {leaf.path.split('.')[0]}: lists nested {leaf.max_repetition_level} deep; "
                    f"at most {MAX_NESTING} are read"
                )
        texts = [field.name for field in probe.schema_arrow if is_text(field.type)]
        with pq.ParquetFile(path, read_dictionary=texts, pre_buffer=False, buffer_size=1 << 20, **limits) as file:
            yield file, file.metadata.num_rows


def _parquet_batches(file: pq.ParquetFile) -> Iterator[pa.RecordBatch]:
    yield from file.iter_batches(
        batch_size=_batch_rows(_parquet_bytes(file), file.metadata.num_rows), use_threads=False
    )


def _parquet_bytes(file: pq.ParquetFile) -> int:
    """About how many bytes the table holds once read: 8 per value, and the text as it lies in the file."""
    meta = file.metadata
    chunks = (
        meta.row_group(group).column(at) for group in range(meta.num_row_groups) for at in range(meta.num_columns)
    )
    return sum(
        8 * chunk.num_values + (chunk.total_uncompressed_size if chunk.physical_type == "BYTE_ARRAY" else 0)
        for chunk in chunks
    )


def _batch_rows(n_bytes: int, n_rows: int) -> int:
    per_row = max(n_bytes, 1) / max(n_rows, 1)
    return int(max(1, min(BATCH_ROWS, BATCH_BYTES / per_row)))


def _arrow_batches(reader: pa.ipc.RecordBatchFileReader | pa.ipc.RecordBatchStreamReader) -> Iterator[pa.RecordBatch]:
    if isinstance(reader, pa.ipc.RecordBatchStreamReader):
        whole: Iterator[pa.RecordBatch] = iter(reader)
    else:
        whole = (reader.get_batch(at) for at in range(reader.num_record_batches))
    for batch in whole:
        batch.validate(full=True)
        step = _batch_rows(batch.nbytes, batch.num_rows)
        for start in range(0, batch.num_rows, step):
            yield batch.slice(start, step)


def _read(
    name: DataFormat, schema: pa.Schema, n_rows: int | None, batches: Iterator[pa.RecordBatch], out: Path, talk: Talk
) -> TableProfile:
    check_columns(schema.names)
    budget, done = Budget(), 0
    plans = {at: stored_as(field.name, field.type) for at, field in enumerate(schema)}
    plain = [(at, schema.names[at], p.kind, p.dtype) for at, p in plans.items() if p.kind not in (None, "array")]
    lists = ListColumns(out, {at: (schema.names[at], p.dtype) for at, p in plans.items() if p.kind == "array"})
    with PlainColumns(out, plain) as store:
        for batch in batches:
            for at in list(lists.columns):
                lists.add(at, batch.column(at), done, budget)
            store.add(
                [to_stored(label, batch.column(at), dtype, budget, done) for at, label, _, dtype in plain]
            )  # fmt: skip
            done += batch.num_rows
            talk.send({"progress": done / max(n_rows or done, done, 1), "message": f"{done:,} rows stored"})
    if not done:
        raise BadData(f"the file has {len(schema.names):,} columns ({names_text(schema.names)}) and no rows")
    columns = lists.close() | {at: statistics.profile() for at, statistics in store.statistics.items()}
    left_out = [f"Column {schema.names[at]} ignored: {p.reason}" for at, p in plans.items() if p.kind is None]
    return TableProfile(
        format=name,
        n_rows=done,
        columns=tuple(columns[at] for at in sorted(columns)),
        reading={"format": name},
        notes=(*left_out, *lists.notes),
        head=preview(lists.heads | {at: statistics.head for at, statistics in store.statistics.items()}),
    )
