"""Training a forest on another forest's raw scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from engine.forest.forest import Forest, Tree
from engine.forest.lightgbm_text import parse

_MOST_ROWS_PER_LEAF = 20


def distil(
    teacher: Forest,
    rows: np.ndarray,
    scores: np.ndarray,
    *,
    n_rounds: int,
    n_leaves: int,
    learning_rate: float,
    seed: int,
    threads: int,
    tell: Callable[[float, str], None],
) -> Forest:
    """A boosted forest with the teacher's columns, classes and link, by least squares on its raw scores.

    rows: (n, n_features); scores: (n, n_classes). Raw scores carry what a label hides: how sure the teacher is
    (Hinton, Vinyals and Dean 2015; Ba and Caruana 2014, who match scores rather than probabilities).
    """
    import lightgbm

    params: dict[str, Any] = {
        "objective": "regression",
        "num_leaves": n_leaves,
        "learning_rate": learning_rate,
        "min_data_in_leaf": max(1, min(_MOST_ROWS_PER_LEAF, len(rows) // (4 * n_leaves))),
        "min_data_per_group": 10,
        "cat_smooth": 1.0,
        "seed": seed,
        "num_threads": threads,
        "deterministic": True,
        "force_row_wise": True,
        "verbose": -1,
    }
    columns: list[tuple[Tree, ...]] = []
    categorical = category_features(teacher)
    for k in range(teacher.n_classes):
        tell(k / teacher.n_classes, f"training {n_rounds:,} trees of {n_leaves} leaves")
        data = lightgbm.Dataset(rows, scores[:, k], categorical_feature=categorical, free_raw_data=False)
        booster = lightgbm.train(params, data, n_rounds)
        columns.append(_padded(parse(booster.model_to_string()).trees, n_rounds))
    trees = tuple(tree for one_round in zip(*columns, strict=True) for tree in one_round)
    return replace(teacher, trees=trees, averaged=False, parameters={**teacher.parameters, "boosting": "gbdt"})


def category_features(forest: Forest) -> list[int]:
    """Features that at least one split reads as category codes."""
    return sorted({int(f) for tree in forest.trees for f in tree.feature[tree.categorical]})


def _padded(trees: tuple[Tree, ...], n_rounds: int) -> tuple[Tree, ...]:
    """A class whose training ended early gets trees that add nothing, so that every round has its trees."""
    nothing = Tree(
        feature=np.zeros(0, np.int32),
        threshold=np.zeros(0),
        decision=np.zeros(0, np.uint8),
        left=np.zeros(0, np.int32),
        right=np.zeros(0, np.int32),
        leaf_value=np.zeros(1),
        set_bounds=np.zeros(1, np.int64),
        set_words=np.zeros(0, np.uint32),
    )
    return (*trees, *[nothing] * (n_rounds - len(trees)))
