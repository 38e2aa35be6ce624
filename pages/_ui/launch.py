"""What happens around the pages: start-up, the health route, security headers, and a last word when a page fails."""

from __future__ import annotations

import gc
import importlib
import logging
import pkgutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engine.errors import WhetstoneError
from engine.settings import settings

LOG = logging.getLogger("whetstone")
# Streamlit starts one inline script, styles elements inline and draws images from data: and blob:. Nothing may come
# from, or go to, another host; no other site may frame the app.
CONTENT_POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self' data: blob:",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    b"content-security-policy": CONTENT_POLICY.encode(),
    b"x-frame-options": b"DENY",
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"same-origin",
    b"permissions-policy": b"camera=(), microphone=(), geolocation=()",
}


class SecurityHeaders:
    """Adds HEADERS to every HTTP answer, without touching bodies (a streamed upload stays streamed)."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = [(name, value) for name, value in message["headers"] if name.lower() not in HEADERS]
                message = {**message, "headers": [*kept, *HEADERS.items()]}
            await send(message)

        await self.app(scope, receive, with_headers if scope["type"] == "http" else send)


@asynccontextmanager
async def lifespan(_app: Any) -> AsyncIterator[None]:
    """Bring the history up to date, start the job runner, sweep what was left behind, quieten the collector."""
    await to_thread.run_sync(_start)
    yield


def _start() -> None:
    from engine.jobs.submit import ensure_runner
    from engine.workspace import Workspace
    from pages._ui import loaders, uploads
    from pages._ui.history import index as run_index

    config = settings()
    LOG.setLevel(config.log_level)
    LOG.addHandler(logging.StreamHandler())
    Workspace(config.home).sweep()
    uploads.sweep(config.home)
    ensure_runner(loaders.ledger())
    gc.disable()  # it would look at all that is read and imported, again and again
    _import_pages()
    run_index.grid(loaders.version())  # what every list begins with, before the first visitor waits for it
    gc.enable()
    gc.collect()
    gc.freeze()  # what was read so far stays: no collection looks at it again


def _import_pages() -> None:
    """All that pages use, so that no visitor waits for it and the collector never looks at it again."""
    import plotly.graph_objects  # noqa: F401

    from engine.plugin import levers, runtimes
    from pages import _ui
    from sample_models import samples

    for found in pkgutil.walk_packages(_ui.__path__, f"{_ui.__name__}."):
        importlib.import_module(found.name)
    levers(), runtimes(), samples()


async def health(_request: Request) -> JSONResponse:
    """200 when the history answers, else 503 with the reason."""
    from pages._ui import loaders

    try:
        version = await to_thread.run_sync(loaders.version)
    except WhetstoneError as error:
        return JSONResponse({"status": "failed", "reason": str(error)}, 503)
    return JSONResponse({"status": "ok", "history_version": version})


def show_script_error(error: Exception) -> bool:
    """A page failed by our fault: say so in words, keep the trace in the log."""
    LOG.error("a page failed", exc_info=error)
    with st.container(key="crash"):
        st.error(
            "**This page stopped because of a fault in Whetstone.**  \n"
            "Your studies and running jobs are not touched.  \n"
            "**Next:** reload the page. If it happens again, report it with the last lines of the server's log.",
            icon=":material/error:",
        )
    return True
