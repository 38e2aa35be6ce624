"""Summaries hold what Compare needs; preferences; what people add to a study.

Summaries of the release before are emptied; storage/upgrade.py fills them again.
"""

import sqlalchemy as sa
from alembic import op

from storage.columns import Document, SafeText, UtcTime

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.execute("UPDATE experiment SET summary = NULL")
    op.create_table(
        "study_annotation",
        sa.Column("study_id", sa.String(64), nullable=False),
        sa.Column("document", Document(), nullable=False),
        sa.Column("changed_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("study_id", name=op.f("pk_study_annotation")),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_study_annotation_study_id_study")),
    )
    op.create_table(
        "preference",
        sa.Column("user", SafeText(), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("document", Document(), nullable=False),
        sa.PrimaryKeyConstraint("user", "name", name=op.f("pk_preference")),
    )
