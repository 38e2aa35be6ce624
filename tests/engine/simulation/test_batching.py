import numpy as np
import pytest
import simpy

from engine.simulation.arrivals import poisson
from engine.simulation.batching import _serve, simulate


def call_ms(cap, fixed=5.0, per_item=0.2):
    return fixed + per_item * np.arange(cap + 1)


@pytest.mark.parametrize(
    ("arrivals", "cap", "wait", "more", "latencies", "sizes", "busy"),
    [
        ([0, 1, 2, 3], 4, 0, {}, [5.2, 9.8, 8.8, 7.8], [1, 3], 10.8),
        ([0, 1, 2, 3], 4, 10, {}, [8.8, 7.8, 6.8, 5.8], [4], 5.8),
        ([0, 1, 2, 3], 4, 2, {}, [7.6, 6.6, 5.6, 9.8], [3, 1], 10.8),
        ([0, 1, 2, 3, 4], 2, 10, {}, [6.4, 5.4, 9.8, 8.8, 15.2], [2, 2, 1], 16.0),
        ([0, 1, 2, 3, 4], 4, 10, {"preferred": (2,)}, [6.4, 5.4, 9.8, 8.8, 15.2], [2, 2, 1], 16.0),
        ([0, 0, 0, 0], 2, 0, {"n_instances": 2}, [5.4] * 4, [2, 2], 10.8),
    ],
)
def test_vectors(arrivals, cap, wait, more, latencies, sizes, busy):
    done = simulate(np.array(arrivals, float), call_ms(cap), wait, **more)
    assert done.latency_ms == pytest.approx(latencies)
    assert done.sizes.tolist() == sizes
    assert done.busy_ms == pytest.approx(busy)


@pytest.mark.parametrize(
    ("cap", "wait", "p50", "p95", "p99", "mean_batch", "busy"),
    [
        (8, 0, 10.32, 15.75, 19.43, 6.26, 1.00),
        (16, 0, 9.57, 12.72, 13.63, 6.26, 1.00),
        (16, 5, 9.85, 12.76, 13.66, 6.63, 0.955),
        (16, 10, 12.73, 17.29, 17.80, 10.89, 0.66),
        (128, 0, 9.57, 12.72, 13.63, 6.26, 1.00),
    ],
)
def test_a_thousand_requests_per_second(cap, wait, p50, p95, p99, mean_batch, busy):
    arrivals = 1000 * poisson(1000, 200_000, seed=42)
    done = simulate(arrivals, call_ms(cap), wait)
    assert np.percentile(done.latency_ms, [50, 95, 99]) == pytest.approx([p50, p95, p99], rel=0.02)
    assert (done.sizes.mean(), done.busy_ms / arrivals[-1]) == pytest.approx((mean_batch, busy), rel=0.02)


def test_waiting_is_pure_cost_at_low_traffic():
    arrivals = 1000 * poisson(10, 20_000, seed=1)
    assert np.median(simulate(arrivals, call_ms(32), 0).latency_ms) == pytest.approx(5.2)
    assert np.median(simulate(arrivals, call_ms(32), 5).latency_ms) == pytest.approx(10.2)


def test_one_request_a_call_is_the_recursion_of_lindley():
    arrivals = 1000 * poisson(150, 50_000, seed=3)
    waits = np.zeros(len(arrivals))
    for k, gap in enumerate(np.diff(arrivals)):
        waits[k + 1] = max(0.0, waits[k] + 5.2 - gap)
    assert np.abs(simulate(arrivals, call_ms(1), 0).latency_ms - (waits + 5.2)).max() < 1e-6


@pytest.mark.parametrize("busy", [0.5, 0.8])
def test_constant_service_waits_as_m_d_1(busy):
    arrivals = 1000 * poisson(1000 * busy / 5.2, 1_000_000, seed=4)
    waited = simulate(arrivals, call_ms(1), 0).latency_ms.mean() - 5.2
    assert waited == pytest.approx(5.2 * busy / (2 * (1 - busy)), rel=0.02)


@pytest.mark.parametrize(
    ("cap", "wait", "instances"), [(1, 0, 1), (8, 0, 1), (16, 5, 1), (4, 3, 2), (8, 10, 3), (3, 1, 5)]
)
def test_the_same_as_simpy(cap, wait, instances):
    arrivals = 1000 * poisson(700, 4000, seed=cap)
    latency, sizes = by_simpy(arrivals, call_ms(cap), wait, instances)
    done = simulate(arrivals, call_ms(cap), wait, n_instances=instances)
    assert np.abs(done.latency_ms - latency).max() < 1e-9
    assert done.sizes.tolist() == sizes


def by_simpy(arrivals, call_ms, wait, instances):
    """Instances take turns at a door, in the order in which they became free; who holds it gathers a batch."""
    env, cap = simpy.Environment(), len(call_ms) - 1
    queue, latency, sizes = [], np.empty(len(arrivals)), []
    door, came = simpy.Resource(env, 1), [env.event()]

    def arrive():
        for number, at in enumerate(arrivals):
            yield simpy.events.Timeout(env, at - env.now)
            queue.append((number, at))
            came[0].succeed()
            came[0] = env.event()

    def instance():
        while True:
            with door.request() as turn:
                yield turn
                while not queue:
                    yield came[0]
                deadline = env.timeout(max(0.0, queue[0][1] + wait - env.now))
                while len(queue) < cap and not deadline.processed:
                    yield came[0] | deadline
                batch, queue[:] = queue[:cap], queue[cap:]
                sizes.append(len(batch))
            yield env.timeout(call_ms[len(batch)])
            for number, at in batch:
                latency[number] = env.now - at

    env.process(arrive())
    for _ in range(instances):
        env.process(instance())
    env.run()
    return latency, sizes


def test_an_arrival_at_the_deadline_is_in():
    assert simulate(np.array([0.0, 2.0]), call_ms(4), 2).sizes.tolist() == [2]


def test_a_larger_preferred_size_goes_first():
    done = simulate(np.zeros(7), call_ms(8), 1, preferred=(2, 4))
    assert done.sizes.tolist() == [4, 2, 1]


def test_compiled_and_plain_give_the_same_numbers():
    arrivals = 1000 * poisson(1000, 5000, seed=8)
    done = simulate(arrivals, call_ms(16), 3.0, n_instances=2, preferred=(4,))
    latency, sizes = np.empty(5000), np.empty(5000, np.int64)
    n_batches, busy = _serve(arrivals, call_ms(16), 3.0, np.array([4, 16]), np.full(2, -np.inf), latency, sizes)
    assert (done.latency_ms == latency).all()
    assert (done.sizes == sizes[:n_batches]).all()
    assert done.busy_ms == busy
