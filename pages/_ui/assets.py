"""Streamlit's own browser files, from memory and compressed: a page is there sooner, above all over a network.

Streamlit reads them from disk in small pieces, each through a thread, and never compresses them, since it would do so
anew for every visitor. Their names hold a hash of what is in them, so each is read and compressed once per process:
8.7 MB of a page with figures are 2.7 MB then.
"""

from __future__ import annotations

import gzip
import mimetypes
from functools import cache
from pathlib import Path

from anyio import to_thread
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import file_util

KEPT = (".js", ".css")  # under /static; fonts and images are compressed as they are
LEVEL = 5
HEADERS = {
    "cache-control": "public, immutable, max-age=31536000",
    "content-encoding": "gzip",
    "vary": "accept-encoding",
}


class Assets:
    """Answers for the files that are KEPT; everything else, and what is not there, goes on to Streamlit."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        file = await to_thread.run_sync(packed, scope["path"]) if _is_ours(scope) else None
        if file is None:
            await self.app(scope, receive, send)
            return
        kind, _ = mimetypes.guess_type(scope["path"])
        await Response(file, headers=HEADERS, media_type=kind)(scope, receive, send)


def _is_ours(scope: Scope) -> bool:
    return (
        scope["type"] == "http"
        and scope["method"] == "GET"
        and scope["path"].startswith("/static/")
        and scope["path"].endswith(KEPT)
        and "gzip" in Headers(scope=scope).get("accept-encoding", "")
    )


def packed(path: str) -> bytes | None:
    """The file of this address, compressed; None: there is none."""
    file = _files().get(path)
    return None if file is None else _packed(file)


@cache
def _files() -> dict[str, Path]:
    """Address -> file: what the wheel ships, and nothing that an address could talk us into."""
    root = Path(file_util.get_static_dir())
    return {f"/{file.relative_to(root).as_posix()}": file for file in root.glob("static/**/*") if file.suffix in KEPT}


@cache
def _packed(file: Path) -> bytes:
    return gzip.compress(file.read_bytes(), LEVEL, mtime=0)
