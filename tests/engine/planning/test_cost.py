import math

import pytest

from engine.errors import BadData, InvalidRequest
from engine.planning.cost import break_even, cost_per_1k, fleet, hourly_cost, plan_cost, replicas, savings
from engine.planning.traffic import day_wave, read_day
from engine.records import Interval
from engine.records.checked import checked
from engine.records.planning import Demand, Machine, Reserve
from engine.reports.plan_cost import answer, saving_sentence


def machine(name, rate, price, low=None, high=None):
    return Machine(name=name, requests_per_s=Interval(value=rate, low=low, high=high), price_per_hour=price)


CPU, GPU = machine("CPU", 50, 40), machine("GPU", 600, 250)
RESERVE = Reserve(headroom=0.3, min_replicas=2)
DEMAND = Demand(peak_per_s=278)


def test_the_278_requests_table():
    cpu, gpu = plan_cost([CPU, GPU], DEMAND, RESERVE, "INR").fleets
    assert (round(cpu.cost_per_1k_full, 3), cpu.n_replicas, cpu.cost_per_month) == (0.222, 8, 230_400)
    assert (round(gpu.cost_per_1k_full, 3), gpu.n_replicas, gpu.cost_per_month) == (0.116, 2, 360_000)
    assert (round(cpu.exact_replicas, 3), round(gpu.exact_replicas, 3)) == (7.228, 0.602)
    assert (cpu.why, gpu.why) == ("the peak", "the minimum")
    assert gpu.cost_per_month / cpu.cost_per_month - 1 == pytest.approx(0.5625)
    assert cpu.busy_fraction_one_lost == pytest.approx(0.794, abs=5e-4)


def test_the_answer_comes_first():
    plan = plan_cost([CPU, GPU], DEMAND, RESERVE, "INR")
    assert answer(plan).replace("\u202f", " ") == (
        "8 CPU replicas, ₹2.3 lakh a month; the GPU would pay off from a peak of 462 requests/s"
    )
    assert plan.break_even_peak == 462
    later = plan_cost([CPU, GPU], Demand(peak_per_s=1000), RESERVE, "INR")
    assert "GPU replicas" in answer(later)
    assert "cheaper than the CPU from a peak of 462 requests/s" in answer(later)


def test_headroom_is_on_the_peak():
    assert replicas(260, 50, RESERVE) == 7


@pytest.mark.parametrize(("peak", "rate", "exact"), [(50, 11, 5), (700, 77, 10), (100, 11, 10)])
def test_binary_fractions_do_not_buy_a_machine(peak, rate, exact):
    assert math.ceil(peak * 1.1 / rate) >= exact
    assert replicas(peak, rate, Reserve(headroom=0.1, min_replicas=1)) == exact


def test_n_plus_one():
    assert replicas(278, 50, Reserve(headroom=0.3, spare=True)) == 8
    lonely = fleet(CPU, Demand(peak_per_s=50), Reserve(headroom=0, min_replicas=1, spare=True))
    assert (lonely.n_replicas, lonely.why, lonely.busy_fraction_one_lost) == (2, "a lost replica", 1.0)
    alone = fleet(CPU, Demand(peak_per_s=50), Reserve(headroom=0, min_replicas=1))
    assert (alone.n_replicas, alone.busy_fraction_one_lost, alone.queue) == (1, None, None)


@pytest.mark.parametrize(
    ("average", "cpu", "gpu"),
    [(278, 0.3197, 0.4996), (100, 0.8889, 1.3889), (50, 1.7778, 2.7778), (10, 8.8889, 13.8889)],
)
def test_cost_at_real_traffic(average, cpu, gpu):
    plan = plan_cost([CPU, GPU], Demand(peak_per_s=278, average_per_s=average), RESERVE)
    assert [round(one.cost_per_1k_real, 4) for one in plan.fleets] == [cpu, gpu]


