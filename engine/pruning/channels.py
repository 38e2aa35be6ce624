"""Whole channels of a net removed, then trained a little on the answers of the original."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from engine.errors import DoesNotFit
from engine.graph.kind import is_small, kind_of
from engine.graph.onnx_files import check_result, folder_bytes, is_large
from engine.graph.teaching import Lesson, lesson, measure_statistics, teach
from engine.graph.torch_modules import trainable_from
from engine.graph.torch_onnx import write_onnx
from engine.graph.torch_prune import prune_channels
from engine.graph.torchscript_program import examples
from engine.plugin import Artefact, Context, Lever, Prediction
from engine.records import Manifest, Signature

BATCH = 64


class Channels(Lever):
    """Removes the weakest channels of convolutions and dense layers, then trains on the original's answers.

    The net gets smaller everywhere, so every runtime and INT8 gain from it; it is rebuilt from the file, without its
    Python class. Helps wide convolutional nets (half of the channels: 2 to 4 times faster) and the feed-forward part of
    transformers. Hurts small nets, which need what they have, and costs minutes of training. Source: Fang et al.
    (2023), DepGraph: Towards Any Structural Pruning; Hinton et al. (2015), Distilling the Knowledge in a Net.
    """

    title = "Fewer channels"
    accepts = frozenset({"torch_export", "torchscript"})
    produces = "onnx"
    libraries = ("torch", "torch_pruning", "onnx", "onnxscript", "onnxruntime")

    ratio: float = Field(0.5, gt=0.0, lt=0.95, description="Share of the channels of each layer to remove.")
    round_to: Literal[1, 4, 8, 16] = Field(
        4, description="Keep a multiple of this many channels: processors work on 8 or 16 at once."
    )
    criterion: Literal["l2", "l1"] = Field(
        "l2", description="Which channels are weak: by the root of the summed squares of their weights, or by the sum."
    )
    rounds: int = Field(
        1, ge=1, le=10, description="Remove in this many rounds with training between: gentler, and takes longer."
    )
    epochs: int = Field(
        6, ge=0, le=200, description="Passes over the training rows per round; it stops early when level."
    )
    rate: float = Field(
        1e-3, gt=0.0, le=0.1, description="Step size of the training; smaller is safer for transformers."
    )
    temperature: float = Field(
        2.0, ge=1.0, le=20.0, description="Softens class scores while training, so that the small ones teach as well."
    )
    max_rows: int = Field(5_000, ge=20, le=1_000_000, description="Training rows used, drawn at random with the seed.")

    @classmethod
    def predicts(cls, manifest: Manifest, machine: Mapping[str, Any]) -> Prediction | None:
        """By the kind of net and its size."""
        kind = kind_of(manifest)
        if is_small(manifest):
            return Prediction("Worth a try", f"{manifest.n_parameters:,} parameters: small nets often need them all")
        if kind == "transformer":
            return Prediction("Likely faster", "the feed-forward part shrinks: about 1.5 to 2 times faster at one half")
        if kind == "convolutions":
            return Prediction("Likely faster", "half of the channels ran 2 to 4 times faster, before INT8")
        return Prediction("Likely faster", "dense layers shrink on both sides: time falls faster than the share")

    def apply(self, source: Artefact, out: Path, context: Context) -> dict[str, Any]:
        """Write model.onnx of the smaller net. Raises DoesNotFit without rows or when no channel can go."""
        import torch

        torch.set_num_threads(context.threads)
        torch.manual_seed(context.seed)
        signature = source.manifest.signature
        context.progress(0.02, "rebuilding the net from its graph")
        teacher = trainable_from(source.folder, source.manifest.format, signature)
        net = copy.deepcopy(teacher)
        batch = signature.fixed_batch or BATCH
        rows = self._rows(teacher, signature, batch, context)
        n_before = sum(each.numel() for each in net.parameters())
        given = examples(signature)
        notes: dict[str, Any] = {"rows_used": len(rows), "parameters_before": n_before}
        kept = 1.0
        for turn in range(self.rounds):
            wanted = (1 - self.ratio) ** ((turn + 1) / self.rounds)
            if wanted >= kept:  # rounding took more than this round asks for
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                norm: Literal[1, 2] = 2 if self.criterion == "l2" else 1
                pruned = prune_channels(net, given, 1 - wanted / kept, self.round_to, norm)
            if pruned.n_layers == 0:  # few channels: they go in a later round, when the share is a whole step
                continue
            kept *= pruned.channels_after / pruned.channels_before
            notes |= {"layers_pruned": pruned.n_layers, "channels_kept_fraction": kept}
            notes |= self._train(net, rows, signature, batch, context, turn)
        if kept == 1.0:
            raise DoesNotFit(
                f"no channel was removed: every layer that could shrink has too few for a ratio of {self.ratio:.2g} in "
                f"steps of {self.round_to}, or its channels are outputs"
            )
        notes["statistics_measured"] = measure_statistics(net, rows, batch)
        context.progress(0.9, "writing ONNX")
        _write(net, out, signature, large=is_large(source.folder))
        check_result(out, signature)
        return notes | {
            "parameters_after": sum(each.numel() for each in net.parameters()),
            "bytes_before": folder_bytes(source.folder),
            "bytes_after": folder_bytes(out),
        }

    def _rows(self, teacher: Any, signature: Signature, batch: int, context: Context) -> Lesson:
        split = context.train if context.train.n_rows >= context.calibration.n_rows else context.calibration
        context.progress(0.05, "asking the original for its answers")
        names = [spec.name for spec in signature.inputs]
        return lesson(teacher, split.inputs, names, self.max_rows, batch, context.seed)

    def _train(
        self, net: Any, rows: Lesson, signature: Signature, batch: int, context: Context, turn: int
    ) -> dict[str, Any]:
        begin, span = 0.1 + 0.8 * turn / self.rounds, 0.8 / self.rounds
        measure_statistics(net, rows, batch)
        report = teach(
            net,
            rows,
            [signature.output_kind if spec.name == signature.score_output else None for spec in signature.outputs],
            epochs=self.epochs,
            rate=self.rate,
            temperature=self.temperature,
            batch=batch,
            seed=context.seed + turn,
            progress=lambda part, text: context.progress(begin + span * part, f"round {turn + 1}: {text}"),
        )
        return {
            "epochs": report.n_epochs,
            "loss_pruned": report.losses[0],
            "loss_trained": min(report.losses),
            "stopped": report.stopped,
        }


def _write(net: Any, out: Path, signature: Signature, *, large: bool) -> None:
    import torch

    free = torch.export.Dim.DYNAMIC
    axes = tuple({i: free for i, size in enumerate(spec.shape) if isinstance(size, str)} for spec in signature.inputs)
    try:
        with torch.no_grad():
            program = torch.export.export(net.eval(), tuple(examples(signature, 4)), dynamic_shapes=axes)
    except (RuntimeError, ValueError) as error:
        raise DoesNotFit(
            f"the smaller net cannot be exported again: {str(error).strip().splitlines()[0][:200]}"
        ) from error
    write_onnx(program, out, signature, large=large)
