"""An exported PyTorch program as a module that can be trained and pruned, without the Python class it came from.

A program calls ``aten.linear(x, weight, bias)``; training and pruning tools look for ``nn.Linear``. Each layer they
know becomes such a module again, with the same numbers: answers stay bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.graph import torch_program, torchscript_program
from engine.records import Signature

if TYPE_CHECKING:
    from torch import fx, nn
    from torch.export import ExportedProgram

_CONV_ARGUMENTS = ("stride", "padding", "dilation", "groups")


def trainable(program: ExportedProgram) -> fx.GraphModule:
    """A module that takes the program's inputs in order and returns a tuple of its outputs, in evaluation mode.

    Parameters that belong to no known layer (position embeddings, say) stay parameters of the module itself.
    """
    from torch import fx

    given = program.module(check_guards=False)
    graph = given.graph
    for node in list(graph.nodes):
        if node.op == "call_module" and not node.users:  # the guards: shapes are checked by us
            graph.erase_node(node)
        elif node.op == "call_function" and (made := _layer(node, given)) is not None:
            name = f"layer_{node.name}"
            given.add_submodule(name, made.eval())
            with graph.inserting_before(node):
                called = graph.call_module(name, (node.args[0],))
            called.meta = dict(node.meta)
            node.replace_all_uses_with(called)
            graph.erase_node(node)
    graph.eliminate_dead_code()
    graph.set_codegen(fx.graph.CodeGen())  # inputs and outputs in a row, not nested as the program had them
    rebuilt = fx.GraphModule(given, graph)  # a new one: a program's module forbids eval() and train()
    rebuilt.delete_all_unused_submodules()
    for parameter in rebuilt.parameters():
        if parameter.is_floating_point():
            parameter.requires_grad_(True)
    return rebuilt


def trainable_from(folder: Path, model_format: str, signature: Signature) -> fx.GraphModule:
    """The same from the payload of a torch.export program or a TorchScript module."""
    if model_format == "torchscript":
        return trainable(torchscript_program.as_program(torchscript_program.load(folder), signature))
    return trainable(torch_program.load(folder))


def layers(module: fx.GraphModule) -> dict[str, nn.Module]:
    """Name -> layer, for those that were made from the program, in the order of the graph."""
    known = dict(module.named_modules())
    return {str(node.target): known[str(node.target)] for node in module.graph.nodes if node.op == "call_module"}


def _layer(node: fx.Node, owner: nn.Module) -> nn.Module | None:
    """The module of one operator call, or None when it is no layer that is known."""
    make = _MAKERS.get(str(node.target))
    return make(node, lambda place: _value(place, owner)) if make else None


Look = Callable[[Any], Any]


def _value(place: Any, owner: Any) -> Any:
    """The tensor of a get_attr node; None for None, and for what is computed while the program runs."""
    if getattr(place, "op", None) != "get_attr":
        return None
    for part in place.target.split("."):
        owner = getattr(owner, part)
    return owner


def _arguments(node: fx.Node, names: tuple[str, ...]) -> dict[str, Any]:
    """Arguments by name, wherever the call put them."""
    return dict(zip(names, node.args, strict=False)) | dict(node.kwargs)


def _filled(module: nn.Module, **tensors: Any) -> nn.Module:
    """The module with copies of the tensors that are not None."""
    for name, value in tensors.items():
        if value is not None:
            getattr(module, name).data = value.detach().clone()
    return module


def _linear(node: fx.Node, look: Look) -> nn.Module | None:
    from torch import nn

    given = _arguments(node, ("input", "weight", "bias"))
    weight, bias = look(given["weight"]), look(given.get("bias"))
    if weight is None or weight.ndim != 2 or (bias is None) != (given.get("bias") is None):
        return None
    made = nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None)
    return _filled(made, weight=weight, bias=bias)


def _convolution(node: fx.Node, look: Look) -> nn.Module | None:
    from torch import nn

    given = _arguments(node, ("input", "weight", "bias", *_CONV_ARGUMENTS))
    weight, bias = look(given["weight"]), look(given.get("bias"))
    if weight is None or (bias is None) != (given.get("bias") is None):
        return None
    settings = {name: _plain(given[name]) for name in _CONV_ARGUMENTS if name in given}
    kind = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[weight.ndim - 3]
    channels = weight.shape[1] * settings.get("groups", 1)
    made = kind(channels, weight.shape[0], tuple(weight.shape[2:]), bias=bias is not None, **settings)
    return _filled(made, weight=weight, bias=bias)


def _general_convolution(node: fx.Node, look: Look) -> nn.Module | None:
    """aten.convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)."""
    if len(node.args) < 9 or node.args[6]:
        return None
    same = node.graph.create_node("call_function", node.target, (*node.args[:6], node.args[8]))
    made = _convolution(same, look)
    node.graph.erase_node(same)
    return made


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list | tuple) else value


def _batch_norm(node: fx.Node, look: Look) -> nn.Module | None:
    from torch import nn

    names = ("input", "weight", "bias", "running_mean", "running_var", "training", "momentum", "eps", "cudnn")
    given = _arguments(node, names)
    tensors = {name: look(given[name]) for name in names[1:5]}
    if given["training"] or tensors["running_mean"] is None or tensors["weight"] is None:
        return None
    rank = len(given["input"].meta["val"].shape)
    kind = {2: nn.BatchNorm1d, 3: nn.BatchNorm1d, 4: nn.BatchNorm2d, 5: nn.BatchNorm3d}[rank]
    return _filled(kind(len(tensors["weight"]), eps=given["eps"]), **tensors)


def _layer_norm(node: fx.Node, look: Look) -> nn.Module | None:
    from torch import nn

    given = _arguments(node, ("input", "shape", "weight", "bias", "eps"))
    weight, bias = look(given.get("weight")), look(given.get("bias"))
    if weight is None:
        return None
    made = nn.LayerNorm(list(given["shape"]), eps=given.get("eps", 1e-5), bias=bias is not None)
    return _filled(made, weight=weight, bias=bias)


_MAKERS: dict[str, Callable[[fx.Node, Look], nn.Module | None]] = {
    "aten.linear.default": _linear,
    "aten.conv1d.default": _convolution,
    "aten.conv2d.default": _convolution,
    "aten.conv3d.default": _convolution,
    "aten.convolution.default": _general_convolution,
    "aten._convolution.default": _general_convolution,
    "aten.batch_norm.default": _batch_norm,
    "aten.layer_norm.default": _layer_norm,
}
