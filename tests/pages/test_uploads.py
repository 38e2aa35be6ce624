"""Streamed uploads, the import folder, and the copy of a picked file."""

import asyncio
import io
import os

import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from engine.errors import NotFound
from engine.settings import settings
from pages._ui import upload_route, uploads
from pages._ui.launch import SecurityHeaders


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("WHETSTONE_HOME", str(tmp_path))
    monkeypatch.setenv("WHETSTONE_UPLOAD_QUOTA", "1000000")
    settings.cache_clear()
    yield tmp_path
    settings.cache_clear()


def put(token, chunks, *, name="model.onnx", headers=(), break_off=False):
    """One PUT through the real route and headers; answers (status, body, headers)."""
    app = SecurityHeaders(Starlette(routes=[Route("/upload", upload_route.put_upload, methods=["PUT"])]))
    waiting = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
    waiting.append({"type": "http.disconnect"} if break_off else {"type": "http.request", "body": b""})
    sent = []

    async def receive():
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "method": "PUT",
        "path": "/upload",
        "raw_path": b"/upload",
        "root_path": "",
        "scheme": "http",
        "query_string": f"token={token}&name={name}".encode(),
        "headers": [(b"host", b"127.0.0.1:8501"), *headers],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8501),
        "http_version": "1.1",
    }
    asyncio.run(app(scope, receive, send))
    return sent[0]["status"], sent[1]["body"].decode(), dict(sent[0]["headers"])


def left_behind(home):
    return [path for path in (home / "uploads").rglob("*") if path.name in ("part", "file")]


def test_a_file_arrives_in_chunks(home):
    token = uploads.issue(home)
    assert uploads.arrival(home, token).stage == "waiting"
    status, body, headers = put(token, [b"ab" * 1000] * 3, name="..%2F..%2Fmodel.onnx")
    assert status == 201, body
    arrived = uploads.arrival(home, token)
    assert (arrived.stage, arrived.n_bytes, arrived.name) == ("whole", 6000, "model.onnx")
    assert arrived.path.read_bytes() == b"ab" * 3000
    assert headers[b"x-frame-options"] == b"DENY"
    assert b"frame-ancestors 'none'" in headers[b"content-security-policy"]


def test_a_token_works_once(home):
    token = uploads.issue(home)
    assert put(token, [b"x"])[0] == 201
    status, body, _ = put(token, [b"y"])
    assert status == 409
    assert "used already" in body
    assert uploads.arrival(home, token).path.read_bytes() == b"x"


@pytest.mark.parametrize("token", ["", "guess", "../../etc"])
def test_an_unknown_token_is_refused(home, token):
    assert put(token, [b"x"])[0] == 403
    assert not (home / "uploads").exists()


def test_an_old_token_is_refused(home):
    token = uploads.issue(home)
    mark = uploads.ticket_folder(home, token) / "open"
    os.utime(mark, (0, 0))
    assert put(token, [b"x"])[0] == 403
    assert left_behind(home) == []


@pytest.mark.parametrize(
    "headers",
    [[(b"origin", b"https://evil.example")], [(b"sec-fetch-site", b"cross-site")], [(b"origin", b"null")]],
)
def test_another_site_cannot_upload(home, headers):
    token = uploads.issue(home)
    assert put(token, [b"x"], headers=headers)[0] == 403
    assert uploads.arrival(home, token).stage == "waiting"


def test_the_own_site_can_upload(home):
    assert put(uploads.issue(home), [b"x"], headers=[(b"origin", b"http://127.0.0.1:8501")])[0] == 201


@pytest.mark.parametrize("headers", [[], [(b"content-length", b"1200000")]])
def test_the_quota_is_named_and_nothing_stays(home, headers):
    token = uploads.issue(home)
    status, body, _ = put(token, [b"x" * 400_000] * 3, headers=headers)
    assert status == 413
    assert "WHETSTONE_UPLOAD_QUOTA" in body
    assert left_behind(home) == []
    assert "WHETSTONE_UPLOAD_QUOTA" in uploads.arrival(home, token).message


def test_waiting_uploads_count_against_the_quota(home):
    assert put(uploads.issue(home), [b"x" * 600_000])[0] == 201
    assert put(uploads.issue(home), [b"x" * 600_000])[0] == 413


def test_a_full_disk_is_said_and_nothing_stays(home, monkeypatch):
    monkeypatch.setattr(uploads, "TICKET_LIFE_S", float("inf"))
    token = uploads.issue(home)
    mark = uploads.ticket_folder(home, token) / "open"
    mark.unlink()
    mark.symlink_to("/dev/full")
    status, body, _ = put(token, [b"x"])
    assert status == 507
    assert "disk is full" in body
    assert left_behind(home) == []
    assert "disk is full" in uploads.arrival(home, token).message


def test_a_broken_connection_leaves_nothing(home):
    token = uploads.issue(home)
    assert put(token, [b"x" * 10], break_off=True)[0] == 400
    assert left_behind(home) == []
    assert uploads.arrival(home, token).stage == "failed"


def test_an_empty_file_is_refused(home):
    token = uploads.issue(home)
    status, body, _ = put(token, [])
    assert status == 413
    assert "empty" in body


def test_a_picked_file_is_copied_and_forgotten(tmp_path):
    path = uploads.keep(io.BytesIO(b"abc" * 1000), "../x.csv", tmp_path)
    assert path.read_bytes() == b"abc" * 1000
    assert path.is_relative_to(tmp_path / "uploads")
    uploads.forget(path, tmp_path)
    assert list((tmp_path / "uploads").iterdir()) == []


def test_forgetting_leaves_the_import_folder_alone(tmp_path):
    own = tmp_path / "own.csv"
    own.write_text("a\n")
    uploads.forget(own, tmp_path / "home")
    assert own.exists()


def test_the_import_folder_lists_itself_alone(tmp_path):
    folder, outside = tmp_path / "in", tmp_path / "out"
    folder.mkdir(), outside.mkdir()
    (folder / "data.csv").write_text("a\n")
    (folder / ".hidden").write_text("a")
    (folder / "below").mkdir()
    (outside / "secret").write_text("s")
    (folder / "link").symlink_to(outside / "secret")
    assert [path.name for path in uploads.import_files(folder)] == ["data.csv"]
    assert uploads.import_file(folder, "data.csv") == folder / "data.csv"
    for name in ("link", "../out/secret", "/etc/passwd", ".hidden"):
        with pytest.raises(NotFound):
            uploads.import_file(folder, name)
    assert uploads.import_files(None) == []