@pytest.mark.parametrize(
    ("batch", "rate"), [(1, 192), (2, 370), (4, 690), (8, 1212), (16, 1951), (32, 2807), (64, 3596), (128, 4183)]
)
def test_throughput_of_the_curve(batch, rate):
    assert round(1000 * batch / (5 + 0.2 * batch)) == rate
    assert cost_per_1k(40, 50) == pytest.approx(0.222222, abs=5e-7)


def test_break_even_is_where_it_stays_cheaper():
    assert hourly_cost(CPU, [461, 462], RESERVE) == [480, 520]
    assert hourly_cost(GPU, [461, 462], RESERVE) == [500, 500]
    peaks = range(462, 20_001)
    assert all(g < c for g, c in zip(hourly_cost(GPU, peaks, RESERVE), hourly_cost(CPU, peaks, RESERVE), strict=True))


@pytest.mark.parametrize(
    ("leader", "other", "reserve"),
    [
        (machine("a", 7, 3), machine("b", 5, 2.5), Reserve(headroom=0.2, min_replicas=3)),
        (machine("a", 33, 10), machine("b", 10, 3.1), Reserve(headroom=0.0, min_replicas=1, spare=True)),
        (machine("a", 900, 90), machine("b", 1, 0.2), Reserve(headroom=0.5, min_replicas=2)),
        (machine("a", 10, 1), machine("b", 10, 2), Reserve()),
    ],
)
def test_break_even_against_looking_at_every_peak(leader, other, reserve):
    peaks = range(1, 6001)
    dearer = [
        peak
        for peak, a, b in zip(
            peaks, hourly_cost(leader, peaks, reserve), hourly_cost(other, peaks, reserve), strict=True
        )
        if a >= b
    ]
    assert break_even(leader, other, reserve).peak_per_s == max(dearer, default=0) + 1


def test_equal_costs_never_break_even():
    found = break_even(machine("a", 10, 1), machine("b", 20, 2), RESERVE)
    assert found.peak_per_s is None
    plan = plan_cost([machine("a", 10, 1), machine("b", 20, 2)], DEMAND, RESERVE)
    assert plan.break_even_peak is None
    assert "no peak was found" in answer(plan)
    assert break_even(machine("a", 10, 1.0), machine("b", 10, 1.0000000001), RESERVE).peak_per_s is None


def test_one_machine_has_no_break_even():
    assert plan_cost([CPU], DEMAND, RESERVE).break_even_peak is None
    assert answer(plan_cost([CPU], DEMAND, RESERVE, "INR")).endswith("a month")


def test_the_day():
    day = day_wave(278, 0.2)
    assert day == pytest.approx([278 * (0.6 + 0.4 * math.cos(2 * math.pi * (h - 14) / 24)) for h in range(24)])
    demand = Demand(peak_per_s=278, day_per_s=day)
    assert demand.mean_per_s == pytest.approx(166.8)
    cpu, gpu = plan_cost([CPU, GPU], demand, RESERVE).day
    assert cpu.replicas == (2, 2, 2, 2, 2, 3, 3, 4, 5, 6, 6, 7, 7, 8, 8, 8, 7, 7, 6, 6, 5, 4, 3, 3)
    assert (cpu.replica_hours, cpu.cost_per_day, cpu.static_cost_per_day) == (116, 4640, 7680)
    assert round(1 - cpu.cost_per_day / cpu.static_cost_per_day, 3) == 0.396
    assert gpu.cost_per_day == gpu.static_cost_per_day == 12_000
    figures = [round(one, 4) for one in (cpu.cost_per_1k, cpu.static_cost_per_1k, gpu.cost_per_1k)]
    assert figures == [0.3220, 0.5329, 0.8327]


