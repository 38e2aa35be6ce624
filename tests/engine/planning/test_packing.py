import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import BadData, InvalidRequest
from engine.planning.item_file import read_items
from engine.planning.packing import pack
from engine.records.packing import CoRun, Item, Node

TEN = [(8, 0.30), (6, 0.50), (5, 0.20), (4, 0.40), (4, 0.35), (3, 0.60), (2, 0.10), (2, 0.25), (1, 0.15), (1, 0.15)]


def things(sizes, **more):
    return [
        Item(name=f"m{i}", memory_mb=round(1000 * memory), compute_milli=round(1000 * cpu), **more)
        for i, (memory, cpu) in enumerate(sizes)
    ]


def node(memory_gb=16, cores=1.0, **more):
    return Node(memory_mb=1000 * memory_gb, compute_milli=round(1000 * cores), **({"memory_fraction": 1} | more))


def holds(plan, items):
    """Every item once, and no node beyond its limits."""
    known = {item.name: item for item in items}
    assert sorted([*(name for load in plan.loads for name in load.items), *plan.left_out]) == sorted(known)
    for load in plan.loads:
        inside = [known[name] for name in load.items]
        assert sum(item.memory_mb for item in inside) == load.memory_mb <= plan.node.usable_mb
        sensitive = any(item.latency_sensitive for item in inside)
        assert sum(item.compute_milli for item in inside) <= plan.node.compute_for(sensitive=sensitive)
        assert len(inside) == 1 or not any(item.dedicated for item in inside)
        assert not any(a in load.items and b in load.items for a, b in plan.apart)


def test_ten_models_first_fit_four_optimum_three():
    plan = pack(things(TEN), node())
    assert (plan.first_fit_nodes, len(plan.loads), plan.least_nodes, plan.optimal) == (4, 3, 3, True)
    holds(plan, things(TEN))


def test_two_pairs_apart_still_fit_three():
    plan = pack(things(TEN), node(), apart=[("m0", "m1"), ("m2", "m0")])
    assert (len(plan.loads), plan.optimal) == (3, True)
    holds(plan, things(TEN))


@pytest.mark.parametrize(("sizes", "greedy", "best"), [([5, 4, 4, 3, 2, 2], 3, 2), ([6, 6, 6, 4, 4, 4], 3, 3)])
def test_one_dimension(sizes, greedy, best):
    plan = pack(things([(size, 0) for size in sizes]), node(10))
    assert (plan.first_fit_nodes, len(plan.loads), plan.optimal) == (greedy, best, True)


def test_sixty_models():
    rng = random.Random(1)
    sizes = [(rng.choice([1, 2, 3, 4, 6, 8]), rng.choice([0.05, 0.1, 0.2, 0.3, 0.5])) for _ in range(60)]
    plan = pack(things(sizes), node(), seconds=60)
    assert (plan.first_fit_nodes, len(plan.loads), plan.least_nodes, plan.optimal) == (20, 17, 17, True)
    holds(plan, things(sizes))


def test_without_time_the_first_fit_stands_unproven():
    plan = pack(things(TEN), node(), seconds=0)
    assert (len(plan.loads), plan.optimal) == (4, False)


def test_memory_is_planned_with_a_tenth_left_and_the_runtime_on_top():
    assert Node(memory_mb=16_000, compute_milli=1000, runtime_mb=400).usable_mb == 14_000
    assert len(pack(things([(7, 0), (7, 0)]), node(16, memory_fraction=0.9, runtime_mb=400)).loads) == 1
    assert len(pack(things([(7, 0), (7.1, 0)]), node(16, memory_fraction=0.9, runtime_mb=400)).loads) == 2


def test_latency_sensitive_models_keep_their_node_at_seventy_per_cent():
    four = things([(1, 0.35)] * 4)
    assert len(pack(four, node()).loads) == 2
    calm = [*things([(1, 0.35)] * 3, latency_sensitive=True), four[3]]
    plan = pack(calm, node())
    assert len(plan.loads) == 2
    mixed = [Item(name="calm", memory_mb=1, compute_milli=300, latency_sensitive=True), *things([(1, 0.5)])]
    assert len(pack(mixed, node()).loads) == 2


