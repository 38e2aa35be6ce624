"""From the arrays of a file to what the kernels read; refuses a file whose positions point outside."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import kernels
from .vectors import LANES

LINKS = {
    "identity": kernels.IDENTITY,
    "sigmoid": kernels.SIGMOID,
    "softmax": kernels.SOFTMAX,
    "exp": kernels.EXP,
    "signed square": kernels.SIGNED_SQUARE,
    "log1p exp": kernels.LOG1P_EXP,
}
_SPARE = np.zeros(256)  # behind the leaves: what a damaged program could reach


def _require(holds: Any, what: str) -> None:
    if not np.all(holds):
        raise ValueError(f"the file is damaged: {what}")


def _rising(values: np.ndarray, last: int) -> bool:
    return bool(len(values) and values[0] == 0 and values[-1] == last and (np.diff(values) >= 0).all())


def leaf_values(arrays: dict[str, np.ndarray], scale: float) -> np.ndarray:
    """Leaves that are kept as whole numbers, as float64."""
    middles = np.repeat(arrays["leaf_middle"], np.diff(arrays["tree_leaf"]))
    _require(len(middles) == len(arrays["leaf_step"]), "leaf_step")
    return np.asarray((middles + arrays["leaf_step"]) * np.float64(scale))


def check(arrays: dict[str, np.ndarray], about: dict[str, Any]) -> None:
    """Raise ValueError unless every position that a kernel will follow stays inside its table."""
    features, thresholds, starts = arrays["features"], arrays["thresholds"], arrays["starts"]
    n_columns, size = len(arrays["nans"]), thresholds.shape[1]
    _require((features >= 0) & (features < about["n_features"]), "features")
    _require(len(thresholds) == len(features) and size >= 2 and size & (size - 1) == 0, "thresholds")
    _require(thresholds[:, :-1] <= thresholds[:, 1:], "thresholds")
    _require(len(starts) == len(features) + 1 and _rising(starts, n_columns), "starts")
    _require(len(arrays["zeros"]) == n_columns and arrays["zeros"].dtype == arrays["nans"].dtype, "zeros")
    _require(arrays["nans"].dtype == (np.uint8 if size <= 256 else np.uint16), "nans")
    _require(len(arrays["nans"]) == 0 or max(arrays["nans"].max(), arrays["zeros"].max()) < size, "nans")
    sizes = np.diff(arrays["tree_leaf"])
    _require(_rising(arrays["tree_leaf"], len(arrays["leaf"])) and sizes.min() >= 1, "tree_leaf")
    _require(about["n_classes"] >= 1 and len(sizes) % about["n_classes"] == 0, "n_classes")
    n_sets = _check_codes(arrays["codes"], arrays["members"], about["n_features"])
    if len(arrays["nodes"]):
        _check_nodes(arrays, about, n_columns, n_sets)
    if about["row_kernel"] == "quickscorer":
        _check_quickscorer(arrays, about, size)
    else:
        _check_levels(arrays, n_columns + n_sets)


def _check_codes(codes: np.ndarray, members: np.ndarray, n_features: int) -> int:
    """How many sets there are, the spare bits of a word included."""
    n_sets = n_words = 0
    for feature, n_codes, width, at, first in codes.tolist():
        _require(0 <= feature < n_features and n_codes >= 0 and width >= 0, "codes")
        _require(at == n_words and first == n_sets, "codes")
        n_sets += 64 * width
        n_words += (n_codes + 1) * width
    _require(len(members) == n_words, "members")
    return n_sets


def _check_nodes(arrays: dict[str, np.ndarray], about: dict[str, Any], n_columns: int, n_sets: int) -> None:
    nodes, tree_node, root = arrays["nodes"].astype(np.int64), arrays["tree_node"], about["leaves"]
    _require(_rising(tree_node, len(nodes)) and len(tree_node) == len(arrays["tree_leaf"]), "tree_node")
    _require(np.diff(arrays["tree_leaf"]).max() <= root <= 256, "leaves")
    is_set = nodes[:, 0] == kernels.SET_COLUMN
    _require(np.where(is_set, nodes[:, 1] < n_sets, nodes[:, 0] < max(1, n_columns)), "nodes")
    _require((nodes[:, 2:].max(axis=1) < about["slots"]) & (nodes[:, 4] >= root), "nodes")
    _require(root + kernels.TREES <= about["slots"], "slots")


def _check_quickscorer(arrays: dict[str, np.ndarray], about: dict[str, Any], size: int) -> None:
    n_entries, n_trees = len(arrays["row_tree"]), len(arrays["tree_leaf"]) - 1
    n_columns = len(arrays["nans"])
    rank = arrays["row_rank"]
    _require(len(arrays["row_masks"]) == n_entries + 1, "row_masks")
    _require(n_entries == 0 or arrays["row_tree"].max() < n_trees, "row_tree")
    _require(len(rank) == len(arrays["row_from"]) == 2 * n_columns, "row_rank")
    _require((rank + size <= len(arrays["row_upto"])) & (arrays["row_from"] <= n_entries), "row_rank")
    _require(arrays["row_upto"] <= n_entries, "row_upto")
    _require(arrays["row_leaf"].shape == (n_trees, 8 * arrays["row_masks"].itemsize), "row_leaf")
    sizes = np.diff(arrays["tree_leaf"])
    _require(arrays["row_leaf"] < sizes[:, None], "row_leaf")
    n_sets = _check_codes(arrays["row_codes"], arrays["row_members"], about["n_features"])
    _require(about["first_set_entry"] + n_sets <= n_entries, "row_codes")


def _check_levels(arrays: dict[str, np.ndarray], n_columns: int) -> None:
    nodes, n_trees = arrays["row_nodes"], len(arrays["tree_leaf"]) - 1
    low = np.uint64(0xFFFF)
    _require((nodes >> np.uint64(32)) + np.uint64(1) < len(nodes), "row_nodes")
    _require((nodes & low) < max(1, n_columns), "row_nodes")
    _require((len(arrays["row_leaf"]) == len(nodes)) and arrays["row_leaf"].max() < len(arrays["leaf"]), "row_leaf")
    _require(sorted(arrays["row_order"].tolist()) == list(range(n_trees)), "row_order")
    _require(len(arrays["row_root"]) == n_trees and arrays["row_root"].max() < len(nodes), "row_root")
    _require(arrays["row_level"] <= n_trees, "row_level")


def _scale(about: dict[str, Any], raw: bool) -> np.ndarray:
    return np.array([about["zero_width"], about["slope"], 1.0 if raw else about["rounds"]])


def _link(about: dict[str, Any], raw: bool) -> int:
    return kernels.IDENTITY if raw else LINKS[about["link"]]


def block_tables(arrays: dict[str, np.ndarray], about: dict[str, Any], raw: bool) -> tuple[Any, ...]:
    """Arguments of the block kernel between the rows and its room."""
    n_classes = about["n_classes"]
    n_rounds = (len(arrays["tree_leaf"]) - 1) // n_classes
    shape = np.array([arrays["thresholds"].shape[1], about["leaves"], n_classes, n_rounds, _link(about, raw)])
    names = ("starts", "nans", "zeros", "codes", "members", "nodes", "tree_node")
    tree_leaf, leaf = by_class(arrays["tree_leaf"], arrays["leaf"], n_classes)
    return (
        shape,
        _scale(about, raw),
        arrays["features"],
        arrays["thresholds"].reshape(-1),
        *(arrays[name] for name in names),
        tree_leaf,
        np.concatenate([leaf, _SPARE]),
    )


def block_room(arrays: dict[str, np.ndarray], about: dict[str, Any], width: int) -> tuple[np.ndarray, ...]:
    """What one thread's calls of the block kernel write to.

    Columns, slots (as bytes and as words), bins of one feature, sums, masks of the sets and the words they are made
    from. The first slots hold the numbers of the leaves.
    """
    bins, codes, n_groups = arrays["nans"].dtype, arrays["codes"], width // LANES
    columns = _aligned(max(1, len(arrays["nans"])) * width * bins.itemsize).view(bins)
    slots = _aligned(about["slots"] * width)
    slots[: about["leaves"] * width] = np.repeat(np.arange(about["leaves"], dtype=np.uint8), width)
    masks = np.empty(int(64 * codes[:, 2].sum()) * n_groups, np.uint64)
    words = np.empty(int(codes[:, 2].max(initial=0)) * 64, np.uint64)
    return columns, slots, slots.view(np.uint64), np.zeros(width, bins), np.empty(width), masks, words


def _aligned(size: int) -> np.ndarray:
    """(size,) uint8 zeros that begin at a multiple of 64 bytes."""
    buffer = np.zeros(size + 64, np.uint8)
    start = -buffer.ctypes.data % 64
    return buffer[start : start + size]


def by_class(tree_leaf: np.ndarray, leaf: np.ndarray, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """First leaf of each tree, and the leaves, class by class."""
    if n_classes == 1:
        return tree_leaf, leaf
    order = np.arange(len(tree_leaf) - 1).reshape(-1, n_classes).T.reshape(-1)
    parts = [leaf[tree_leaf[t] : tree_leaf[t + 1]] for t in order.tolist()]
    return np.cumsum([0, *map(len, parts)]).astype(np.int32), np.concatenate(parts)


def row_tables(arrays: dict[str, np.ndarray], about: dict[str, Any], raw: bool) -> tuple[Any, ...]:
    """Arguments of the kernel for few rows: few and long arrays, because each costs time in every call."""
    few = about["row_kernel"]
    codes = arrays["row_codes" if few == "quickscorer" else "codes"]
    head = np.zeros(18, np.int64)
    head[kernels.N_FEATURES], head[kernels.TABLE] = arrays["thresholds"].shape
    head[kernels.N_COLUMNS], head[kernels.N_TREES] = len(arrays["nans"]), len(arrays["tree_leaf"]) - 1
    head[kernels.N_CLASSES], head[kernels.LINK], head[kernels.N_CODES] = (
        about["n_classes"],
        _link(about, raw),
        len(codes),
    )
    parts = {
        kernels.FEATURE_AT: "features",
        kernels.START_AT: "starts",
        kernels.NAN_AT: "nans",
        kernels.ZERO_AT: "zeros",
    }
    if few == "quickscorer":
        parts |= {kernels.FROM_AT: "row_from", kernels.RANK_AT: "row_rank", kernels.UPTO_AT: "row_upto"}
        parts |= {kernels.TREE_AT: "row_tree"}
        leaf = arrays["leaf"][arrays["tree_leaf"][:-1, None] + arrays["row_leaf"]]
        head[kernels.STRIDE] = leaf.shape[1]
        codes = codes + np.array([0, 0, 0, 0, about["first_set_entry"]])
        words, members = arrays["row_masks"], arrays["row_members"]
    else:
        parts |= {kernels.ROOT_AT: "row_root", kernels.LEVEL_AT: "row_level", kernels.ORDER_AT: "row_order"}
        parts |= {kernels.LEAF_AT: "row_leaf"}
        leaf = arrays["leaf"]
        head[kernels.N_LEVELS] = len(arrays["row_level"])
        words, members = arrays["row_nodes"], arrays["members"]
    blocks = [codes.reshape(-1), *(arrays[name] for name in parts.values())]
    places = np.cumsum([0, *(len(block) for block in blocks)])
    for position, place in zip([kernels.CODE_AT, *parts], places, strict=False):
        head[position] = place
    ints = np.concatenate([np.asarray(block).astype(np.uint32) for block in blocks])
    reals = np.concatenate([_scale(about, raw), arrays["thresholds"].reshape(-1), leaf.reshape(-1), _SPARE])
    return head, reals, ints, words, members


def row_room(arrays: dict[str, np.ndarray], about: dict[str, Any]) -> tuple[np.ndarray, ...]:
    """What one thread's calls of the kernel for few rows write to."""
    n_columns, n_trees = len(arrays["nans"]), len(arrays["tree_leaf"]) - 1
    if about["row_kernel"] == "quickscorer":
        return np.empty(n_columns, np.int64), np.empty(n_trees, arrays["row_masks"].dtype)
    n_bins = max(1, n_columns + int(64 * arrays["codes"][:, 2].sum()))
    return np.zeros(n_bins, np.uint16), np.empty(n_trees, np.uint32), np.empty(n_trees)
