import numpy as np
import pytest

from engine.quality.found import _search, find_slices, row_losses
from tests.engine.quality.answering import judged

CITIES, HOURS = ["Bonn", "Linz", "Turin", "Ulm"], ["day", "night", "noon"]


def columns(n, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "city": (rng.integers(0, 4, n), CITIES),
        "hour": (rng.integers(0, 3, n), HOURS),
        "size": (rng.integers(0, 5, n), list("abcde")),
    }


def planted(n=5000, seed=0, share=0.3):
    """2 % of the rows lose, in Linz by night 30 %."""
    found = columns(n, seed)
    inside = (found["city"][0] == 1) & (found["hour"][0] == 1)
    losses = np.random.default_rng(seed + 99).random(n) < np.where(inside, share, 0.02)
    return found, losses.astype(float)


def test_a_planted_slice_is_found_and_confirmed():
    found, losses = planted()
    first = find_slices(found, losses, least_rows=100)[0]
    assert first.conditions == {"city": "Linz", "hour": "night"}
    assert first.confirmed
    assert first.harm_p < 1e-6
    assert first.mean_loss == pytest.approx(0.3, abs=0.08)
    assert first.mean_loss_elsewhere == pytest.approx(0.02, abs=0.01)


def test_losses_of_any_size_too():
    found, losses = planted()
    sizes = losses * np.random.default_rng(1).gamma(2, 1, len(losses))
    first = find_slices(found, sizes, least_rows=100)[0]
    assert first.conditions == {"city": "Linz", "hour": "night"}
    assert first.confirmed


def test_where_nothing_is_planted_little_is_confirmed():
    confirmed = sum(
        any(one.confirmed for one in find_slices(*planted(2000, seed, share=0.02), least_rows=60)) for seed in range(60)
    )
    assert confirmed <= 7  # 5 % of 60 and what chance adds


def test_what_was_found_on_some_rows_is_worse_there_than_elsewhere():
    """Why the other half is asked: found by chance, a slice looks worse on the rows it was found on."""
    ahead = []
    for seed in range(30):
        found, losses = planted(2000, seed, share=0.02)
        table = np.stack([codes for codes, _ in found.values()], axis=1) + 1
        best = _search(table[:1000], losses[:1000], 60)[0]
        inside = np.all([table[:, at] == code for at, code in best.items()], axis=0)
        ahead.append(losses[:1000][inside[:1000]].mean() - losses[1000:][inside[1000:]].mean())
    assert np.mean(ahead) > 0.005


def test_groups_stay_in_one_half():
    found, losses = planted()
    together = np.arange(5000) // 50
    halves = find_slices(found, losses, together, least_rows=100)
    assert halves[0].conditions == {"city": "Linz", "hour": "night"}
    assert halves[0].confirmed


def test_a_loss_that_sits_in_one_group_is_not_confirmed():
    """40 rows of one user in one city are one unlucky user."""
    found = columns(4000)
    user = np.arange(4000) // 40
    found["city"] = (user % 4, CITIES)
    losses = (user == 5).astype(float)
    assert not any(one.confirmed for one in find_slices(found, losses, user, least_rows=100))


@pytest.mark.parametrize(
    ("found", "losses"),
    [
        ({}, np.ones(500)),
        (columns(500), np.zeros(500)),
        ({"same": (np.zeros(500, int), ["x"])}, np.ones(500)),
        ({"own": (np.arange(500), [str(i) for i in range(500)])}, np.ones(500)),
        (columns(20), np.ones(20)),
    ],
)
def test_where_there_is_nothing_to_look_at(found, losses):
    assert find_slices(found, losses, least_rows=100) == ()


def test_what_a_row_loses():
    labels = np.array([1, 1, 0, 0])
    before, after = np.array([0.9, 0.4, 0.2, 0.3]), np.array([0.4, 0.9, 0.1, 0.9])
    rows = judged(before, after, labels, "binary")
    assert row_losses(rows, "accuracy").tolist() == row_losses(rows, "f1").tolist() == [1, 0, 0, 1]
    assert row_losses(rows, "roc_auc") == pytest.approx([0.36 - 0.01, 0, 0, 0.81 - 0.09])
    assert row_losses(rows, "ndcg_at_10") is None
