import numpy as np
import pytest

from engine.quality.noninferiority import rows_needed, share_bound, tango_upper, tango_z

Z = 1.6448536


# ---------------------------------------------------------------- Tango
@pytest.mark.parametrize(
    ("lost", "won", "n", "margin", "z", "upper", "passes"),
    [
        (10, 8, 2000, 0.005, -1.7209, 0.004799, True),
        (10, 8, 1000, 0.005, -0.6926, 0.009583, False),
        (0, 0, 539, 0.005, -1.6458, 0.004994, True),
        (0, 0, 538, 0.005, -1.6442, 0.005004, False),
        (30, 10, 5000, 0.01, -3.7795, 0.006261, True),
        (5, 3, 540, 0.01, -1.0868, 0.014029, False),
    ],
)
def test_tango_vectors(lost, won, n, margin, z, upper, passes):
    assert tango_z(lost, won, n, margin) == pytest.approx(z, abs=5e-5)
    assert tango_upper(lost, won, n) == pytest.approx(upper, abs=5e-7)
    assert (tango_z(lost, won, n, margin) <= -Z) == passes == (tango_upper(lost, won, n) <= margin)


def test_tango_two_sided_interval_of_fagerland():
    assert tango_upper(1, 7, 21, alpha=0.025) == pytest.approx(-0.02600, abs=5e-6)
    assert -tango_upper(7, 1, 21, alpha=0.025) == pytest.approx(-0.51723, abs=5e-6)


@pytest.mark.parametrize(("lost", "won", "n"), [(0, 0, 1), (5, 0, 5), (0, 5, 5), (3, 3, 6), (1, 0, 10**6), (0, 1, 2)])
def test_tango_extremes_stay_in_range(lost, won, n):
    upper = tango_upper(lost, won, n)
    assert (lost - won) / n <= upper <= 1.0


@pytest.mark.parametrize(
    ("n", "discordance", "margin", "measured"),
    [(500, 0.02, 0.01, 0.044), (2000, 0.02, 0.01, 0.046), (5000, 0.02, 0.01, 0.047), (200, 0.02, 0.02, 0.017)],
)
def test_a_model_at_the_limit_rarely_passes(n, discordance, margin, measured):
    lost_share = (discordance + margin) / 2
    draws = np.random.default_rng(0).multinomial(n, [lost_share, discordance - lost_share, 1 - discordance], 4000)
    cells, counts = np.unique(draws[:, :2], axis=0, return_counts=True)
    passed = sum(count for (lost, won), count in zip(cells, counts, strict=True) if tango_z(lost, won, n, margin) <= -Z)
    assert passed / 4000 <= 0.06
    assert passed / 4000 == pytest.approx(measured, abs=0.012)


@pytest.mark.parametrize(
    ("discordance", "margin", "at_80", "at_90"),
    [
        (0.005, 0.005, 1717, 2271),
        (0.01, 0.005, 2800, 3809),
        (0.01, 0.01, 856, 1132),
        (0.02, 0.005, 5131, 7068),
        (0.02, 0.01, 1397, 1901),
        (0.05, 0.01, 3162, 4366),
        (0.05, 0.02, 837, 1146),
    ],
)
def test_rows_needed_vectors(discordance, margin, at_80, at_90):
    assert rows_needed(discordance, margin) == at_80
    assert rows_needed(discordance, margin, power=0.9) == at_90


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("changed", [0.0, 0.004, 0.05])
def test_the_answers_of_a_row_are_a_group(changed, weighted):
    """Which is why the simulations of groups in test_coverage speak of them, too."""
    rng = np.random.default_rng(0)
    before = rng.random((200, 5)) < 0.8
    after = before ^ (rng.random((200, 5)) < changed)
    weights = rng.random(200) if weighted else None
    each = None if weights is None else np.repeat(weights, 5)
    flat = share_bound(before.ravel(), after.ravel(), each, np.arange(1000) // 5)
    assert tuple(share_bound(before, after, weights)) == pytest.approx(tuple(flat))


def test_groups_of_rows_hold_all_their_answers():
    rng = np.random.default_rng(1)
    before = rng.random((300, 4)) < 0.8
    after = before ^ (rng.random((300, 4)) < 0.1)
    units = np.arange(300) // 10
    flat = share_bound(before.ravel(), after.ravel(), None, np.repeat(units, 4))
    assert tuple(share_bound(before, after, None, units)) == pytest.approx(tuple(flat))
