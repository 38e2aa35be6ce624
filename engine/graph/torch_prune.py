"""Remove channels of a rebuilt module: whole rows of weights, and what depends on them.

Which weights go together is torch-pruning's work: Fang et al. (2023), DepGraph: Towards Any Structural Pruning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from engine.graph.torch_modules import layers

if TYPE_CHECKING:
    from torch import Tensor, fx, nn

Norm = Literal[1, 2]
_ATTENTION = ("scaled_dot_product_attention", "softmax")


@dataclass(frozen=True)
class Pruned:
    """How many layers lost channels, and how many channels there were and are in those."""

    n_layers: int
    channels_before: int
    channels_after: int


def prune_channels(module: fx.GraphModule, example: list[Tensor], ratio: float, round_to: int, norm: Norm) -> Pruned:
    """Remove that share of the channels between layers, in place; sizes stay multiples of `round_to`.

    Layers whose channels are outputs stay whole. In nets with attention only pairs of dense layers with nothing but
    elementwise operators between them shrink (the feed-forward part): width and heads hang on residual sums.
    With few channels nothing may go: then n_layers is 0.
    """
    import torch_pruning

    before = _widths(module)
    last = _makers_of_outputs(module)
    _free_views(module)
    if any(word in str(node.target) for node in module.graph.nodes for word in _ATTENTION):
        _prune_pairs(module, example, ratio, round_to, norm, last)
    else:
        pruner = torch_pruning.pruner.MagnitudePruner(
            module,
            tuple(example),
            importance=torch_pruning.importance.GroupMagnitudeImportance(p=norm),
            pruning_ratio=ratio,
            ignored_layers=last,
            round_to=round_to,
        )
        pruner.step()
    after = _widths(module)
    changed = [name for name in before if after[name] != before[name]]
    return Pruned(len(changed), sum(before[name] for name in changed), sum(after[name] for name in changed))


def _weighted(module: fx.GraphModule) -> dict[str, nn.Module]:
    from torch import nn

    kinds = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
    return {name: layer for name, layer in layers(module).items() if isinstance(layer, kinds)}


def _widths(module: fx.GraphModule) -> dict[str, int]:
    return {name: len(layer.weight) for name, layer in _weighted(module).items()}  # type: ignore[arg-type]


def _makers_of_outputs(module: fx.GraphModule) -> list[nn.Module]:
    """Layers from which an output is reached without passing another layer."""
    weighted = _weighted(module)
    waiting = list(next(node for node in module.graph.nodes if node.op == "output").all_input_nodes)
    found, seen = [], set()
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.op == "call_module" and node.target in weighted:
            found.append(weighted[str(node.target)])
        else:
            waiting.extend(node.all_input_nodes)
    return found


def _free_views(module: fx.GraphModule) -> None:
    """view(x, [batch, 128]) names a width that changes: let it be found (-1)."""
    for node in module.graph.nodes:
        if str(node.target) in ("aten.view.default", "aten.reshape.default"):
            sizes = list(node.args[1])
            if len(sizes) == 2 and not isinstance(sizes[0], int) and isinstance(sizes[1], int):
                node.args = (node.args[0], [sizes[0], -1])
    module.recompile()


def _prune_pairs(
    module: fx.GraphModule, example: list[Tensor], ratio: float, round_to: int, norm: Norm, last: list[nn.Module]
) -> None:
    import torch_pruning
    from torch import nn

    dependencies = torch_pruning.DependencyGraph().build_dependency(module, example_inputs=tuple(example))
    for layer in _weighted(module).values():
        if not isinstance(layer, nn.Linear) or any(layer is each for each in last):
            continue
        every = list(range(layer.out_features))
        group = dependencies.get_pruning_group(layer, torch_pruning.prune_linear_out_channels, idxs=every)
        members = [entry.dep.target.module for entry in group if _holds_weights(entry.dep.target.module)]
        if len(members) != 2 or not isinstance(members[1], nn.Linear) or members[1].in_features != layer.out_features:
            continue
        strength = layer.weight.norm(p=norm, dim=1) * members[1].weight.norm(p=norm, dim=0)
        n_kept = max(round_to, round(layer.out_features * (1 - ratio) / round_to) * round_to)
        gone = strength.argsort()[: max(0, layer.out_features - n_kept)].tolist()
        if gone:
            dependencies.get_pruning_group(layer, torch_pruning.prune_linear_out_channels, idxs=gone).prune()


def _holds_weights(member: Any) -> bool:
    """False for the elementwise operators of a group; a loose parameter counts as a layer, which keeps it whole."""
    return not hasattr(member, "parameters") or next(member.parameters(), None) is not None
