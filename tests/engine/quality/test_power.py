import pytest

from engine.quality.loss import Loss
from engine.quality.noninferiority import rows_needed, tango_upper
from engine.quality.power import more_needed, rows_for_band


def test_rows_for_a_band_in_words():
    assert rows_for_band(0.005).startswith("for a 0.5-point band you need about 5,100 rows (where 2.0% of the answers")
    assert rows_for_band(0.01, changed=0.05).startswith("for a 1-point band you need about 3,200 rows")
    assert "in 90% of the cases" in rows_for_band(0.01, power=0.9)
    assert "identical answers" in rows_for_band(0.0)


def test_a_smaller_alpha_needs_more_rows():
    assert rows_needed(0.02, 0.01, alpha=0.05 / 3) > rows_needed(0.02, 0.01)


def test_after_so_many_more_rows_the_bound_clears_the_limit():
    n, lost, won, limit = 1000, 12, 8, 0.01
    found = Loss(n, 0.9, 0.896, (lost - won) / n, tango_upper(lost, won, n))
    assert found.bound > limit
    total = n + more_needed(found, limit, 0.05, changed=(lost + won) / n)
    assert tango_upper(lost * total / n, won * total / n, total) < limit
    half = n + (total - n) // 2
    assert tango_upper(lost * half / n, won * half / n, half) < limit * 1.1


def test_the_rule_of_thumb_agrees_with_tango():
    n, changed = 1500, 0.03
    lost = won = n * changed / 2
    found = Loss(n, 0.9, 0.9, 0.0, tango_upper(lost, won, n))
    by_tango = more_needed(found, 0.006, 0.05, changed)
    assert more_needed(found, 0.006, 0.05) == pytest.approx(by_tango, rel=0.15)


@pytest.mark.parametrize("drop", [0.01, 0.02])
def test_at_the_limit_no_number_of_rows_helps(drop):
    assert more_needed(Loss(1000, 0.9, 0.9 - drop, drop, 0.05), 0.01, 0.05) is None
