"""`PUT /upload?token=…&name=…`: streams one file to the disk, however big, without holding it in memory."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

from anyio import to_thread
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse

from engine.errors import Conflict, InvalidRequest, NoSpace, NotFound, WhetstoneError
from engine.settings import settings
from pages._ui import uploads

FLUSH_BYTES = 1 << 20
STATUS_OF = {NotFound: 403, Conflict: 409, InvalidRequest: 413, NoSpace: 507}


async def put_upload(request: Request) -> JSONResponse:
    """Take one file. 403 wrong origin or token, 409 token used, 413 over the quota, 507 disk full; else 201."""
    if not same_origin(request):
        return JSONResponse({"error": "uploads are taken from this site or from a command line only"}, 403)
    config = settings()
    token, name = request.query_params.get("token", ""), request.query_params.get("name", "")
    try:
        with uploads.taking(config.home, token, name) as folder:
            n_bytes = await _receive(request, folder, config.home, config.upload_quota_bytes)
    except WhetstoneError as error:
        return JSONResponse({"error": str(error)}, STATUS_OF.get(type(error), 400))
    except ClientDisconnect:
        return JSONResponse({"error": "the connection broke off"}, 400)
    return JSONResponse({"status": "received", "n_bytes": n_bytes}, 201)


def same_origin(request: Request) -> bool:
    """False when a browser says that the request comes from another site. A command line says nothing."""
    origin = request.headers.get("origin")
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


async def _receive(request: Request, folder: Path, home: Path, quota_bytes: int) -> int:
    allowed = quota_bytes - uploads.used_bytes(home)
    announced = int(request.headers.get("content-length") or 0)
    if announced > allowed:
        raise _over_quota(announced, allowed)
    n_bytes = 0
    buffer = bytearray()
    with (folder / "part").open("wb", buffering=0) as file:
        async for chunk in request.stream():
            n_bytes += len(chunk)
            if n_bytes > allowed:
                raise _over_quota(n_bytes, allowed)
            buffer += chunk
            if len(buffer) >= FLUSH_BYTES:
                await to_thread.run_sync(_write, file, bytes(buffer))
                buffer.clear()
        await to_thread.run_sync(_write, file, bytes(buffer))
        await to_thread.run_sync(os.fsync, file.fileno())
    if n_bytes == 0:
        raise InvalidRequest("the file is empty: 0 bytes arrived")
    return n_bytes


def _write(file: BinaryIO, data: bytes) -> None:
    try:
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise NoSpace("the server's disk is full; nothing of this file was kept") from error
        raise


def _over_quota(n_bytes: int, allowed: int) -> InvalidRequest:
    return InvalidRequest(
        f"the file has at least {n_bytes:,} bytes, and {max(0, allowed):,} are left for streamed uploads; "
        "raise WHETSTONE_UPLOAD_QUOTA or finish the uploads that wait in New study"
    )
