"""The picture of Compare: axes, lines of the promise, front, names that do not cover each other, WebGL for many."""

from math import log10

import numpy as np
import pytest
from page_history import add_run

from engine.records import Recipe, Step
from pages._ui import loaders
from pages._ui.compare.axes import Axis, Spot
from pages._ui.compare.data import compared, marks
from pages._ui.compare.labels import CANDIDATES, HEIGHT_PX, LETTER_PX, LINE_PX, WIDTH_PX, Obstacle, overlaps, place
from pages._ui.compare.plots import FEW, MOST_NAMES, named
from pages._ui.compare.scatter import MOST_SVG, Mark, scatter

TIMES = Axis("speedup", "Speed-up", "times (right is faster)", True, True, lambda one: None, "×", 3.0, "Goal: 3×", 1.0)
POINTS = Axis("quality", "ROC AUC", "points", True, False, lambda one: None, "", -1.0, "Band: lose at most 1", 0.0)
MS = Axis("p50_ms", "p50 latency", "ms (left is faster)", False, True, lambda one: None, "ms")


def mark(name, x, y, **more):
    return Mark(name, name, more.pop("family", "pruning"), Spot(x), Spot(y), name, **more)


def original():
    return mark("Original", 1.0, 0.0, family="baseline")


def test_goal_and_band_are_drawn_and_names_are_disarmed():
    drawn = [original(), mark("<b>x</b>", 3.5, -0.4)]
    figure = scatter(drawn, TIMES, POINTS, drawn)
    said = [note.text for note in figure.layout.annotations]
    assert any("Goal: 3×" in text for text in said)
    assert any("Band: lose at most 1" in text for text in said)
    assert any("Meets goal and band" in text for text in said)
    assert "&lt;b&gt;x&lt;/b&gt;" in said
    low, high = figure.layout.xaxis.range
    assert low < 0 < log10(3.5) < high
    assert figure.layout.xaxis.title.text == "times (right is faster)"


def test_marks_tell_promise_front_and_dominated_apart():
    drawn = [original(), mark("kept", 4, -0.2, kept=True, front=True), mark("beaten", 3, -0.5)]
    clouds = {
        trace.customdata[0]: trace for trace in scatter(drawn, TIMES, POINTS, []).data if trace.customdata is not None
    }
    looks = {name: (cloud.marker.symbol, cloud.marker.opacity) for name, cloud in clouds.items()}
    assert looks["kept"] == ("triangle-up", 1.0)
    assert looks["beaten"] == ("triangle-up-open", 0.5)
    assert looks["Original"] == ("diamond", 1.0)


@pytest.mark.parametrize("n", [3, MOST_SVG + 10])
def test_the_original_is_drawn_over_all_others_and_what_is_bold_over_what_is_faded(n):
    cloud = [mark(f"m{at}", 1.0 + at / n, -at / n, kept=at % 2 == 0) for at in range(n)]
    drawn = [mark("front", 4, -0.2, front=True), original(), *cloud]
    traces = [trace for trace in scatter(drawn, TIMES, POINTS, []).data if trace.customdata is not None]
    assert [trace.customdata[0] for trace in traces[-2:]] == ["front", "Original"]


def test_the_front_is_joined_on_the_side_that_is_beaten():
    drawn = [mark("a", 2, 0.0, front=True), mark("b", 4, -1.0, front=True), mark("c", 1.5, -2.0)]
    for axis, shape in ((TIMES, "vh"), (MS, "hv")):
        line = scatter(drawn, axis, POINTS, []).data[0]
        assert list(line.x) == [2, 4]
        assert line.line.shape == shape


def test_many_marks_are_drawn_by_webgl_with_few_bars():
    drawn = [original(), *(mark(f"v{at}", 1 + at / 500, -at / 900, front=at == 1) for at in range(MOST_SVG + 200))]
    figure = scatter(drawn, TIMES, POINTS, named(drawn))
    assert {trace.type for trace in figure.data if trace.customdata is not None} == {"scattergl"}
    assert len(figure.data) < 10
    assert len(figure.layout.annotations) < 10


def test_few_are_all_named_and_of_many_the_front_and_the_chosen():
    few = [mark(f"v{at}", 1 + at, -at) for at in range(FEW)]
    assert len(named(few)) == FEW
    many = [
        original(),
        *(mark(f"v{at}", 1 + at, -at, front=at % 2 == 0) for at in range(60)),
        mark("chosen", 2, 2, strong=True),
    ]
    found = [one.name for one in named(many)]
    assert found[:2] == ["Original", "chosen"]
    assert len(found) == MOST_NAMES
    assert "v1" not in found


@pytest.mark.parametrize("seed", range(6))
def test_names_of_twenty_marks_do_not_cover_each_other(seed):
    import random

    rng = random.Random(seed)
    spots = [(rng.betavariate(2, 3), rng.betavariate(4, 2)) for _ in range(20)]
    letters = [rng.randint(8, 30) for _ in spots]
    obstacles = [Obstacle(x, y, x - 0.02, x + 0.02, y - 0.08, y) for x, y in spots]
    labels = place(spots[:14], letters[:14], obstacles)
    assert set(labels) <= set(CANDIDATES)
    boxes = [
        label.box(x * WIDTH_PX, y * HEIGHT_PX, LETTER_PX * n)
        for label, (x, y), n in zip(labels, spots, letters, strict=False)
    ]
    covered = overlaps(np.array(boxes), np.array(boxes)) - [LINE_PX * LETTER_PX * n for n in letters[:14]]
    assert covered.max() < 20
    assert all(box[0] > -1 and box[2] < WIDTH_PX + 1 for box in boxes)


def test_axes_say_what_latency_is_and_where_the_goal_lies(study, ledger):
    add_run(ledger, study, Recipe(steps=(Step(lever="pruning.fewer_trees"),)), speedup=2.0, batches=(1, 8))
    looked = compared(study.id, 1, loaders.version())
    assert list(looked.across) == ["speedup", "p50_ms", "items_per_s", "cost_per_1k", "size_bytes", "peak_bytes"]
    assert list(looked.upwards)[:2] == ["quality", "worst_slice"]
    times = looked.across["p50_ms"]
    assert "rows in to scores out" in times.title
    assert times.limit == pytest.approx(2.4 / 3)
    assert looked.across["cost_per_1k"].limit is None  # the goal is about latency
    assert looked.upwards["quality"].limit == -1.0
    elsewhere = compared(study.id, 8, loaders.version())
    assert elsewhere.across["speedup"].limit is None  # the goal stands at the batch of the promise
    assert "8 items" in elsewhere.across["speedup"].title


def test_the_front_of_a_study(study):
    looked = compared(study.id, 1, loaders.version())
    for x in looked.across.values():
        for y in looked.upwards.values():
            drawn = marks(looked.variants, x, y, ())
            scatter(drawn, x, y, drawn)
            assert any(one.front for one in drawn)
    drawn = marks(looked.variants, looked.across["speedup"], looked.upwards["quality"], ())
    on = {one.name for one in drawn if one.front}
    assert "Original" in on
    assert next(one for one in drawn if one.name == "LightGBM to ONNX").front is False  # slower, with the same answers
