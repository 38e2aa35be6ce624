"""Boosted or averaged trees as arrays: what LightGBM text, ONNX and every tree kernel have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

ZERO = 1.0000000180025095e-35  # LightGBM reads |x| <= ZERO as 0 (kZeroThreshold, a float32 1e-35 held in a double)
MISSING_NONE, MISSING_ZERO, MISSING_NAN = 0, 1, 2

Link = Literal["identity", "sigmoid", "softmax", "sigmoid per class", "exp", "signed square", "log1p exp", "unknown"]

_LINKS: dict[str, Link] = {
    "binary": "sigmoid",
    "cross_entropy": "sigmoid",
    "cross_entropy_lambda": "log1p exp",
    "multiclass": "softmax",
    "multiclassova": "sigmoid per class",
    "poisson": "exp",
    "gamma": "exp",
    "tweedie": "exp",
    "custom": "unknown",
}


@dataclass(frozen=True)
class Objective:
    """What the trees were trained for, and so how a raw score becomes an answer.

    name: as LightGBM spells it, "custom" when the file does not say; text: the whole line, parameters included.
    """

    name: str
    text: str
    sigmoid: float = 1.0
    takes_root: bool = False

    @property
    def link(self) -> Link:
        """How a raw score becomes the answer of `Booster.predict`."""
        if self.takes_root:
            return "signed square"
        return _LINKS.get(self.name, "identity")


PLAIN = Objective(name="regression", text="regression")  # the answer is the raw score


@dataclass(frozen=True, eq=False)
class Tree:
    """One tree. Children: >= 0 is a node of this tree (always behind its parent), < 0 is leaf `~child`.

    feature, left, right: (n_nodes,) int32; threshold: (n_nodes,) float64, the position of the category set in
    categorical nodes; decision: (n_nodes,) uint8 as LightGBM packs it; leaf_value: (n_nodes + 1,) float64;
    set_bounds: (n_sets + 1,) int64 and set_words: uint32, the category bitsets one behind the other.
    """

    feature: np.ndarray
    threshold: np.ndarray
    decision: np.ndarray
    left: np.ndarray
    right: np.ndarray
    leaf_value: np.ndarray
    set_bounds: np.ndarray
    set_words: np.ndarray
    linear: bool = False
    rest: Mapping[str, str] = field(default_factory=dict)  # statistics and linear leaves, kept as text

    @property
    def n_nodes(self) -> int:
        """Inner nodes; leaves are one more."""
        return len(self.feature)

    @property
    def categorical(self) -> np.ndarray:
        """(n_nodes,) bool: the node asks whether the code is in a set."""
        return (self.decision & 1).astype(bool)

    @property
    def default_left(self) -> np.ndarray:
        """(n_nodes,) bool: where a missing value goes."""
        return (self.decision & 2).astype(bool)

    @property
    def missing(self) -> np.ndarray:
        """(n_nodes,) uint8: MISSING_NONE (NaN is read as 0), MISSING_ZERO (0 and NaN are missing) or MISSING_NAN."""
        return (self.decision >> 2) & 3

    def categories(self, node: int) -> np.ndarray:
        """Codes that go left at a categorical node, ascending, int64."""
        position = int(self.threshold[node])
        words = self.set_words[self.set_bounds[position] : self.set_bounds[position + 1]]
        return np.flatnonzero(np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little"))


@dataclass(frozen=True, eq=False)
class Forest:
    """A whole ensemble. Tree i adds to class i modulo `n_classes`; `averaged` divides the sums by the rounds."""

    trees: tuple[Tree, ...]
    objective: Objective
    n_classes: int
    feature_names: tuple[str, ...]
    feature_infos: tuple[str, ...]
    averaged: bool = False
    category_lists: tuple[tuple[Any, ...], ...] | None = None  # pandas_categorical, one list per category column
    parameters: Mapping[str, str] = field(default_factory=dict)
    header: Mapping[str, str] = field(default_factory=dict)  # version, label_index, monotone_constraints

    @property
    def n_features(self) -> int:
        """Columns the model takes."""
        return len(self.feature_names)

    @property
    def n_rounds(self) -> int:
        """Boosting rounds: trees per class."""
        return len(self.trees) // self.n_classes

    @property
    def linear(self) -> bool:
        """True when any leaf holds a linear model."""
        return any(tree.linear for tree in self.trees)

    @property
    def boosting(self) -> str:
        """gbdt, dart, rf or goss as the file says; gbdt or rf where it does not."""
        return self.parameters.get("boosting") or ("rf" if self.averaged else "gbdt")

    def first_rounds(self, n_rounds: int) -> Forest:
        """The forest of the first boosting rounds; round 0 carries the average LightGBM starts from."""
        assert 1 <= n_rounds <= self.n_rounds
        return replace(self, trees=self.trees[: n_rounds * self.n_classes])

    def categories_by_feature(self) -> dict[str, tuple[Any, ...]] | None:
        """Category list per feature name (code = position), or None when the file does not say whose they are."""
        if self.category_lists is None:
            return None
        columns = [int(c) for c in self.parameters.get("categorical_feature", "").split(",") if c]
        if len(columns) != len(self.category_lists):
            columns = [i for i, info in enumerate(self.feature_infos) if ":" in info and not info.startswith("[")]
        if len(columns) != len(self.category_lists) or any(c >= self.n_features for c in columns):
            return None
        return {self.feature_names[c]: values for c, values in zip(columns, self.category_lists, strict=True)}
