"""A file too big for the browser's form is streamed by a command; a wrong file is refused with a sentence."""

import subprocess

import pytest
from browser.own_model import write
from playwright.sync_api import expect


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
