"""Ways to take a model file in the tests of the formats."""

import re
from pathlib import Path

from engine import sandbox
from engine.errors import WhetstoneError
from engine.formats.recognise import formats, recognise
from engine.records import Manifest
from engine.sandbox import Limits

TAKING = Limits(memory_bytes=2 << 30, cpu_s=60, wall_s=60)
RUNNING = Limits(memory_bytes=2 << 30, cpu_s=10, wall_s=15)


def take_here(path: Path, out: Path, **options) -> Manifest:
    """Recognise, check and describe in this process; `out` is made."""
    out.mkdir()
    name = recognise(path)
    formats()[name].take(path, out, **options)
    return Manifest(id="0" * 64, size_bytes=0, **formats()[name].describe(out))


def take_confined(path: Path, out: Path, **more) -> Manifest:
    """The same in the sandbox, which may read this one file."""
    out.mkdir()
    beside = [Path(file) for file in more.get("beside", {}).values()]
    request = {"path": str(path), "out": str(out), "name": path.name, **more}
    facts = sandbox.run("engine.formats.take:take", request, read=[path, *beside], write=out, limits=TAKING)
    return Manifest(id="0" * 64, size_bytes=0, **facts)


def predict(manifest: Manifest, out: Path) -> dict:
    """Open what was taken in its reference runtime, in the sandbox, and ask for three rows."""
    request = {"manifest": manifest.model_dump(mode="json"), "folder": str(out)}
    return sandbox.run("tests.engine.formats.confined:predict", request, read=[out], limits=RUNNING)


def sentence(error: WhetstoneError) -> str:
    """The message, after checking that a person can read it: one sentence, code below it at most."""
    message = str(error)
    first, *snippet = message.split("\n")
    assert 0 < len(message) < 600, message
    assert len(first) > 10, message
    assert len(snippet) <= 3, message
    assert "Traceback" not in message
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", message), message
    return first
