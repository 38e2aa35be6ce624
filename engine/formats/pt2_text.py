"""The texts of a `.pt2` that torch evaluates when it loads or runs the program: only a small grammar passes.

Symbolic sizes go through sympify (that is, eval), guards are exec'ed by `.module()`, tree specs name classes that are
imported, and every name is pasted into generated Python source. Seen in torch 2.13. Nothing here evaluates anything.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from typing import Any

from engine.errors import BadModel

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,255}|_[A-Za-z0-9][A-Za-z0-9_]{0,254}")
DOTTED = re.compile(r"(?!.*__)[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*")
MAX_TEXT = 2_000
MAX_JSON = 64 << 20
_FUNCTION_NAMES = """
    Add Mul Pow Max Min Mod PythonMod FloorDiv CeilDiv CleanDiv ModularIndexing Eq Ne Lt Le Gt Ge StrictGreaterThan
    LessThan GreaterThan StrictLessThan
"""
_FUNCTIONS = frozenset(re.findall(r"\w+", _FUNCTION_NAMES))
_SYMBOL = re.compile(r"[usz]\d{1,9}")
_ASSUMPTIONS = frozenset({"positive", "integer", "nonnegative", "real"})
_SMALL_POWER = re.compile(r"(Integer\()?-?[0-4]\)?")
# torch gives the text to sympify, whose tokens are not quite Python's: only these may occur at all
_TOKENS = re.compile(r"(?:[-+*/(), ]|\d+|'[usz]\d+'|=True\b|\b[A-Za-z_]+\b)*")
_COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
_CONTAINERS = frozenset({None, "builtins.tuple", "builtins.list", "builtins.dict"})


def refuse(what: str) -> BadModel:
    """The error of everything the allow-list does not know."""
    shown = "".join(character if character.isprintable() else "?" for character in what)
    return BadModel(f"refused: the .pt2 holds {shown}; save the model again with torch.export.save")


def strict_json(data: bytes, what: str) -> Any:
    """JSON without repeated keys, NaN or great depth. Raises BadModel."""
    if len(data) > MAX_JSON:
        raise refuse(f"{what} of {len(data):,} bytes, allowed are {MAX_JSON:,}")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) != len(pairs):
            raise refuse(f"{what} that names a key twice")
        return dict(pairs)

    def constant(text: str) -> None:
        raise refuse(f"{what} with the number {text}")

    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=unique, parse_constant=constant)
    except (ValueError, RecursionError) as error:
        raise refuse(f"{what} that is no JSON ({str(error)[:100]})") from error


def parse(text: Any, what: str) -> ast.expr:
    """The syntax tree of a short ASCII expression. Raises BadModel."""
    if type(text) is not str or len(text) > MAX_TEXT or not text.isascii() or text.count("(") > 60:
        raise refuse(f"{what} that is too long or odd: {str(text)[:60]!r}")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise refuse(f"{what} that is no expression: {text[:60]!r}") from error


def _is_int(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value < 1 << 62


def _is_symbol(node: ast.Call) -> bool:
    """Symbol('s0', positive=True, integer=True)."""
    assumed = all(
        keyword.arg in _ASSUMPTIONS and isinstance(keyword.value, ast.Constant) and keyword.value.value is True
        for keyword in node.keywords
    )
    name = node.args[0] if len(node.args) == 1 else None
    return assumed and isinstance(name, ast.Constant) and bool(_SYMBOL.fullmatch(str(name.value)))


def _is_size(node: ast.AST) -> bool:
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub) and _is_size(node.operand)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return _is_symbol(node) if node.func.id == "Symbol" else not node.keywords and _is_function(node.func.id, node)
    return _is_int(node) or (isinstance(node, ast.Name) and node.id in ("oo", "int_oo"))


def _is_function(name: str, node: ast.Call) -> bool:
    if name == "Integer":
        return len(node.args) == 1 and _is_int(getattr(node.args[0], "operand", node.args[0]))
    if name == "Pow":
        exponent = ast.unparse(node.args[1]) if len(node.args) == 2 else ""
        return bool(_SMALL_POWER.fullmatch(exponent)) and _is_size(node.args[0])
    return name in _FUNCTIONS and all(map(_is_size, node.args))


def check_size(text: Any) -> None:
    """A symbolic size as torch prints it: symbols, integers and listed functions of those. Raises BadModel."""
    if not _is_size(parse(text, "a symbolic size")) or not _TOKENS.fullmatch(text):
        raise refuse(f"a symbolic size that is not allowed: {text[:60]!r}")


def readable_size(text: str) -> str:
    """'s0' for Symbol('s0', positive=True); other checked sizes with their symbols and integers plain."""

    class Plain(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.AST:
            if isinstance(node.func, ast.Name) and node.func.id in ("Symbol", "Integer"):
                value = node.args[0]
                named = isinstance(value, ast.Constant) and isinstance(value.value, str)
                return ast.Name(id=value.value) if named else value  # type: ignore[attr-defined]
            self.generic_visit(node)
            return node

    return ast.unparse(Plain().visit(ast.parse(text, mode="eval")))


def _is_measured(node: ast.Subscript) -> bool:
    """L['ids'].size()[1], also L['x'][0].size()[1]."""
    call = node.value
    if not isinstance(call, ast.Call) or call.args or call.keywords or not isinstance(call.func, ast.Attribute):
        return False
    base = call.func.value
    while isinstance(base, ast.Subscript) and _is_int(base.slice):
        base = base.value
    if call.func.attr != "size" or not isinstance(base, ast.Subscript) or not isinstance(base.value, ast.Name):
        return False
    named = isinstance(base.slice, ast.Constant) and bool(IDENTIFIER.fullmatch(str(base.slice.value)))
    return _is_int(node.slice) and base.value.id == "L" and named


_GUARD_NODES: tuple[tuple[type[ast.AST], Callable[[Any], list[ast.AST] | None]], ...] = (
    (ast.Compare, lambda n: [n.left, *n.comparators] if all(isinstance(o, _COMPARISONS) for o in n.ops) else None),
    (ast.BoolOp, lambda n: list(n.values)),
    (ast.UnaryOp, lambda n: [n.operand] if isinstance(n.op, ast.USub | ast.Not) else None),
    (ast.BinOp, lambda n: [n.left, n.right] if isinstance(n.op, _ARITHMETIC) else None),
    (ast.Constant, lambda n: [] if _is_int(n) else None),
    (ast.Subscript, lambda n: [] if _is_measured(n) else None),
)


def _is_guard(node: ast.AST) -> bool:
    for kind, parts in _GUARD_NODES:
        if isinstance(node, kind):
            inner = parts(node)
            return inner is not None and all(map(_is_guard, inner))
    return False


def check_guard(text: Any) -> None:
    """A guard of the inputs: comparisons and integer arithmetic of constants and sizes. Raises BadModel."""
    if not _is_guard(parse(text, "a guard")):
        raise refuse(f"a guard that is not allowed: {str(text)[:60]!r}")


def check_tree(text: Any) -> None:
    """A tree spec of tuples, lists and dicts alone: any other type names a class, which would be imported."""

    def check(node: Any, depth: int = 0) -> None:
        plain = type(node) is dict and set(node) == {"type", "context", "children_spec"}
        if depth > 20 or not plain or type(node["children_spec"]) is not list or not _known(node["type"]):
            raise refuse("a tree spec that is not allowed")
        context = node["context"]
        keys = strict_json(context.encode(), "a tree spec") if type(context) is str else context
        if keys is not None and not (type(keys) is list and all(map(_named, keys))):
            raise refuse(f"a tree spec with the context {str(context)[:60]!r}")
        for child in node["children_spec"]:
            check(child, depth + 1)

    tree = strict_json(text.encode(), "a tree spec") if type(text) is str else None
    if type(tree) is not list or len(tree) != 2 or tree[0] != 1:
        raise refuse("a tree spec of unknown form")
    check(tree[1])


def _known(kind: Any) -> bool:
    return kind is None or (type(kind) is str and kind in _CONTAINERS)


def _named(key: Any) -> bool:
    return type(key) is str and bool(IDENTIFIER.fullmatch(key))
