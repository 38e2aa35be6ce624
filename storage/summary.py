"""The light half of the experiments: written when a run is asked for and when it ends, read for every list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from pydantic import ValidationError
from sqlalchemy.engine import Connection

from engine.records import Experiment, ExperimentSummary, summary_of
from storage.base import Store
from storage.runs import MOVING, as_text, moved, record, records
from storage.schema import experiment, job

AT_ONCE = 500


class Summaries(Store):
    """What lists, Overview and Compare read: no whole record."""

    def summaries(
        self, study_id: str | None = None, known: Mapping[str, ExperimentSummary] | None = None
    ) -> list[ExperimentSummary]:
        """One light record per experiment, in order of asking.

        known: ended ones that were read before, by id. They never change, so they are taken as they are.
        """
        before = known or {}
        query = sa.select(experiment.c.id).order_by(experiment.c.created_at, experiment.c.id)
        if study_id is not None:
            query = query.where(experiment.c.study_id == study_id)

        def select(connection: Connection) -> list[ExperimentSummary]:
            ids = connection.execute(query).scalars().all()
            fresh = _read(connection, [one for one in ids if one not in before])
            return [before[one] if one in before else fresh[one] for one in ids]

        return self._read(select)


def stored_summary(run: Experiment) -> dict[str, Any]:
    """What is kept beside the record."""
    return summary_of(run).model_dump(mode="json")


def refill(connection: Connection) -> None:
    """Write the summaries that are missing, after a migration."""
    missing = connection.execute(sa.select(experiment.c.id).where(experiment.c.summary.is_(None))).scalars().all()
    for ids in _parts(missing, AT_ONCE // 10):
        for row in connection.execute(records().where(experiment.c.id.in_(ids))).all():
            values = {"summary": stored_summary(record(row))}
            connection.execute(experiment.update().where(experiment.c.id == row.id).values(**values))


def _read(connection: Connection, wanted: Sequence[str]) -> dict[str, ExperimentSummary]:
    """By id. One that is missing or was written by another release is made from its record."""
    found: dict[str, ExperimentSummary] = {}
    for ids in _parts(wanted, AT_ONCE):
        query = sa.select(experiment.c.id, as_text(experiment.c.summary), *MOVING).join(job)
        rows = connection.execute(query.where(experiment.c.id.in_(ids))).all()
        light = {row.id: _opened(row) for row in rows}
        found |= {key: one for key, one in light.items() if one is not None}
        if odd := [key for key, one in light.items() if one is None]:
            whole = connection.execute(records().where(experiment.c.id.in_(odd))).all()
            found |= {row.id: summary_of(record(row)) for row in whole}
    return found


def _opened(row: Any) -> ExperimentSummary | None:
    """The job has the last word on how it stands."""
    try:
        found = ExperimentSummary.model_validate_json(row.summary or "null")
    except ValidationError:
        return None
    return found if found.status == row.status else found.model_copy(update={"status": row.status, **moved(row)})


def _parts(ids: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (ids[start : start + size] for start in range(0, len(ids), size))
