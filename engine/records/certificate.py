"""Certificates: what was judged, by which promise, on which rows, and what came out. Never changed once issued."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from engine.records.base import Record
from engine.records.conformance import Conformance
from engine.records.models import Choice, Manifest, Recipe, Signature
from engine.records.quality import QualityReport, SliceQuality
from engine.records.results import Comparison
from engine.records.study import Promise


class Hashes(Record):
    """SHA-256 of everything that was judged."""

    rows: str = Field(description="Canonical inputs of the certification rows, in order.")
    labels: str
    baseline_outputs: str
    candidate_outputs: str


class Certificate(Record):
    """The verdict on one variant, on rows that no lever and no choice has seen."""

    id: str = Field(description="ULID: sorts by time.")
    experiment_id: str
    study_id: str
    study_name: str
    created_at: datetime
    created_by: str
    number: int = Field(0, ge=0, description="The k of 'k of m on this split'; 0 before the history has taken it.")
    n_elsewhere: int = Field(0, ge=0, description="Certificates of other studies on the same rows, at that time.")
    promise: Promise
    promise_sha256: str
    promise_frozen_at: datetime
    model_id: str = Field(description="Payload id of the original.")
    artefact: Manifest = Field(description="The variant; its id is the digest of its files.")
    recipe: Recipe
    runtime: Choice
    baseline_runtime: Choice
    threads: int
    signature: Signature
    eval_set_id: str = Field(description="Digest of the bound evaluation set.")
    hashes: Hashes
    seed: int = Field(0, description="Of every bootstrap.")
    protocol: int = Field(1, description="Raised whenever the same answers would be judged otherwise.")
    gate_passed: bool = Field(False, description="The answers on the selection rows were identical, too.")
    environment: dict[str, Any]
    quality: QualityReport
    comparisons: tuple[Comparison, ...] = Field((), description="Measured speed, for the record; not certified.")
    conformance: tuple[Conformance, ...] = Field(
        (), description="Trees: what the gate found before anything was timed."
    )
    notes: tuple[str, ...] = ()

    @property
    def limit(self) -> int:
        """How many certificates this promise allows on these rows."""
        return self.promise.band.n_certificates

    @property
    def holds(self) -> bool:
        """True when the variant is certified."""
        return self.quality.verdict in ("pass", "exact")

    @property
    def not_covered(self) -> tuple[SliceQuality, ...]:
        """Slices about which the certificate says nothing."""
        return tuple(one for one in self.quality.slices if one.verdict in ("too few rows", "not judged"))
