"""Where the time of one call goes, operator by operator, before and after."""

from __future__ import annotations

from pydantic import Field

from engine.records.base import Record


class OperatorCost(Record):
    """All nodes of one kind in one call."""

    op: str = Field(description="As the runtime names it: MatMul, aten::addmm, or 'trees 1 to 188'.")
    n: int = Field(ge=0, description="Nodes of this kind that ran in one call; trees: trees of the block.")
    total_ms: float = Field(ge=0, description="Their time in one call together, without what they call themselves.")
    share: float = Field(ge=0, le=1, description="Of the sum over all operators.")


class OperatorProfile(Record):
    """The original beside the variant, profiled one after the other when the timing was done."""

    before: tuple[OperatorCost, ...] = Field((), description="The original, dearest first; empty: not available.")
    after: tuple[OperatorCost, ...] = Field((), description="The variant; empty for the original alone.")
    batch_size: int
    n_calls: int = Field(description="Calls of each arm after its warm-up; the faster half of them is averaged.")
    reading: str = Field(description="What changed, in one sentence; or why there is no profile.")
