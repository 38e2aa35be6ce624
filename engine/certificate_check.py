"""Does a certificate hold? Everything is computed again from the stored files; none of its figures is believed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from engine import scoring
from engine.certification import Progress, Question, judge_question, judged_output
from engine.environment import describe
from engine.errors import InvalidRequest, NotFound, WhetstoneError
from engine.plugin import Artefact
from engine.records import Certificate, Choice, QualityReport, SliceQuality, SplitName
from engine.workspace import Workspace, listing_digest

SAME = 1e-9  # figures of the same answers may differ by rounding only


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. fine: as the certificate says."""

    fine: bool
    text: str


@dataclass(frozen=True)
class Check:
    """holds: every finding is fine and the variant is certified."""

    holds: bool
    findings: tuple[Finding, ...]


def read_certificate(path: Path) -> Certificate:
    """The certificate in a JSON file. Raises InvalidRequest when it is none."""
    try:
        return Certificate.model_validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidRequest(f"{str(path)!r} cannot be read: {error.strerror}") from error
    except (ValidationError, UnicodeDecodeError) as error:
        first = error.errors()[0]["msg"] if isinstance(error, ValidationError) else "it is no text"
        raise InvalidRequest(
            f"{str(path)!r} is not the JSON of a certificate ({first}); certify EXPERIMENT --format json writes one"
        ) from error


def check_certificate(
    certificate: Certificate, workspace: Workspace, progress: Progress = lambda fraction, text: None
) -> Check:
    """Look at the files, score the certification rows anew and judge them by the promise that is written there."""
    findings = list(_files(certificate, workspace))
    if all(one.fine for one in findings):
        try:
            findings += _judged_again(certificate, workspace, progress)
        except WhetstoneError as error:
            findings.append(Finding(False, f"it cannot be judged again: {error}"))
    if not certificate.holds:
        findings.append(Finding(False, f"its own verdict is {certificate.quality.verdict}: nothing is certified"))
    return Check(all(one.fine for one in findings), tuple(findings))


def _files(certificate: Certificate, workspace: Workspace) -> Iterator[Finding]:
    same = certificate.promise.fingerprint == certificate.promise_sha256
    yield Finding(same, _said("promise", certificate.promise_sha256, same))
    for noun, digest, folder in (
        ("original model", certificate.model_id, workspace.artefact_folder),
        ("variant", certificate.artefact.id, workspace.artefact_folder),
        ("evaluation set", certificate.eval_set_id, workspace.evalset_folder),
    ):
        try:
            same = listing_digest(folder(digest)) == digest
            yield Finding(same, _said(noun, digest, same))
        except NotFound:
            yield Finding(False, f"{noun} {digest[:12]}: its files are not in this workspace")


def _said(noun: str, digest: str, same: bool) -> str:
    return f"{noun} {digest[:12]}: " + ("as certified" if same else "its content has another SHA-256")


def _judged_again(certificate: Certificate, workspace: Workspace, progress: Progress) -> list[Finding]:
    manifest = workspace.load_manifest(f"upload-{certificate.model_id}")
    if manifest is None:
        return [Finding(False, "what is known of the original model is not in this workspace")]
    question = Question(
        original=workspace.artefact(manifest),
        variant=workspace.artefact(certificate.artefact),
        baseline_runtime=certificate.baseline_runtime,
        runtime=certificate.runtime,
        threads=certificate.threads,
        evalset=workspace.evalset_folder(certificate.eval_set_id),
        signature=certificate.signature,
        promise=certificate.promise,
        gate_passed=certificate.gate_passed,
    )
    findings = []
    with workspace.draft() as draft:
        anew = partial(_anew, question, draft)
        if certificate.gate_passed:
            same = _same_elsewhere(question, anew)
            findings.append(Finding(same, "selection rows: " + ("identical answers" if same else "other answers")))
        report, hashes, _ = judge_question(question, anew, progress)
    for noun in ("rows", "labels"):
        said, found = getattr(certificate.hashes, noun), getattr(hashes, noun)
        findings.append(Finding(said == found, _said(f"certification {noun}", said, said == found)))
    same_answers = hashes == certificate.hashes
    if not same_answers and all(one.fine for one in findings):
        findings.append(Finding(True, _other_bits(certificate)))
    return findings + list(_compare(certificate.quality, report, exactly=same_answers))


def _anew(
    question: Question,
    draft: Path,
    artefact: Artefact,
    runtime: Choice,
    progress: Progress,
    split: SplitName = "certification",
) -> dict[str, np.ndarray]:
    out = draft / str(len(list(draft.iterdir())))
    out.mkdir()
    return scoring.compute(artefact, runtime, question.evalset, split, out, threads=question.threads, progress=progress)


def _same_elsewhere(question: Question, score: Callable[..., dict[str, np.ndarray]]) -> bool:
    """The gate that identical answers must have passed: they were identical on the selection rows, too."""
    sides = ((question.original, question.baseline_runtime), (question.variant, question.runtime))
    name = judged_output(question.signature)
    first, second = (score(*side, lambda fraction, text: None, split="selection")[name] for side in sides)
    return np.array_equal(first, second)


def _other_bits(certificate: Certificate) -> str:
    here, then = describe()["cpu_flags"], certificate.environment.get("cpu_flags", [])
    flags = "the same CPU flags"
    if sorted(here) != sorted(then):
        flags = f"CPU flags then {' '.join(then) or 'none'}, here {' '.join(here) or 'none'}"
    return f"the answers are not bit for bit those of then ({flags}); only the verdicts have to be the same"


def _compare(said: QualityReport, found: QualityReport, *, exactly: bool) -> Iterator[Finding]:
    fine = _same(said, found, exactly=exactly) and said.alpha == found.alpha
    yield Finding(fine, f"overall: {found.verdict}" + ("" if fine else f"; the certificate says {_figures(said)}"))
    again = {(one.column, one.value): one for one in found.slices}
    differ = [
        f"{one.column} = {one.value}"
        for one in said.slices
        if (one.column, one.value) not in again or not _same(one, again[one.column, one.value], exactly=exactly)
    ]
    if differ or len(said.slices) != len(found.slices):
        yield Finding(False, f"{len(found.slices)} slices: not as certified: {', '.join(differ) or 'their number'}")
    else:
        yield Finding(True, f"{len(found.slices)} slices: as certified")


def _figures(one: QualityReport) -> str:
    return f"{one.verdict}, drop {one.drop}, bound {one.bound} at alpha {one.alpha}"


def _same(one: QualityReport | SliceQuality, other: QualityReport | SliceQuality, *, exactly: bool) -> bool:
    if one.verdict != other.verdict or one.n_rows != other.n_rows:
        return False
    pairs = [(getattr(one, name), getattr(other, name)) for name in ("baseline", "candidate", "drop", "bound")]
    return not exactly or all(
        first is second is None
        or (None not in (first, second) and math.isclose(first, second, rel_tol=1e-6, abs_tol=SAME))
        for first, second in pairs
    )
