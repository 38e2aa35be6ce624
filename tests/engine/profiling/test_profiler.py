import pytest

from engine.plugin import runtimes
from engine.profiling.profiler import profiler, ranked, tally


def test_the_faster_half_is_averaged():
    """Two of four calls were interrupted, each in another operator."""
    calls = [
        {"MatMul": (2, 3.0), "Relu": (1, 1.0)},
        {"MatMul": (2, 90.0), "Relu": (1, 1.0)},
        {"MatMul": (2, 3.2), "Relu": (1, 0.8)},
        {"MatMul": (2, 3.0), "Relu": (1, 50.0)},
    ]
    matmul, relu = ranked(calls)
    assert (matmul.op, matmul.n, matmul.total_ms, matmul.share) == (
        "MatMul",
        2,
        pytest.approx(3.1),
        pytest.approx(0.775),
    )
    assert (relu.op, relu.n, relu.share) == ("Relu", 1, pytest.approx(0.225))


def test_nothing_that_takes_no_time_breaks_the_shares():
    assert [cost.share for cost in ranked([{"a": (1, 0.0)}])] == [0.0]
    assert ranked([{}]) == []


def test_nodes_fall_into_the_call_that_began_before_them():
    nodes = [(5.0, "a", 1.0), (10.0, "a", 1.0), (11.0, "b", 2.0), (12.0, "a", 3.0), (20.5, "b", 4.0)]
    assert tally(nodes, [10.0, 20.0]) == [{"a": (2, 4.0), "b": (1, 2.0)}, {"b": (1, 4.0)}]


WITHOUT = {"torchscript"}  # the command and the page say that it has none


@pytest.mark.parametrize("name", sorted(runtimes().keys() - WITHOUT))
def test_every_other_runtime_of_today_has_one(name):
    assert callable(profiler(name))


@pytest.mark.parametrize("name", [*sorted(WITHOUT), "openvino_cpu", "../profiler", "", "a.b"])
def test_a_runtime_without_one_has_none(name):
    assert profiler(name) is None
