"""The classes of a TorchScript archive's code: attributes with their types, and methods. Parsed, never run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from engine.formats.torchscript_text import TYPES, refuse

_DUNDER = ("__len__", "__contains__", "__getitem__", "__init__")
_CLASS_LISTS = ("__parameters__", "__buffers__", "__annotations__", "__constants__")


@dataclass
class Class:
    """A class of the code: attribute -> type as text, names of the trained tensors, methods."""

    types: dict[str, str] = field(default_factory=dict)
    parameters: tuple[str, ...] = ()
    methods: dict[str, ast.FunctionDef] = field(default_factory=dict)


@dataclass(frozen=True)
class Code:
    """Everything that passed: qualified name -> class or function."""

    classes: dict[str, Class]
    functions: dict[str, ast.FunctionDef]

    def calls(self, operator: str) -> Iterator[ast.Call]:
        """Every call of torch.<operator>."""
        bodies = [*self.functions.values(), *(m for each in self.classes.values() for m in each.methods.values())]
        for body in bodies:
            for node in ast.walk(body):
                if isinstance(node, ast.Call) and dotted(node.func) == f"torch.{operator}":
                    yield node


def shown(node: ast.AST) -> str:
    """The beginning of the text of a node, for a message."""
    try:
        return f"{ast.unparse(node)[:60]!r}"
    except (ValueError, RecursionError):
        return f"a {type(node).__name__}"


def dotted(node: ast.AST) -> str | None:
    """'torch.add' of such a chain of names, else None."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (base := dotted(node.value)) is not None:
        return f"{base}.{node.attr}"
    return None


def read_class(node: ast.ClassDef) -> Class:
    """A class whose head, attributes and lists are on the list; its methods are not checked yet. Raises BadModel."""
    bases = [dotted(base) for base in node.bases]
    if bases not in (["Module"], ["NamedTuple"], []) or node.keywords or node.decorator_list:
        raise refuse(f"the class {node.name[:60]!r} of an unknown kind")
    found = Class()
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef):
            if statement.name.startswith("__") and statement.name not in _DUNDER:
                raise refuse(f"the method {statement.name[:60]!r}, which runs while the file is opened")
            found.methods[statement.name] = statement
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            found.types[statement.target.id] = check_type(statement.annotation)
            if statement.value is not None:
                _constants_only(statement.value)
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            _class_list(found, statement)
        elif not isinstance(statement, ast.Pass):
            raise refuse(f"a class with {shown(statement)}")
    return found


def _class_list(found: Class, statement: ast.Assign) -> None:
    """__parameters__ = ["weight", ] or __annotations__["0"] = Type."""
    target = statement.targets[0]
    if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
        if dotted(target.value) == "__annotations__":
            found.types[str(target.slice.value)] = check_type(statement.value)
            return
    elif isinstance(target, ast.Name) and target.id in _CLASS_LISTS:
        _constants_only(statement.value)
        if target.id == "__parameters__":
            found.parameters = tuple(ast.literal_eval(statement.value))
        return
    raise refuse(f"a class with {shown(statement)}")


def _constants_only(node: ast.expr) -> None:
    for inner in ast.walk(node):
        if not isinstance(inner, ast.Constant | ast.List | ast.Tuple | ast.UnaryOp | ast.USub | ast.Load) and dotted(
            inner
        ) not in ("inf", "nan"):
            raise refuse(f"the class attribute {shown(node)}")


def check_type(node: ast.AST) -> str:
    """A type as text: known words, brackets around them, classes of this archive."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            if inner.id not in TYPES and inner.id != "__torch__":
                raise refuse(f"the type {inner.id[:60]!r}")
        elif not isinstance(inner, ast.Attribute | ast.Subscript | ast.Tuple | ast.List | ast.Constant | ast.Load):
            raise refuse(f"the type {shown(node)}")
    return ast.unparse(node)
