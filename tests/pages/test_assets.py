"""The browser's files come compressed and to be kept for good; what is not one of them goes on to Streamlit."""

import asyncio
import gzip
from pathlib import Path

import pytest
from streamlit import file_util

from pages._ui.assets import HEADERS, Assets

SCRIPT = next(Path(file_util.get_static_dir()).glob("static/js/PlotlyChart.*.js"))


def asked(path, *, accepts="gzip, br", method="GET"):
    """(headers, body) of the answer; (None, b"") where it was left to Streamlit."""
    sent = []

    async def streamlit(scope, receive, send):
        sent.append(None)

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": method, "path": path, "headers": [(b"accept-encoding", accepts.encode())]}
    asyncio.run(Assets(streamlit)(scope, None, send))
    if sent == [None]:
        return None, b""
    start, *parts = sent
    headers = {name.decode(): value.decode() for name, value in start["headers"]}
    return headers, b"".join(part["body"] for part in parts)


def test_a_script_comes_compressed_and_is_kept_for_good():
    headers, body = asked(f"/static/js/{SCRIPT.name}")
    assert gzip.decompress(body) == SCRIPT.read_bytes()
    assert len(body) < SCRIPT.stat().st_size / 2
    assert {name: headers[name] for name in HEADERS} == HEADERS
    assert "javascript" in headers["content-type"]
    assert int(headers["content-length"]) == len(body)


@pytest.mark.parametrize(
    ("path", "more"),
    [
        (f"/static/js/{SCRIPT.name}", {"accepts": "identity"}),
        (f"/static/js/{SCRIPT.name}", {"method": "HEAD"}),
        ("/static/js/nothing.js", {}),
        ("/static/js/../../manifest.js", {}),
        ("/static/../../../config.js", {}),
        ("/compare", {}),
        ("/", {}),
    ],
)
def test_everything_else_goes_on_to_streamlit(path, more):
    assert asked(path, **more) == (None, b"")
