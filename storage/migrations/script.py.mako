"""${message}."""

import sqlalchemy as sa
from alembic import op

from storage.columns import BIG, Document, SafeText, UtcTime

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}


def upgrade() -> None:
    ${upgrades if upgrades else "pass"}
