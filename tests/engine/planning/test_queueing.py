import math

import pytest

from engine.errors import InvalidRequest
from engine.planning.queueing import (
    erlang_c,
    fewest_servers,
    mean_wait_s,
    queue_check,
    total_quantile_s,
    total_tail,
    wait_quantile_s,
)


@pytest.mark.parametrize(
    ("servers", "offered", "waits"),
    [(1, 0.5, 0.5), (2, 1.0, 0.333333), (8, 5.56, 0.262745), (10, 8.0, 0.409180)],
)
def test_erlang_c(servers, offered, waits):
    assert erlang_c(servers, offered) == pytest.approx(waits, abs=5e-7)


def test_the_278_requests_queue():
    check = queue_check(8, 278, 0.020, variation=(1 + 0.25) / 2)
    assert check.busy_fraction == pytest.approx(0.695)
    assert check.mean_wait_ms == pytest.approx(2.154, abs=5e-4)
    assert check.p99_wait_ms == pytest.approx(26.79, abs=5e-3)
    assert check.p99_ms == pytest.approx(95.45, abs=5e-3)
    assert check.adjusted_mean_wait_ms == pytest.approx(1.346, abs=5e-4)


@pytest.mark.parametrize(("servers", "p99_ms"), [(6, 225.9), (7, 105.7), (8, 95.45)])
def test_p99_by_servers(servers, p99_ms):
    assert 1000 * total_quantile_s(servers, 278, 0.020, 0.99) == pytest.approx(p99_ms, abs=0.06)


@pytest.mark.parametrize(("slo_ms", "servers"), [(100, 8), (120, 7), (150, 7), (250, 6)])
def test_fewest_servers(slo_ms, servers):
    assert fewest_servers(278, 0.020, slo_ms / 1000) == servers


@pytest.mark.parametrize(("busy", "p99_ms"), [(0.5, 184), (0.7, 307), (0.8, 461), (0.9, 921), (0.95, 1842)])
def test_one_server_has_the_closed_form(busy, p99_ms):
    exact_ms = 20 / (1 - busy) * math.log(100)
    assert 1000 * total_quantile_s(1, busy / 0.020, 0.020, 0.99) == pytest.approx(exact_ms, rel=1e-9)
    assert exact_ms == pytest.approx(p99_ms, abs=0.6)


def test_the_two_forms_of_the_tail_meet():
    # the spare capacity of two servers at rate 1/s with service 1 s is exactly the rate of one server
    at, beside = total_tail(1.5, 2, 1.0, 1.0), total_tail(1.5, 2, 1.0 + 1e-5, 1.0)
    assert at == pytest.approx(beside, rel=1e-4)
    assert total_tail(1.5, 2, 1.0 + 3e-7, 1.0) == pytest.approx(at, rel=1e-6)


def test_few_waits_give_no_wait_percentile():
    assert wait_quantile_s(50, 1, 0.020, 0.99) == 0.0


@pytest.mark.parametrize("call", [mean_wait_s, lambda *a: total_quantile_s(*a, 0.99), queue_check])
@pytest.mark.parametrize(
    ("servers", "rate", "says"),
    [
        (8, 400, r"unstable: 400/s exceeds 400/s, what 8 replicas can do"),
        (8, 1000, r"unstable: 1,000/s exceeds 400/s"),
        (0, 1, "got 0 servers"),
        (1, 0, "0 requests/s"),
        (10**9, 1, "at most 100,000 replicas"),
    ],
)
def test_silly_queues_get_a_sentence(call, servers, rate, says):
    with pytest.raises(InvalidRequest, match=says):
        call(servers, rate, 0.020)


def test_a_limit_below_service_time_is_refused():
    with pytest.raises(InvalidRequest, match=r"no number of replicas keeps 90 ms.*already 92.1 ms"):
        fewest_servers(278, 0.020, 0.090)
    with pytest.raises(InvalidRequest, match="more than 50,000 replicas"):
        fewest_servers(1e9, 0.020, 0.1)
