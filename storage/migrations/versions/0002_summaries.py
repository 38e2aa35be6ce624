"""Keep a summary of every experiment for the lists; storage/upgrade.py fills those of older runs."""

import sqlalchemy as sa
from alembic import op

from storage.columns import Document

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("experiment", sa.Column("summary", Document()))
    op.create_index("ix_experiment_created_at", "experiment", ["created_at"])
