import pytest

from engine.data.capability import capability, least_rows, rows_for_power


@pytest.mark.parametrize(
    ("changed", "delta", "n80", "n90"),
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
def test_rows_for_a_band(changed, delta, n80, n90):
    """The table of METHODS §2.5, whose power was checked by simulation."""
    assert rows_for_power(delta, changed) == n80
    assert rows_for_power(delta, changed, power=0.9) == n90


@pytest.mark.parametrize(("delta", "n"), [(0.001, 2995), (0.005, 598), (0.01, 299), (0.02, 149), (0.05, 59)])
def test_least_rows_of_a_slice(delta, n):
    assert least_rows(delta) == n


@pytest.mark.parametrize(
    ("n_rows", "delta", "parts"),
    [
        (298, 0.01, ("298 certification rows cannot certify a drop limit of 0.01", "299 rows are the least", "1,397")),
        (299, 0.01, ("299 certification rows certify a drop limit of 0.01 only for variants that change few", "1,397")),
        (1396, 0.01, ("only for variants that change few answers",)),
        (1397, 0.01, ("1,397 certification rows are enough", "A slice needs 299 rows of its own")),
        (5000, 0.0, ("only identical answers",)),
        (5000, 1.0, ("every variant is good enough",)),
    ],
)
def test_what_the_rows_can_show(n_rows, delta, parts):
    said = capability(n_rows, delta)
    assert all(part in said for part in parts), said
