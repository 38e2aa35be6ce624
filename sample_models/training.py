"""Train a small net the same way every time: one thread, one seed, deterministic kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def seed_torch(seed: int) -> None:
    """Make what torch does next in this process repeatable. Call it before the net is made."""
    import torch

    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(seed)


def fit(
    net: torch.nn.Module,
    rows: torch.Tensor,
    loss: Callable[[torch.Tensor], torch.Tensor],
    *,
    n_epochs: int,
    batch_size: int,
    weight_decay: float,
) -> None:
    """Train `net` in place and leave it in evaluation mode.

    rows: (n,) int64 positions to learn from; `loss` maps one batch of them to a scalar.
    AdamW with the one-cycle schedule of Smith and Topin, 2018, "Super-Convergence".
    """
    import torch

    n_steps = n_epochs * -(-len(rows) // batch_size)
    optimiser = torch.optim.AdamW(net.parameters(), weight_decay=weight_decay)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, max_lr=3e-3, total_steps=n_steps)
    net.train()
    for _ in range(n_epochs):
        for batch in rows[torch.randperm(len(rows))].split(batch_size):
            optimiser.zero_grad()
            loss(batch).backward()
            optimiser.step()
            schedule.step()
    net.eval()
