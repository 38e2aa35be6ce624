"""Two profiles in one sentence: did the operator that should get cheaper get cheaper, and what was added for it?"""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.records import OperatorCost

FAMILIES = {  # what is meant by a name, in the spelling of every runtime, quantised and fused forms included
    "MatMul": re.compile(r"MatMul|Gemm|^aten::(addmm|mm|bmm|baddbmm|matmul|linear|addmv|mv)$"),
    "Conv": re.compile(r"Conv|^aten::.*conv"),
    "Attention": re.compile(r"Attention|^aten::.*attention", re.IGNORECASE),
    "The trees": re.compile(r"TreeEnsemble|^trees? \d"),
}
ADDED = {  # what a change of precision puts between the others
    "quantise/dequantise": frozenset({"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"}),
    "cast": frozenset({"Cast", "aten::_to_copy"}),
}


def family_share(costs: Sequence[OperatorCost], family: str) -> float:
    """Share of one family (MatMul, Conv, Attention, The trees) in a profile."""
    return sum(cost.share for cost in costs if FAMILIES[family].search(cost.op))


def reading(before: Sequence[OperatorCost], after: Sequence[OperatorCost]) -> str:
    """What changed; with one profile, where its time goes; with none, that there is none."""
    if not before and not after:
        return "no operator was timed"
    if not after:
        return _alone(before)
    if not before:
        return _alone(after)
    parts = [_wall(before, after), *_added(before, after)]
    return "; ".join(parts) + "."


def _alone(costs: Sequence[OperatorCost]) -> str:
    named = [f"{cost.op} {cost.share:.0%}" for cost in costs[:3]]
    return f"The time goes to {_list(named)}."


def _wall(before: Sequence[OperatorCost], after: Sequence[OperatorCost]) -> str:
    family = max(FAMILIES, key=lambda name: family_share(before, name))
    was, now = family_share(before, family), family_share(after, family)
    if was == 0:
        return f"The dearest operator was {before[0].op} with {before[0].share:.0%}, now {_now(after)}"
    went = "stayed at" if round(100 * was) == round(100 * now) else "fell from" if now < was else "rose from"
    shares = f"{was:.0%}" if went == "stayed at" else f"{was:.0%} to {now:.0%}"
    was_ms, now_ms = (
        sum(cost.total_ms for cost in costs if FAMILIES[family].search(cost.op)) for costs in (before, after)
    )
    return f"{family} {went} {shares} of the operators' time ({was_ms:.3g} to {now_ms:.3g} ms per call)"


def _now(after: Sequence[OperatorCost]) -> str:
    return f"{after[0].op} with {after[0].share:.0%}"


def _added(before: Sequence[OperatorCost], after: Sequence[OperatorCost]) -> list[str]:
    said = []
    for name, ops in ADDED.items():
        n_before, n_after = (sum(cost.n for cost in costs if cost.op in ops) for costs in (before, after))
        share = sum(cost.share for cost in after if cost.op in ops)
        if n_after > n_before:
            plural = "nodes" if n_after > 1 else "node"
            said.append(f"{n_after} {name} {plural} {'cost' if n_after > 1 else 'costs'} {share:.0%}")
    return said


def _list(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
