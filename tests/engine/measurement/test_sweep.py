import pytest

from engine.measurement.sweep import largest_within, sweeps
from engine.records import Choice, FileRef, Interval, Measurement, Workload


def measured(batch, p50=None, p95=None, threads=1, rate=None):
    p50 = p50 or 5 + 0.2 * batch
    return Measurement(
        artefact_id="a", runtime=Choice(name="r"), workload=Workload(batch_size=batch, threads=threads),
        samples=FileRef(path="p", sha256="0", size_bytes=1), n_calls=1000, n_pairs=10,
        p50_ms=Interval(value=p50, low=p50 * 0.99, high=p50 * 1.01), p95_ms=Interval(value=p95) if p95 else None,
        p99_ms=None, items_per_s=1000 * batch / p50, items_per_s_interval=rate, cold_start_ms=1, load_ms=1,
        peak_bytes=1, prepare_ms=0, model_ms=p50, post_ms=0,
    )  # fmt: skip


def test_rows_are_in_order_with_what_one_more_item_costs():
    (found,) = sweeps([measured(32), measured(1), measured(8)])
    assert [row.batch_size for row in found.rows] == [1, 8, 32]
    assert [row.marginal_ms for row in found.rows] == [None, pytest.approx(0.2), pytest.approx(0.2)]
    assert [row.fitted_ms for row in found.rows] == pytest.approx([5.2, 6.6, 11.4])
    assert found.uses == "the line"
    assert found.marginal_ms == pytest.approx(0.2)
    assert found.one_call.n_items == 500


def test_rates_keep_their_interval():
    (found,) = sweeps([measured(1, rate=Interval(value=190, low=180, high=200)), measured(8)])
    assert [(row.items_per_s.low, row.items_per_s.high) for row in found.rows] == [(180, 200), (None, None)]


def test_the_table_is_used_where_no_line_fits():
    (found,) = sweeps([measured(1, 1.0), measured(8, 1.0), measured(16, 9.0), measured(32, 9.0)])
    assert found.uses == "the table, for the line misses by more than 15%"


@pytest.mark.parametrize(("budget", "expected"), [(10, 8), (9.99, 1), (40, 32), (7, None)])
def test_the_largest_batch_within_a_budget(budget, expected):
    sizes = [measured(1, p95=8.0), measured(8, p95=10.0), measured(32, p95=20.0), measured(64)]  # 64: too few calls
    assert largest_within(sizes, budget) == expected
    (found,) = sweeps(sizes, budget)
    assert (found.p95_budget_ms, found.largest_within_budget) == (budget, expected)


def test_each_number_of_threads_has_a_sweep_of_its_own():
    found = sweeps([measured(1), measured(8), measured(1, 3.0, threads=2), measured(8, 4.0, threads=2)])
    assert [(one.threads, len(one.rows)) for one in found] == [(1, 2), (2, 2)]
