"""The grammar of texts that torch evaluates: what torch prints passes, everything else does not."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import BadModel
from engine.formats.pt2_text import check_guard, check_size, check_tree, readable_size, strict_json
from engine.formats.pt2_text import parse as parse_text

SYMBOL = "Symbol('s0', positive=True, integer=True)"


@pytest.mark.parametrize(
    ("text", "readable"),
    [
        (SYMBOL, "s0"),
        ("Symbol('u12', integer=True)", "u12"),
        (f"Mul(Integer(2), {SYMBOL})", "Mul(2, s0)"),
        (f"Add(Integer(-1), {SYMBOL})", "Add(-1, s0)"),
        (f"FloorDiv({SYMBOL}, Integer(2))", "FloorDiv(s0, 2)"),
        (f"Pow({SYMBOL}, Integer(2))", "Pow(s0, 2)"),
        ("8", "8"),
        ("int_oo", "int_oo"),
    ],
)
def test_sizes_that_torch_prints(text, readable):
    check_size(text)
    assert readable_size(text) == readable


@pytest.mark.parametrize(
    "text",
    [
        "open('x', 'w')", "__import__('os')", "Symbol('os')", "Symbol('s0', evil=True)", "Symbol('s0', positive=1)",
        "Symbol(s0)", "(lambda: 1)()", "[1]", "s0", "s0.x", "Integer('1')", "Pow(Integer(9), Integer(999999999))",
        f"Pow({SYMBOL}, {SYMBOL})", "Pow(2)", "Add(1, x=2)", "'a'", "1.5", "1 if 1 else 2", "Add(*[1])", "Integer(1)\n",
        "9" * 100, "Add(" * 70 + "1" + ")" * 70, "x" * 3000, "１", "", "Max(1)!", "2**9",
    ],
)  # fmt: skip
def test_sizes_that_do_more(text):
    with pytest.raises(BadModel, match="symbolic size"):
        check_size(text)


@pytest.mark.parametrize(
    "text",
    [
        "L['x'].size()[0] >= 2", "L['x'].size()[0] == L['y'].size()[1]", "L['x'][0].size()[1] <= 12",
        "2*L['x'].size()[0] - 1 != 7 and not L['x'].size()[1] % 2 == 0", "0 <= -L['x'].size()[0] // 2",
    ],
)  # fmt: skip
def test_guards_that_torch_writes(text):
    check_guard(text)


@pytest.mark.parametrize(
    "text",
    [
        "exit()", "L['x'].size()[0] >= open('x')", "L['x'].shape[0] > 1", "L.size()[0]", "L['x'].size(1)[0] > 2",
        "L['x'].size()[L]", "M['x'].size()[0] > 1", "L['x y'].size()[0] > 1", "(x := 1)", "'a' == 'b'", "2 ** 9 > 1",
        "L['x'].size()[0] in [1]", "L['x'].size()[0] is not None", "[i for i in L]", "1.0 < 2", "", "a;b",
    ],
)  # fmt: skip
def test_guards_that_do_more(text):
    with pytest.raises(BadModel, match="guard"):
        check_guard(text)


def test_tree_specs_that_torch_writes():
    for value in ((1, 2), [1, (2, 3)], {"a": 1, "b": [2]}, ((1,), {}), None):
        _, spec = torch.utils._pytree.tree_flatten(value)
        check_tree(torch.utils._pytree.treespec_dumps(spec))


@pytest.mark.parametrize(
    "spec",
    [
        {"type": "collections.OrderedDict", "context": "[]", "children_spec": []},
        {"type": "builtins.list", "context": '{"__enum__": true, "fqn": "this:c", "name": "x"}', "children_spec": []},
        {"type": "builtins.dict", "context": '["a b"]', "children_spec": []},
        {"type": ["builtins.list"], "context": None, "children_spec": []},
        {"type": None, "context": None, "children_spec": [], "more": 1},
        {"type": None, "context": None, "children_spec": {}},
        3,
    ],
)
def test_tree_specs_that_name_anything_else(spec):
    import json

    with pytest.raises(BadModel):
        check_tree(json.dumps([1, spec]))


@pytest.mark.parametrize("text", [None, 3, "[]", "[2, {}]", "no json", "[" * 5000])
def test_tree_specs_of_another_form(text):
    with pytest.raises(BadModel):
        check_tree(text)


@pytest.mark.parametrize("data", [b'{"a":1,"a":2}', b"NaN", b"[Infinity]", b"\xff", b"{", b"[" * 100_000])
def test_json_that_is_not_plain(data):
    with pytest.raises(BadModel):
        strict_json(data, "it")


@given(st.text(max_size=60))
def test_any_text_is_refused_or_a_size(text):
    try:
        check_size(text)
    except BadModel:
        return
    readable_size(text)
    parse_text(text, "it")
