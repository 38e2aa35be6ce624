"""What a lever and a runtime are, and how they are found.

A plug-in is one module holding one class. Its name is its place: ``engine/pruning/fewer_trees.py`` is the lever
``pruning.fewer_trees``; ``engine/runtimes/onnxruntime_cpu.py`` is the runtime ``onnxruntime_cpu``.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from abc import abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from engine.errors import DoesNotFit, InvalidRecipe
from engine.records import Manifest

if TYPE_CHECKING:
    import numpy as np

LEVER_FAMILIES = ("quantisation", "pruning", "distillation", "export")
Predict = Callable[["dict[str, np.ndarray]"], "dict[str, np.ndarray]"]
Outlook = Literal["Likely faster", "Worth a try", "No difference", "Likely slower"]


@dataclass(frozen=True)
class Artefact:
    """A folder holding one model's payload files and nothing else, with its manifest. Never changed once written."""

    manifest: Manifest
    folder: Path


@dataclass(frozen=True)
class Split:
    """inputs: input name -> (n, ...) array as the model takes it; labels: (n,) class index or value, NaN/-1 unknown."""

    inputs: Mapping[str, np.ndarray]
    labels: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        """Rows of the split."""
        return len(next(iter(self.inputs.values())))


@dataclass(frozen=True)
class Context:
    """What a lever may see. The certification split is not in it, on purpose.

    threads: cores the lever may use; progress(fraction in 0..1, what is being done) is shown to the user.
    """

    data_id: str
    train: Split
    calibration: Split
    seed: int = 0
    threads: int = 1
    progress: Callable[[float, str], None] = field(default=lambda fraction, text: None)


class Plugin(BaseModel):
    """Fields are the parameters (bool, int, float, Literal, tuple of ints); class variables say what it can do."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    title: ClassVar[str]
    accepts: ClassVar[frozenset[str]]
    libraries: ClassVar[tuple[str, ...]] = ()
    revision: ClassVar[int] = 1  # raise it when the same parameters give another result
    machine_bound: ClassVar[bool] = False  # the result depends on this machine's CPU flags

    @classmethod
    def plugin_name(cls) -> str:
        """The name by place, as recipes spell it."""
        return cls.__module__.removeprefix("engine.").removeprefix("runtimes.")

    @classmethod
    def fits(cls, manifest: Manifest, machine: Mapping[str, Any]) -> str | None:
        """None, or the reason a user can act on. `machine` is `engine.environment.describe()`."""
        if manifest.format not in cls.accepts:
            return f"takes {' or '.join(sorted(cls.accepts))}; this model is {manifest.format}"
        missing = cls.missing_library()
        return f"needs the Python package {missing}, which is not installed" if missing else None

    @classmethod
    def missing_library(cls) -> str | None:
        """The first library that is not installed, or None."""
        return next((name for name in cls.libraries if not _installed(name)), None)


@dataclass(frozen=True)
class Prediction:
    """What a lever will probably do to the time of a call, said before anything runs: a word and why, in a sentence.

    Judged from what is known of the model and the processor. It decides nothing; only a run does.
    """

    word: Outlook
    reason: str


@cache
def _installed(library: str) -> bool:
    """Looked for once per process: pages ask it of every lever each time they are drawn."""
    return importlib.util.find_spec(library) is not None


class Lever(Plugin):
    """Changes the files of a model."""

    produces: ClassVar[str | None] = None  # None: same format as the source
    exact: ClassVar[bool] = False  # True: the answers must stay the original's within rounding, else ParityFailed

    @classmethod
    def predicts(cls, manifest: Manifest, machine: Mapping[str, Any]) -> Prediction | None:
        """What to expect of it on a model that it fits; None: nothing can be said. `machine` as for `fits`."""
        return None

    @abstractmethod
    def apply(self, source: Artefact, out: Path, context: Context) -> dict[str, Any]:
        """Write the new payload into the empty folder `out`; return notes worth showing. Raises WhetstoneError."""


class Runtime(Plugin):
    """Runs the files of a model."""

    reference: ClassVar[bool] = False  # the one runtime whose outputs define right for its format

    @classmethod
    def prepare(cls, manifest: Manifest, machine: str) -> None:
        """What is made once per machine before a confined child opens the model, such as compiled code."""

    @abstractmethod
    def open(self, artefact: Artefact, threads: int = 1) -> AbstractContextManager[Predict]:
        """Yield predict(inputs) -> outputs; it returns once the outputs are in host memory."""


P = TypeVar("P", bound=Plugin)


@cache
def _find(base: type[P], families: tuple[str, ...]) -> dict[str, type[P]]:
    found: dict[str, type[P]] = {}
    for family in families:
        if importlib.util.find_spec(f"engine.{family}") is None:
            continue
        package = importlib.import_module(f"engine.{family}")
        for info in pkgutil.iter_modules(package.__path__):
            module = importlib.import_module(f"{package.__name__}.{info.name}")
            for value in vars(module).values():
                if isinstance(value, type) and issubclass(value, base) and value.__module__ == module.__name__:
                    found[value.plugin_name()] = value
    return dict(sorted(found.items()))


def levers() -> dict[str, type[Lever]]:
    """Every lever: name -> class."""
    return _find(Lever, LEVER_FAMILIES)  # type: ignore[type-abstract]


def runtimes() -> dict[str, type[Runtime]]:
    """Every runtime: name -> class."""
    return _find(Runtime, ("runtimes",))  # type: ignore[type-abstract]


def reference_runtime(model_format: str) -> str:
    """Name of the runtime that defines right for a format. Raises DoesNotFit when none does."""
    for name, cls in runtimes().items():
        if cls.reference and model_format in cls.accepts:
            return name
    raise DoesNotFit(f"no runtime opens the format {model_format!r}; known: {', '.join(sorted(runtimes()))}")


def make(catalogue: Mapping[str, type[P]], name: str, params: Mapping[str, Any]) -> P:
    """The plug-in `name` with its parameters checked. Raises InvalidRecipe."""
    if name not in catalogue:
        raise InvalidRecipe(f"nothing is called {name!r}; known: {', '.join(sorted(catalogue))}")
    try:
        return catalogue[name](**params)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "parameters"
        raise InvalidRecipe(f"{name}: {where} = {first.get('input')!r} cannot be used: {first['msg']}") from error
