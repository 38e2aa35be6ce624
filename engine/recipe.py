"""Turn a recipe into artefacts, one cached step at a time. Every step keeps its manifest."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine import sandbox
from engine.environment import cpu_flags, library_version, memory_limit_bytes
from engine.errors import InvalidRecipe, WhetstoneError
from engine.plugin import Artefact, Lever, Plugin, levers, make, runtimes
from engine.records import Choice, Manifest, Recipe, Step
from engine.workspace import Workspace, folder_bytes, listing_digest

BUILD_LIMITS = sandbox.Limits(memory_bytes=memory_limit_bytes() * 3 // 4, cpu_s=4 * 3600, wall_s=2 * 3600)
VISIBLE_SPLITS = ("train", "calibration")  # what a lever may see
Progress = Callable[[float, str], None]


def final_format(recipe: Recipe, source_format: str) -> str:
    """Follow the formats through the chain. Raises InvalidRecipe where they do not meet."""
    current = source_format
    for position, step in enumerate(recipe.steps):
        lever = make(levers(), step.lever, step.params)
        if current not in lever.accepts:
            wanted = " or ".join(sorted(lever.accepts))
            before = "the model" if position == 0 else f"step {position}"
            raise InvalidRecipe(f"{step.lever} takes {wanted}, but {before} gives {current}")
        current = lever.produces or current
    return current


def normalised(recipe: Recipe) -> Recipe:
    """The same recipe with checked parameters and without those at their default: equal chains are equal records.

    What a default was is kept with the result, in the step of its manifest.
    """
    steps = ((step.lever, _own_params(make(levers(), step.lever, step.params))) for step in recipe.steps)
    return Recipe(steps=tuple(Step(lever=name, params=params) for name, params in steps))


def normalised_choice(choice: Choice) -> Choice:
    """The same for a runtime. Raises InvalidRecipe."""
    return Choice(name=choice.name, params=_own_params(make(runtimes(), choice.name, choice.params)))


def _own_params(plugin: Plugin) -> dict[str, Any]:
    defaults = type(plugin)().model_dump(mode="json")
    return {name: value for name, value in plugin.model_dump(mode="json").items() if value != defaults[name]}


@dataclass(frozen=True)
class Reached:
    """One step of a chain, as far as it is known before anything is built: the model before it and after it.

    reason: why the step does not fit what comes before it; None: it does.
    """

    before: Manifest
    after: Manifest
    reason: str | None


def walk(chain: Sequence[type[Lever]], manifest: Manifest, machine: Mapping[str, Any]) -> list[Reached]:
    """What to expect after each lever of a chain, the ones that do not fit included. Nothing is built."""
    found: list[Reached] = []
    for lever in chain:
        result = expected(lever, manifest)
        found.append(Reached(manifest, result, lever.fits(manifest, machine)))
        manifest = result
    return found


def expected(lever: type[Lever], manifest: Manifest) -> Manifest:
    """What is known of a model after a lever: in another format nothing is known of operators and versions."""
    if lever.produces in (None, manifest.format):
        return manifest
    return manifest.model_copy(update={"format": lever.produces, "operators": (), "versions": {}})


def why_not(recipe: Recipe, manifest: Manifest, machine: Mapping[str, Any]) -> str | None:
    """None when every step fits what comes before it on this machine, else which does not and why.

    Raises InvalidRecipe where the formats do not meet.
    """
    final_format(recipe, manifest.format)
    reached = walk([levers()[step.lever] for step in recipe.steps], manifest, machine)
    said = zip(recipe.steps, reached, strict=True)
    return next((f"{step.lever}: {one.reason}" for step, one in said if one.reason), None)


def build(
    source: Artefact,
    recipe: Recipe,
    evalset: Path,
    workspace: Workspace,
    *,
    seed: int,
    threads: int,
    progress: Progress,
) -> list[Artefact]:
    """Apply every step in turn; steps built before are read back. Returns the artefact after each step."""
    final_format(recipe, source.manifest.format)
    chain: list[Artefact] = []
    for position, step in enumerate(recipe.steps):
        lever = make(levers(), step.lever, step.params)

        def tell(fraction: float, text: str, at: int = position, name: str = step.lever) -> None:
            progress((at + fraction) / len(recipe.steps), f"{name}: {text}" if text else name)

        tell(0.0, "")
        key = step_key(source.manifest.id, lever, evalset, seed)
        manifest = workspace.load_manifest(key)
        if manifest is None:
            manifest = _run_step(source, lever, evalset, workspace, seed=seed, threads=threads, progress=tell)
            workspace.save_manifest(key, manifest)
        source = workspace.artefact(manifest)
        chain.append(source)
    return chain


def step_key(parent_id: str, lever: Lever, evalset: Path, seed: int) -> str:
    """Digest of everything that decides a step's result; 64 hex digits."""
    seen = {name: listing_digest(evalset / name) for name in VISIBLE_SPLITS if (evalset / name).is_dir()}
    body = {
        "parent": parent_id,
        "lever": lever.plugin_name(),
        "params": lever.model_dump(mode="json"),
        "revision": lever.revision,
        "libraries": {name: library_version(name) for name in lever.libraries},
        "splits": seen,
        "seed": seed,
        "cpu_flags": sorted(cpu_flags()) if lever.machine_bound else None,
    }
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _run_step(
    source: Artefact,
    lever: Lever,
    evalset: Path,
    workspace: Workspace,
    *,
    seed: int,
    threads: int,
    progress: Progress,
) -> Manifest:
    step = Step(lever=lever.plugin_name(), params=lever.model_dump(mode="json"))
    readable = [source.folder, *(evalset / name for name in VISIBLE_SPLITS if (evalset / name).is_dir())]
    with workspace.draft() as draft:
        out = draft / "out"
        out.mkdir()
        request = {
            "artefact": source.manifest.model_dump(mode="json"),
            "folder": str(source.folder),
            "evalset": str(evalset),
            "data_id": evalset.name,
            "lever": step.lever,
            "params": step.params,
            "seed": seed,
            "threads": threads,
            "out": str(out),
        }
        answer = sandbox.run(
            "engine.children:build_step",
            request,
            read=readable,
            write=draft,
            limits=BUILD_LIMITS,
            threads=threads,
            on_message=lambda message: progress(message["progress"], message["message"]),
            log=sys.stderr,
        )
        if not any(out.iterdir()):
            raise WhetstoneError(f"{step.lever} wrote no file")
        size_bytes = folder_bytes(out)
        notes = dict(answer["notes"])
        facts = {name: notes.pop(name) for name in ("n_parameters", "n_trees") if name in notes}
        kept = source.manifest.model_dump(include={"n_parameters", "n_trees"})
        return Manifest(
            id=workspace.add_artefact(out),
            format=lever.produces or source.manifest.format,
            signature=source.manifest.signature,
            size_bytes=size_bytes,
            parent_id=source.manifest.id,
            step=step,
            notes=notes,
            **{**kept, **facts},
        )
