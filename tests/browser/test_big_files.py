"""A file too big for the browser's form is streamed by a command; a wrong file is refused with a sentence."""

import subprocess
import urllib.request

import psutil
import pytest
from browser.own_model import write
from playwright.sync_api import expect

from pages._ui import uploads

BIG_BYTES = 250_000_000


def test_p33_250_mb_are_streamed_without_holding_them(server):
    """Case P33: what the server holds while a big file arrives grows by less than 50 MB."""
    process = psutil.Process(server.pid)
    urllib.request.urlopen(f"{server.url}/health").read()
    before, peaks = process.memory_info().rss, []

    def body():
        piece = bytes(1_000_000)
        for _ in range(BIG_BYTES // len(piece)):
            peaks.append(process.memory_info().rss)
            yield piece

    token = uploads.issue(server.home)
    address = f"{server.url}/upload?token={token}&name=big.onnx"
    put = urllib.request.Request(address, body(), {"Content-Length": str(BIG_BYTES)}, method="PUT")
    assert urllib.request.urlopen(put).status == 201
    arrived = uploads.arrival(server.home, token)
    assert (arrived.stage, arrived.n_bytes) == ("whole", BIG_BYTES)
    assert max(peaks) - before < 50e6
    uploads.discard(server.home, token)


def test_a_model_arrives_by_the_command_the_page_shows(server, visit, tmp_path):
    model, _ = write(tmp_path)
    visitor = visit(server.url)
    page = visitor.open("new-study")
    page.get_by_text("Stream a big file").click()
    command = page.locator("[data-testid=stCode]").inner_text()
    assert server.url in command
    done = subprocess.run(
        ["bash", "-c", command.replace("FILE=model.onnx", f"FILE={model}")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr + done.stdout
    expect(page.get_by_role("heading", name="churn.onnx")).to_be_visible(timeout=60_000)
    again = subprocess.run(
        ["bash", "-c", command.replace("FILE=model.onnx", f"FILE={model}")], capture_output=True, text=True, check=False
    )
    assert again.returncode != 0
    assert "error" in again.stdout
    assert not [path for path in (server.home / "uploads").glob("*/*") if path.name in ("part", "file")]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("model.pkl", b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00.", "ickle"),
        ("model.onnx", b"", "empty"),
        ("../../evil.onnx", b"not a model at all", "model"),
    ],
)
def test_a_wrong_file_is_refused_in_words(server, visit, tmp_path, name, content, says):
    visitor = visit(server.url)
    page = visitor.open("new-study")
    field = page.locator(".st-key-ns-model-file [data-testid=stFileUploaderDropzoneInput]")
    field.set_input_files({"name": name, "mimeType": "application/octet-stream", "buffer": content})
    alert = page.locator("[data-testid=stAlert]")
    expect(alert).to_be_visible(timeout=60_000)
    assert says in alert.inner_text()
    assert not [path for path in (server.home / "uploads").glob("*/*") if path.name in ("part", "file")]
