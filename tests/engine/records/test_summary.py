"""The light half of a record says what the whole one says."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from engine.records import Experiment, ExperimentSummary, summary_of
from tests import history


class Claimed:
    experiment_id, attempt, created_at, created_by, retry_of = "x", 2, datetime.now(UTC), "ada", None
    spec = history.spec("s", batch_sizes=(1, 32), recipe=history.FEWER_TREES)


def done(**changes) -> Experiment:
    return history.finished(Claimed).model_copy(update=changes)


SAME = sorted(ExperimentSummary.model_fields.keys() & Experiment.model_fields.keys())


@pytest.mark.parametrize(
    "name", [name for name in SAME if name not in ("artefact", "measurements", "baselines", "quality")]
)
def test_fields_of_the_same_name_have_the_same_value(name):
    run = done(device="cuda:0", retry_of="y", compressed_bytes=7, auto_batch_size=32)
    assert getattr(summary_of(run), name) == getattr(run, name)


def test_figures_have_the_names_of_the_record():
    run = done(baselines=done().measurements)
    light = summary_of(run)
    for arm in ("measurements", "baselines"):
        for found, whole in zip(getattr(light, arm), getattr(run, arm), strict=True):
            assert all(getattr(found, name) == getattr(whole, name) for name in type(found).model_fields)
    assert (light.artefact.format, light.artefact.size_bytes) == ("lightgbm", 1000)
    report = run.quality
    for name in ("metric", "relative", "baseline", "candidate", "drop", "bound", "verdict", "reason", "n_rows"):
        assert getattr(light.quality, name) == getattr(report, name)


def test_the_worst_slice_has_rows_enough_for_a_verdict():
    assert summary_of(done()).quality.worst_slice.value == "DL"
    slices = tuple(one.model_copy(update={"verdict": "too few rows"}) for one in done().quality.slices)
    quality = done().quality.model_copy(update={"slices": slices})
    assert summary_of(done(quality=quality)).quality.worst_slice is None


def test_the_machine_is_known_only_where_it_was_recorded():
    light = summary_of(done(environment={"processor": "A", "cpu_flags": ["b", "a"]}))
    assert (light.processor, light.cpu_flags) == ("A", ("a", "b"))
    light = summary_of(done(environment={}))
    assert (light.processor, light.cpu_flags) == (None, ())


@pytest.mark.parametrize("changes", [{}, {"comparisons": ()}, {"comparisons": (), "spec": history.spec("s")}])
def test_it_is_a_baseline_exactly_when_the_record_is(changes):
    assert summary_of(done(**changes)).is_baseline == done(**changes).is_baseline


def test_what_was_not_found_out_is_none():
    light = summary_of(Experiment(id="x", spec=Claimed.spec, status="queued", created_at=Claimed.created_at))
    assert (light.artefact, light.quality, light.measurements, light.processor) == (None, None, (), None)
    assert light.study_id == "s"
