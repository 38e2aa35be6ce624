"""What exactly was asked: every parameter of every step, how it was run and timed, and the line that asks it again."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st
from pydantic.fields import FieldInfo

from engine.measurement.presets import PRESETS as PLANS
from engine.plugin import Plugin, levers, runtimes
from engine.records import Experiment
from engine.reports.again import command
from pages._ui.experiment.lineage import flat
from pages._ui.forms import label_of
from pages._ui.text import plain, sentence
from pages._ui.words import PRESETS


def recipe_section(run: Experiment) -> None:
    """A table of parameters per step, then how it was run, then the command line."""
    spec = run.spec
    for position, step in enumerate(spec.recipe.steps, 1):
        lever = levers().get(step.lever)
        title = lever.title if lever else step.lever
        st.markdown(f"**{position}  {plain(title, 80)}**  :gray[{plain(step.lever, 80)}]")
        if lever is None:
            st.caption("This lever is not part of this release any more; its parameters are shown as they were stored.")
        _parameters(step.params, lever, alt=f"Parameters of step {position}")
    if not spec.recipe.steps:
        st.markdown("No step: the original as it was uploaded.")
    runtime = runtimes().get(spec.runtime.name)
    st.markdown(f"**Run by {plain(runtime.title if runtime else spec.runtime.name, 80)}**")
    if spec.runtime.params:
        _parameters(spec.runtime.params, runtime, alt="Parameters of the runtime")
    st.table(_asked(run), border="horizontal", alt="What was asked")
    st.caption("Bold is what was chosen instead of the default. The same again from the command line:")
    st.code(command(spec), language="bash", wrap_lines=True)


def _parameters(params: dict[str, Any], plugin: type[Plugin] | None, *, alt: str) -> None:
    """Every parameter with its value, whether that is the default, and what it means."""
    fields = plugin.model_fields if plugin else {}
    values = {name: field.get_default(call_default_factory=True) for name, field in fields.items()} | params
    if not values:
        st.caption("No settings.")
        return
    rows = []
    for name, value in values.items():
        text, known = plain(flat(value), 60), fields.get(name)
        rows.append(
            {
                "Parameter": plain(label_of(name), 60),
                "Value": f"**{text}**" if _chosen(value, known) else text,
                "What it does": sentence(known.description, 300) if known and known.description else "",
            }
        )
    st.table(pd.DataFrame(rows), border="horizontal", hide_index=True, alt=alt)


def _chosen(value: Any, known: FieldInfo | None) -> bool:
    """Bold: what somebody chose instead of the default."""
    return known is not None and value != known.get_default(call_default_factory=True)


def _asked(run: Experiment) -> dict[str, str]:
    spec = run.spec
    sizes = dict.fromkeys(one.batch_size for one in spec.workloads)
    threads = dict.fromkeys(one.threads for one in spec.workloads)
    asked = {
        "Items per call": ", ".join(f"{size:,}" for size in sizes),
        "Threads": ", ".join(f"{count}" for count in threads),
        "Effort": f"{PRESETS[spec.preset]}, up to {PLANS[spec.preset].n_rounds} rounds each",
        "Seed": f"{spec.seed}",
        "Device": plain(run.device, 60),
    }
    if run.measurements:
        asked["Warm-up"] = f"{run.measurements[0].n_warm_up:,} calls of every process before the timed ones"
    return asked
