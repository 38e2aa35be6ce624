"""The made-up history is one that the ledger could have written."""

import pytest

from benchmarks.history_fill import SHAPES, fill
from engine.records import Experiment, summary_of
from engine.reports.compare import compare_rows
from storage.ledger import Ledger


@pytest.fixture
def ledger(tmp_path):
    opened = Ledger.open(f"sqlite:///{tmp_path / 'whetstone.db'}", tmp_path)
    yield opened
    opened.close()


@pytest.mark.parametrize("shape", SHAPES)
def test_every_run_reads_back_whole_and_light(ledger, shape):
    studies = fill(ledger, shape, 300)
    assert len(ledger.studies()) == SHAPES[shape]
    runs = ledger.experiments()
    assert len(runs) == 300
    assert ledger.summaries() == [summary_of(run) for run in runs]
    assert {run.status for run in runs} == {"succeeded", "failed"}
    assert all(ledger.queue.state(run.id).status == run.status for run in runs[:20])
    assert all(ledger.promise_frozen_at(study.id) for study in studies)


def test_every_run_that_went_well_has_45_figures(ledger):
    fill(ledger, "one", 60)
    done = [run for run in ledger.experiments() if run.comparisons]
    assert min(_n_figures(run) for run in done) >= 45


def _n_figures(run: Experiment) -> int:
    """What was measured of the variant: times, ratios, quality."""
    times = sum(isinstance(value, int | float) or hasattr(value, "low") for one in run.measurements for _, value in one)
    quality = [run.quality.candidate, run.quality.drop, run.quality.bound, *(one.drop for one in run.quality.slices)]
    return times + len(run.comparisons) + sum(value is not None for value in quality)


def test_some_variants_keep_the_promise_and_some_do_not(ledger):
    study = fill(ledger, "one", 300)[0]
    rows = compare_rows(study, ledger.summaries(study.id))
    assert rows[0].is_baseline
    assert {row.reason is None for row in rows[1:]} == {True, False}
    assert {row.quality_verdict for row in rows[1:]} == {"within band", "outside", None}
    assert {row.speed_verdict for row in rows[1:]} >= {"faster", "slower"}


def test_it_is_the_same_every_time(tmp_path):
    found = []
    for name in "ab":
        opened = Ledger.open(f"sqlite:///{tmp_path / name}.db", tmp_path / name)
        fill(opened, "many", 200)
        found.append([(run.spec, run.measurements, run.quality) for run in opened.summaries()])
        opened.close()
    assert found[0] == found[1]
