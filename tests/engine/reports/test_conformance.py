import pytest

from engine.records import Conformance
from engine.reports.conformance import checked, edges_line, largest, where


def found(**changes):
    usual = {"what": "trees_binned", "exact": True, "n_rows": 6512, "n_differ": 0, "largest": 0}
    return Conformance(**(usual | changes))


def test_nothing_asked_nothing_said():
    assert edges_line(()) is None


def test_all_rows_agree():
    both = (found(n_rows=6200), found())
    assert edges_line(both) == "At thresholds, missing values and other edges all 6,512 rows agree."


def test_the_worst_of_several_is_named_with_its_column():
    single = found(n_differ=12, largest=0.3124, column="distance", kind="float32 value beside a threshold")
    assert edges_line((found(), single)) == (
        "At thresholds, missing values and other edges 12 of 6,512 rows differ, by up to 0.31, most often in distance, "
        "float32 value beside a threshold."
    )
    assert where(single.model_copy(update={"column": None})) == "evaluation rows as they are"
    assert where(found()) is None


@pytest.mark.parametrize(("value", "text"), [(0.0, "0"), (2.8e-17, "2.8e-17"), (0.3124, "0.31"), (12.0, "12")])
def test_a_difference_keeps_two_figures(value, text):
    assert largest(found(largest=value)) == text


def test_made_rows_are_told_apart_where_they_were_counted():
    assert checked(found(n_made=6012)) == "6,512 rows (6,012 of them made)"
    assert checked(found()) == "6,512 rows"
