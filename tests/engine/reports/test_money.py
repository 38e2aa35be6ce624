import pytest

from engine.reports.money import cost_per_1k


@pytest.mark.parametrize(("price", "rate", "cost"), [(40, 50, 0.222222), (250, 600, 0.115741)])
def test_cost_vectors(price, rate, cost):
    assert cost_per_1k(price, rate) == pytest.approx(cost, abs=5e-7)


def test_no_price_no_cost():
    assert cost_per_1k(None, 50) is None
    assert cost_per_1k(40, None) is None
