"""Signs that something disturbed a measurement, each kind said once."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.records import Measurement, Workload
from pages._ui.words import with_times_sign

_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
FEW = 6  # workloads that are named one by one


def merged(measurements: Sequence[Measurement]) -> list[str]:
    """One line per kind of flag: its figures as a range, and where it was seen unless it was everywhere."""
    found: dict[str, list[tuple[Workload, str]]] = {}
    for measured in measurements:
        for flag in measured.flags:
            found.setdefault(_NUMBER.sub("#", flag), []).append((measured.workload, flag))
    n_workloads = len({one.workload for one in measurements})
    with_threads = len({one.workload.threads for one in measurements}) > 1
    return [with_times_sign(_line(seen, n_workloads, with_threads=with_threads)) for seen in found.values()]


def workload_text(workload: Workload, *, with_threads: bool) -> str:
    """'batch 8', or 'batch 8 on 2 threads'."""
    text = f"batch {workload.batch_size:,}"
    return f"{text} on {workload.threads} thread{'s' if workload.threads > 1 else ''}" if with_threads else text


def _line(seen: Sequence[tuple[Workload, str]], n_workloads: int, *, with_threads: bool) -> str:
    text = _ranged([flag for _, flag in seen])
    places = list(dict.fromkeys(workload for workload, _ in seen))
    if len(places) == n_workloads:
        return text
    if len(places) > FEW:
        return f"{len(places)} of {n_workloads} workloads: {text}"
    return f"{_named(places, with_threads=with_threads)}: {text}"


def _named(places: Sequence[Workload], *, with_threads: bool) -> str:
    """'batch 1, 4 and 16 on 1 thread, batch 4 on 2 threads'."""
    by_threads: dict[int, list[str]] = {}
    for place in places:
        by_threads.setdefault(place.threads, []).append(f"{place.batch_size:,}")
    parts = []
    for threads, sizes in by_threads.items():
        listed = sizes[0] if len(sizes) == 1 else f"{', '.join(sizes[:-1])} and {sizes[-1]}"
        tail = f" on {threads} thread{'s' if threads > 1 else ''}" if with_threads else ""
        parts.append(f"batch {listed}{tail}")
    return ", ".join(parts)


def _ranged(flags: Sequence[str]) -> str:
    """The flags as one: where a number differs it becomes 'low to high'."""
    columns = list(zip(*(_NUMBER.findall(flag) for flag in flags), strict=True))

    def spelled(position: int) -> str:
        values = sorted(set(columns[position]), key=lambda text: float(text.replace(",", "")))
        return values[0] if len(values) == 1 else f"{values[0]} to {values[-1]}"

    parts = _NUMBER.split(flags[0])
    return parts[0] + "".join(spelled(at) + part for at, part in enumerate(parts[1:]))
