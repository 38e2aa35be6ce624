"""Which models fit on one machine: first fit decreasing, then an exact search below it.

First fit decreasing: Johnson (1973), Near-optimal bin packing algorithms. The search asks HiGHS (Huangfu and Hall,
2018) for a packing into fewer nodes, from the lower bound up.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.errors import InvalidRequest
from engine.planning.cost import MONTH_H
from engine.planning.packing_exact import into
from engine.records.packing import CoRun, Item, Load, Node, PackingPlan

NOISY_FACTOR = 1.2  # a pair whose p99 grows by more is kept apart
MOST_ITEMS = 500
RANK = {"high": 0, "normal": 1, "low": 2}
Pairs = frozenset[tuple[int, int]]


@dataclass
class Bin:
    """A node that is being filled."""

    memory_mb: int = 0
    compute_milli: int = 0
    sensitive: bool = False
    items: list[int] = field(default_factory=list)


def pack(
    items: Sequence[Item],
    node: Node,
    *,
    apart: Sequence[tuple[str, str]] = (),
    co_runs: Sequence[CoRun] = (),
    most_nodes: int | None = None,
    seconds: float = 5.0,
) -> PackingPlan:
    """Place every item on as few nodes as found within the time.

    most_nodes: only so many are there; low priority then takes what is left, and what does not fit is left out.
    Raises InvalidRequest for an item larger than a node, and when high and normal priority do not fit.
    """
    _check(items, node)
    pairs = forbidden(items, apart, co_runs)
    first = [i for i, item in enumerate(items) if most_nodes is None or item.priority != "low"]
    bins, greedy, least, optimal = _packed(items, node, first, pairs, seconds)
    left: list[int] = []
    if most_nodes is not None:
        if len(bins) > most_nodes:
            raise InvalidRequest(
                f"high and normal priority need {len(bins)} nodes{'' if optimal else ' (found so far)'}, and there are "
                f"{most_nodes}"
            )
        low = decreasing(items, node, [i for i, item in enumerate(items) if item.priority == "low"])
        left = [i for i in low if not _place(items, node, bins, i, pairs, most_nodes)]
    return PackingPlan(
        node=node,
        loads=tuple(_load(one, items) for one in bins),
        left_out=tuple(items[i].name for i in sorted(left)),
        first_fit_nodes=greedy,
        least_nodes=least,
        optimal=optimal and most_nodes is None,
        apart=tuple((items[i].name, items[j].name) for i, j in sorted(pairs)),
        cost_per_month=len(bins) * node.price_per_hour * MONTH_H,
        cost_unpacked_per_month=len(items) * node.price_per_hour * MONTH_H,
    )


def forbidden(items: Sequence[Item], apart: Sequence[tuple[str, str]], co_runs: Sequence[CoRun]) -> Pairs:
    """Pairs of places in items that may not share: asked for, measured as noisy, or high priority beside noisy."""
    place = {item.name: i for i, item in enumerate(items)}
    named = [*apart, *((one.first, one.second) for one in co_runs if one.factor > NOISY_FACTOR)]
    for name in itertools.chain.from_iterable([*named, *((one.first, one.second) for one in co_runs)]):
        if name not in place:
            raise InvalidRequest(f"no item is called {name!r}; there are {', '.join(list(place)[:8])}")
    pairs = {(place[a], place[b]) for a, b in named if a != b}
    for (i, one), (j, other) in itertools.combinations(enumerate(items), 2):
        if (one.priority == "high" and other.noisy) or (other.priority == "high" and one.noisy):
            pairs.add((i, j))
    return frozenset((min(pair), max(pair)) for pair in pairs)


def decreasing(items: Sequence[Item], node: Node, places: Sequence[int]) -> list[int]:
    """High priority first, then by the larger of both shares of a node; ties in the order given."""

    def key(i: int) -> tuple[int, float, int]:
        size = max(items[i].memory_mb / node.usable_mb, items[i].compute_milli / node.compute_milli)
        return RANK[items[i].priority], -size, i

    return sorted(places, key=key)


def least_nodes(items: Sequence[Item], node: Node) -> int:
    """A lower bound: dedicated items one node each, the rest by the sum of memory and of compute."""
    rest = [item for item in items if not item.dedicated]
    if not rest:
        return len(items)
    memory = math.ceil(sum(item.memory_mb for item in rest) / node.usable_mb)
    compute = math.ceil(sum(item.compute_milli for item in rest) / node.compute_milli)
    return len(items) - len(rest) + max(memory, compute, 1)


def _packed(
    items: Sequence[Item], node: Node, places: Sequence[int], pairs: Pairs, seconds: float
) -> tuple[list[Bin], int, int, bool]:
    """Nodes, how many first fit took, the bound, and whether their number is proven."""
    order = decreasing(items, node, places)
    bins: list[Bin] = []
    for i in order:
        _place(items, node, bins, i, pairs, None)
    greedy, least = len(bins), least_nodes([items[i] for i in places], node) if places else 0
    alone = [one for one in bins if items[one.items[0]].dedicated]
    shared = [i for i in order if not items[i].dedicated]
    deadline = time.monotonic() + seconds
    for count in range(least, greedy):
        found = into(items, node, shared, count - len(alone), pairs, deadline - time.monotonic())
        if found == "unknown":
            return bins, greedy, least, False
        if found != "none":
            return alone + [_bin(items, part) for part in found], greedy, least, True
    return bins, greedy, least, True


def _place(items: Sequence[Item], node: Node, bins: list[Bin], i: int, pairs: Pairs, most_nodes: int | None) -> bool:
    """Into the first node where it fits, else into a new one if there may be one."""
    for one in bins:
        if _fits(items, node, one, i, pairs):
            _put(items, one, i)
            return True
    if most_nodes is not None and len(bins) >= most_nodes:
        return False
    bins.append(_bin(items, [i]))
    return True


def _fits(items: Sequence[Item], node: Node, one: Bin, i: int, pairs: Pairs) -> bool:
    item, sensitive = items[i], one.sensitive or items[i].latency_sensitive
    return (
        not item.dedicated
        and not any(items[j].dedicated for j in one.items)
        and one.memory_mb + item.memory_mb <= node.usable_mb
        and one.compute_milli + item.compute_milli <= node.compute_for(sensitive=sensitive)
        and not any((min(i, j), max(i, j)) in pairs for j in one.items)
    )


def _put(items: Sequence[Item], one: Bin, i: int) -> None:
    one.items.append(i)
    one.memory_mb += items[i].memory_mb
    one.compute_milli += items[i].compute_milli
    one.sensitive |= items[i].latency_sensitive


def _bin(items: Sequence[Item], places: Sequence[int]) -> Bin:
    one = Bin()
    for i in places:
        _put(items, one, i)
    return one


def _load(one: Bin, items: Sequence[Item]) -> Load:
    names = tuple(items[i].name for i in sorted(one.items))
    return Load(items=names, memory_mb=one.memory_mb, compute_milli=one.compute_milli)


def _check(items: Sequence[Item], node: Node) -> None:
    if not items:
        raise InvalidRequest("nothing to pack: give at least one item")
    if len(items) > MOST_ITEMS:
        raise InvalidRequest(f"{len(items):,} items are more than the {MOST_ITEMS} packed at a time")
    names = [item.name for item in items]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InvalidRequest(f"two items are called {twice[0]!r}; every item needs its own name")
    for item in items:
        compute = node.compute_for(sensitive=item.latency_sensitive)
        if item.memory_mb > node.usable_mb:
            raise InvalidRequest(
                f"{item.name} needs {item.memory_mb:,} MB and a node has {node.usable_mb:,} MB to plan with"
            )
        if item.compute_milli > compute:
            raise InvalidRequest(
                f"{item.name} needs {item.compute_milli / 1000:g} cores and a node has {compute / 1000:g} to plan with"
                + (f" (at most {node.busy_limit:.0%} busy beside a latency-sensitive item)" * item.latency_sensitive)
            )
