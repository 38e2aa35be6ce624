"""Train a net on the answers of another: losses, batches, an early stop, and statistics measured anew.

Temperature and loss as Hinton, Vinyals and Dean (2015), Distilling the Knowledge in a Neural Network, section 2.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import DoesNotFit
from engine.records import OutputKind

if TYPE_CHECKING:
    from torch import Tensor, nn

HELD_OUT = 0.1
PATIENCE = 4  # epochs without an improvement of 2 % end the training
_TINY = 1e-7


@dataclass(frozen=True)
class Lesson:
    """inputs: one tensor per input of the net, (n, ...); answers: the teacher's outputs for them, (n, ...)."""

    inputs: tuple[Tensor, ...]
    answers: tuple[Tensor, ...]

    def __len__(self) -> int:
        return len(self.inputs[0])


@dataclass(frozen=True)
class Report:
    """What training did. losses: on the held-out rows before it and after each epoch; the best state is kept."""

    losses: tuple[float, ...]
    n_epochs: int
    stopped: str


def lesson(
    teacher: nn.Module, inputs: Mapping[str, np.ndarray], names: Sequence[str], max_rows: int, batch: int, seed: int
) -> Lesson:
    """Rows drawn with the seed and the teacher's answers to them, asked once, in evaluation mode without gradients.

    Raises DoesNotFit with fewer than 20 rows.
    """
    import torch

    n_rows = len(next(iter(inputs.values())))
    if n_rows < 20:
        raise DoesNotFit(
            f"needs at least 20 rows to train on; this study has {n_rows} (see Data for how rows are split)"
        )
    chosen = np.sort(np.random.default_rng(seed).permutation(n_rows)[:max_rows])
    whole = len(chosen) // batch * batch or len(chosen)
    rows = [torch.from_numpy(np.ascontiguousarray(inputs[name][chosen[:whole]])) for name in names]
    teacher.eval()
    with torch.no_grad():
        parts = [teacher(*(each[start : start + batch] for each in rows)) for start in range(0, whole, batch)]
    return Lesson(tuple(rows), tuple(torch.cat(values) for values in zip(*parts, strict=True)))


def loss_of(
    found: Sequence[Tensor], wanted: Sequence[Tensor], kinds: Sequence[OutputKind | None], temperature: float = 1.0
) -> Tensor:
    """Sum over the outputs; zero when they are equal, never negative.

    Class scores: Kullback-Leibler divergence per row at the temperature, times its square. Other numbers: squared
    difference as a share of the teacher's variance.
    """
    import torch

    total = torch.zeros(())
    for a, b, kind in zip(found, wanted, kinds, strict=True):
        if not b.is_floating_point():
            continue
        if kind in ("logits", "probabilities") and b.ndim == 2:
            total = total + _divergence(_logits(a, kind), _logits(b, kind), temperature)
        else:
            total = total + ((a - b) ** 2).mean() / b.var(correction=0).clamp(min=1e-6)
    return total


def _logits(values: Tensor, kind: OutputKind) -> Tensor:
    """Two or more columns of logits: a single column becomes (0, logit)."""
    import torch

    if kind == "probabilities":
        values = values.clamp(_TINY, 1 - _TINY)
        values = torch.logit(values) if values.shape[1] == 1 else values.log()
    return torch.cat([torch.zeros_like(values), values], 1) if values.shape[1] == 1 else values


def _divergence(student: Tensor, teacher: Tensor, temperature: float) -> Tensor:
    from torch.nn import functional

    student, teacher = (functional.log_softmax(each / temperature, 1) for each in (student, teacher))
    divergence: Tensor = functional.kl_div(student, teacher, reduction="batchmean", log_target=True)
    return divergence * temperature**2


def teach(
    net: nn.Module,
    rows: Lesson,
    kinds: Sequence[OutputKind | None],
    *,
    epochs: int,
    rate: float,
    temperature: float,
    batch: int,
    seed: int,
    progress: Callable[[float, str], None],
) -> Report:
    """Train `net` in place on the teacher's answers; ends in evaluation mode with the best state that was seen."""
    import torch

    torch.manual_seed(seed)
    order = torch.randperm(len(rows))
    n_held = max(batch, int(len(rows) * HELD_OUT) // batch * batch) if len(rows) > batch else 0
    held, used = order[:n_held] if n_held else order, order[n_held:]
    optimiser = torch.optim.AdamW(net.parameters(), lr=rate)
    losses = [_held_loss(net, rows, held, kinds, temperature, batch)]
    best, state, stopped = losses[0], copy.deepcopy(net.state_dict()), "all epochs"
    since = 0
    for epoch in range(epochs):
        progress(epoch / epochs, f"epoch {epoch + 1} of {epochs}, loss {losses[-1]:.4g}")
        net.train()
        for part in used[torch.randperm(len(used))].split(batch):
            if len(part) < 2 and batch > 1:  # batch statistics need two rows
                continue
            loss = loss_of(net(*_at(rows.inputs, part)), _at(rows.answers, part), kinds, temperature)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        losses.append(_held_loss(net, rows, held, kinds, temperature, batch))
        since = 0 if losses[-1] < 0.98 * best else since + 1
        if losses[-1] < best:
            best, state = losses[-1], copy.deepcopy(net.state_dict())
        if since >= PATIENCE:
            stopped = "no better for 4 epochs"
            break
    net.load_state_dict(state)
    net.eval()
    return Report(tuple(losses), len(losses) - 1, stopped)


def _at(values: tuple[Tensor, ...], rows: Tensor) -> list[Tensor]:
    return [each[rows] for each in values]


def _held_loss(
    net: nn.Module, rows: Lesson, held: Tensor, kinds: Sequence[OutputKind | None], temperature: float, batch: int
) -> float:
    import torch

    net.eval()
    with torch.no_grad():
        found = [net(*_at(rows.inputs, part)) for part in held.split(batch) if len(part) == batch or len(held) < batch]
        n_rows = sum(len(each[0]) for each in found)
        joined = [torch.cat(values) for values in zip(*found, strict=True)]
        return float(loss_of(joined, _at(rows.answers, held[:n_rows]), kinds, temperature))


def measure_statistics(net: nn.Module, rows: Lesson, batch: int) -> int:
    """Measure means and variances of every batch normalisation anew over the rows; returns how many there are.

    After channels were removed the stored ones belong to another net.
    """
    import torch
    from torch import nn

    norms: list[Any] = [each for each in net.modules() if isinstance(each, nn.modules.batchnorm._BatchNorm)]
    if not norms:
        return 0
    kept = [norm.momentum for norm in norms]
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # a plain average over all batches
        norm.train()
    with torch.no_grad():
        for part in torch.arange(len(rows)).split(batch):
            if len(part) > 1:
                net(*_at(rows.inputs, part))
    for norm, momentum in zip(norms, kept, strict=True):
        norm.momentum = momentum
        norm.eval()
    return len(norms)
