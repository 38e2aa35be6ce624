"""What one evaluation file may hold, and the running count of what it held so far."""

from __future__ import annotations

import re

from engine.errors import BadData

MAX_COLUMNS = 10_000
MAX_NAME_CHARS = 500
MAX_LINE_BYTES = 4 << 20
MAX_CELL_BYTES = 1 << 20
MAX_NESTING = 4
MAX_BYTES = 6 << 30  # of one file once read; the confined child may write files of 8 GiB
MAX_BATCH_TEXT_BYTES = 512 << 20
BATCH_ROWS = 1 << 16
BATCH_BYTES = 32 << 20


def size_text(n_bytes: float) -> str:
    """A size in the largest unit that leaves at least 1, for messages."""
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if n_bytes < 1024 or unit == "TiB":
            break
        n_bytes /= 1024
    return f"{n_bytes:,.0f} {unit}" if unit == "bytes" or n_bytes >= 100 else f"{n_bytes:.3g} {unit}"


def names_text(names: list[str] | tuple[str, ...], most: int = 12) -> str:
    """Names joined for a message; long lists are cut and counted."""
    shown = [name if len(name) <= 60 else name[:57] + "..." for name in names[:most]]
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(shown) + more


class Budget:
    """Counts the bytes a file turns into while it is read; refuses what exceeds the limit."""

    def __init__(self, limit_bytes: int = MAX_BYTES) -> None:
        self.limit_bytes = limit_bytes
        self.used_bytes = 0

    def take(self, n_bytes: int) -> None:
        """Count n_bytes more. Raises BadData past the limit."""
        self.used_bytes += n_bytes
        if self.used_bytes > self.limit_bytes:
            raise BadData(
                f"the file holds more than {size_text(self.limit_bytes)} once read "
                f"({size_text(self.used_bytes)} so far); use fewer rows"
            )


def check_columns(names: list[str]) -> None:
    """Refuse too many, too long or repeated column names with BadData."""
    if len(names) > MAX_COLUMNS:
        raise BadData(
            f"{len(names):,} columns; at most {MAX_COLUMNS:,} can be read. Leave out what the model does not use"
        )
    longest = max(names, key=len, default="")
    if len(longest) > MAX_NAME_CHARS:
        raise BadData(f"a column name of {len(longest):,} characters; at most {MAX_NAME_CHARS} are allowed")
    seen: set[str] = set()
    twice = sorted({name for name in names if name in seen or seen.add(name)})  # type: ignore[func-returns-value]
    if twice:
        hint = "; does the file lack a header line?" if all(looks_numeric(name) for name in names) else ""
        raise BadData(f"column names must differ; more than once: {names_text(twice)}{hint}")


def looks_numeric(text: str) -> bool:
    """True when a cell reads as one number."""
    return re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text, re.ASCII) is not None
