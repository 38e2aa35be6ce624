"""The program of a `.pt2`: each field and each text is on the list, or the file is refused. Loads nothing."""

from __future__ import annotations

import re
from typing import Any

from engine.formats.pt2_text import DOTTED, IDENTIFIER, check_guard, check_size, check_tree, refuse, strict_json

SCHEMA = 8  # of torch 2.13
_PLAIN = re.compile(r"[A-Za-z0-9_ ,.>-]{0,64}")  # string arguments of operators: 'tanh', 'bij,bjk->bik'
_OPERATOR = re.compile(
    r"torch\.ops\.aten\.[a-z]\w*\.[A-Za-z]\w*"
    r"|torch\.ops\.aten\._(?:assert_tensor_metadata|assert_scalar|assert_async|to_copy|unsafe_view|softmax|log_softmax"
    r"|native_batch_norm_legit\w*|convolution|scaled_dot_product\w*|adaptive_avg_pool[23]d|embedding_bag\w*"
    r"|weight_norm_interface|cdist_forward|euclidean_dist|trilinear|fused_rms_norm|safe_softmax"
    r"|upsample_\w+|thnn_fused_\w+|local_scalar_dense|prelu_kernel|grouped_mm)\.\w+"
    r"|_operator\.(?:add|sub|mul|floordiv|truediv|mod|eq|ne|lt|le|gt|ge|getitem|neg|pow|and_|or_)"
    r"|math\.(?:trunc|ceil|floor)|torch\.sym_(?:max|min|not|float|int|ite|sum)"
)
# from_file reads and writes files; the others print, hang on to memory or change global state
_DENIED = re.compile(r"aten\.(?:from_file|save|load|print|warn|set_data|record_stream|manual_seed|pin_memory)\w*\.")
_NAME_MAPS = frozenset({"tensor_values", "sym_int_values", "sym_bool_values", "sym_float_values", "range_constraints"})
_EMPTY_ONLY = frozenset({"custom_obj_values", "treespec_namedtuple_fields"})
_DOTTED_KEYS = frozenset({"fqn", "parameter_name", "buffer_name", "tensor_constant_name"})
_NO_NULL = frozenset({"target", "expr_str", "metadata"})
_FIELDS = """
    graph_module graph signature module_call_graph metadata opset_version schema_version verifiers torch_version major
    minor aten guards_code inputs outputs nodes is_single_tensor_return target arg kind name is_hop_single_tensor_return
    input_specs output_specs user_input parameter buffer tensor_constant persistent user_output loss_output in_spec
    out_spec forward_arg_names min_val max_val dtype sizes requires_grad device type index strides storage_offset layout
    expr_str hint as_tensor as_tensors as_none as_int as_ints as_float as_floats as_bool as_bools as_string as_strings
    as_sym_int as_sym_ints as_sym_bool as_sym_float as_name as_expr as_scalar_type as_memory_format as_layout as_device
    as_optional_tensor as_optional_tensors
"""
_KEYS = frozenset(re.findall(r"\w+", _FIELDS)) | _NAME_MAPS | _EMPTY_ONLY | _DOTTED_KEYS


def check_program(data: bytes) -> dict[str, Any]:
    """The program without what is not needed to run it (stack traces, module names). Raises BadModel."""
    program = strict_json(data, "a model JSON")
    if type(program) is not dict or type(program.get("guards_code", [])) is not list:
        raise refuse("a model JSON of unknown form")
    if program.get("verifiers") not in (["TRAINING"], ["ATEN"]):
        raise refuse(f"a program of the dialect {str(program.get('verifiers'))[:60]}, known are TRAINING and ATEN")
    version = program.get("schema_version")
    major = version.get("major") if type(version) is dict else None
    if major != SCHEMA:
        made_with = str(program.get("torch_version"))[:40]
        raise refuse(
            f"a program of schema {str(major)[:20]} (torch {made_with}); this server reads {SCHEMA} (torch 2.13)"
        )
    cleaned: dict[str, Any] = _clean(program)
    return cleaned


def _clean(value: Any, key: str = "", depth: int = 0) -> Any:
    if depth > 40:
        raise refuse("a model JSON that is nested too deeply")
    if value is None or type(value) in (bool, int, float):
        if key in _NO_NULL or (type(value) is int and abs(value) >= 1 << 63):
            raise refuse(f"the value {str(value)[:40]} in {key!r}")
        return value
    if type(value) is str:
        _check_text(key, value)
        return value
    if type(value) is list:
        if key == "guards_code":
            for guard in value:
                check_guard(guard)
            return value
        return [_clean(entry, key, depth + 1) for entry in value]
    return _clean_object(value, key, depth)


def _clean_object(value: dict[str, Any], key: str, depth: int) -> dict[str, Any]:
    if key in _EMPTY_ONLY and value:
        raise refuse(f"{key}, which must be empty")
    if key == "metadata":
        return {}
    if key in ("device", "as_device") and value.get("type") != "cpu":
        raise refuse(f"tensors of the device {str(value.get('type'))[:20]!r}: export it on the CPU (model.cpu())")
    for name in value:
        if name == "constant_input":
            raise refuse("an input that is a plain Python value: export it with tensors alone")
        if not (IDENTIFIER.fullmatch(name) if key in _NAME_MAPS else name in _KEYS):
            raise refuse(f"the unknown field {name[:80]!r} in {key!r}")
    return {name: _clean(entry, name, depth + 1) for name, entry in value.items()}


def _check_text(key: str, text: str) -> None:
    if key == "expr_str":
        return check_size(text)
    if key in ("in_spec", "out_spec"):
        return check_tree(text)
    if key == "target":
        allowed = bool(_OPERATOR.fullmatch(text)) and not _DENIED.search(text + ".") and len(text) < 200
        what = "the operator"
        if text.startswith("torch.ops.higher_order."):
            what = "control flow or torch.no_grad() inside forward (try program.run_decompositions({}) first),"
    elif key in ("as_float", "as_floats"):
        allowed, what = text in ("Infinity", "-Infinity", "NaN"), "the number"
    elif key in ("as_string", "as_strings"):
        allowed, what = bool(_PLAIN.fullmatch(text)), "the string argument"
    elif key == "torch_version":
        allowed, what = bool(re.fullmatch(r"[0-9]+\.[0-9]+[\w.+]{0,40}", text)), "the torch version"
    elif key in _DOTTED_KEYS:
        allowed, what = not text or (bool(DOTTED.fullmatch(text)) and len(text) <= 256), f"the {key}"
    else:  # names are pasted into generated Python source
        allowed, what = bool(IDENTIFIER.fullmatch(text)), f"for {key!r} the name"
    if not allowed:
        raise refuse(f"{what} {text[:80]!r}, which is not on the list")
    return None
