"""Ready-made studies on real data: a model, an evaluation set and a promise each.

One module per sample, found by place: any module here that has `sample()` and `rebuild(out)`.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType

from engine.errors import NotFound
from sample_models.sample import Sample


@cache
def modules() -> dict[str, ModuleType]:
    """Sample name -> the module that describes it (`sample()`) and makes its files (`rebuild(out)`)."""
    found = (importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    kept = {module.__name__.rpartition(".")[2]: module for module in found if hasattr(module, "rebuild")}
    return dict(sorted(kept.items()))


def samples() -> dict[str, Sample]:
    """Every sample: name -> description. Imports no heavy library and opens no file."""
    return {name: module.sample() for name, module in modules().items()}


def find(name: str) -> Sample:
    """The sample called `name`. Raises NotFound."""
    if name not in modules():
        raise NotFound(f"no sample is called {name!r}; there are: {', '.join(modules())}")
    return samples()[name]
