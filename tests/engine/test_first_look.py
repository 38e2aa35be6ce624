import numpy as np
import pytest

from engine.data.stored import INPUTS_FILE, LABELS_FILE
from engine.first_look import FirstLook, first_look
from engine.records import Signature


def look(folder, labels, output, **signature):
    place = folder / "selection"
    place.mkdir()
    (place / INPUTS_FILE).write_text("[]")
    np.save(place / LABELS_FILE, labels)
    return first_look(folder, {"y": output}, Signature(inputs=(), outputs=(), score_output="y", **signature))


def test_classes_in_another_order_are_seen_at_once(tmp_path):
    labels = np.array([0, 1, 1, 0, 1] * 50)
    scores = np.stack([labels == 1, labels == 0], axis=1).astype(np.float32)  # the other way round
    found = look(tmp_path, labels, scores[:200], task="binary", classes=("a", "b"), output_kind="probabilities")
    assert (found.metric, found.value, found.n_rows, found.guess) == ("accuracy", 0.0, 200, 0.5)
    assert found.doubtful


def test_a_number_is_looked_at_by_its_error(tmp_path):
    found = look(
        tmp_path, np.array([1.0, 2.0, np.nan]), np.array([1.0, 4.0, 0.0]), task="regression", output_kind="value"
    )
    assert (found.metric, found.n_rows, found.doubtful) == ("rmse", 2, False)
    assert found.value == pytest.approx(np.sqrt(2))


@pytest.mark.parametrize("task", ["ranking", "other", "embedding"])
def test_where_nothing_is_judged_row_by_row_there_is_no_look(tmp_path, task):
    kind = "embedding" if task == "embedding" else "value"
    assert look(tmp_path, np.array([1.0]), np.array([[1.0]]), task=task, output_kind=kind) is None


def test_a_guess_is_doubtful_and_more_is_not():
    assert FirstLook(metric="accuracy", value=0.5, n_rows=9, guess=0.5).doubtful
    assert not FirstLook(metric="accuracy", value=0.51, n_rows=9, guess=0.5).doubtful