def test_isolation_and_priority():
    items = [
        Item(name="alone", memory_mb=100, compute_milli=10, dedicated=True),
        Item(name="paid", memory_mb=100, compute_milli=10, priority="high"),
        Item(name="loud", memory_mb=100, compute_milli=10, noisy=True),
        Item(name="other", memory_mb=100, compute_milli=10),
    ]
    plan = pack(items, node())
    assert len(plan.loads) == 3
    assert plan.apart == (("paid", "loud"),)
    holds(plan, items)


def test_a_measured_noisy_neighbour_is_kept_apart():
    two = things([(1, 0.1), (1, 0.1)])
    loud = CoRun(first="m0", second="m1", solo_p99_ms=10, together_p99_ms=12.1)
    assert len(pack(two, node(), co_runs=[loud]).loads) == 2
    assert len(pack(two, node(), co_runs=[loud.model_copy(update={"together_p99_ms": 12.0})]).loads) == 1


def test_low_priority_is_left_out_when_nodes_are_few():
    items = [*things([(8, 0), (8, 0), (9, 0)]), Item(name="batch", memory_mb=8000, compute_milli=0, priority="low")]
    plan = pack(items, node(), most_nodes=2)
    assert plan.left_out == ("batch",)
    assert pack(items, node(), most_nodes=3).left_out == ()
    with pytest.raises(InvalidRequest, match="need 2 nodes, and there are 1"):
        pack(items, node(), most_nodes=1)


def test_money():
    plan = pack(things(TEN), node(price_per_hour=2))
    assert (plan.cost_per_month, plan.cost_unpacked_per_month) == (3 * 1440, 10 * 1440)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 16), st.integers(0, 7), st.booleans(), st.booleans()), min_size=1, max_size=9),
    st.sets(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=4),
)
def test_whatever_is_packed_keeps_the_limits(sizes, pairs):
    items = [
        Item(name=f"m{i}", memory_mb=1000 * m, compute_milli=100 * c, latency_sensitive=calm, dedicated=own)
        for i, (m, c, calm, own) in enumerate(sizes)
    ]
    apart = [(f"m{a}", f"m{b}") for a, b in pairs if a != b and max(a, b) < len(items)]
    plan = pack(items, node(), apart=apart, seconds=2)
    holds(plan, items)
    assert plan.least_nodes <= len(plan.loads) <= plan.first_fit_nodes


@pytest.mark.parametrize(
    ("items", "says"),
    [
        ([], "nothing to pack"),
        (things([(17, 0)]), "m0 needs 17,000 MB and a node has 16,000 MB"),
        (things([(1, 1.2)]), "m0 needs 1.2 cores and a node has 1"),
        (things([(1, 0.8)], latency_sensitive=True), r"a node has 0\.7 to plan with \(at most 70% busy"),
        (things([(1, 0)]) * 2, "two items are called 'm0'"),
    ],
)
def test_impossible_items_are_a_sentence(items, says):
    with pytest.raises(InvalidRequest, match=says):
        pack(items, node())


def test_unknown_names_and_empty_nodes_are_refused():
    with pytest.raises(InvalidRequest, match="no item is called 'x'"):
        pack(things(TEN), node(), apart=[("m0", "x")])
    with pytest.raises(InvalidRequest, match="has nothing left"):
        Node(memory_mb=100, compute_milli=1, runtime_mb=95)


def test_items_from_a_file():
    text = "name,memory_mb,compute_milli,priority,noisy\na,100,50,high,no\nb,200,70,,yes\n"
    a, b = read_items(text)
    assert (a.priority, a.noisy, b.priority, b.noisy, b.memory_mb) == ("high", False, "normal", True, 200)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "need the columns"),
        ("name,memory_mb\n", "need the columns"),
        ("name,memory_mb,compute_milli,noisy\na,1,1,x\n", "yes nor no"),
    ],
)
def test_what_is_no_file_of_items_is_refused(text, says):
    with pytest.raises(BadData, match=says):
        read_items(text)
