"""Write an array of unknown length row by row into a .npy file, without holding it."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

import numpy as np

from engine.data.profile import ColumnProfile


class ArrayFile:
    """An open .npy file of rows of one shape and dtype. numpy leaves room in the header for the final row count."""

    def __init__(self, path: Path, dtype: np.dtype, shape: tuple[int, ...]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path, self.dtype, self.shape = path, np.dtype(dtype), shape
        self.n_rows = 0
        self._file = path.open("wb")
        self._write_header()

    def __enter__(self) -> ArrayFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def append(self, rows: np.ndarray) -> None:
        """Add rows (m, *shape) of a dtype that casts safely to the file's."""
        assert rows.shape[1:] == self.shape, (rows.shape, self.shape)
        rows = np.ascontiguousarray(rows.astype(self.dtype, casting="safe", copy=False))
        self._file.write(rows.reshape(-1).view(np.uint8).data)
        self.n_rows += len(rows)

    def close(self) -> None:
        """Put the row count into the header. Closing twice is allowed."""
        if not self._file.closed:
            self._file.seek(0)
            self._write_header()
            self._file.close()

    def remove(self) -> None:
        """Give the file up."""
        self._file.close()
        self.path.unlink()

    def _write_header(self) -> None:
        header = {
            "descr": np.lib.format.dtype_to_descr(self.dtype),
            "fortran_order": False,
            "shape": (self.n_rows, *self.shape),
        }
        np.lib.format.write_array_header_1_0(self._file, header)


def array_text(row: np.ndarray) -> str:
    """The first values of one row of an array column, for the preview."""
    values = row.ravel()[:4].tolist()
    first = ", ".join(f"{value:.6g}" if isinstance(value, float) else str(value) for value in values)
    return f"[{first}{', …' if row.size > 4 else ''}]"


def array_profile(position: int, name: str, dtype: np.dtype, shape: tuple[int, ...]) -> ColumnProfile:
    """The description of a column that holds a whole array per row."""
    kind = "string" if dtype.kind == "U" else dtype.name
    return ColumnProfile(name=name, position=position, kind="array", dtype=kind, shape=shape)
