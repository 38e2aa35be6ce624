"""Run one experiment from start to end: build → parity → quality → time → verdict. No UI, no database."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine import parity, sandbox, scoring
from engine.data.stored import load_rows, load_split
from engine.environment import describe
from engine.errors import NotFound
from engine.measurement.batch import auto_batch
from engine.measurement.protocol import measure, measure_alone
from engine.measurement.summary import summarise, summarise_alone
from engine.noise_floor import known_noise_floor
from engine.operator_profile import operator_profile
from engine.plugin import Artefact, levers, reference_runtime
from engine.quality.report import judge
from engine.recipe import build
from engine.records import Choice, ExperimentSpec, OperatorProfile, QualityReport, Study
from engine.resources import compressed_bytes
from engine.slice_columns import slice_columns
from engine.timing import Launcher
from engine.tree_conformance import check_line
from engine.workspace import Workspace

SHARES = {"build": (0.0, 0.3), "score": (0.3, 0.1), "time": (0.4, 0.6)}  # phase -> (start, share) of the progress bar
AskPhase = Callable[[str], None]
Progress = Callable[[str, float, str], None]


def run(
    spec: ExperimentSpec, study: Study, workspace: Workspace, *, ask_phase: AskPhase, progress: Progress
) -> dict[str, Any]:
    """The parts of an Experiment that a run finds out, by field name.

    ask_phase(name) returns once the machine is free for that phase; progress(phase, fraction of the whole, text).
    Raises WhetstoneError with a sentence for the user.
    """
    original = uploaded(study, workspace)
    evalset = workspace.evalset_folder(study.eval_set_id)
    threads = study.workload.threads

    def teller(phase: str) -> Callable[[float, str], None]:
        start, share = SHARES[phase]
        return lambda fraction, text: progress(phase, start + share * fraction, text)

    ask_phase("build")
    chain = build(original, spec.recipe, evalset, workspace, seed=spec.seed, threads=threads, progress=teller("build"))
    variant = chain[-1] if chain else original
    n_compressed_bytes = compressed_bytes(variant.folder)

    ask_phase("score")
    quality = _judge(spec, study, [original, *chain], evalset, workspace, teller("score"))
    conformance = check_line([original, *chain], spec.recipe, spec.runtime, evalset, threads)

    ask_phase("time")
    first = Choice(name=reference_runtime(original.manifest.format))
    arms = {"baseline": (original, first), "variant": (variant, spec.runtime)}
    timed = _time(spec, study, arms, evalset, workspace, teller("time"))
    progress("time", 1.0, "profiling operators")
    return {
        "artefact": variant.manifest,
        "chain": [artefact.manifest for artefact in chain],
        "quality": quality,
        "conformance": conformance,
        "compressed_bytes": n_compressed_bytes,
        "operators": _operators(spec, study, arms, evalset, timed),
        "environment": _environment(workspace),
        **timed,
    }


def _environment(workspace: Workspace) -> dict[str, Any]:
    """The machine and its limits; noise_floor: what `doctor --aa` found here, or None."""
    noise = known_noise_floor(workspace.root)
    return {
        **describe(),
        "confinement": sandbox.held(),
        "noise_floor": noise.model_dump(mode="json") if noise else None,
    }


def uploaded(study: Study, workspace: Workspace) -> Artefact:
    """The untouched model of a study. Raises NotFound when its files are gone."""
    manifest = workspace.load_manifest(f"upload-{study.model_id}")
    if manifest is None:
        raise NotFound(f"the files of model {study.model_id[:12]} are not in this workspace; bring the model again")
    return workspace.artefact(manifest)


def is_baseline(spec: ExperimentSpec, original: Artefact) -> bool:
    """True for the original on its reference runtime."""
    return not spec.recipe.steps and spec.runtime == Choice(name=reference_runtime(original.manifest.format))


def _judge(
    spec: ExperimentSpec,
    study: Study,
    line: list[Artefact],
    evalset: Path,
    workspace: Workspace,
    tell: Callable[[float, str], None],
) -> QualityReport:
    """Outputs along the line original → … → variant; parity where a step promises it; the verdict on selection."""
    kept = study.signature.score_output or study.signature.outputs[0].name
    threads = study.workload.threads

    def answers(position: int, artefact: Artefact, runtime: Choice) -> dict[str, Any]:
        def part(fraction: float, text: str) -> None:
            tell((position + fraction) / len(line), text)

        return scoring.outputs(artefact, runtime, evalset, "selection", workspace, threads=threads, progress=part)

    right = Choice(name=reference_runtime(line[0].manifest.format))
    baseline = answers(0, line[0], right)
    scoring.require_finite(baseline[kept], "the original")
    before = baseline
    for position, (step, artefact) in enumerate(zip(spec.recipe.steps, line[1:], strict=True), start=1):
        after = answers(position, artefact, Choice(name=reference_runtime(artefact.manifest.format)))
        if levers()[step.lever].exact:
            parity.check(before, after, step.lever)
        before = after
    if spec.runtime.name != reference_runtime(line[-1].manifest.format) or spec.runtime.params:
        candidate = answers(len(line) - 1, line[-1], spec.runtime)
        parity.check(before, candidate, f"the runtime {spec.runtime.name}")
        before = candidate
    split = load_split(evalset, "selection")
    rows = load_rows(evalset, "selection")
    return judge(
        "selection",
        baseline[kept],
        before[kept],
        split.labels,
        rows,
        study.signature,
        study.promise.band,
        columns=lambda: slice_columns(evalset, "selection", study.signature),
    )


def _time(
    spec: ExperimentSpec,
    study: Study,
    arms: dict[str, tuple[Artefact, Choice]],
    evalset: Path,
    workspace: Workspace,
    tell: Callable[[float, str], None],
) -> dict[str, Any]:
    launch = Launcher(arms, study.signature, evalset)
    named = {arm: (artefact.manifest.id, runtime) for arm, (artefact, runtime) in arms.items()}
    with workspace.draft() as draft:
        if is_baseline(spec, arms["baseline"][0]):
            alone = measure_alone(launch, spec.workloads, spec.preset, spec.seed, tell)
            return {
                "measurements": summarise_alone(alone, named, draft, workspace.add_sample),
                "auto_batch_size": auto_batch(launch, study.workload.threads, study.signature.fixed_batch),
            }
        timings = measure(launch, spec.workloads, spec.preset, spec.seed, tell)
        return summarise(timings, named, draft, workspace.add_sample)


def _operators(
    spec: ExperimentSpec,
    study: Study,
    arms: dict[str, tuple[Artefact, Choice]],
    evalset: Path,
    timed: dict[str, Any],
) -> OperatorProfile:
    """At the primary workload, or the first that was timed; the original alone for a baseline."""
    workload = study.workload if study.workload in spec.workloads else spec.workloads[0]
    measured = [*timed["measurements"], *timed.get("baselines", ())]
    slower_ms = max(one.p50_ms.value for one in measured if one.workload == workload)
    if is_baseline(spec, arms["baseline"][0]):
        arms = {"baseline": arms["baseline"]}
    return operator_profile(arms, evalset, workload, slower_ms)
