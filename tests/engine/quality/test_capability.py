import pytest

from engine.quality.capability import capability


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
