"""Certify one candidate: the verdict that a promise made in advance gives on rows that no choice has seen."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from engine.errors import BadData, InvalidRequest, Mismatch, ParityFailed
from engine.quality.found import Column
from engine.quality.report import judge
from engine.records import Band, QualityReport, Signature

BLOCK_BYTES = 1 << 24


@dataclass(frozen=True)
class Prediction:
    """One model's judged output (n, ...), and the SHA-256 of the rows and labels it belongs to."""

    output: np.ndarray
    rows_sha256: str
    labels_sha256: str


def certify(
    baseline: Prediction,
    candidate: Prediction,
    labels: np.ndarray | None,
    rows: pd.DataFrame,
    signature: Signature,
    band: Band,
    *,
    gate_passed: bool,
    columns: Callable[[], Mapping[str, Column]] | None = None,
    seed: int = 0,
) -> QualityReport:
    """The report on certification rows: pass, fail, not certified, too few rows, or exact.

    Every bound is at alpha / n_certificates, so that all certificates of a promise together keep alpha. gate_passed:
    the candidate has given the original's answers elsewhere, too; identical answers then are exact. columns: see
    `judge`. Refuses what cannot be certified with Mismatch, ParityFailed, BadData or InvalidRequest: no verdict then.
    """
    if band.metric is None:
        raise InvalidRequest("this study has no metric, so there is nothing to certify; agreement and timing only")
    if not len(baseline.output):
        raise BadData("there are no certification rows; bring more rows, or mark some in the split column")
    if len(candidate.output) != len(baseline.output):
        raise ParityFailed(
            f"the candidate answered {len(candidate.output):,} of {len(baseline.output):,} certification rows; missing "
            "rows cannot be certified"
        )
    for what, one, other in (
        ("rows", baseline.rows_sha256, candidate.rows_sha256),
        ("labels", baseline.labels_sha256, candidate.labels_sha256),
    ):
        if one != other:
            raise Mismatch(
                f"both models must answer the same {what} in the same order; their {what} have the SHA-256 "
                f"{one[:12]} and {other[:12]}"
            )
    report = judge(
        "certification",
        baseline.output,
        candidate.output,
        labels,
        rows,
        signature,
        band,
        seed=seed,
        certifying=True,
        alpha=band.alpha / band.n_certificates,
        gate_passed=gate_passed,
        columns=columns,
    )
    if report.verdict == "not judged":
        raise BadData(f"nothing can be certified: {report.reason}")
    return report


def array_sha256(*arrays: np.ndarray | None) -> str:
    """SHA-256 of dtype, shape and bytes, read a block at a time; None counts as itself."""
    digest = hashlib.sha256()
    for array in arrays:
        if array is None:
            digest.update(b"none")
            continue
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        step = max(1, BLOCK_BYTES // max(1, array[:1].nbytes))
        for start in range(0, len(array), step):
            digest.update(np.ascontiguousarray(array[start : start + step]).tobytes())
    return digest.hexdigest()
