"""Find the data files that ship inside Python packages, without importing the packages."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from engine.errors import DoesNotFit


def folder_of(package: str) -> Path:
    """The installed folder of `package`. Raises DoesNotFit with what to install.

    The packages are not imported: one needs setuptools at import, another unpacks itself into the home folder.
    """
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise DoesNotFit(
            f"rebuilding needs the Python package {package}, which is not installed: pip install {package}"
        )
    return Path(spec.submodule_search_locations[0])
