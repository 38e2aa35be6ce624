import numpy as np
import pytest
from scipy import stats

from engine.quality.auc import auc_bound, delong
from engine.quality.loss import Loss
from engine.quality.noninferiority import rows_needed, tango_upper
from engine.quality.power import (
    auc_spread,
    chance,
    more_needed,
    rows_for_band,
    rows_to_decide,
    smallest_band,
)


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


@pytest.mark.parametrize(("changed", "margin", "n"), [(0.005, 0.005, 1717), (0.01, 0.01, 856), (0.02, 0.01, 1397)])
def test_rows_that_decide_are_those_of_the_methods(changed, margin, n):
    assert rows_to_decide("accuracy", margin, 0.05, changed=changed) == n
    assert chance("accuracy", n, margin, 0.05, changed=changed) == pytest.approx(0.8, abs=0.001)
    assert smallest_band("accuracy", n, 0.05, changed=changed) == pytest.approx(margin, rel=0.002)


def test_the_least_rows_come_before_the_power():
    assert rows_to_decide("accuracy", 0.02, 0.05, changed=1e-5) == 149
    assert chance("accuracy", 148, 0.02, 0.05, changed=1e-5) == 0.0
    assert rows_to_decide("roc_auc", 0.4, 0.05) == 100  # of a resampled metric
    assert rows_to_decide("roc_auc", 0.4, 0.05, rarer_fraction=0.01) == 3000  # 30 of the rarer class
    assert smallest_band("accuracy", 3, 0.05) is None
    assert rows_to_decide("accuracy", 0.0, 0.05) is None


@pytest.mark.parametrize("metric", ["rmse", "macro_f1", "pr_auc", "ndcg_at_10"])
def test_where_nothing_is_known_beforehand_nothing_is_claimed(metric):
    assert rows_to_decide(metric, 0.01, 0.05) is None
    assert chance(metric, 5000, 0.01, 0.05) is None
    assert smallest_band(metric, 5000, 0.05) is None


def scores(rng, n, changed, rarer):
    """Two binormal scores of AUC 0.8; `changed` of the answers move across the middle."""
    apart = np.sqrt(2) * stats.norm.ppf(0.8)
    labels = (rng.random(n) < rarer).astype(int)
    first = rng.normal(size=n) + apart * labels
    noise = np.sqrt(1 + rarer * (1 - rarer) * apart**2) * np.tan(np.pi * changed)
    return labels, first, first + rng.normal(size=n) * noise


@pytest.mark.parametrize(("changed", "rarer"), [(0.02, 0.5), (0.05, 0.5), (0.05, 0.1), (0.02, 0.2)])
def test_the_spread_of_an_auc_is_that_of_delong(changed, rarer):
    rng = np.random.default_rng(5)
    labels, first, second = scores(rng, 100_000, changed, rarer)
    assert delong(labels, first, second).se * np.sqrt(100_000) == pytest.approx(auc_spread(changed, rarer), rel=0.03)
    assert np.mean((first > np.median(first)) != (second > np.median(second))) == pytest.approx(changed, rel=0.1)


def test_so_many_rows_certify_an_auc_four_times_out_of_five():
    rng, margin, changed = np.random.default_rng(8), 0.01, 0.05
    n = rows_to_decide("roc_auc", margin, 0.05, changed=changed)
    assert chance("roc_auc", n, margin, 0.05, changed=changed) >= 0.8

    def passes():
        labels, first, second = scores(rng, n, changed, 0.5)
        true_loss = 0.8 - stats.norm.cdf(np.sqrt(2) * stats.norm.ppf(0.8) / np.sqrt(2 + 2 * _noise(changed)))
        return auc_bound(delong(labels, first, second)).upper < margin + true_loss

    assert np.mean([passes() for _ in range(400)]) == pytest.approx(0.8, abs=0.07)


def _noise(changed):
    apart = np.sqrt(2) * stats.norm.ppf(0.8)
    return (1 + 0.25 * apart**2) * np.tan(np.pi * changed) ** 2
