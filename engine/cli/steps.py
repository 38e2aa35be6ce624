"""How steps, runtimes and batches are spelled on the command line: NAME or NAME:key=value,key=value."""

from __future__ import annotations

import re
from typing import Any

from engine.errors import InvalidRecipe, InvalidRequest
from engine.measurement.batch import sweep_sizes
from engine.records import Choice, Step


def parse_step(text: str) -> Step:
    """`pruning.fewer_trees:keep_fraction=0.33` -> Step. Raises InvalidRecipe."""
    name, params = _parse(text)
    return Step(lever=name, params=params)


def parse_runtime(text: str) -> Choice:
    """`onnxruntime_cpu:level=all` -> Choice. Raises InvalidRecipe."""
    name, params = _parse(text)
    return Choice(name=name, params=params)


def parse_batches(text: str, fixed_batch: int | None = None) -> list[int]:
    """`1,32,1024` -> [1, 32, 1024]; `sweep` -> 1, 2, 4 … 128, or the only size the model takes.

    Raises InvalidRequest.
    """
    if text.strip() == "sweep":
        return list(sweep_sizes(fixed_batch))
    return _numbers(text, "--batch takes sweep, or", "1,32,1024")


def parse_threads(text: str) -> list[int]:
    """`1,2` -> [1, 2]. Raises InvalidRequest."""
    return _numbers(text, "--threads takes", "1,2")


def _numbers(text: str, takes: str, example: str) -> list[int]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise InvalidRequest(f"{takes} whole numbers with commas between, for example {example}; got {text!r}")
    return [int(part) for part in parts]


def _parse(text: str) -> tuple[str, dict[str, Any]]:
    name, _, rest = text.partition(":")
    params: dict[str, Any] = {}
    for pair in re.split(r",(?=\w+=)", rest) if rest else []:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise InvalidRecipe(f"parameters are written key=value with commas between; got {pair!r} in {text!r}")
        params[key.strip()] = _value(value.strip())
    return name.strip(), params


def _value(text: str) -> Any:
    lowered = text.lower()
    if lowered in ("true", "false"):
        return lowered == "true"
    for cast in (int, float):
        try:
            return cast(text)
        except ValueError:
            continue
    if re.fullmatch(r"\(?\d+(,\d+)*,?\)?", text) and "," in text:
        return tuple(int(part) for part in text.strip("()").split(",") if part)
    return text
