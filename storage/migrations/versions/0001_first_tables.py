"""The first tables."""

import sqlalchemy as sa
from alembic import op

from storage.columns import BIG, Document, SafeText, UtcTime

revision = "0001"
down_revision = None


def upgrade() -> None:
    for name in ("model", "eval_set"):
        op.create_table(
            name,
            sa.Column("id", sa.String(64), nullable=False),
            sa.Column("display_name", SafeText(), nullable=False),
            sa.Column("document", Document(), nullable=False),
            sa.Column("created_at", UtcTime(), nullable=False),
            sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{name}")),
        )
    _create_studies()
    _create_experiments()
    _create_jobs()
    op.create_table(
        "annotation",
        sa.Column("experiment_id", sa.String(26), nullable=False),
        sa.Column("document", Document(), nullable=False),
        sa.Column("changed_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("experiment_id", name=op.f("pk_annotation")),
        sa.ForeignKeyConstraint(
            ["experiment_id"], ["experiment.id"], name=op.f("fk_annotation_experiment_id_experiment")
        ),
    )
    op.create_table(
        "runner",
        sa.Column("id", sa.String(128), nullable=False),
        sa.Column("code_version", sa.String(64), nullable=False),
        sa.Column("schema_revision", sa.String(32), nullable=False),
        sa.Column("retire_requested", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("started_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runner")),
    )
    counter = op.create_table(
        "counter",
        sa.Column("name", sa.String(32), nullable=False),
        sa.Column("value", BIG, nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_counter")),
    )
    op.bulk_insert(counter, [{"name": "version", "value": 1}])


def _create_studies() -> None:
    op.create_table(
        "study",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("name", SafeText(), nullable=False),
        sa.Column("model_id", sa.String(64), nullable=False),
        sa.Column("eval_set_id", sa.String(64), nullable=False),
        sa.Column("document", Document(), nullable=False),
        sa.Column("promise_hash", sa.String(64)),
        sa.Column("promise_frozen_at", UtcTime()),
        sa.Column("archived", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_study")),
        sa.ForeignKeyConstraint(["model_id"], ["model.id"], name=op.f("fk_study_model_id_model")),
        sa.ForeignKeyConstraint(["eval_set_id"], ["eval_set.id"], name=op.f("fk_study_eval_set_id_eval_set")),
    )
    op.create_index(op.f("ix_study_name"), "study", ["name"])


def _create_experiments() -> None:
    op.create_table(
        "experiment",
        sa.Column("id", sa.String(26), nullable=False),
        sa.Column("study_id", sa.String(64), nullable=False),
        sa.Column("spec", Document(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("created_by", SafeText(), nullable=False),
        sa.Column("retry_of", sa.String(26)),
        sa.Column("document", Document()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_experiment")),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_experiment_study_id_study")),
        sa.ForeignKeyConstraint(["retry_of"], ["experiment.id"], name=op.f("fk_experiment_retry_of_experiment")),
    )
    op.create_index("ix_experiment_study_id", "experiment", ["study_id", "created_at"])


def _create_jobs() -> None:
    op.create_table(
        "job",
        sa.Column("experiment_id", sa.String(26), nullable=False),
        sa.Column("spec_fingerprint", sa.String(64), nullable=False),
        sa.Column("workspace", sa.String(64), nullable=False),
        sa.Column("status", sa.String(16), server_default="queued", nullable=False),
        sa.Column("priority", sa.Integer(), server_default="0", nullable=False),
        sa.Column("attempt", sa.Integer(), server_default="0", nullable=False),
        sa.Column("cancel_requested", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("timeout_s", sa.Float()),
        sa.Column("memory_bytes", sa.BigInteger()),
        sa.Column("runner_id", sa.String(128)),
        sa.Column("lease_until", UtcTime()),
        sa.Column("phase", sa.String(16)),
        sa.Column("progress", sa.Float()),
        sa.Column("message", SafeText(), server_default=sa.text("''"), nullable=False),
        sa.Column("failure", Document()),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("started_at", UtcTime()),
        sa.Column("finished_at", UtcTime()),
        sa.PrimaryKeyConstraint("experiment_id", name=op.f("pk_job")),
        sa.ForeignKeyConstraint(["experiment_id"], ["experiment.id"], name=op.f("fk_job_experiment_id_experiment")),
        sa.CheckConstraint(
            "status IN ('queued','running','succeeded','failed','cancelled','interrupted')",
            name=op.f("ck_job_status"),
        ),
    )
    op.create_index("ix_job_claim", "job", ["status", "priority", "created_at"])
    active = sa.text("status IN ('queued','running')")
    op.create_index(
        "uq_job_active_spec",
        "job",
        ["workspace", "spec_fingerprint"],
        unique=True,
        sqlite_where=active,
        postgresql_where=active,
    )
    op.create_table(
        "job_log",
        sa.Column("id", BIG, nullable=False),
        sa.Column("experiment_id", sa.String(26), nullable=False),
        sa.Column("written_at", UtcTime(), nullable=False),
        sa.Column("line", SafeText(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job_log")),
        sa.ForeignKeyConstraint(["experiment_id"], ["experiment.id"], name=op.f("fk_job_log_experiment_id_experiment")),
    )
    op.create_index("ix_job_log_experiment_id", "job_log", ["experiment_id", "id"])
