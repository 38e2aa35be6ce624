"""What a packing plan is made of: items, the node they go on, who must not meet, and where each went."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from engine.errors import InvalidRequest
from engine.records.base import Record
from engine.records.planning import Figures

Priority = Literal["high", "normal", "low"]


class Item(Figures):
    """A replica that wants a place. Memory in MB, compute at its peak in thousandths of a core or of a device."""

    name: str = Field(min_length=1, max_length=120)
    memory_mb: int = Field(ge=0, le=100_000_000)
    compute_milli: int = Field(ge=0, le=100_000_000)
    priority: Priority = Field("normal", description="High goes first and meets no noisy one; low may be left out.")
    noisy: bool = Field(False, description="Known to slow its neighbours down.")
    dedicated: bool = Field(False, description="Takes a node for itself.")
    latency_sensitive: bool = Field(False, description="Its node is filled only to the busy limit.")


class Node(Figures):
    """A machine, as many as it takes."""

    memory_mb: int = Field(gt=0, le=100_000_000)
    compute_milli: int = Field(gt=0, le=100_000_000)
    memory_fraction: float = Field(0.9, gt=0, le=1, description="Of the memory that may be planned with.")
    runtime_mb: int = Field(0, ge=0, description="Taken by system and runtime on every node.")
    busy_limit: float = Field(0.7, gt=0, le=1, description="Share of compute beside a latency-sensitive item.")
    price_per_hour: float = Field(0.0, ge=0, le=1e9)

    @model_validator(mode="after")
    def _usable(self) -> Node:
        if self.usable_mb <= 0:
            raise InvalidRequest(
                f"a node of {self.memory_mb:,} MB has nothing left: {self.memory_fraction:.0%} of it less "
                f"{self.runtime_mb:,} MB of the runtime"
            )
        return self

    @property
    def usable_mb(self) -> int:
        """Memory for items."""
        return int(self.memory_mb * self.memory_fraction + 1e-6) - self.runtime_mb

    def compute_for(self, *, sensitive: bool) -> int:
        """Compute for items, less where one of them is latency-sensitive."""
        return int(self.compute_milli * self.busy_limit + 1e-6) if sensitive else self.compute_milli


class CoRun(Figures):
    """Two items' measured p99: the slower one's alone and beside the other."""

    first: str
    second: str
    solo_p99_ms: float = Field(gt=0)
    together_p99_ms: float = Field(gt=0)

    @property
    def factor(self) -> float:
        """How many times longer beside each other."""
        return self.together_p99_ms / self.solo_p99_ms


class Load(Record):
    """One node with what is on it."""

    items: tuple[str, ...]
    memory_mb: int
    compute_milli: int


class PackingPlan(Record):
    """Where everything goes."""

    node: Node
    loads: tuple[Load, ...]
    left_out: tuple[str, ...] = Field(description="Low priority, for which the nodes did not suffice.")
    first_fit_nodes: int = Field(description="By first fit, decreasing.")
    least_nodes: int = Field(description="A bound: fewer can never hold them.")
    optimal: bool = Field(description="Proven: no fewer nodes do.")
    apart: tuple[tuple[str, str], ...] = Field(description="Pairs that do not share a node, for any reason.")
    cost_per_month: float
    cost_unpacked_per_month: float = Field(description="One node per item.")
