"""The tables. Whoever changes them adds a migration and raises REVISION; tests compare the two.

model, eval_set        what was brought, as records
study                  a model + an evaluation set + a promise, and when the promise froze
experiment             what was asked; after the end also the whole record and its summary for lists
job                    the moving half of an experiment: status, lease, progress. One row each, claimed by attempt
job_log                what the attempts printed
certificate            the last word on an experiment; counted against the promise of its study, never changed
annotation             tags and notes on an experiment, apart from the record
study_annotation       the same on a study, and how long a whole request takes
preference             what each person likes to see
runner                 who serves the queue, and which code it runs
counter                the version that caches watch

While an older runner finishes its attempts the tables may already be newer: a migration adds, it does not take away
what the release before it writes.
"""

from __future__ import annotations

import sqlalchemy as sa

from storage.columns import BIG, Document, SafeText, UtcTime

REVISION = "0004"
STATUSES = ("queued", "running", "succeeded", "failed", "cancelled", "interrupted")

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

model = sa.Table(
    "model",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("display_name", SafeText, nullable=False),
    sa.Column("document", Document, nullable=False),
    sa.Column("created_at", UtcTime, nullable=False),
)

eval_set = sa.Table(
    "eval_set",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("display_name", SafeText, nullable=False),
    sa.Column("document", Document, nullable=False),
    sa.Column("created_at", UtcTime, nullable=False),
)

study = sa.Table(
    "study",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("name", SafeText, nullable=False, index=True),
    sa.Column("model_id", sa.String(64), sa.ForeignKey("model.id"), nullable=False),
    sa.Column("eval_set_id", sa.String(64), sa.ForeignKey("eval_set.id"), nullable=False),
    sa.Column("document", Document, nullable=False),
    sa.Column("promise_hash", sa.String(64)),
    sa.Column("promise_frozen_at", UtcTime),
    sa.Column("archived", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("created_at", UtcTime, nullable=False),
)

experiment = sa.Table(
    "experiment",
    metadata,
    sa.Column("id", sa.String(26), primary_key=True),
    sa.Column("study_id", sa.String(64), sa.ForeignKey("study.id"), nullable=False),
    sa.Column("spec", Document, nullable=False),
    sa.Column("created_at", UtcTime, nullable=False),
    sa.Column("created_by", SafeText, nullable=False),
    sa.Column("retry_of", sa.String(26), sa.ForeignKey("experiment.id")),
    sa.Column("document", Document),
    sa.Column("summary", Document),
    sa.Index("ix_experiment_study_id", "study_id", "created_at"),
    sa.Index("ix_experiment_created_at", "created_at"),
)

job = sa.Table(
    "job",
    metadata,
    sa.Column("experiment_id", sa.String(26), sa.ForeignKey("experiment.id"), primary_key=True),
    sa.Column("spec_fingerprint", sa.String(64), nullable=False),
    sa.Column("workspace", sa.String(64), nullable=False),
    sa.Column("status", sa.String(16), nullable=False, server_default="queued"),
    sa.Column("priority", sa.Integer, nullable=False, server_default="0"),
    sa.Column("attempt", sa.Integer, nullable=False, server_default="0"),
    sa.Column("cancel_requested", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("timeout_s", sa.Float),
    sa.Column("memory_bytes", sa.BigInteger),
    sa.Column("runner_id", sa.String(128)),
    sa.Column("lease_until", UtcTime),
    sa.Column("phase", sa.String(16)),
    sa.Column("progress", sa.Float),
    sa.Column("message", SafeText, nullable=False, server_default=sa.text("''")),
    sa.Column("failure", Document),
    sa.Column("created_at", UtcTime, nullable=False),
    sa.Column("started_at", UtcTime),
    sa.Column("finished_at", UtcTime),
    sa.CheckConstraint("status IN ('" + "','".join(STATUSES) + "')", name="status"),
    sa.Index("ix_job_claim", "status", "priority", "created_at"),
    sa.Index(
        "uq_job_active_spec",
        "workspace",
        "spec_fingerprint",
        unique=True,
        sqlite_where=sa.text("status IN ('queued','running')"),
        postgresql_where=sa.text("status IN ('queued','running')"),
    ),
)

job_log = sa.Table(
    "job_log",
    metadata,
    sa.Column("id", BIG, primary_key=True),
    sa.Column("experiment_id", sa.String(26), sa.ForeignKey("experiment.id"), nullable=False),
    sa.Column("written_at", UtcTime, nullable=False),
    sa.Column("line", SafeText, nullable=False),
    sa.Index("ix_job_log_experiment_id", "experiment_id", "id"),
)

certificate = sa.Table(
    "certificate",
    metadata,
    sa.Column("id", sa.String(26), primary_key=True),
    sa.Column("experiment_id", sa.String(26), sa.ForeignKey("experiment.id"), nullable=False, unique=True),
    sa.Column("study_id", sa.String(64), sa.ForeignKey("study.id"), nullable=False, index=True),
    sa.Column("rows_sha256", sa.String(64), nullable=False, index=True),
    sa.Column("document", Document, nullable=False),
    sa.Column("created_at", UtcTime, nullable=False),
)

annotation = sa.Table(
    "annotation",
    metadata,
    sa.Column("experiment_id", sa.String(26), sa.ForeignKey("experiment.id"), primary_key=True),
    sa.Column("document", Document, nullable=False),
    sa.Column("changed_at", UtcTime, nullable=False),
)

study_annotation = sa.Table(
    "study_annotation",
    metadata,
    sa.Column("study_id", sa.String(64), sa.ForeignKey("study.id"), primary_key=True),
    sa.Column("document", Document, nullable=False),
    sa.Column("changed_at", UtcTime, nullable=False),
)

preference = sa.Table(
    "preference",
    metadata,
    sa.Column("user", SafeText, primary_key=True),
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("document", Document, nullable=False),
)

runner = sa.Table(
    "runner",
    metadata,
    sa.Column("id", sa.String(128), primary_key=True),
    sa.Column("code_version", sa.String(64), nullable=False),
    sa.Column("schema_revision", sa.String(32), nullable=False),
    sa.Column("retire_requested", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("started_at", UtcTime, nullable=False),
)

counter = sa.Table(
    "counter",
    metadata,
    sa.Column("name", sa.String(32), primary_key=True),
    sa.Column("value", BIG, nullable=False),
)
