import pytest

from engine.reports import numbers

S = numbers.SPACE


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0.84, f"840{S}µs"),
        (0.0042, f"4.20{S}µs"),
        (4.21, f"4.21{S}ms"),
        (24.8, f"24.8{S}ms"),
        (1420, f"1.42{S}s"),
        (0.9996, f"1.00{S}ms"),
        (999.4, f"999{S}ms"),
        (999.6, f"1.00{S}s"),
        (0, f"0{S}ms"),
        (None, "–"),
    ],
)
def test_latency(ms, text):
    assert numbers.latency(ms) == text


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (4183.01, "4,183"),
        (192.31, "192"),
        (2807.02, "2,807"),
        (99_999.4, "99,999"),
        (123_456, "123k"),
        (0.4217, "0.422"),
    ],
)
def test_rate(rate, text):
    assert numbers.rate(rate) == f"{text}{S}items/s"


@pytest.mark.parametrize(
    ("size", "text"),
    [(412e6, f"412{S}MB"), (999, f"999{S}bytes"), (1234, f"1.23{S}kB"), (999_960, f"1.00{S}MB"), (4.1e9, f"4.10{S}GB")],
)
def test_size(size, text):
    assert numbers.size(size) == text


def test_quality():
    assert numbers.quality(0.91337, "roc_auc") == "91.34%"
    assert numbers.quality(1234.56, "rmse") == "1,235"
    assert numbers.quality(0.0123456, "rmse") == "0.01235"
    assert numbers.quality(None, "accuracy") == "–"


def test_a_difference_of_shares_is_in_points():
    assert numbers.points(-0.0018) == f"−0.18{S}points"
    assert numbers.points(0.00001) == f"0.00{S}points"
    assert numbers.quality_change(0.0018, "roc_auc", relative=False) == f"−0.18{S}points"
    assert numbers.quality_change(-0.0018, "roc_auc", relative=False) == f"+0.18{S}points"
    assert numbers.quality_change(0.012, "rmse", relative=True) == "+1.20%"
    assert numbers.quality_change(None, "rmse", relative=True) == "–"


@pytest.mark.parametrize(("ratio", "text"), [(4.0, "4.0×"), (1.0, "1.0×"), (0.83, "0.83×"), (None, "–")])
def test_times(ratio, text):
    assert numbers.times(ratio) == text


def test_change_says_which_way_and_whether_that_is_good():
    assert numbers.change(1, 4) == (f"▼{S}75%", "better")
    assert numbers.change(5, 4) == (f"▲{S}25%", "worse")
    assert numbers.change(5, 4, better="higher") == (f"▲{S}25%", "better")
    assert numbers.change(4.2, 4, certain=False) == ("within noise", "same")
    assert numbers.change(4.001, 4) == ("no change", "same")


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [
        (0.2222, "INR", "₹0.222"),
        (230_400, "INR", f"₹2.3{S}lakh"),
        (36_600_000, "INR", f"₹3.7{S}crore"),
        (1240, "EUR", "€1,240"),
        (99.96, "USD", "$100"),
        (0.000123, "USD", "$0.000123"),
        (12.5, "CHF", f"CHF{S}12.5"),
        (None, "USD", "–"),
    ],
)
def test_money(amount, currency, text):
    assert numbers.money(amount, currency) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(4.23, f"4.2{S}s"), (9.97, f"10{S}s"), (48.4, f"48{S}s"), (125, f"2{S}min 05{S}s"), (4325, f"1{S}h 12{S}min")],
)
def test_duration(seconds, text):
    assert numbers.duration(seconds) == text


def test_a_column_has_one_unit_and_lines_up():
    pad = numbers.FIGURE_SPACE
    assert numbers.column([24.8, 6.21, 128.04, None], "ms") == [
        f"{pad}24.8{S}ms",
        f"{pad * 2}6.2{S}ms",
        f"128.0{S}ms",
        "–",
    ]
    assert numbers.column([]) == []
    assert numbers.column([0.0, -1.5]) == [f"{pad}0.00", "−1.50"]


def test_intervals_and_percent():
    assert numbers.between("−0.34", "−0.03") == "−0.34 to −0.03"
    assert numbers.percent(0.67) == "67%"
    assert numbers.percent(-0.0123, 1) == "−1.2%"


@pytest.mark.parametrize("metric", ["rmse", "mae", "pinball", "log_loss", "brier"])
def test_a_loss_has_its_own_unit_and_moves_in_per_cent(metric):
    assert numbers.quality(0.279777, metric) == "0.2798"
    assert numbers.quality_change(0.012, metric, relative=False) == "+1.20%"


def test_a_drop_and_its_bound():
    assert numbers.loss_amount(0.0041, relative=False) == f"0.41{S}points"
    assert numbers.loss_amount(-0.0041, relative=False) == f"−0.41{S}points"
    assert numbers.loss_amount(0.012, relative=True) == "1.20%"
    assert numbers.loss_amount(0.0, relative=True) == "0.00%"
    assert numbers.loss_amount(None, relative=True) == "–"


def test_a_column_shows_its_smallest_with_two_figures():
    assert numbers.column([24.8, 0.045], "ms") == [f"24.800{S}ms", f"{numbers.FIGURE_SPACE}0.045{S}ms"]
    assert numbers.decimals([1240.0, 980.0]) == 0
    assert numbers.decimals([1.0, 1e-12]) == numbers.MOST_DECIMALS
    assert numbers.decimals([None, 0.0]) == 2


def test_a_column_may_have_a_currency_and_given_decimals():
    assert numbers.column([0.25, None, 12.5], places=2, symbol="$") == [f"{numbers.FIGURE_SPACE}$0.25", "–", "$12.50"]
    assert numbers.column([50.0, 100.0], "%", places=0) == [f"{numbers.FIGURE_SPACE}50%", "100%"]


@pytest.mark.parametrize(
    ("ms", "unit", "factor"),
    [(0.84, "µs", 1000), (0.9996, "ms", 1), (24.8, "ms", 1), (1420, "s", 0.001), (None, "ms", 1)],
)
def test_the_unit_of_a_column_of_times(ms, unit, factor):
    assert numbers.time_unit(ms) == (unit, factor)


@pytest.mark.parametrize(
    ("size", "unit", "factor"),
    [(900, "bytes", 1), (1500, "kB", 1e-3), (4.2e6, "MB", 1e-6), (3e9, "GB", 1e-9), (None, "MB", 1e-6)],
)
def test_the_unit_of_a_column_of_sizes(size, unit, factor):
    assert numbers.size_unit(size) == (unit, pytest.approx(factor))
