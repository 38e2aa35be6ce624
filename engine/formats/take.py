"""Taking a model file, inside the confined child: recognise, check, write the clean payload, describe."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import BadModel
from engine.formats.recognise import formats, recognise

if TYPE_CHECKING:
    from engine.sandbox import Talk


def take(request: dict[str, Any], talk: Talk) -> dict[str, Any]:
    """Answer what is known of the model at request["path"], and write its payload into the folder request["out"].

    name: what the user calls the file. beside (optional): {file name: path} of data files uploaded with it.
    The answer has the fields of a Manifest that do not depend on the payload's bytes.
    """
    path, out = Path(request["path"]), Path(request["out"])
    beside = {name: Path(file) for name, file in request.get("beside", {}).items()}
    name = recognise(path, request.get("name", ""))
    module = formats()[name]
    talk.send({"progress": 0.2, "message": f"checking {name}"})
    if beside and name != "onnx":
        raise BadModel(f"a {name} model is one file; upload it without {', '.join(sorted(beside))[:200]}")
    if beside:
        module.take(path, out, beside)
    else:
        module.take(path, out)
    talk.send({"progress": 0.7, "message": "describing"})
    facts: dict[str, Any] = module.describe(out)
    return facts
