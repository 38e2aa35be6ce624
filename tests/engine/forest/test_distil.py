import numpy as np
import pytest

from engine.forest.distil import distil
from engine.forest.lightgbm_text import parse, write
from engine.forest.routes import leaf_routes, margins, root_mean_square, route
from tests.model_zoo import FORESTS, forest_text, rows


@pytest.mark.parametrize("name", ["binary", "multiclass", "categorical", "rf", "constant"])
def test_the_student_has_the_teachers_face(name):
    teacher = parse(forest_text(name))
    sent = route(teacher, ({"features": rows(FORESTS[name][1])},), 10_000, 0)
    student = distil(
        teacher,
        sent.rows,
        sent.scores,
        n_rounds=6,
        n_leaves=5,
        learning_rate=0.3,
        seed=1,
        threads=1,
        tell=lambda part, text: None,
    )
    again = parse(write(student))
    assert again.objective.link == teacher.objective.link
    assert (again.n_classes, again.feature_names, again.averaged) == (teacher.n_classes, teacher.feature_names, False)
    assert again.n_rounds == 6
    assert max(len(tree.leaf_value) for tree in again.trees) <= 5
    gap = root_mean_square(margins(again, leaf_routes(again, sent.rows)) - sent.scores)
    spread = root_mean_square(sent.scores - sent.scores.mean(axis=0))
    assert gap < 0.6 * spread or np.isclose(spread, 0)
