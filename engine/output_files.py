"""Write a model's outputs to disk as they come, so that any number of rows can be scored in little memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

import numpy as np

from engine.data.array_file import ArrayFile
from engine.errors import BadModel


class OutputFiles:
    """One <i>.npy per output, in the order of the names. Text is held until the end: its width is known only then."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self._paths = {name: folder / f"{at}.npy" for at, name in enumerate(names)}
        self._files: dict[str, ArrayFile] = {}
        self._texts: dict[str, list[np.ndarray]] = {}

    def __enter__(self) -> OutputFiles:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for file in self._files.values():
            file.close()
        if kind is None:
            for name, parts in self._texts.items():
                np.save(self._paths[name], np.concatenate(parts), allow_pickle=False)

    def append(self, outputs: Mapping[str, np.ndarray]) -> None:
        """Add the outputs (m, ...) of the next rows. Raises BadModel when they differ in form from the first."""
        for name, path in self._paths.items():
            rows = outputs[name]
            if rows.dtype.kind not in "fiub":
                self._texts.setdefault(name, []).append(rows)
                continue
            file = self._files.get(name) or ArrayFile(path, rows.dtype, rows.shape[1:])
            self._files[name] = file
            if rows.shape[1:] != file.shape or rows.dtype != file.dtype:
                raise BadModel(
                    f"output {name!r} gives {_text(file.dtype, file.shape)} per row at first and "
                    f"{_text(rows.dtype, rows.shape[1:])} after {file.n_rows:,} rows; every row must give the same"
                )
            file.append(rows)


def _text(dtype: np.dtype, shape: tuple[int, ...]) -> str:
    return f"{dtype}[{', '.join(map(str, shape))}]"
