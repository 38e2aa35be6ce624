"""A forest's answers at many sizes: its first rounds, or its most important features."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from engine.forest.features import majority, score_changes, without
from engine.forest.forest import Forest
from engine.forest.lightgbm_text import write
from engine.forest.links import answer
from engine.forest.refit import refit
from engine.forest.routes import Inputs, leaf_routes, route

N_ROUND_SIZES, N_FEATURE_SIZES = 20, 10
SMALLEST = 0.02  # of the rounds
REFIT_ROWS, STRENGTH = 8_000, 30.0
Tell = Callable[[float, str], None]


def sizes(total: int, smallest: int, n: int) -> list[int]:
    """At most n sizes at even ratios from the smallest to the whole; all of them where they are few."""
    if total <= n:
        return list(range(1, total + 1))
    found = np.geomspace(max(1, smallest), total, n)
    return [int(size) for size in np.unique(np.rint(found))]


def by_rounds(forest: Forest, rows: np.ndarray, threads: int, tell: Tell) -> Iterator[tuple[int, np.ndarray]]:
    """(rounds, answers (n, n_classes)) of the first rounds: every tree is walked once, the sums grow."""
    import lightgbm

    booster = lightgbm.Booster(model_str=write(replace(forest, averaged=False)))
    raw = np.zeros((len(rows), forest.n_classes))
    done = 0
    for n in sizes(forest.n_rounds, round(forest.n_rounds * SMALLEST), N_ROUND_SIZES):
        tell(n / forest.n_rounds, f"{n:,} of {forest.n_rounds:,} rounds")
        more = booster.predict(rows, start_iteration=done, num_iteration=n - done, raw_score=True, num_threads=threads)
        raw = raw + np.asarray(more).reshape(raw.shape)
        done = n
        yield n, answer(forest.objective, raw / n if forest.averaged else raw)


def by_features(
    forest: Forest, rows: np.ndarray, learnt_from: tuple[Inputs, ...], seed: int, threads: int, tell: Tell
) -> tuple[list[int], Iterator[tuple[int, np.ndarray]]]:
    """Features, the most important first, and (features, answers) with the rest taken out and the leaves refitted.

    Importance and leaves come from the rows `learnt_from`; `rows` (n, n_features) are only answered.
    """
    sent = route(forest, learnt_from, REFIT_ROWS, seed, threads)
    sides = majority(forest, sent.routes)
    changes = score_changes(forest, sent, sides, threads, lambda part, text: tell(0.4 * part, text))
    order = list(changes)[::-1]

    def answers() -> Iterator[tuple[int, np.ndarray]]:
        steps = sizes(len(order), 1, N_FEATURE_SIZES)
        for position, n in enumerate(steps):
            tell(0.4 + 0.6 * position / len(steps), f"{n} of {len(order)} features")
            smaller = forest
            if n < len(order):
                smaller = without(forest, np.array(order[n:]), sides)
                smaller = refit(smaller, leaf_routes(smaller, sent.rows, threads), sent.scores, STRENGTH)
            yield n, answer(forest.objective, _scores(smaller, rows, threads))

    return order, answers()


def _scores(forest: Forest, rows: np.ndarray, threads: int) -> np.ndarray:
    """(n, n_classes) raw scores, averaged where the forest averages."""
    import lightgbm

    booster = lightgbm.Booster(model_str=write(replace(forest, averaged=False)))
    raw = np.asarray(booster.predict(rows, raw_score=True, num_threads=threads))
    return raw.reshape(len(rows), forest.n_classes) / (forest.n_rounds if forest.averaged else 1)
