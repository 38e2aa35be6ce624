"""What the confined function speaks through: JSON lines over two private pipes."""

from __future__ import annotations

import json
from typing import Any, BinaryIO


class Talk:
    """Handed to the confined function. `send` reports on the way; `receive` and `reply` hold a conversation."""

    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO) -> None:
        self._incoming = incoming
        self._outgoing = outgoing

    def send(self, message: dict[str, Any]) -> None:
        """Report something on the way, for example {"progress": 0.3, "message": "..."}."""
        self.write("message", message)

    def receive(self) -> dict[str, Any] | None:
        """The next question, or None once the parent has no more."""
        line = self._incoming.readline()
        if not line:
            return None
        question: dict[str, Any] = json.loads(line)
        return question

    def reply(self, message: dict[str, Any]) -> None:
        """Answer the question received last."""
        self.write("reply", message)

    def write(self, kind: str, value: Any) -> None:
        """Send one frame; `kind` tells the parent what it is."""
        self._outgoing.write(json.dumps({kind: value}, separators=(",", ":")).encode() + b"\n")
        self._outgoing.flush()
