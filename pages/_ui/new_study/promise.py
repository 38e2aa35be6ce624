"""Step 3: what must hold, in advance. Starting freezes it."""

from __future__ import annotations

from typing import Any, Literal

import streamlit as st

from engine.environment import usable_cores
from engine.errors import WhetstoneError
from engine.quality.metrics import MEDIAN, auto_metric
from engine.records import METRICS, Band, Goal, Metric, Workload
from engine.records.checked import checked
from engine.study import Bound, Terms, promise
from pages._ui.new_study import fields
from pages._ui.new_study.certifiable import certifiable_card
from pages._ui.new_study.known_so_far import known_so_far
from pages._ui.new_study.start import Serving, freeze_card, leave
from pages._ui.new_study.state import Brought, go_to
from pages._ui.parts import card_title, problem
from pages._ui.text import sentence
from pages._ui.words import GOALS, drop_unit

Auto = Literal["auto"]


def promise_step(state: Brought) -> None:
    """Ask for goal, band and workload; show what the rows can certify and what the promise says; create the study."""
    if state.study_id is not None:  # the other half of a double click made it
        leave(state)
    bound = state.matches
    if bound is None:
        _missing(state)
        return
    known_so_far(state, bound)
    with st.container(border=True, key="ns-promise-form"):
        card_title("What must hold?")
        name = fields.text(
            state, "Name of the study", "ns-name", state.model_name.rsplit(".", 1)[0][:80], max_chars=200
        )
        if not name.strip():
            fields.wrong("A study needs a name.")
        terms = {**_goal(state), **_quality(state, bound)}
        serving = _serving(state, bound, terms["goal"])
    try:
        made = promise(checked(Terms, **terms), bound.signature, bound.info)
    except WhetstoneError as error:
        problem(sentence(error))
        return
    if made.band.metric is not None:
        certifiable_card(state, bound, made.band)
    else:
        st.caption(":material/info: No labels, so no quality can be lost on paper: agreement and time are shown.")
    freeze_card(state, bound, name.strip(), checked(Terms, **terms), made, serving)


def _missing(state: Brought) -> None:
    missing = "Model" if state.model is None else "Data"
    st.markdown("The promise is set once the model and the data are known to belong together.")
    st.button(
        f"Go to the {missing.lower()}",
        icon=":material/arrow_back:",
        key="ns-promise-missing",
        on_click=go_to,
        args=(missing,),
    )


def _goal(state: Brought) -> dict[str, Any]:
    with st.grid(2, min_column_width=200):
        kind = fields.choice(
            state, "Goal", "ns-goal", list(GOALS), "p50", GOALS.__getitem__,
            help="What has to become better: the usual call, the slowest calls, or the cost of a prediction.",
        )  # fmt: skip
        factor = fields.number(
            state, "At least this many times better", "ns-factor", 3.0, 1.1, 1000.0, step=0.5, format="%.1f",
            help="Met when the whole 95 % interval of the speed-up lies above it.",
        )  # fmt: skip
    return {"goal": checked(Goal, kind=kind, factor=factor)}


