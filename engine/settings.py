"""Where things are kept, from the environment. Read once per process.

WHETSTONE_HOME           models, evaluation sets, history and logs (default ~/.whetstone)
WHETSTONE_DATABASE_URL   history shared by a team: postgresql://user@host/whetstone (default: SQLite in the home)
WHETSTONE_USER           name shown beside what you do (default: the login name)
WHETSTONE_IMPORT_DIR     a folder of this server whose files the dashboard may offer (default: none)
WHETSTONE_UPLOAD_QUOTA   bytes that streamed uploads may take together (default 4 GiB)
WHETSTONE_LOG_LEVEL      what the server writes: debug says how long every page took (default warning)
"""

from __future__ import annotations

import getpass
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from engine.errors import InvalidRequest

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


@dataclass(frozen=True)
class Settings:
    """What the environment says."""

    home: Path
    database_url: str
    user: str
    import_dir: Path | None
    upload_quota_bytes: int
    log_level: str


@cache
def settings() -> Settings:
    """The settings of this process. Raises InvalidRequest for a value that cannot be used."""
    home = Path(os.environ.get("WHETSTONE_HOME") or Path.home() / ".whetstone").expanduser().resolve()
    quota = os.environ.get("WHETSTONE_UPLOAD_QUOTA") or str(4 << 30)
    if not quota.isdigit() or int(quota) == 0:
        raise InvalidRequest(f"WHETSTONE_UPLOAD_QUOTA must be a number of bytes, got {quota!r}")
    level = (os.environ.get("WHETSTONE_LOG_LEVEL") or "warning").upper()
    if level not in LEVELS:
        raise InvalidRequest(f"WHETSTONE_LOG_LEVEL must be one of {', '.join(LEVELS).lower()}, got {level.lower()!r}")
    imports = os.environ.get("WHETSTONE_IMPORT_DIR")
    return Settings(
        home=home,
        database_url=os.environ.get("WHETSTONE_DATABASE_URL") or f"sqlite:///{home / 'whetstone.db'}",
        user=os.environ.get("WHETSTONE_USER") or _login(),
        import_dir=Path(imports).expanduser().resolve() if imports else None,
        upload_quota_bytes=int(quota),
        log_level=level,
    )


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container user without a passwd entry
        return "local"
