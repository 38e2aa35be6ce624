"""What the tree levers cost the flight delay model, on its own rows."""

import pytest

from engine.records import Step
from engine.workspace import Workspace
from sample_models.flight_delay import sample
from tests.whole.conftest import make_study


@pytest.fixture(scope="module")
def flights(tmp_path_factory):
    described = sample()
    home = Workspace(tmp_path_factory.mktemp("flights") / "home")
    return make_study(home, described.model, described.data, {"metric": "log_loss"}, **described.choices)


@pytest.mark.slow
def test_a_third_of_the_trees_refitted_loses_less_than_half_of_what_truncating_loses(flights):
    third = {"keep_rounds": 400}
    truncated = flights.quality(Step(lever="pruning.fewer_trees", params=third))
    refitted = flights.quality(Step(lever="pruning.refit_leaves", params=third))
    assert truncated.drop > 0
    assert refitted.drop < truncated.drop / 2
