"""The pickles of a TorchScript archive, read by a stack machine that makes plain records and calls nothing.

torch writes them itself (protocol 2, some 30 operations and a dozen names). Whatever else occurs is refused.
"""

from __future__ import annotations

import pickletools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from engine.formats.torchscript_text import refuse

STORAGES = {
    "ByteStorage": ("uint8", 1), "CharStorage": ("int8", 1), "ShortStorage": ("int16", 2), "IntStorage": ("int32", 4),
    "LongStorage": ("int64", 8), "HalfStorage": ("float16", 2), "FloatStorage": ("float32", 4),
    "DoubleStorage": ("float64", 8), "BoolStorage": ("bool", 1), "BFloat16Storage": ("bfloat16", 2),
}  # fmt: skip
_LISTS = {f"torch.jit._pickle build_{kind}list" for kind in ("int", "double", "bool", "tensor")}
_TYPE_TAG, _TENSOR = "torch.jit._pickle restore_type_tag", "torch._utils _rebuild_tensor_v2"
_CLASS = re.compile(r"(__torch__(?:\.[A-Za-z_]\w*)*) ([A-Za-z_]\w*)", re.ASCII)
_MARK = object()


@dataclass(frozen=True)
class Storage:
    """A member that holds numbers: its key, the type of an item and how many it claims."""

    key: str
    dtype: str
    item_bytes: int
    n_items: int


@dataclass(frozen=True)
class Tensor:
    """A view of a storage."""

    storage: Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True)
class Global:
    """A name that torch would look up: "module name"."""

    name: str


@dataclass
class Object:
    """An instance of a class of the archive's code."""

    kind: str
    state: dict[str, Any]


def read_pickle(data: bytes, what: str) -> tuple[Any, list[Tensor]]:
    """The value and every tensor in it, carrying out only what is on the list. Raises BadModel."""
    machine = _Machine(what)
    try:
        for operation, argument, _ in pickletools.genops(data):
            step = _STEPS.get(operation.name)
            if step is None:
                raise refuse(f"a {what} with the operation {operation.name}")
            step(machine, argument)
    except (ValueError, IndexError, KeyError, TypeError, AttributeError) as error:
        raise refuse(f"a {what} that cannot be read ({type(error).__name__})") from error
    (value,) = machine.stack
    return value, machine.tensors


class _Machine:
    def __init__(self, what: str) -> None:
        self.what = what
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        self.tensors: list[Tensor] = []

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def since_mark(self) -> list[Any]:
        at = len(self.stack) - 1 - self.stack[::-1].index(_MARK)
        found = self.stack[at + 1 :]
        del self.stack[at:]
        return found

    def take(self, n: int) -> tuple[Any, ...]:
        found = tuple(self.stack[-n:])
        del self.stack[-n:]
        return found

    def look_up(self, name: str) -> None:
        storage = name.removeprefix("torch ") in STORAGES and name.startswith("torch ")
        known = {*_LISTS, _TYPE_TAG, _TENSOR, "collections OrderedDict"}
        if not storage and name not in known and not _CLASS.fullmatch(name):
            raise refuse(f"a {self.what} with the name {name[:80]!r}")
        self.push(Global(name))

    def make(self, _: Any) -> None:
        called, values = self.take(2)
        if not isinstance(called, Global) or not isinstance(values, tuple):
            raise refuse(f"a {self.what} that calls a value")
        if called.name in _LISTS or called.name == _TYPE_TAG:
            return self.push(values[0])
        if called.name == "collections OrderedDict" and not values:
            return self.push({})
        if called.name != _TENSOR:
            raise refuse(f"a {self.what} that calls {called.name[:80]!r}")
        storage, offset, shape, strides = values[:4]
        numbers = [offset, *shape, *strides]
        whole = all(type(number) is int and 0 <= number < 1 << 48 for number in numbers)
        if not isinstance(storage, Storage) or not whole or len(shape) != len(strides) or len(shape) > 16:
            raise refuse(f"a {self.what} with a tensor of unknown form")
        tensor = Tensor(storage, offset, shape, strides)
        self.tensors.append(tensor)
        return self.push(tensor)

    def new(self, _: Any) -> None:
        kind, values = self.take(2)
        found = _CLASS.fullmatch(kind.name)
        if not found or values != ():
            raise refuse(f"a {self.what} that makes {kind.name[:80]!r}")
        self.push(Object(f"{found.group(1)}.{found.group(2)}", {}))

    def build(self, _: Any) -> None:
        (state,) = self.take(1)
        made = self.stack[-1]
        if not isinstance(made, Object) or not isinstance(state, dict) or not all(type(key) is str for key in state):
            raise refuse(f"a {self.what} that sets the state of a value")
        made.state.update(state)

    def persistent(self, _: Any) -> None:
        (values,) = self.take(1)
        word, kind, key, _device, n_items = values
        name = kind.name.removeprefix("torch ")
        if word != "storage" or name not in STORAGES or not re.fullmatch(r"\d{1,9}", key, re.ASCII):
            raise refuse(f"a {self.what} with a storage of unknown form")
        if type(n_items) is not int or not 0 <= n_items < 1 << 48:
            raise refuse(f"a {self.what} with a storage of {str(n_items)[:20]} items")
        self.push(Storage(key, *STORAGES[name], n_items))

    def append(self, values: list[Any]) -> None:
        self.stack[-1].extend(values)

    def set_items(self, values: list[Any]) -> None:
        target = self.stack[-1]
        if type(target) is not dict or len(values) % 2:
            raise refuse(f"a {self.what} with a dictionary of unknown form")
        target.update(zip(values[::2], values[1::2], strict=True))


def _constant(value: Any) -> Callable[[_Machine, Any], None]:
    return lambda machine, _: machine.push(value)


def _remember(machine: _Machine, key: int) -> None:
    machine.memo[key] = machine.stack[-1]


_STEPS: dict[str, Callable[[_Machine, Any], None]] = {
    "PROTO": lambda machine, version: None,
    "STOP": lambda machine, _: None,
    "GLOBAL": _Machine.look_up,
    "REDUCE": _Machine.make,
    "NEWOBJ": _Machine.new,
    "BUILD": _Machine.build,
    "BINPERSID": _Machine.persistent,
    "NONE": _constant(None),
    "NEWTRUE": _constant(True),
    "NEWFALSE": _constant(False),
    "EMPTY_TUPLE": _constant(()),
    "EMPTY_LIST": lambda machine, _: machine.push([]),
    "EMPTY_DICT": lambda machine, _: machine.push({}),
    "MARK": _constant(_MARK),
    "TUPLE": lambda machine, _: machine.push(tuple(machine.since_mark())),
    "TUPLE1": lambda machine, _: machine.push(machine.take(1)),
    "TUPLE2": lambda machine, _: machine.push(machine.take(2)),
    "TUPLE3": lambda machine, _: machine.push(machine.take(3)),
    "APPEND": lambda machine, _: machine.append(list(machine.take(1))),
    "APPENDS": lambda machine, _: machine.append(machine.since_mark()),
    "SETITEM": lambda machine, _: machine.set_items(list(machine.take(2))),
    "SETITEMS": lambda machine, _: machine.set_items(machine.since_mark()),
    "BINPUT": _remember,
    "LONG_BINPUT": _remember,
    "BINGET": lambda machine, key: machine.push(machine.memo[key]),
    "LONG_BINGET": lambda machine, key: machine.push(machine.memo[key]),
} | {
    name: lambda machine, value: machine.push(value)
    for name in ("BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE")
}