def test_a_day_from_a_file():
    assert read_day("10\n20\n\n30\n") == (10, 20, 30)
    assert read_day("\ufeffhour,requests_per_s\n0,5\n1,7.5\n") == (5, 7.5)
    for text, says in [
        ("", "is empty"),
        ("hour,rate\n0,1\n", "no column requests_per_s"),
        ("requests_per_s\n", "no line below"),
        ("1\nmany\n", "line 2: 'many'"),
        ("hour,requests_per_s\n0\n", "line 2: ''"),
        ("1\n-1\n", "line 2: requests/s must be 0 or more"),
        ("1\nnan\n", "line 2"),
    ]:
        with pytest.raises(BadData, match=says):
            read_day(text)


def test_money_saved_has_the_interval_of_the_throughput():
    demand, base = Demand(peak_per_s=1000), machine("original", 50, 40)
    (saving,) = savings(base, [machine("int8", 150, 40, 120, 180)], demand, RESERVE)
    assert saving.fleet.n_replicas == 9
    month = 40 * 720
    assert saving.saved_per_month == Interval(value=(26 - 9) * month, low=(26 - 11) * month, high=(26 - 8) * month)
    assert saving_sentence(saving, "INR").replace("\u202f", " ") == (
        "saves ₹4.9 lakh a month (₹4.3 lakh to ₹5.2 lakh) against the baseline at this traffic"
    )
    (both,) = savings(machine("original", 50, 40, 45, 55), [machine("int8", 150, 40, 120, 180)], demand, RESERVE)
    assert (both.saved_per_month.low, both.saved_per_month.high) == ((24 - 11) * month, (29 - 8) * month)
    (unsure,) = savings(base, [machine("int8", 150, 40)], demand, RESERVE)
    assert unsure.saved_per_month == Interval(value=17 * month)


def test_a_dearer_variant_says_so():
    (saving,) = savings(CPU, [machine("slow", 25, 40, 24, 26)], DEMAND, RESERVE)
    text = saving_sentence(saving, "INR").replace("\u202f", " ")
    assert text == "costs ₹2.0 lakh more a month (₹1.7 lakh to ₹2.3 lakh) against the baseline at this traffic"


def test_a_limit_on_p99():
    kept, not_kept = plan_cost([machine("a", 50, 1), machine("b", 5, 1)], DEMAND, RESERVE, p99_ms=100).slo_fleets
    assert kept.n_replicas == 8
    assert not_kept.n_replicas is None
    assert "no number of replicas keeps 100 ms" in not_kept.why


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"peak_per_s": 0}, "peak_per_s = 0"),
        ({"peak_per_s": -1}, "peak_per_s = -1"),
        ({"peak_per_s": math.nan}, "peak_per_s"),
        ({"peak_per_s": math.inf}, "peak_per_s"),
        ({"peak_per_s": 5, "average_per_s": 0}, "no traffic"),
        ({"peak_per_s": 5, "average_per_s": 6}, "above the peak"),
        ({"peak_per_s": 5, "day_per_s": (0, 0)}, "no traffic"),
        ({"peak_per_s": 5, "day_per_s": (6, 0)}, "the day reaches 6 requests/s"),
    ],
)
def test_silly_demand_gets_a_sentence(values, says):
    with pytest.raises(InvalidRequest, match=says):
        checked(Demand, **values)


@pytest.mark.parametrize("rate", [0, -1, math.nan, math.inf])
def test_silly_machines_get_a_sentence(rate):
    with pytest.raises(InvalidRequest, match="requests/s must be above 0"):
        checked(Machine, name="cpu", requests_per_s=Interval(value=rate), price_per_hour=1)
    with pytest.raises(InvalidRequest, match="requests/s must be above 0"):
        machine("cpu", 10, 1, low=rate, high=20)


def test_no_machine_and_twins_are_refused():
    with pytest.raises(InvalidRequest, match="no machine"):
        plan_cost([], DEMAND, RESERVE)
    with pytest.raises(InvalidRequest, match="two machines are called 'CPU'"):
        plan_cost([CPU, CPU], DEMAND, RESERVE)
