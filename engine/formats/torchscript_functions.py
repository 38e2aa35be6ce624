"""The functions and methods of a TorchScript archive's code: each statement, call and attribute is on the list."""

from __future__ import annotations

import ast
import re

from engine.errors import BadModel
from engine.formats.torchscript_classes import Code, check_type, dotted, shown
from engine.formats.torchscript_text import BUILTINS, OPERATORS, PRIM, TYPES, refuse

_CONSTANT = re.compile(r"c\d{1,9}", re.ASCII)
_FREE_NAMES = {"torch", "ops", "CONSTANTS", "__torch__", "inf", "nan", "infj", "nanj", "self"}
_PLAIN = (
    ast.Constant, ast.Name, ast.Tuple, ast.List, ast.Dict, ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp,
    ast.Subscript, ast.Slice, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context, ast.keyword,
)  # fmt: skip


class FunctionCheck:
    """The check of one function or method; `owner`: the class that `self` is of."""

    def __init__(self, code: Code, owner: str | None) -> None:
        self.code, self.owner = code, owner
        self.types: dict[str, str | None] = {}  # local name -> type as text; None: not known
        self.callable: set[str] = set()  # local names of functions and classes of this archive

    def check(self, node: ast.FunctionDef) -> None:
        """Raises BadModel with the first thing that is not on the list."""
        args = node.args
        if node.decorator_list or args.vararg or args.kwarg or args.kwonlyargs or args.posonlyargs:
            raise refuse(f"the function {node.name[:60]!r} of an unknown form")
        for each in args.args:
            self.types[each.arg] = check_type(each.annotation) if each.annotation else None
        if self.owner and args.args:
            self.types[args.args[0].arg] = self.owner
        for default in args.defaults:
            self._expression(default)
        if node.returns is not None:
            check_type(node.returns)
        self._body(node.body)

    def _body(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            self._assign(node)
        elif isinstance(node, ast.Return):
            if node.value is not None:
                self._expression(node.value)
        elif isinstance(node, ast.Expr):
            self._expression(node.value)
        elif isinstance(node, ast.If):
            self._expression(node.test)
            self._body(node.body)
            self._body(node.orelse)
        elif isinstance(node, ast.For) and isinstance(node.target, ast.Name) and not node.orelse:
            self._expression(node.iter)
            self.types[node.target.id] = None
            self.callable.discard(node.target.id)
            self._body(node.body)
        elif isinstance(node, ast.While):
            raise refuse("a while loop, which may never end")
        elif not isinstance(node, ast.Pass):
            raise refuse(f"code with {shown(node)}")

    def _assign(self, node: ast.Assign | ast.AnnAssign) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        value = node.value
        if value is None:
            raise refuse(f"code with {shown(node)}")
        self._expression(value)
        if isinstance(node, ast.AnnAssign):
            check_type(node.annotation)
        for target in targets:
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            for each in names:
                if isinstance(each, ast.Name):
                    self._bind(each.id, value if len(names) == 1 else None)
                elif isinstance(each, ast.Attribute) and self._attribute_type(each) is not None:
                    continue  # self.counter = …, a declared attribute
                else:
                    raise refuse(f"code that sets {shown(each)}")

    def _bind(self, name: str, value: ast.expr | None) -> None:
        if name in _FREE_NAMES or name in BUILTINS:
            raise refuse(f"code that gives {name[:60]!r} another meaning")
        self.callable.discard(name)
        self.types[name] = self._type_of(value) if value is not None else None
        if value is not None and self._is_ours(value):
            self.callable.add(name)

    # ------------------------------------------------------------ expressions
    def _is_ours(self, node: ast.AST) -> bool:
        """A function or class of this archive by its full name."""
        name = dotted(node)
        return name in self.code.functions or name in self.code.classes

    def _type_of(self, node: ast.AST) -> str | None:
        """The class of a value where the text tells it; None otherwise."""
        if isinstance(node, ast.Name):
            return self.types.get(node.id)
        if isinstance(node, ast.Attribute):
            return self._attribute_type(node)
        if isinstance(node, ast.Call) and dotted(node.func) == "getattr" and len(node.args) == 2:
            owner, key = self._type_of(node.args[0]), node.args[1]
            declared = self.code.classes.get(owner or "")
            return declared.types.get(str(key.value)) if declared and isinstance(key, ast.Constant) else None
        return None

    def _attribute_type(self, node: ast.Attribute) -> str | None:
        owner = self.code.classes.get(self._type_of(node.value) or "")
        return owner.types.get(node.attr) if owner else None

    def _expression(self, node: ast.AST) -> None:
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Name):
            if node.id not in self.types and node.id not in ("inf", "nan") and node.id not in TYPES:
                raise refuse(f"the unknown name {node.id[:60]!r}")
            return None
        if not isinstance(node, _PLAIN):
            raise refuse(f"code with {shown(node)}")
        for inner in ast.iter_child_nodes(node):
            self._expression(inner)
        return None

    def _attribute(self, node: ast.Attribute) -> None:
        constant = dotted(node.value) == "CONSTANTS" and _CONSTANT.fullmatch(node.attr)
        if not constant and not self._is_ours(node) and self._attribute_type(node) is None:
            raise refuse(f"the attribute {shown(node)}, which is not on the list")

    def _call(self, node: ast.Call) -> None:
        name = dotted(node.func) or ""
        if name in ("annotate", "unchecked_cast", "uninitialized", "isinstance") and node.args:
            typed = node.args[-1] if name == "isinstance" else node.args[0]
            check_type(typed)
            values = [each for each in node.args if each is not typed]
        else:
            values = list(node.args)
            if not self._may_call(node.func, name):
                raise refuse(f"the call {(name or shown(node.func))[:80]!r}, which is not on the list")
        if name == "getattr" and self._type_of(node) is None:
            raise refuse(f"the attribute {shown(node)}, which is not on the list")
        if name == "torch.device":
            _check_device(node)
        for value in values:
            self._expression(value)
        for keyword in node.keywords:
            self._expression(keyword.value)

    def _may_call(self, node: ast.expr, name: str) -> bool:
        space, _, last = name.rpartition(".")
        if space in ("torch", "ops.aten"):
            return last in OPERATORS
        if space == "ops.prim":
            return last in PRIM
        if isinstance(node, ast.Name):
            return name in BUILTINS or name in self.callable
        if self._is_ours(node):
            return True
        owner = self.code.classes.get(self._type_of(node.value) or "") if isinstance(node, ast.Attribute) else None
        return owner is not None and isinstance(node, ast.Attribute) and node.attr in owner.methods


def _check_device(node: ast.Call) -> None:
    device = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
    if device != "cpu":
        shown = str(device)[:20] if isinstance(device, str) else "a device that it works out"
        raise BadModel(
            f"the graph itself asks for {shown}, which loading on the CPU cannot change; trace or script it again "
            "on the CPU (model.cpu())"
        )
