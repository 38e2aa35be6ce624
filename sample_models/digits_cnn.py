"""Which digit was written? A small convolutional net in PyTorch on 8 × 8 images, exported as `.pt2`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sample_models.sample import FILES, Sample
from sample_models.training import fit, seed_torch

if TYPE_CHECKING:
    import numpy as np
    import torch

SEED = 0
N_TRAIN, N_SELECTION = 897, 360  # the other 540 images certify
INK_BANDS = ("light", "medium", "heavy")


def sample() -> Sample:
    """The description; nothing heavy is imported."""
    return Sample(
        name="digits_cnn",
        title="Handwritten digits",
        summary="A convolutional PyTorch net of 306,000 parameters reads the digit on an 8 × 8 image.",
        source="scikit-learn's load_digits: the test part of UCI's Optical Recognition of Handwritten Digits "
        "(E. Alpaydin and C. Kaynak, 1998)",
        licence="BSD 3-Clause, as part of scikit-learn",
        model=FILES / "digits_cnn" / "model.pt2",
        data=FILES / "digits_cnn" / "data.npz",
        choices={
            "label": "label",
            "slices": ["ink"],
            "split_column": "split",
            "task": "multiclass",
            "classes": [str(digit) for digit in range(10)],
            "output": "output_0",
            "output_kind": "logits",
        },
        metric="accuracy",
        metric_value=0.9861,
        max_drop=0.01,
        slice_max_drop=0.03,
    )


def rebuild(out: Path) -> None:
    """Train the net and write model.pt2 and data.npz into `out`; about a minute on one core."""
    import numpy as np
    import torch
    from sklearn.datasets import load_digits

    digits = load_digits()
    images = digits.images.astype(np.float32)[:, None]
    labels = digits.target.astype(np.int64)
    splits = _split(labels)
    np.savez_compressed(out / "data.npz", image=images, label=labels, split=splits, ink=_ink_bands(images))
    net = _train(torch.from_numpy(images), torch.from_numpy(labels), np.flatnonzero(splits == "train"))
    torch.export.save(_export(net, torch.from_numpy(images[:2].copy())), out / "model.pt2")


def _split(labels: np.ndarray) -> np.ndarray:
    """(n,) split name per image, stratified by digit. The source does not name the writers, so they are mixed."""
    import numpy as np
    from sklearn.model_selection import train_test_split

    rows = np.arange(len(labels))
    train, rest = train_test_split(rows, train_size=N_TRAIN, stratify=labels, random_state=SEED)
    selection, _ = train_test_split(rest, train_size=N_SELECTION, stratify=labels[rest], random_state=SEED)
    splits = np.full(len(labels), "certification")
    splits[train], splits[selection] = "train", "selection"
    return splits


def _ink_bands(images: np.ndarray) -> np.ndarray:
    """(n,) light, medium or heavy: the third of all images that the mean pixel falls into."""
    import numpy as np

    ink = images.mean(axis=(1, 2, 3))
    bands: np.ndarray = np.array(INK_BANDS)[np.digitize(ink, np.quantile(ink, [1 / 3, 2 / 3]))]
    return bands


def _net() -> torch.nn.Module:
    from torch import Tensor, nn

    def block(n_in: int, n_out: int) -> nn.Sequential:
        convolution = nn.Conv2d(n_in, n_out, 3, padding=1, bias=False)
        return nn.Sequential(convolution, nn.BatchNorm2d(n_out), nn.ReLU())

    class DigitNet(nn.Module):
        """Pixels 0..16 in, ten logits out; the scaling is part of the model."""

        def __init__(self) -> None:
            super().__init__()
            self.features = nn.Sequential(
                block(1, 48), block(48, 96), nn.MaxPool2d(2), block(96, 128), block(128, 128), nn.MaxPool2d(2)
            )
            self.classify = nn.Linear(128 * 2 * 2, 10)

        def forward(self, image: Tensor) -> Tensor:
            return self.classify(self.features(image / 16.0).flatten(1))

    return DigitNet()


def _train(images: torch.Tensor, labels: torch.Tensor, rows: np.ndarray) -> torch.nn.Module:
    import torch
    from torch.nn.functional import cross_entropy

    seed_torch(SEED)
    net = _net()

    def loss(batch: torch.Tensor) -> torch.Tensor:
        down, right = torch.randint(-1, 2, (2,)).tolist()
        shifted = torch.roll(images[batch], (down, right), (2, 3))
        return cross_entropy(net(shifted), labels[batch], label_smoothing=0.05)

    fit(net, torch.from_numpy(rows), loss, n_epochs=80, batch_size=64, weight_decay=0.01)
    return net


def _export(net: torch.nn.Module, images: torch.Tensor) -> torch.export.ExportedProgram:
    """The net with a free batch axis and without the file names of the machine it was built on."""
    import torch

    program = torch.export.export(net, (images,), dynamic_shapes={"image": {0: torch.export.Dim("batch", min=1)}})
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)
    return program
