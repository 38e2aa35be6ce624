import math
import re

import pytest
from scipy import stats

from engine.measurement.presets import PRESETS


def test_the_three_presets():
    assert {name: plan.n_pairs for name, plan in PRESETS.items()} == {"quick": 3, "standard": 10, "strict": 20}


@pytest.mark.parametrize("plan", PRESETS.values(), ids=lambda plan: plan.name)
def test_what_a_preset_resolves_is_its_t_interval(plan):
    factor = stats.t.ppf(0.975, plan.n_pairs - 1) / math.sqrt(plan.n_pairs)
    said = [float(text) for text in re.findall(r"±([\d.]+) %", plan.resolves)]
    assert said == pytest.approx([0.31 * factor, 1.0 * factor], abs=0.05)


def test_quick_ends_within_15_seconds_for_a_millisecond_model():
    plan, start_s, call_s = PRESETS["quick"], 0.4, 0.001
    calls_s = plan.n_rounds * plan.round_s
    assert 2 * plan.n_pairs * (start_s + plan.warm_up_s + calls_s) < 15
    three = plan.warm_up_s + 2 * plan.later_warm_up_s + 3 * calls_s
    assert 2 * plan.n_pairs * (start_s + three) < 20
    assert plan.warm_up_calls * call_s <= plan.warm_up_s


def test_a_slow_model_is_bounded_by_the_caps():
    for plan in PRESETS.values():
        assert plan.warm_up_limit_s <= 5
        assert plan.cell_s <= 10
