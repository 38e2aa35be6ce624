"""What is this diamond worth? A regression net with two inputs, trained in PyTorch and exported to ONNX."""

from __future__ import annotations

import tarfile
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from sample_models.packages import folder_of
from sample_models.sample import FILES, Sample
from sample_models.training import fit, seed_torch

if TYPE_CHECKING:
    import numpy as np
    import onnx
    import pandas as pd
    import torch

SEED = 0
MEMBER = "resources/rdata/csv/ggplot2/diamonds.csv"
NUMERIC = ("carat", "depth", "table", "x", "y", "z")
CODES = {  # code = position, worst first except colour, whose letters run from best to worst
    "cut": ("Fair", "Good", "Very Good", "Premium", "Ideal"),
    "color": ("D", "E", "F", "G", "H", "I", "J"),
    "clarity": ("I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF"),
}
MAX_WIDTH_MM = 20  # three rows claim more: a slipped decimal point
N_ROWS = {"selection": 8_000, "certification": 14_000}  # the rest trains the net
N_TRAIN_ROWS = 10_000  # of the rest, in the file


def sample() -> Sample:
    """The description; nothing heavy is imported."""
    return Sample(
        name="diamonds_price",
        title="Diamond prices",
        summary="An ONNX net of 410,000 parameters estimates the logarithm of a diamond's price in US dollars.",
        source="ggplot2's diamonds, from the Python package pydataset 0.2.0",
        licence="MIT, as part of ggplot2 (copyright ggplot2 authors); the package pydataset is MIT as well",
        model=FILES / "diamonds_price" / "model.onnx",
        data=FILES / "diamonds_price" / "data.parquet",
        choices={
            "label": "log_price",
            "slices": ["cut", "color"],
            "split_column": "split",
            "task": "regression",
            "output": "value",
            "output_kind": "value",
        },
        metric="rmse",
        metric_value=0.0953,
        max_drop=0.02,
        slice_max_drop=0.05,
        batch=64,
    )


def rebuild(out: Path) -> None:
    """Train the net and write model.onnx and data.parquet into `out`; about a minute on one core."""
    import numpy as np
    import onnx
    import pandas as pd

    diamonds = _diamonds()
    numeric = diamonds[list(NUMERIC)].to_numpy(np.float32)
    codes = np.stack([pd.Categorical(diamonds[name], CODES[name]).codes for name in CODES], axis=1).astype(np.int64)
    log_price = np.log(diamonds["price"].to_numpy(np.float64)).astype(np.float32)
    splits = _split(len(diamonds))
    net = _train(numeric, codes, log_price, np.flatnonzero(splits == "train"))
    onnx.save(_export(net), out / "model.onnx")
    table = pd.DataFrame({"numeric": list(numeric), "codes": list(codes), "log_price": log_price, "split": splits})
    table = table.assign(cut=diamonds["cut"], color=diamonds["color"])
    rows = np.r_[np.flatnonzero(splits == "train")[:N_TRAIN_ROWS], np.flatnonzero(splits != "train")]
    table.iloc[np.sort(rows)].to_parquet(out / "data.parquet", index=False, compression="zstd", compression_level=19)


def _diamonds() -> pd.DataFrame:
    """Every diamond once, in a random order; rows with impossible measures left out."""
    import pandas as pd

    with tarfile.open(folder_of("pydataset") / "resources.tar.gz") as archive:
        member = archive.extractfile(MEMBER)
        assert member is not None, MEMBER
        diamonds = pd.read_csv(member, index_col=0)
    diamonds = diamonds.drop_duplicates([*NUMERIC, *CODES])
    size = diamonds[["x", "y", "z"]]
    return diamonds[(size > 0).all(axis=1) & (size < MAX_WIDTH_MM).all(axis=1)].sample(
        frac=1, random_state=SEED, ignore_index=True
    )


def _split(n_rows: int) -> np.ndarray:
    """(n,) split name per row; the rows are in a random order already."""
    import numpy as np

    splits = np.full(n_rows, "train", dtype=object)
    n_selection = N_ROWS["selection"]
    splits[:n_selection] = "selection"
    splits[n_selection : n_selection + N_ROWS["certification"]] = "certification"
    return splits


def _net(numeric: np.ndarray, log_price: np.ndarray) -> torch.nn.Module:
    import torch
    from torch import Tensor, nn

    class PriceNet(nn.Module):
        """Raw measures and codes in, the natural logarithm of US dollars out; the scaling is part of the model."""

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("centre", torch.from_numpy(numeric.mean(0)))
            self.register_buffer("spread", torch.from_numpy(numeric.std(0)))
            self.price_centre, self.price_spread = float(log_price.mean()), float(log_price.std())
            self.embed = nn.ModuleList(nn.Embedding(len(values), 8) for values in CODES.values())
            widths = [len(NUMERIC) + 8 * len(CODES), 512, 512, 256]
            hidden = [nn.Sequential(nn.Linear(a, b), nn.ReLU()) for a, b in pairwise(widths)]
            self.body = nn.Sequential(*hidden, nn.Linear(widths[-1], 1))

        def forward(self, numeric: Tensor, codes: Tensor) -> Tensor:
            scaled = ((numeric - self.centre) / self.spread).clamp(-5.0, 5.0)
            vectors = [table(codes[:, column]) for column, table in enumerate(self.embed)]
            return self.body(torch.cat([scaled, *vectors], dim=1)).squeeze(1) * self.price_spread + self.price_centre

    return PriceNet()


def _train(numeric: np.ndarray, codes: np.ndarray, log_price: np.ndarray, rows: np.ndarray) -> torch.nn.Module:
    import torch
    from torch.nn.functional import smooth_l1_loss

    seed_torch(SEED)
    net = _net(numeric[rows], log_price[rows])
    spread = float(log_price[rows].std())
    inputs = torch.from_numpy(numeric), torch.from_numpy(codes)
    wanted = torch.from_numpy(log_price)

    def loss(batch: torch.Tensor) -> torch.Tensor:
        return smooth_l1_loss(net(inputs[0][batch], inputs[1][batch]) / spread, wanted[batch] / spread, beta=0.3)

    fit(net, torch.from_numpy(rows), loss, n_epochs=25, batch_size=256, weight_decay=0.1)
    return net


def _export(net: torch.nn.Module) -> onnx.ModelProto:
    """The net with a free batch axis and without the file names of the machine it was built on."""
    import torch

    batch = torch.export.Dim("batch", min=1)
    program = torch.onnx.export(
        net,
        (torch.zeros(2, len(NUMERIC)), torch.zeros(2, len(CODES), dtype=torch.int64)),
        input_names=["numeric", "codes"],
        output_names=["value"],
        dynamic_shapes=({0: batch}, {0: batch}),
        opset_version=20,
        dynamo=True,
        verbose=False,
    )
    model = program.model_proto
    for part in (model.graph, *model.graph.node, *model.graph.value_info, *model.graph.input, *model.graph.output):
        del part.metadata_props[:]
    return model
