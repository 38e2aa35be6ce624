"""What is kept beside a record for the lists."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from engine.records import Experiment, ExperimentSummary
from storage.summary import stored_summary
from tests import history


class Claimed:
    experiment_id, attempt, created_at, created_by, retry_of = "x", 1, datetime.now(UTC), "ada", "y"
    spec = history.spec("s", batch_sizes=(1, 32), recipe=history.FEWER_TREES)


def test_what_is_stored_reads_back():
    stored = json.dumps(stored_summary(history.finished(Claimed)))
    light = ExperimentSummary.model_validate_json(stored)
    assert [one.p50_ms.value for one in light.measurements] == [2.0, 64.0]
    assert light.quality.bound == float("inf")
    assert light.retry_of == "y"


def test_it_is_much_smaller_than_the_record():
    run = history.finished(Claimed)
    slices = tuple(run.quality.slices[0].model_copy(update={"value": str(n)}) for n in range(300))
    run = run.model_copy(update={"quality": run.quality.model_copy(update={"slices": slices})})
    whole = len(run.model_dump_json())
    assert len(json.dumps(stored_summary(run))) < whole / 10


def test_what_was_only_asked_has_no_figures():
    asked = Experiment(id="x", spec=Claimed.spec, status="queued", created_at=Claimed.created_at)
    light = ExperimentSummary.model_validate(stored_summary(asked))
    assert light.spec == Claimed.spec
    assert (light.measurements, light.comparisons, light.quality, light.artefact) == ((), (), None, None)
