"""What the columns of Compare say of a variant: value, interval, change, and whether the change is one."""

import pytest
from page_history import add_run, put_away

from engine.records import Comparison, Recipe, Step, StudyAnnotation, Workload
from engine.reports.explain import EXPLANATIONS
from pages._ui import loaders
from pages._ui.compare.column import from_comparison, from_drop, from_sizes
from pages._ui.compare.data import compared
from pages._ui.compare.order import Filters, differing, filtered, ordered

FEWER = "param.pruning.fewer_trees.keep_fraction"


def look(study, batch=1):
    return compared(study.id, batch, loaders.version())


def by_name(looked):
    return {one.name: one for one in looked.variants}


def pair(ratio, verdict):
    return Comparison(
        workload=Workload(), quantile=0.5, ratio=ratio, low=ratio * 0.97, high=ratio * 1.03, verdict=verdict, n_pairs=10
    )


@pytest.mark.parametrize(
    ("verdict", "call"),
    [
        ("faster", "better"), ("slower", "worse"), ("no difference", "within noise"), ("cannot tell", "within noise"),
    ],
)  # fmt: skip
def test_a_time_moved_as_the_pairs_decided(verdict, call):
    assert from_comparison(pair(0.25, verdict)) == (pytest.approx(-75), call)
    assert from_comparison(pair(0.25, verdict), inverse=True) == (pytest.approx(300), call)


def test_a_time_that_was_not_compared_says_so():
    assert from_comparison(None) == (None, "not compared")


@pytest.mark.parametrize(
    ("drop", "bound", "call"),
    [
        (0.02, 0.03, "worse"),  # mirrored: at least 0.01
        (0.02, 0.05, "within noise"),
        (-0.02, -0.01, "better"),
        (-0.02, 0.01, "within noise"),
        (0.0, 0.0, "within noise"),
        (0.02, None, "open"),
    ],
)
def test_a_metric_moved_only_beyond_its_bound(drop, bound, call):
    assert from_drop(drop, bound, larger_is_better=True) == (pytest.approx(-100 * drop), call)
    assert from_drop(drop, bound, larger_is_better=False) == (pytest.approx(100 * drop), call)


def test_a_slice_got_worse_where_a_test_says_so():
    assert from_drop(0.02, 0.021, larger_is_better=True, harmed=False)[1] == "within noise"
    assert from_drop(0.02, 0.1, larger_is_better=True, harmed=True)[1] == "worse"


def test_sizes_have_no_noise_and_memory_is_not_judged():
    assert from_sizes(300, 400) == (-25, "better")
    assert from_sizes(500, 400) == (25, "worse")
    assert from_sizes(400.4, 400)[1] == "no change"
    assert from_sizes(500, 400, exact=False) == (25, "open")
    assert from_sizes(None, 400) == (None, None)


def test_units_come_from_the_original(study):
    looked = look(study)
    columns, names = looked.columns, by_name(looked)
    assert columns["p50_ms"].unit == "ms"
    assert columns["p50_ms"].value(names["Original"]) == pytest.approx(2.4)
    assert (columns["size_bytes"].unit, columns["size_bytes"].value(names["Original"])) == ("MB", 4.2)
    assert columns["cost_per_1k"].unit == "USD"
    assert "p99_ms" not in columns  # nobody has one


def test_a_variant_is_read_out_in_full(study):
    looked = look(study)
    one = by_name(looked)["Fewer trees (keep fraction 0.3)"]
    columns = looked.columns
    assert columns["speedup"].value(one) == pytest.approx(3.4)
    assert columns["speedup"].bounds(one) == (pytest.approx(3.4 / 1.03), pytest.approx(3.4 / 0.97))
    assert columns["p50_ms"].moved(one) == (pytest.approx(100 / 3.4 - 100), "better")
    assert columns["metric_value"].moved(one) == (pytest.approx(-0.4), "worse")  # loses 0.4, at most 0.7
    assert columns["metric_value"].bounds(one)[0] == pytest.approx(-0.7)
    assert columns["worst_slice_drop"].value(one) == "origin = JFK"
    assert columns["flip_fraction"].value(one) == pytest.approx(1.0)
    assert columns[FEWER].value(one) == 0.3
    assert columns[FEWER].value(by_name(looked)["Original"]) is None


