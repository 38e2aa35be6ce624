import pytest

from engine.errors import InvalidRequest
from engine.reports.feature_cost import Cost, read_costs

TEXT = "feature,group,ms,price\nage,profile,3,0.01\nincome,profile,8,0\nclicks,,5,0.2\nscore,bureau,40,1.5\n"


@pytest.fixture
def costs(tmp_path):
    (tmp_path / "costs.csv").write_text(TEXT)
    return read_costs(tmp_path / "costs.csv")


def test_a_group_is_one_fetch_and_goes_as_a_whole(costs):
    everything = ("age", "income", "clicks", "score", "free")
    assert costs.saved(everything, everything) == Cost(0.0, 0.0)
    assert costs.saved(("age", "clicks"), everything) == Cost(40.0, 1.5)
    assert costs.saved(("clicks",), everything) == Cost(48.0, 1.51)
    assert costs.saved((), everything) == Cost(53.0, 1.71)
    assert costs.saved((), ("age",)) == Cost(8.0, 0.01)  # only what the model reads today can be saved
    assert costs.unknown(everything) == ["free"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("feature,ms\na,1\n", "no column group, price"),
        ("feature,group,ms,price\na,,x,0\n", "line 2, ms must be a number of 0 or more, got 'x'"),
        ("feature,group,ms,price\na,,-1,0\n", "line 2, ms"),
        ("feature,group,ms,price\na,,1,0\na,,2,0\n", "line 3: the feature 'a' is named twice"),
        ("feature,group,ms,price\n,,1,0\n", "line 2: the feature '' is empty"),
        ("", "no column"),
    ],
)
def test_what_cannot_be_read_is_said(text, expected, tmp_path):
    (tmp_path / "costs.csv").write_text(text)
    with pytest.raises(InvalidRequest, match=expected):
        read_costs(tmp_path / "costs.csv")
