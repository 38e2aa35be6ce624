"""Base of every noun."""

from __future__ import annotations

import hashlib
import json

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """Base of every noun: immutable, refuses unknown fields, hashes its own content."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def fingerprint(self) -> str:
        """64 hex digits that change whenever any field changes."""
        body = json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(body.encode()).hexdigest()
