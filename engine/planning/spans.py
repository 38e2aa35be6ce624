"""OpenTelemetry spans (OTLP JSON) as the stages of requests.

A request is a span without a parent in the file; its stages are its direct children by name, cut to its own time.
Where several stages run at once each gets an equal part of that moment, so that stages never exceed the request.
Source: opentelemetry-proto, trace.proto and the OTLP JSON encoding.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.errors import BadData
from engine.planning.stages import Trace, trace

NS_PER_MS = 1e6


@dataclass(frozen=True)
class Span:
    """Times in nanoseconds since any moment."""

    key: tuple[str, str]
    parent: tuple[str, str]
    name: str
    start: int
    end: int


def read_spans(documents: Sequence[Any]) -> Trace:
    """The most frequent kind of request in OTLP JSON documents. Raises BadData when there is none."""
    spans = [span for document in documents for span in _spans(document)]
    known = {span.key for span in spans}
    children: dict[tuple[str, str], list[Span]] = defaultdict(list)
    for span in spans:
        children[span.parent].append(span)
    roots = [span for span in spans if span.parent not in known]
    if not roots:
        raise BadData("there is no span without a parent, so no request to look at")
    kind, n_kind = Counter(root.name for root in roots).most_common(1)[0]
    requests = [root for root in roots if root.name == kind and root.end > root.start]
    if not requests:
        raise BadData(f"no request {kind!r} takes any time")
    names = tuple(dict.fromkeys(child.name for root in requests for child in children[root.key]))
    if not names:
        raise BadData(f"the requests {kind!r} have no child spans: there are no stages to look at")
    stages = np.array([_shares(root, children[root.key], names) for root in requests])
    total = np.array([(root.end - root.start) / NS_PER_MS for root in requests])
    left_out = len(roots) - n_kind
    notes = (f"{left_out:,} requests of other kinds than {kind!r} left out",) if left_out else ()
    return trace(names, stages, total, notes)


def _shares(root: Span, children: list[Span], names: tuple[str, ...]) -> list[float]:
    """Milliseconds of each stage within the request; moments of several stages are divided among them."""
    moments = []
    for child in children:
        start, end = max(child.start, root.start), min(child.end, root.end)
        if end > start:
            moments += [(start, 1, child.name), (end, -1, child.name)]
    running: Counter[str] = Counter()
    found = dict.fromkeys(names, 0.0)
    before = root.start
    for at, step, name in sorted(moments):
        active = [one for one, count in running.items() if count]
        for one in active:
            found[one] += (at - before) / NS_PER_MS / len(active)
        running[name] += step
        before = at
    return list(found.values())


def _spans(document: Any) -> Iterator[Span]:
    try:
        for resource in document["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                for span in scope["spans"]:
                    trace_id = str(span["traceId"])
                    yield Span(
                        key=(trace_id, str(span["spanId"])),
                        parent=(trace_id, str(span.get("parentSpanId") or "")),
                        name=str(span["name"])[:200],
                        start=_nanoseconds(span["startTimeUnixNano"]),
                        end=_nanoseconds(span["endTimeUnixNano"]),
                    )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadData(f"this is no OTLP JSON of spans: {type(error).__name__} at {str(error)[:80]}") from None


def _nanoseconds(value: Any) -> int:
    found = int(value)
    if not 0 <= found < 2**64:
        raise ValueError("a time beyond 64 bits")
    return found
