"""The levers as somebody chooses among them: what each does, when it helps and hurts, whether it fits, what to expect.

The page and the command line show these entries and know nothing more of a lever.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.plugin import Lever, Prediction, levers
from engine.recipe import expected
from engine.records import Manifest

_MARKS = ("Helps", "Hurts", "Source")
_PARTS = re.compile(r"(?:^|(?<=[.!?])) (?=Helps\b|Hurts\b|Source:)")
_ORDER = {"Likely faster": 0, "Worth a try": 1, "No difference": 2, "Likely slower": 3}


@dataclass(frozen=True)
class Story:
    """The docstring of a lever in its parts: its first paragraph, what follows, and the marked sentences."""

    what: str
    more: str | None = None
    helps: str | None = None
    hurts: str | None = None
    source: str | None = None


@dataclass(frozen=True)
class Entry:
    """One lever, looked at for one model on one machine (or for none: then nothing is said about fit)."""

    name: str
    lever: type[Lever]
    story: Story
    reason: str | None = None
    prediction: Prediction | None = None
    bridge: str | None = None

    @property
    def group(self) -> str:
        """The family it belongs to: quantisation, pruning, distillation or export."""
        return self.name.split(".")[0]

    @property
    def fits(self) -> bool:
        """False: `reason` says why, and `bridge` names a lever after which it would fit, if there is one."""
        return self.reason is None


def catalogue(manifest: Manifest | None, machine: Mapping[str, Any]) -> list[Entry]:
    """Every lever: those that fit first, the most promising of them first. `machine` is `environment.describe()`."""
    if manifest is None:
        return [Entry(name, lever, story(lever)) for name, lever in levers().items()]
    entries = [_entry(name, lever, manifest, machine) for name, lever in levers().items()]
    return sorted(entries, key=lambda one: (not one.fits, _ORDER.get(_word(one), 1), one.name))


def story(lever: type[Lever]) -> Story:
    """The parts of its docstring: they begin with 'Helps', 'Hurts' and 'Source:'; None where it does not say."""
    what, _, rest = inspect.cleandoc(lever.__doc__ or "").partition("\n\n")
    parts = [part for part in _PARTS.split(" " + " ".join(rest.split())) if part.strip()]
    found = {name: part.strip() for part in parts if (name := part.split()[0].rstrip(":")) in _MARKS}
    more = next((part.strip() for part in parts[:1] if part.split()[0].rstrip(":") not in _MARKS), None)
    source = found.get("Source", "").removeprefix("Source: ") or None
    return Story(" ".join(what.split()), more, found.get("Helps"), found.get("Hurts"), source)


def bridge(lever: type[Lever], manifest: Manifest, machine: Mapping[str, Any]) -> tuple[type[Lever], str | None] | None:
    """A lever after which `lever` has its format, and why it does not fit even then (None: it does).

    None: no lever leads there, or none is needed. Of several one after which it fits comes first.
    """
    if manifest.format in lever.accepts:
        return None
    ways = [cls for cls in levers().values() if cls.produces in lever.accepts and cls.fits(manifest, machine) is None]
    found = [(cls, lever.fits(expected(cls, manifest), machine)) for cls in ways]
    return min(found, key=lambda one: one[1] is not None, default=None)


def _entry(name: str, lever: type[Lever], manifest: Manifest, machine: Mapping[str, Any]) -> Entry:
    reason = lever.fits(manifest, machine)
    if reason is None:
        return Entry(name, lever, story(lever), None, lever.predicts(manifest, machine))
    way = bridge(lever, manifest, machine)
    if way is None:
        return Entry(name, lever, story(lever), reason)
    first, still = way
    if still is not None:
        return Entry(name, lever, story(lever), f"{reason}; after {first.title}: {still}")
    return Entry(name, lever, story(lever), reason, bridge=first.title)


def _word(entry: Entry) -> str:
    return entry.prediction.word if entry.prediction else ""
