"""The workers of the tree benchmark really run; rivals need environments of their own and are left to the benchmark."""

import numpy as np
import pytest

from benchmarks import tree_rivals
from benchmarks.tree_goals import CATEGORIES, DEEP, FIRST, goals
from benchmarks.tree_rivals import ARMS, Arm, Stopped, start
from engine.forest.binned import pack, write
from engine.forest.lightgbm_text import parse
from tests.model_zoo import booster, forest_text, rows


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("model")
    (made / "model.txt").write_text(forest_text("binary"))
    write(pack(parse(forest_text("binary"))), made)
    np.save(made / "rows.npy", rows("missing"))
    return made


@pytest.mark.parametrize("kind", ["lightgbm", "lightgbm_single", "binned"])
def test_a_worker_answers_and_takes_the_time(kind, folder):
    one = start(next(arm for arm in ARMS if arm.kind == kind), folder)
    try:
        right = booster("binary").predict(rows("missing")[:50], raw_score=True)
        np.testing.assert_array_equal(one.answers(50, folder / "out.npy")[:, 0], right)
        assert one.ns(rows=1, calls=20, start=3) > 0
        assert one.facts["load_s"] > 0
    finally:
        one.close()


def test_a_rival_that_does_not_start_is_a_reason(tmp_path):
    with pytest.raises(Stopped, match=r"ended with 1: .*No such file"):
        start(Arm("nothing there", "binned"), tmp_path)


@pytest.mark.slow
def test_a_rival_that_does_not_install_is_a_reason(tmp_path, monkeypatch):
    monkeypatch.setattr(tree_rivals, "FOLDER", tmp_path)
    monkeypatch.setitem(tree_rivals.ENVIRONMENTS, "none", (str(tmp_path / "no-such-package.whl"),))
    with pytest.raises(Stopped, match=r"does not install here: .*no-such-package"):
        start(Arm("none", "lleaves", "none"), tmp_path)


def test_floors_and_goals_take_the_lowest_of_the_batch_sizes():
    sizes = {1: 6.0, 1024: 45.0, 8192: 70.0}
    main = {"ours": sizes, "LightGBM": dict.fromkeys(sizes, 1.0), "lleaves": {1: 2.0, 1024: 5.0, 8192: 14.0}}
    lines = goals({FIRST: main, DEEP: {"ours": sizes}, CATEGORIES: {"ours": {1: 1.0, 1024: 25.0, 8192: 19.0}}})
    assert "| LightGBM, 1,024 rows and more | 40 | 65 | 45 | floor |" in lines
    assert "| LightGBM, one row | 4 | 5.5 | 6 | goal |" in lines
    assert "| lleaves, 1,024 rows and more | 8 | 12 | 5 | below the floor |" in lines
    assert "| the best rival at one row (lleaves) | 2 | 3 | 3 | goal |" in lines
    assert "| LightGBM, 1,024 rows and more, categories | 20 | 30 | 19 | below the floor |" in lines
