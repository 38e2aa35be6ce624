"""Runs inside the confined child of test_hostile: reads many files one after the other."""

import tempfile
from pathlib import Path

from engine.data.read import read
from engine.errors import WhetstoneError


def read_each(request, talk):
    while (message := talk.receive()) is not None:
        out = Path(tempfile.mkdtemp(dir=request["out"]))
        try:
            read({"path": message["path"], "out": str(out)}, talk)
            end = "read"
        except WhetstoneError as error:
            end = type(error).__name__
        talk.reply({"end": end})
    return {}