def _quality(state: Brought, bound: Bound) -> dict[str, Any]:
    metric, tau = _metric(state, bound)
    if metric is None:
        return {}
    band = Band(metric=metric, relative=not METRICS[metric].fixed_scale)
    unit, title = drop_unit(band), METRICS[metric].title
    columns = list(dict.fromkeys(part.column for part in bound.info.slices))
    by_class = METRICS[metric].class_wise or bound.signature.task == "multilabel"
    with st.grid(3, min_column_width=200):
        overall = fields.number(
            state, f"Lose at most, overall ({unit})", "ns-drop", 1.0, 0.0, 100.0, step=0.1, format="%.2f",
            help=f"Of {title}, on all rows. {_scale(band)}",
        )  # fmt: skip
        each = fields.number(
            state, f"Lose at most, any slice ({unit})", "ns-slice-drop", 2.0, 0.0, 100.0, step=0.1, format="%.2f",
            disabled=not (columns or by_class),
            help="A slice is all rows with one value in a slice column, for example one region.",
        )  # fmt: skip
        n_certificates = fields.number(
            state, "Certificates", "ns-certificates", 3, 1, 20,
            help="How many variants may be judged on the certification rows. The more, the stricter each is judged.",
        )  # fmt: skip
    slices: list[str] = []
    strict = False
    if columns:
        with st.grid(2, min_column_width=200, vertical_alignment="bottom"):
            slices = fields.several(
                state, "Slices that are judged", "ns-slices", columns, help="Mark more of them in the data step.",
                placeholder="No slice is judged",
            )  # fmt: skip
            strict = fields.toggle(
                state, "Every slice must be covered", "ns-all-slices",
                help="A slice with too few rows then blocks the certificate; otherwise it is listed as not covered.",
            )  # fmt: skip
    else:
        st.caption(":material/info: No slice column is marked in the data step, so no slice is judged.")
    return {
        "metric": metric,
        "tau": tau,
        "max_drop": overall / 100,
        "slice_max_drop": each / 100,
        "n_certificates": n_certificates,
        "slices": tuple(slices),
        "require_all_slices": strict,
    }


def _metric(state: Brought, bound: Bound) -> tuple[Metric | None, float | None]:
    """The metric that is chosen, and the quantile where it has one."""
    task = bound.signature.task
    assert task is not None
    labelled = bound.info.n_unlabelled < bound.info.n_rows
    usual = auto_metric(task, labelled=labelled)
    fitting: list[Metric] = [
        name for name, facts in METRICS.items() if task in facts.tasks and (labelled or not facts.needs_label)
    ]
    if usual is None:
        return None, None
    options: list[Metric | Auto] = ["auto", *fitting]

    def words(option: Metric | Auto) -> str:
        if option == "auto":
            return f"{_capital(METRICS[usual].title)} (proposed)"
        facts = METRICS[option]
        return f"{_capital(facts.title)}: {'larger' if facts.larger_is_better else 'smaller'} is better"

    with st.grid(2, min_column_width=200):
        chosen = fields.choice(
            state, "Quality is judged by", "ns-metric", options, "auto", words, help="Every metric that fits the task."
        )
        metric: Metric = usual if chosen == "auto" else chosen
        tau = None
        if metric == "pinball":
            tau = fields.number(
                state, "Quantile τ", "ns-tau", MEDIAN, 0.01, 0.99, step=0.05, format="%.2f",
                help="Which quantile the model predicts: 0.9 counts what is too low nine times as much.",
            )  # fmt: skip
    return metric, tau


def _serving(state: Brought, bound: Bound, goal: Goal) -> Serving:
    fixed = bound.signature.fixed_batch
    cores = usable_cores()
    with st.grid(4, min_column_width=150):
        with st.container(gap="xxsmall"):
            if fixed:
                state.fields["ns-batch"] = fixed
            batch = fields.number(
                state, "Items per call", "ns-batch", fixed or 1, 1, 65536, disabled=bool(fixed),
                help="The batch size that the promise is about."
                + (f" This model takes {fixed} only." if fixed else ""),
            )  # fmt: skip
        with st.container(gap="xxsmall"):
            threads = fields.number(
                state, "Threads", "ns-threads", 1, 1, 256, help="Cores that one serving process may use."
            )
            if threads > cores:
                fields.wrong(f"Only {cores} cores may be used here.")
        with st.container(gap="xxsmall"):
            price = fields.number(
                state, "Price of a replica-hour", "ns-price", None, 0.0, None, placeholder="no price, no cost",
                help="What one serving process costs for an hour. Without it no cost is shown.",
            )  # fmt: skip
            if goal.kind == "cost" and not price:
                fields.wrong("A goal in cost needs this price.")
        with st.container(gap="xxsmall"):
            currency = fields.text(state, "Currency", "ns-currency", "USD", max_chars=8)
            if not currency.strip():
                fields.wrong("For example USD, EUR or INR.")
    return Serving(checked(Workload, batch_size=batch, threads=threads), price or None, currency.strip(), cores)


def _scale(band: Band) -> str:
    return "As a share of what the original loses." if band.relative else "1 point is 0.01 of the metric."


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
