import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.data.canonical import text_digests
from engine.data.splits import (
    CODES,
    MOST_CALIBRATION,
    SHARES,
    TEST_SHARES,
    draw_calibration,
    identify,
    place,
    strata_of,
)


def digests(values):
    return text_digests([str(value) for value in values])


def shares(codes, n):
    return [(codes == CODES[name]).sum() / n for name, _ in SHARES]


def counts(codes):
    return {name: int((codes == CODES[name]).sum()) for name, _ in SHARES}


def test_three_two_and_five_tenths():
    codes = place(identify(digests(range(1000)), None, None), np.zeros(1000, np.int64), seed=0)
    assert counts(codes) == {"train": 300, "selection": 200, "certification": 500}


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=10, max_size=300), st.integers(0, 1000))
def test_distinct_rows_split_completely_and_by_class(labels, seed):
    labels = np.array(labels)
    codes = place(identify(digests(range(len(labels))), None, None), labels, seed)
    assert set(codes.tolist()) <= {CODES[name] for name, _ in SHARES}  # each row in exactly one split
    for name, share in SHARES:
        chosen = codes == CODES[name]
        assert abs(chosen.sum() - share * len(labels)) < 1.01
        for label in np.unique(labels):
            wanted = share * (labels == label).sum()
            assert abs((chosen & (labels == label)).sum() - wanted) < 2.01  # rounding, and what it owed before


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 60), min_size=70, max_size=200), st.randoms())
def test_the_order_of_the_file_does_not_matter(values, random):
    rows = [(f"row {value}", value % 3) for value in values] + [(f"own {at}", at % 3) for at in range(300)]
    shuffled = rows[:]
    random.shuffle(shuffled)
    placed = []
    for table in (rows, shuffled):
        identity = identify(digests(row for row, _ in table), None, None)
        if identity.by_row:
            return
        codes = place(identity, np.array([label for _, label in table]), seed=3)
        placed.append({row: int(code) for (row, _), code in zip(table, codes, strict=True)})
        assert all(placed[-1][row] == code for (row, _), code in zip(table, codes, strict=True))
    assert placed[0] == placed[1]


def test_equal_rows_stay_together_whatever_their_label():
    values = np.repeat(np.arange(500), 2)
    labels = np.tile([0, 1], 500)
    codes = place(identify(digests(values), None, None), labels, seed=0)
    assert (codes[::2] == codes[1::2]).all()
    assert np.allclose(shares(codes, 1000), [0.3, 0.2, 0.5], atol=0.002)


def test_another_seed_another_split_of_the_same_size():
    identity = identify(digests(range(1000)), None, None)
    first, again, other = (place(identity, np.zeros(1000, np.int64), seed) for seed in (0, 0, 1))
    assert (first == again).all()
    assert counts(first) == counts(other)
    assert 0.3 < (first == other).mean() < 0.46  # 0.38 by chance


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 30), min_size=40, max_size=200), st.integers(0, 9))
def test_groups_stay_whole(groups, seed):
    groups = np.array(groups)
    identity = identify(digests(range(len(groups))), digests(groups), None)
    codes = place(identity, np.arange(len(groups)) % 2, seed)
    for group in np.unique(groups):
        assert len(set(codes[groups == group].tolist())) == 1


@pytest.mark.parametrize(
    ("values", "by_row"),
    [
        (range(200), False),
        ([*range(198), 1, 2], False),
        ([*range(197), 1, 1, 1], True),  # one row four times: 2 %
        ([*range(99), *range(101)], False),
        ([*range(99), *range(99), *range(99)], True),  # a third distinct
    ],
)
def test_low_cardinality_is_split_by_row(values, by_row):
    identity = identify(digests(values), None, None)
    assert identity.by_row == by_row
    if by_row:
        assert len(identity.keys) == len(list(values))


def test_shares_hold_on_low_cardinality_tables():
    """The content hash alone made parts of 16 to 49 % where 30 % was meant."""
    identity = identify(digests(np.random.default_rng(0).integers(0, 8, 2000)), None, None)
    codes = place(identity, np.zeros(2000, np.int64), 0)
    assert counts(codes) == {"train": 600, "selection": 400, "certification": 1000}


def test_ids_tell_rows_apart_where_inputs_repeat():
    identity = identify(digests([0] * 400), None, digests(range(400)))
    codes = place(identity, np.zeros(400, np.int64), 0)
    turned = identify(digests([0] * 400), None, digests(range(399, -1, -1)))
    assert (place(turned, np.zeros(400, np.int64), 0)[::-1] == codes).all()


def test_rows_without_label_train_or_are_left_out():
    labels = np.array([0, 1] * 100 + [-1] * 50)
    own = digests([*range(200), *range(1000, 1050)])
    codes = place(identify(own, None, None), labels, 0)
    assert (codes[200:] == CODES["train"]).all()
    assert counts(codes[:200]) == {"train": 60, "selection": 40, "certification": 100}
    twins = place(identify(digests([*range(200), *range(50)]), None, None), labels, 0)
    assert (np.where(twins[:50] == CODES["train"], twins[:50], -1) == twins[200:]).all()


def test_many_small_classes_still_leave_rows_to_compare_on():
    labels = np.repeat(np.arange(7), 2)
    codes = place(identify(digests(range(14)), None, None), labels, 0)
    assert all(2 <= n <= 8 for n in counts(codes).values())


def test_a_test_set_alone_is_cut_two_to_five():
    codes = place(identify(digests(range(700)), None, None), np.zeros(700, np.int64), 0, TEST_SHARES)
    assert counts(codes) == {"train": 0, "selection": 200, "certification": 500}


def test_numbers_are_cut_into_tenths():
    values = np.array([*np.arange(100.0), np.nan])
    strata = strata_of(values, 101)
    assert strata[-1] == -1
    assert np.bincount(strata[:-1]).tolist() == [10] * 10
    assert strata_of(np.ones(5), 5).tolist() == [9] * 5
    assert strata_of(None, 3).tolist() == [0, 0, 0]


def test_calibration_is_a_fair_share_of_train():
    strata = np.repeat([0, 1, 2], [9000, 900, 100])
    rows = np.arange(10_000) * 3
    chosen = draw_calibration(rows, strata, digests(range(10_000)), 0)
    assert len(chosen) == MOST_CALIBRATION
    assert (np.diff(chosen) > 0).all()
    assert np.bincount(strata[chosen // 3]).tolist() == [1800, 180, 20]
    few = draw_calibration(rows[:50], strata[:50], digests(range(50)), 0)
    assert few.tolist() == rows[:50].tolist()


def test_of_several_labels_the_rarest_counts():
    labels = np.array([[1, 1, 0], [1, 0, 0], [1, 0, 1], [0, 0, 0], [1, 1, 1], [-1, -1, -1]], np.int8)
    assert strata_of(labels, 6).tolist() == [1, 0, 2, 3, 1, -1]  # b and c are in two rows each: the first of equals


def test_a_rare_label_reaches_every_split():
    rng = np.random.default_rng(0)
    labels = (rng.random((1000, 4)) < [0.6, 0.3, 0.1, 0.02]).astype(np.int8)
    codes = place(identify(digests(range(1000)), None, None), strata_of(labels, 1000), seed=0)
    rare = labels[:, 3] == 1
    for name, share in SHARES:
        assert abs((rare & (codes == CODES[name])).sum() - share * rare.sum()) < 1.01
