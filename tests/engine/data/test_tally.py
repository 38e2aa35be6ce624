from engine.data.tally import Tally


def test_columns_that_share_a_cast_share_a_sentence():
    tally = Tally()
    for name in ("a", "b", "a"):
        tally.cast(name, "float64", "float32")
    tally.missing("a", 0, "NaN")
    tally.missing("b", 2, "NaN")
    tally.missing("b", 1, "NaN")
    assert list(tally.notes()) == ["Cast float64 to float32: a, b", "Missing values given as NaN: b 3"]


def test_known_categories_need_no_sentence():
    tally = Tally()
    tally.categories("colour", 10, {})
    assert list(tally.notes()) == []
    tally.categories("colour", 10, {"violet": 2, "pink": 1})
    assert "3 of 20 values" in next(tally.notes())
