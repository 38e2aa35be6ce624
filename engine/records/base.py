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
        """64 hex digits that change whenever any field changes; a field that is None counts as not there.

        So a later release may add an optional field, and what was hashed before keeps its hash.
        """
        body = json.dumps(self.model_dump(mode="json", exclude_none=True), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(body.encode()).hexdigest()
