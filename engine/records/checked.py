"""Make a record from what a person gave, and say in a sentence what cannot be used."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from engine.errors import InvalidRequest

R = TypeVar("R", bound=BaseModel)


def checked(cls: type[R], **values: Any) -> R:
    """cls(**values); a value out of range becomes InvalidRequest: which one, the value seen, what is allowed."""
    try:
        return cls(**values)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or cls.__name__
        raise InvalidRequest(f"{where} = {first.get('input')!r} cannot be used: {first['msg']}") from error
