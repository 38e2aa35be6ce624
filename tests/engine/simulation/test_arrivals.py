import numpy as np
import pytest

from engine.errors import BadData, InvalidRequest
from engine.simulation.arrivals import lognormal_service, poisson, read_times, steps


def test_steps_keep_their_rates():
    arrivals = steps(((80, 1200), (278, 1200), (80, 1200)), seed=0)
    counts = np.histogram(arrivals, [0, 1200, 2400, 3600])[0]
    assert counts == pytest.approx([96_000, 333_600, 96_000], rel=0.02)
    assert (np.diff(arrivals) >= 0).all()


def test_service_times_have_the_mean_and_the_spread_asked_for():
    times = lognormal_service(0.02, 0.5, 200_000, seed=0)
    assert times.mean() == pytest.approx(0.02, rel=0.01)
    assert times.std() / times.mean() == pytest.approx(0.5, rel=0.02)
    assert set(lognormal_service(0.02, 0, 3, seed=0)) == {0.02}


def test_the_same_seed_gives_the_same_traffic():
    assert (poisson(5, 100, seed=4) == poisson(5, 100, seed=4)).all()
    assert (poisson(5, 100, seed=4) != poisson(5, 100, seed=5)).any()


def test_a_recording_is_read():
    assert read_times("arrival_s\n0.5\n1.25\n\n2\n").tolist() == [0.5, 1.25, 2]


@pytest.mark.parametrize("text", ["", "arrival_s\n", "1\nx\n", "1\n-2\n", "1\nnan\n"])
def test_what_is_no_recording_is_refused(text):
    with pytest.raises(BadData):
        read_times(text)


@pytest.mark.parametrize("rates", [(), ((-1, 10),), ((1, 0),), ((0, 10),), ((1e6, 1e6),)])
def test_no_or_too_much_traffic_is_refused(rates):
    with pytest.raises(InvalidRequest):
        steps(rates, seed=0)
