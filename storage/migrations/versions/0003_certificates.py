"""Certificates, one per experiment at most."""

import sqlalchemy as sa
from alembic import op

from storage.columns import Document, UtcTime

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "certificate",
        sa.Column("id", sa.String(26), nullable=False),
        sa.Column("experiment_id", sa.String(26), nullable=False),
        sa.Column("study_id", sa.String(64), nullable=False),
        sa.Column("rows_sha256", sa.String(64), nullable=False),
        sa.Column("document", Document(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_certificate")),
        sa.ForeignKeyConstraint(
            ["experiment_id"], ["experiment.id"], name=op.f("fk_certificate_experiment_id_experiment")
        ),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_certificate_study_id_study")),
        sa.UniqueConstraint("experiment_id", name=op.f("uq_certificate_experiment_id")),
    )
    op.create_index(op.f("ix_certificate_study_id"), "certificate", ["study_id"])
    op.create_index(op.f("ix_certificate_rows_sha256"), "certificate", ["rows_sha256"])
