"""Say in one sentence that the disk is full or a file grew past the limit."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from engine.errors import BadData, NoSpace


@contextmanager
def writing() -> Iterator[None]:
    """NoSpace for a full disk, BadData for a file beyond the child's limit; other errors pass."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise NoSpace(
                "the disk is full while the evaluation set is written; free some space and try again"
            ) from error
        if error.errno == errno.EFBIG:
            raise BadData("the table needs a larger file than is allowed here; use fewer rows") from error
        raise
