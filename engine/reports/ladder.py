"""What each step of a chain added: the rows of its prefixes, in order."""

from __future__ import annotations

from collections.abc import Sequence

from engine.records import ExperimentSummary, Study
from engine.reports.compare import compare_rows
from engine.reports.rows import CompareRow


def ladder(
    study: Study, runs: Sequence[ExperimentSummary], experiment_id: str, batch_size: int | None = None
) -> list[CompareRow]:
    """Baseline, first step, first two steps … up to the whole chain of one experiment.

    A prefix that was never run has no row. Of several runs of a prefix the newest that succeeded counts, first among
    those on the chain's own runtime.
    """
    target = next(one for one in runs if one.id == experiment_id)
    steps = target.spec.recipe.steps
    rows = {row.experiment: row for row in compare_rows(study, runs, batch_size)}
    found = [row for row in rows.values() if row.is_baseline]
    for length in range(1, len(steps)):
        same = [one for one in runs if one.spec.recipe.steps == steps[:length] and one.status == "succeeded"]
        best = max(same, key=lambda one: (one.spec.runtime == target.spec.runtime, one.id), default=None)
        found += [] if best is None else [rows[best.id]]
    return found if rows[target.id].is_baseline else [*found, rows[target.id]]
