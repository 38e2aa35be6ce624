import pytest

from engine.records.autoscaling import Hpa, Policy
from engine.simulation.autoscale.fleet import View
from engine.simulation.autoscale.hpa import (
    HpaScaler,
    desired,
    desired_of_total,
    desired_with_starting,
    limit_down,
    limit_up,
)

DEFAULT = Hpa()


@pytest.mark.parametrize(
    ("current", "metric", "target", "wanted"),
    [
        (4, 200, 100, 8),
        (4, 50, 100, 2),
        (10, 109, 100, 10),
        (10, 111, 100, 12),
        (10, 91, 100, 10),
        (10, 89, 100, 9),
        (50, 90, 75, 60),
        (3, 100, 90, 4),
    ],
)
def test_the_documented_rule(current, metric, target, wanted):
    assert desired(current, metric, target) == wanted
    assert desired_with_starting(current, 0, metric, target) == wanted
    assert desired_of_total(current, metric * current, target) == wanted


def test_starting_replicas_count_as_nothing_upwards_and_never_turn_the_direction():
    assert desired_with_starting(4, 0, 200, 100) == 8
    assert desired_with_starting(4, 2, 200, 100) == 8  # 133 per replica of 6
    assert desired_with_starting(4, 4, 200, 100) == 8  # 100 per replica of 8
    assert desired_with_starting(4, 6, 200, 100) == 10  # 80 per replica would be fewer: no action


@pytest.mark.parametrize(("begin", "most"), [(1, 5), (2, 6), (4, 8), (5, 10), (10, 20)])
def test_the_default_pace_upwards(begin, most):
    assert limit_up([begin, begin], DEFAULT.up) == most


def test_ten_per_cent_downwards_round_up_what_leaves():
    policy = (Policy(kind="percent", value=10, period_s=60),)
    assert [limit_down([80], policy), limit_down([72], policy)] == [72, 64]


def view(now_s, ready, in_flight):
    return View(now_s, ready, 0, 0, in_flight, 0, 0.0, 0.0)


def test_downwards_the_highest_recommendation_of_the_window_stands():
    scaler = HpaScaler(Hpa(signal="in_flight", target=1, down_window_s=60), 8)
    looks = [(15, 8), (30, 2), (45, 5), (60, 2), (75, 2), (90, 2), (105, 2), (120, 2)]
    assert [scaler.decide(view(at, 8, load)) for at, load in looks] == [8, 8, 8, 8, 8, 5, 5, 2]


def test_a_policy_counts_what_was_added_in_its_period():
    rules = Hpa(signal="in_flight", target=1, up=(Policy(kind="pods", value=4, period_s=60),))
    scaler = HpaScaler(rules, 2)
    assert scaler.decide(view(15, 2, 50)) == 6
    assert scaler.decide(view(30, 6, 50)) == 6  # four within the last 60 s already
    assert scaler.decide(view(75, 6, 50)) == 10
