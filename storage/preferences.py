"""What each person likes to see: chosen columns, filters, what was put away. Nobody else's screen depends on it."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.exc import IntegrityError

from storage.base import Store
from storage.columns import storable
from storage.schema import preference


class Preferences(Store):
    """A JSON value per person and name. Does not move the version counter."""

    def preferences(self, user: str) -> dict[str, Any]:
        """Everything that was remembered for `user`, by name."""
        query = sa.select(preference.c.name, preference.c.document).where(preference.c.user == storable(user))
        return {row.name: row.document for row in self._read(lambda connection: connection.execute(query).all())}

    def preference(self, user: str, name: str) -> Any:
        """One value; None: nothing was remembered."""
        return self.preferences(user).get(name)

    def set_preference(self, user: str, name: str, value: Any) -> None:
        """Remember a JSON value; the last one stays. None forgets it."""
        mine = (preference.c.user == storable(user)) & (preference.c.name == name)

        def update(connection: Connection) -> None:
            if value is None:
                connection.execute(preference.delete().where(mine))
            elif connection.execute(preference.update().where(mine).values(document=value)).rowcount == 0:
                connection.execute(preference.insert().values(user=user, name=name, document=value))

        try:
            self._write(update)
        except IntegrityError:  # another tab of the same person was first in this moment
            self._write(update)
