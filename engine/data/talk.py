"""How the confined functions of this room report progress."""

from __future__ import annotations

from typing import Any, Protocol


class Talk(Protocol):
    """The part of the sandbox's talk that reading and binding need."""

    def send(self, message: dict[str, Any]) -> None:
        """Report something on the way: {"progress": 0..1, "message": text}."""
