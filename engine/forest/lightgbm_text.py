"""LightGBM text files: our own reader, which refuses what would end the native library, and a writer.

Hand the native library what `write` gives, not an upload: besides the trees the text carries free lines (parameters)
that crash it when they are malformed.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import BadModel
from engine.forest.forest import Forest, Objective
from engine.forest.lightgbm_trees import damaged, numbers, read_tree, whole, write_tree

_HEADER_KEY = re.compile(r"[a-z_]{1,64}")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")
_VERSIONS = ("v2", "v3", "v4")
_ALIASES = {"xentropy": "cross_entropy", "xentlambda": "cross_entropy_lambda", "none": "custom", "null": "custom"}
_POSITIVE = ("binary", "multiclassova")  # objectives that state their sigmoid
_OBJECTIVES = (
    *("regression", "regression_l1", "huber", "fair", "poisson", "quantile", "mape", "gamma", "tweedie"),
    *("binary", "multiclass", "multiclassova", "cross_entropy", "cross_entropy_lambda"),
    *("lambdarank", "rank_xendcg", "custom"),
)
_ROOTS = ("regression", "regression_l1", "fair", "quantile", "mape")
_SECTIONS = ("feature_importances:", "feature importances:", "parameters:", "end of parameters")
_OBJECTIVE_PART = re.compile(r"[a-z_0-9]+(?::-?[0-9][0-9.eE+-]*)?")
# The parameters that survive: what a reader can use. Paths and addresses of the training machine do not.
_WORDS, _INTS, _REAL = r"[a-z_0-9@,]*", r"-?\d{1,9}(?:,\d{1,9})*|", r"-?\d{1,9}(?:\.\d{1,17})?(?:e[+-]?\d{1,2})?"
_PARAMETERS = {
    **dict.fromkeys(("boosting", "objective", "metric"), _WORDS),
    **dict.fromkeys(("num_iterations", "num_leaves", "max_depth", "min_data_in_leaf", "bagging_freq", "seed"), _INTS),
    **dict.fromkeys(("max_bin", "linear_tree", "use_missing", "zero_as_missing", "num_class"), _INTS),
    **dict.fromkeys(("categorical_feature",), _INTS),
    **dict.fromkeys(("learning_rate", "bagging_fraction", "feature_fraction", "lambda_l1", "lambda_l2"), _REAL),
}


def load(path: Path) -> Forest:
    """The forest of a text file. Raises BadModel."""
    try:
        return parse(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise damaged(f"byte {error.start}", "it is not UTF-8 text") from error


def parse(text: str) -> Forest:
    """The forest of LightGBM text. Raises BadModel naming the place for anything the native reader may choke on."""
    text = text.replace("\r\n", "\n")
    if found := _CONTROL.search(text):
        raise damaged(f"character {found.start()}", f"control character {found.group()!r}")
    if not text.startswith("tree\n"):
        raise BadModel(f"this is not a LightGBM text model: it begins with {text[:20]!r}, expected 'tree'")
    start, end = text.find("\nTree="), text.find("\nend of trees\n")
    if start < 0 or end < start:
        raise damaged("trees", "no tree" if start < 0 else "the line 'end of trees' is missing")
    header = _header(text[len("tree\n") : start])
    n_features = whole(header, "max_feature_idx", "header", 0, 1 << 30) + 1
    n_classes = whole(header, "num_class", "header", 1, 1 << 20)
    if whole(header, "num_tree_per_iteration", "header", 1, 1 << 20) != n_classes:
        raise damaged("header", f"num_tree_per_iteration={header['num_tree_per_iteration']} and num_class={n_classes}")
    whole(header, "label_index", "header", -1, (1 << 31) - 1)
    names, infos = (tuple(header.get(key, "").split(" ")) for key in ("feature_names", "feature_infos"))
    for key, values in (("feature_names", names), ("feature_infos", infos)):
        if len(values) != n_features or not all(values):
            raise damaged(f"header, {key}", f"{len(values)} entries, expected {n_features}")
    if len(set(names)) != n_features:
        raise damaged("header, feature_names", "a name occurs twice")
    blocks = _blocks(text[start + 1 : end + 1])
    _check_sizes(header, blocks)
    if len(blocks) % n_classes:
        raise damaged("trees", f"{len(blocks)} trees do not divide into {n_classes} classes")
    parameters, category_lists = _tail(text[end + len("\nend of trees\n") :])
    return Forest(
        trees=tuple(read_tree(_body(block, i), f"Tree={i}", n_features) for i, block in enumerate(blocks)),
        objective=_objective(header.get("objective"), n_classes),
        n_classes=n_classes,
        feature_names=names,
        feature_infos=infos,
        averaged="average_output" in header,
        category_lists=category_lists,
        parameters=parameters,
        header={key: header[key] for key in ("version", "label_index", "monotone_constraints") if key in header},
    )


def write(forest: Forest) -> str:
    """LightGBM text that loads to identical predictions. Feature importances are not kept; `tree_sizes` is right."""
    blocks = [f"Tree={i}\n{write_tree(tree)}\n\n" for i, tree in enumerate(forest.trees)]
    header = {
        "version": forest.header.get("version", "v4"),
        "num_class": str(forest.n_classes),
        "num_tree_per_iteration": str(forest.n_classes),
        "label_index": forest.header.get("label_index", "0"),
        "max_feature_idx": str(forest.n_features - 1),
        "objective": forest.objective.text,
        "feature_names": " ".join(forest.feature_names),
        "feature_infos": " ".join(forest.feature_infos),
        "tree_sizes": " ".join(str(len(block)) for block in blocks),
    }
    if "monotone_constraints" in forest.header:
        header["monotone_constraints"] = forest.header["monotone_constraints"]
    lines = "".join(f"{key}={value}\n" for key, value in header.items() if value)
    flag = "average_output\n" if forest.averaged else ""
    parameters = "".join(f"[{key}: {value}]\n" for key, value in forest.parameters.items())
    return (
        f"tree\n{lines}{flag}\n{''.join(blocks)}end of trees\n\nparameters:\n{parameters}end of parameters\n\n"
        f"pandas_categorical:{json.dumps(forest.category_lists)}\n"
    )


def _header(text: str) -> dict[str, str]:
    header: dict[str, str] = {}
    for line in filter(None, text.split("\n")):
        key, _, value = line.partition("=")
        if not _HEADER_KEY.fullmatch(key) or ("=" in value and key != "feature_names"):
            raise damaged("header", f"unknown line {line[:60]!r}")
        if key in header:
            raise damaged("header", f"{key} occurs twice")
        header[key] = value
    if header.get("version") not in _VERSIONS:
        raise BadModel(
            f"LightGBM text of version {header.get('version')!r}; this Whetstone reads {', '.join(_VERSIONS)}. "
            "Save the model again with a LightGBM between 2.2 and 4."
        )
    n_features = whole(header, "max_feature_idx", "header", 0, 1 << 30) + 1
    if "monotone_constraints" in header:
        signs = numbers(header["monotone_constraints"], int, "header, monotone_constraints")
        if len(signs) != n_features or (np.abs(signs) > 1).any():
            raise damaged("header, monotone_constraints", f"{len(signs)} entries, expected {n_features} of -1, 0 or 1")
    return header


def _blocks(text: str) -> list[str]:
    """The text of each tree from its `Tree=` line up to the next one."""
    marks = [found.start() for found in re.finditer(r"^Tree=", text, re.MULTILINE)]
    return [text[a:b] for a, b in zip(marks, [*marks[1:], len(text)], strict=True)]


def _body(block: str, position: int) -> str:
    first, _, body = block.partition("\n")
    if first != f"Tree={position}":
        raise damaged("trees", f"{first[:40]!r} stands where Tree={position} belongs")
    return body.rstrip("\n")


def _check_sizes(header: dict[str, str], blocks: list[str]) -> None:
    """`tree_sizes` are offsets the native reader jumps to without looking."""
    if "tree_sizes" not in header:
        return
    sizes = numbers(header["tree_sizes"], int, "header, tree_sizes").tolist()
    if len(sizes) != len(blocks):
        raise damaged("header, tree_sizes", f"{len(sizes)} sizes for {len(blocks)} trees")
    for i, (size, block) in enumerate(zip(sizes, blocks, strict=True)):
        last_may_be_longer = i == len(blocks) - 1 and len(block) >= size > len(block.rstrip("\n"))
        if size != len(block) and not last_may_be_longer:
            raise damaged("header, tree_sizes", f"Tree={i} has {len(block)} bytes, the list says {size}")


def _objective(line: str | None, n_classes: int) -> Objective:
    """From 'binary sigmoid:1'; a missing line is a custom objective: the answer is a raw score."""
    parts = (line or "custom").split(" ")
    name = _ALIASES.get(parts[0], parts[0])
    if name not in _OBJECTIVES:
        raise BadModel(f"unknown LightGBM objective {line!r}; known: {', '.join(sorted(_OBJECTIVES))}")
    if not all(_OBJECTIVE_PART.fullmatch(part) for part in parts):
        raise damaged("header, objective", f"{line!r} cannot be read")
    values: dict[str, Any] = dict(part.partition(":")[::2] for part in parts[1:])
    several = name in ("multiclass", "multiclassova")
    if name != "custom" and int(whole(values, "num_class", "objective", 2, 1 << 20) if several else 1) != n_classes:
        raise damaged("header, objective", f"{line!r} does not fit num_class={n_classes}")
    sigmoid = 1.0
    if name in _POSITIVE:
        found = numbers(values.get("sigmoid", ""), float, "objective, sigmoid")
        if len(found) != 1 or not 0 < found[0] < np.inf:
            raise damaged("header, objective", f"sigmoid must be above 0, got {values.get('sigmoid')!r}")
        sigmoid = float(found[0])
    return Objective(name=name, text=line or "", sigmoid=sigmoid, takes_root="sqrt" in values and name in _ROOTS)


def _tail(text: str) -> tuple[dict[str, str], tuple[tuple[Any, ...], ...] | None]:
    """Parameters and category lists. A file cut behind its trees would silently lose its categories."""
    parameters: dict[str, str] = {}
    category_line, section = "", ""
    for line in filter(None, text.split("\n")):
        if line in _SECTIONS:
            section = line
        elif section == "parameters:":
            if not (found := re.fullmatch(r"\[([A-Za-z0-9_]+): (.*)\]", line)):
                raise damaged("parameters", f"unknown line {line[:60]!r}")
            allowed = _PARAMETERS.get(found.group(1))
            if allowed is not None and re.fullmatch(allowed, found.group(2)):
                parameters[found.group(1)] = found.group(2)
        elif line.startswith("pandas_categorical:") and not category_line:
            category_line = line
        elif not section.startswith("feature") or "=" not in line:
            raise damaged("end of the file", f"unknown line {line[:60]!r}")
    if section in ("feature_importances:", "parameters:"):
        raise damaged("end of the file", "the line 'end of parameters' is missing")
    return parameters, _category_lists(category_line)


def _category_lists(line: str) -> tuple[tuple[Any, ...], ...] | None:
    try:
        lists = json.loads(line.partition(":")[2]) if line else None
    except (ValueError, RecursionError) as error:
        raise damaged("pandas_categorical", f"it is not JSON: {line[:60]!r}") from error
    if lists is None:
        return None
    plain = isinstance(lists, list) and all(
        isinstance(values, list) and all(isinstance(v, str | int | float) for v in values) for values in lists
    )
    if not plain:
        raise damaged("pandas_categorical", "it is not a list of category lists")
    return tuple(map(tuple, lists))
