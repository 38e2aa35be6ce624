"""Column types that behave alike on SQLite and PostgreSQL."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class UtcTime(TypeDecorator[datetime]):
    """A moment. Refuses naive values, stores UTC, returns aware values."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Aware datetime -> UTC."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"a moment needs a time zone, got {value!r}")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """SQLite returns naive text that we know to be UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class SafeText(TypeDecorator[str]):
    """Text of any origin. PostgreSQL refuses NUL and neither database takes lone surrogates: both become U+FFFD."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Replace what the databases cannot hold."""
        return None if value is None else storable(value)


class Document(TypeDecorator[Any]):
    """A JSON value kept as text, byte for byte alike on both databases.

    JSONB would refuse the NaN and infinite bounds that intervals may carry, and we never query inside.
    """

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        """JSON-safe value -> text."""
        return None if value is None else json.dumps(value, separators=(",", ":"))

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """Text -> value."""
        return None if value is None else json.loads(value)


BIG = sa.BigInteger().with_variant(sa.Integer, "sqlite")  # SQLite autoincrements INTEGER keys only


def storable(text: str) -> str:
    """The text with what the databases cannot hold replaced by U+FFFD."""
    return _UNSTORABLE.sub("\ufffd", text)