def test_the_original_is_compared_with_nothing(study):
    looked = look(study)
    base = looked.variants[0]
    assert base.is_baseline
    assert all(column.moved(base) == (None, None) for column in looked.columns.values() if column.moved)


def test_the_whole_request_has_a_column_once_its_time_is_known(study, ledger):
    assert "whole_request" not in look(study).columns
    note = StudyAnnotation(study_id=study.id, request_ms=24.0, who="Asha", when=study.created_at)
    ledger.annotate_study(note, expected_when=None)
    looked = look(study)
    one = by_name(looked)["Fewer trees (keep fraction 0.3)"]
    assert looked.columns["whole_request"].value(one) == pytest.approx(1 / (0.9 + 0.1 / 3.4))


def test_every_explained_column_has_its_explanation(study, ledger):
    add_run(ledger, study, Recipe(steps=(Step(lever="pruning.fewer_trees"),)), speedup=2.0, batches=(1, 8))
    explained = {column.explains for column in look(study).columns.values() if column.explains}
    assert explained <= set(EXPLANATIONS)
    assert len(explained) > 8


def test_the_baseline_stays_first_under_any_sort(study, ledger):
    add_run(ledger, study, Recipe(steps=(Step(lever="gone.lever"),)), speedup=1, status="failed", message="no such op")
    looked = look(study)
    for column in looked.columns.values():
        for descending in (False, True):
            rows = ordered(looked.variants, column, descending=descending)
            assert rows[0].is_baseline
            assert len(rows) == len(looked.variants)
            values = [column.value(one) for one in rows[1:]]
            known = [value for value in values if value is not None]
            assert values == [*known, *[None] * (len(values) - len(known))]  # what is missing stands last
            if all(isinstance(value, float) for value in known):
                assert known == sorted(known, reverse=descending)


def test_runs_that_ask_the_same_are_told_apart(study, ledger):
    add_run(ledger, study, Recipe(steps=(Step(lever="pruning.fewer_trees", params={"keep_fraction": 0.3}),)), speedup=2)
    names = [one.name for one in look(study).variants]
    assert names.count("Fewer trees (keep fraction 0.3)") == 1
    assert "Fewer trees (keep fraction 0.3), run 2" in names


def test_filters_keep_the_original(study, ledger):
    failed = add_run(
        ledger, study, Recipe(steps=(Step(lever="gone.lever"),)), speedup=1, status="failed", message="no such op"
    )
    every = look(study).variants

    def named(**wanted):
        found = filtered(every, Filters(**wanted))
        assert found[0].is_baseline
        return [one.name for one in found[1:]]

    assert len(named()) == 4
    assert named(text="SUCH op") == ["gone.lever"]
    assert named(statuses=["failed"]) == ["gone.lever"]
    assert named(outcomes=["Meets the promise"]) == ["Fewer trees (keep fraction 0.3)"]
    assert named(runs=[failed]) == ["gone.lever"]
    assert named(text="zebra") == []


def test_archived_runs_are_hidden_unless_asked_for(study, ledger):
    run = look(study).variants[1].id
    put_away(ledger, run)
    looked = look(study)
    assert run not in {one.id for one in filtered(looked.variants, Filters())}
    assert run in {one.id for one in filtered(looked.variants, Filters(archived=True))}
    assert run in {one.id for one in filtered(looked.variants, Filters(runs=(run,)))}


def test_only_differences_hides_what_is_the_same(study):
    looked = look(study)
    kept = {column.key for column in differing(list(looked.columns.values()), looked.variants)}
    assert {"p50_ms", "speedup", "metric_value"} <= kept
    assert "runtime" not in kept
    assert FEWER in kept
    two = [one for one in looked.variants if one.is_baseline or "Fewer" in one.name]
    same = {column.key for column in differing(list(looked.columns.values()), two)}
    assert FEWER not in same  # both keep 0.3, and the original has no trees to keep
