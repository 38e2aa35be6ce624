"""What the dashboard and the command line both start: a study with its automatic rows, and runs of chains."""

from __future__ import annotations

from collections.abc import Sequence

from engine.environment import describe, usable_cores
from engine.errors import DoesNotFit, InvalidRequest, NotFound
from engine.jobs.submit import submit
from engine.plugin import make, reference_runtime, runtimes
from engine.recipe import final_format, normalised, normalised_choice, why_not
from engine.records import (
    TORCH_FORMATS,
    Choice,
    ExperimentSpec,
    ExperimentSummary,
    Preset,
    Recipe,
    Status,
    Step,
    Study,
    Workload,
)
from engine.study import Bound, StudyRequest, create
from engine.workspace import Workspace
from storage.ledger import Ledger

PLAIN_EXPORT = Recipe(steps=(Step(lever="export.torch_to_onnx"),))
ALIVE: tuple[Status, ...] = ("queued", "running", "succeeded")
MAX_BATCHES = 12
MAX_WORKLOADS = 24


def create_study(ledger: Ledger, request: StudyRequest, bound: Bound | None = None) -> Study:
    """Bind model and data unless they are, store the study and start its automatic rows. Raises WhetstoneError."""
    study, eval_set = create(request, Workspace(ledger.home), bound)
    ledger.add_eval_set(eval_set, request.data_name or request.name)
    ledger.add_study(study)
    start_baseline(ledger, study)
    return study


def start_baseline(ledger: Ledger, study: Study) -> list[str]:
    """Queue the original and, for a torch upload, its plain export to ONNX Runtime. Returns experiment ids."""
    manifest = ledger.model(study.model_id)
    recipes = [Recipe(), *([PLAIN_EXPORT] if manifest.format in TORCH_FORMATS else [])]
    ids: list[str] = []
    for recipe in recipes:
        ids += start_run(ledger, study, recipe, preset="quick")
    return ids


def start_run(
    ledger: Ledger,
    study: Study,
    recipe: Recipe,
    *,
    runtime: Choice | None = None,
    batch_sizes: Sequence[int] = (),
    threads: Sequence[int] = (),
    preset: Preset = "standard",
    created_by: str | None = None,
) -> list[str]:
    """Queue a chain, and first every shorter part of it that has no row yet. The last id is the one asked for.

    Every batch size is timed at every number of threads; without either, the study's own is meant.
    Raises InvalidRecipe, DoesNotFit or InvalidRequest before anything is queued.
    """
    manifest = ledger.model(study.model_id)
    recipe = normalised(recipe)
    if (reason := why_not(recipe, manifest, describe())) is not None:
        raise DoesNotFit(reason)
    last = _runtime(runtime, final_format(recipe, manifest.format))
    workloads = _workloads(study, batch_sizes, threads)
    known = [one for one in ledger.summaries(study.id) if one.status in ALIVE]
    ids: list[str] = []
    for length in range(len(recipe.steps) + 1):
        part = Recipe(steps=recipe.steps[:length])
        whole = length == len(recipe.steps)
        choice = last if whole else Choice(name=reference_runtime(final_format(part, manifest.format)))
        if not whole and (length == 0 or _has_row(known, part, choice, workloads)):
            continue
        spec = ExperimentSpec(study_id=study.id, recipe=part, runtime=choice, workloads=workloads, preset=preset)
        ids.append(submit(ledger, spec, created_by or study.created_by))
    return ids


def _runtime(asked: Choice | None, model_format: str) -> Choice:
    choice = asked or Choice(name=reference_runtime(model_format))
    accepts = type(make(runtimes(), choice.name, choice.params)).accepts
    if model_format not in accepts:
        raise DoesNotFit(f"the runtime {choice.name} takes {' or '.join(sorted(accepts))}, not {model_format}")
    return normalised_choice(choice)


def _workloads(study: Study, batch_sizes: Sequence[int], threads: Sequence[int]) -> tuple[Workload, ...]:
    sizes = list(dict.fromkeys(batch_sizes)) or [study.workload.batch_size]
    if len(sizes) > MAX_BATCHES:
        raise InvalidRequest(f"{len(sizes)} batch sizes asked for; at most {MAX_BATCHES} in one run")
    fixed = study.signature.fixed_batch
    for size in sizes:
        if not 1 <= size <= 65536:
            raise InvalidRequest(f"a batch must be 1 to 65,536 rows, got {size}")
        if fixed and size != fixed:
            raise InvalidRequest(f"the model's batch is fixed at {fixed}; a batch of {size} cannot be run")
    counts = list(dict.fromkeys(threads)) or [study.workload.threads]
    counts.sort(key=lambda count: count != study.workload.threads)  # the study's own leads every list of figures
    if threads and max(threads) > usable_cores():
        raise DoesNotFit(
            f"{max(threads)} threads asked for, {usable_cores()} cores may be used here (affinity and container quota)"
        )
    if len(sizes) * len(counts) > MAX_WORKLOADS:
        raise InvalidRequest(
            f"{len(sizes)} batch sizes at {len(counts)} numbers of threads are {len(sizes) * len(counts)} workloads; "
            f"at most {MAX_WORKLOADS} in one run"
        )
    return tuple(Workload(batch_size=size, threads=count) for count in counts for size in sizes)


def _has_row(
    known: Sequence[ExperimentSummary], recipe: Recipe, runtime: Choice, workloads: Sequence[Workload]
) -> bool:
    return any(
        row.spec.recipe == recipe and row.spec.runtime == runtime and set(workloads) <= set(row.spec.workloads)
        for row in known
    )


def start_sample(ledger: Ledger, name: str, created_by: str) -> Study:
    """The study of a sample, with its automatic rows queued. Raises NotFound for an unknown name."""
    from engine.data.choices import DataChoices
    from engine.intake import read_table, take_model
    from engine.study import Terms
    from sample_models import samples

    if name not in samples():
        raise NotFound(f"no sample is called {name!r}; there are {', '.join(sorted(samples()))}")
    sample = samples()[name]
    workspace = Workspace(ledger.home)
    manifest = take_model(sample.model, sample.model.name, workspace)
    table_id, _ = read_table(sample.data, sample.data.name, workspace)
    ledger.add_model(manifest, sample.model.name)
    request = StudyRequest(
        name=sample.title,
        model_id=manifest.id,
        table_id=table_id,
        data_name=sample.data.name,
        choices=DataChoices(**sample.choices),
        terms=Terms(
            goal=sample.goal, metric=sample.metric, max_drop=sample.max_drop, slice_max_drop=sample.slice_max_drop
        ),
        workload=Workload(batch_size=sample.batch, threads=sample.threads),
        price_per_hour=sample.price_per_hour,
        currency=sample.currency,
        created_by=created_by,
    )
    return create_study(ledger, request)
