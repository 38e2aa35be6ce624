from engine.records import OperatorCost, OperatorProfile
from engine.reports.operators import operator_rows


def cost(op, n, ms, share):
    return OperatorCost(op=op, n=n, total_ms=ms, share=share)


BEFORE = (cost("MatMul", 3, 8.1, 0.81), cost("Add", 2, 1.85, 0.185), cost("Exp", 1, 0.04, 0.004))
AFTER = (cost("QLinearMatMul", 3, 2.0, 0.62), cost("Add", 2, 1.2, 0.37), cost("Neg", 1, 0.03, 0.003))


def profile(after=AFTER):
    return OperatorProfile(before=BEFORE, after=after, batch_size=8, n_calls=50, reading="…")


def test_the_dearest_of_either_side_leads():
    rows = operator_rows(profile())
    assert [row["operator"] for row in rows] == ["MatMul", "QLinearMatMul", "Add", "2 smaller"]
    assert list(rows[0]) == [
        "operator", "n before", "time before", "share before", "n after", "time after", "share after",
    ]  # fmt: skip
    assert (rows[0]["n before"], rows[0]["share before"], rows[0]["share after"]) == ("3", "81.0%", "")
    assert (rows[2]["share before"], rows[2]["share after"]) == ("18.5%", "37.0%")
    assert (rows[3]["n before"], rows[3]["n after"], rows[3]["share before"]) == ("1", "1", "0.4%")


def test_the_original_alone_has_one_side():
    assert list(operator_rows(profile(after=()))[0]) == ["operator", "n before", "time before", "share before"]


def test_no_profile_is_no_row():
    nothing = OperatorProfile(batch_size=1, n_calls=3, reading="the runtime x has no operator profiler")
    assert operator_rows(nothing) == []
