"""The code of a TorchScript archive: each statement, call and attribute is on the list, or the file is refused.

The text is parsed and never run here. torch's own printer writes operators as ``torch.add(x, y)``, functions as
``__torch__.torch.nn.functional.relu(x)`` and methods as ``(layer).forward(x)``. A method called on a tensor would be an
operator again (``x.save("file")``), so a method passes only where its owner is a class of this archive that has it.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from engine.formats.torchscript_classes import Code, read_class, shown
from engine.formats.torchscript_functions import FunctionCheck
from engine.formats.torchscript_text import refuse

MAX_CODE = 16 << 20


def read_code(sources: Mapping[str, str]) -> Code:
    """Check every file. sources: qualified name of the module ("__torch__.net") -> text. Raises BadModel."""
    code = Code({}, {})
    for module, text in sources.items():
        for statement in _parse(text):
            if isinstance(statement, ast.ClassDef):
                code.classes[f"{module}.{statement.name}"] = read_class(statement)
            elif isinstance(statement, ast.FunctionDef):
                code.functions[f"{module}.{statement.name}"] = statement
            else:
                raise refuse(f"code with {shown(statement)} outside a class")
    for name, found in code.classes.items():
        for method in found.methods.values():
            FunctionCheck(code, name).check(method)
    for function in code.functions.values():
        FunctionCheck(code, None).check(function)
    return code


def _parse(text: str) -> list[ast.stmt]:
    try:
        return ast.parse(text).body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise refuse("code that cannot be read (saved by an old torch?)") from error
