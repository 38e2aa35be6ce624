"""How a run is called on the screen."""

from __future__ import annotations

from engine.plugin import levers, reference_runtime, runtimes
from engine.records import Choice, Experiment, ExperimentSummary, Recipe, Step
from pages._ui.forms import label_of


def name_of(run: Experiment | ExperimentSummary) -> str:
    """'Fewer trees (keep fraction 0.5) → ONNX'; the runtime is named when it is not the usual one of its format."""
    name = recipe_name(run.spec.recipe)
    return name if _usual(run) else f"{name} in {runtime_name(run.spec.runtime)}"


def recipe_name(recipe: Recipe) -> str:
    """'Fewer trees (keep fraction 0.5) → ONNX'."""
    return " → ".join(step_name(step) for step in recipe.steps) or "Original"


def step_name(step: Step) -> str:
    """A lever's title with the parameters that differ from its defaults."""
    lever = levers().get(step.lever)
    if lever is None:
        return step.lever
    defaults = {name: field.default for name, field in lever.model_fields.items()}
    changed = [
        f"{label_of(name).lower()} {value}" for name, value in step.params.items() if value != defaults.get(name)
    ]
    return f"{lever.title} ({', '.join(changed)})" if changed else lever.title


def runtime_name(choice: Choice) -> str:
    """A runtime's title with its parameters."""
    runtime = runtimes().get(choice.name)
    title = runtime.title if runtime else choice.name
    extra = ", ".join(f"{label_of(name).lower()} {value}" for name, value in choice.params.items())
    return f"{title} ({extra})" if extra else title


def _usual(run: Experiment | ExperimentSummary) -> bool:
    if run.spec.runtime.params:
        return False
    last = run.artefact.format if run.artefact else None
    return last is None or run.spec.runtime.name == reference_runtime(last)
