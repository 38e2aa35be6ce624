from hypothesis import given
from hypothesis import strategies as st

from engine.reports.front import front

POINTS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=25)


def beats(one, other):
    return one != other and one[0] >= other[0] and one[1] >= other[1]


@given(POINTS)
def test_the_front_is_what_nothing_beats(points):
    expected = {at for at, one in enumerate(points) if not any(beats(other, one) for other in points)}
    found = front(points)
    assert set(found) == expected
    assert len(found) == len(expected)
    assert [points[at][0] for at in found] == sorted((points[at][0] for at in found), reverse=True)


def test_equal_points_stand_on_it_together():
    assert sorted(front([(1, 1), (2, 2), (2, 2), (2, 1)])) == [1, 2]
