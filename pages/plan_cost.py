"""How many machines a peak needs, which type, and what that costs: from the study's own figures, or from typed ones."""

from functools import partial

import pandas as pd
import streamlit as st

from engine.errors import InvalidRequest
from engine.planning.cost import plan_cost, savings
from engine.reports import export_table
from engine.reports.plan_cost import answer, day_rows, figures, formulas, rows, saving_sentence, slo_sentences
from pages._ui import loaders
from pages._ui.charts import show
from pages._ui.explanations import about
from pages._ui.keys import study_or_stop
from pages._ui.parts import card_title, head, refusal, verdict
from pages._ui.plan.cost_charts import cost_curve, replica_day
from pages._ui.plan.cost_form import cost_form
from pages._ui.plan.prefill import EXAMPLE, ORIGINAL, from_study, machines
from pages._ui.plan.sheet import price_sheet
from pages._ui.text import plain, sentence

OWN = "none"  # ?study=none: numbers of one's own
seen = loaders.version()
own = st.query_params.get("study") == OWN or not loaders.studies(seen)
study = None if own else study_or_stop("Plan")
variant = st.query_params.get("variant", "")
known = EXAMPLE if study is None else from_study(study, variant, seen)
about_rows = (
    "Your own numbers" if study is None else f"{plain(study.name, 80)} · one item a request, one replica a process"
)
head("How many machines, and what do they cost?", context=about_rows)
answered = st.container()
with st.container(border=True, key="pl-form"):
    try:
        asked = cost_form("INR" if study is None else study.currency)
    except InvalidRequest as error:
        with answered:
            refusal(error, "change the fields below.")
        st.stop()
    sheet = price_sheet(known, f"{study.id if study else OWN}-{variant}"[:60])
    if study is not None and not known:
        st.caption("The original is not measured yet: write the figures in yourself.")
    elif study is not None and study.price_per_hour is None:
        st.caption("The study has no price: write what an hour of one replica costs into the last column.")
try:
    types = machines(sheet)
    plan = plan_cost(types, asked.demand, asked.reserve, asked.currency, asked.p99_ms)
except InvalidRequest as error:
    with answered:
        refusal(error, "complete a line of the sheet: a name, requests/s and a price.")
    st.stop()
base = next((machine for machine in types if machine.name == ORIGINAL), None)
saved = (
    savings(base, [machine for machine in types if machine is not base], asked.demand, asked.reserve) if base else ()
)


def to_others() -> None:
    """The way back to what was measured, or to a plan without it."""
    if study is not None:
        link = {"study": study.id}
        st.page_link("compare.py", label="Compare", icon=":material/compare_arrows:", query_params=link)


with answered:
    lines = [f"{plain(one.fleet.machine.name, 60)} {plain(saving_sentence(one, asked.currency))}" for one in saved]
    details = [plain(answer(plan), 600), *lines[1:]] if lines else []
    details += [plain(text, 300) for text in slo_sentences(plan)]
    told, why = lines[0] if lines else sentence(answer(plan), 600), "  \n".join(details) or None
    verdict("info", "Answer", told, why, key="pl", actions=to_others)
with st.container(border=True, key="pl-curve-card", gap="xsmall"):
    card_title("Cost against traffic", help=about("plan"))
    show(cost_curve(plan), "pl-curve", f"Monthly cost of {len(plan.fleets)} machine types by peak traffic")
    st.caption(
        f"The grey band follows the cheapest. Steps are whole replicas, with {asked.reserve.headroom:.0%} headroom and "
        f"at least {asked.reserve.min_replicas}; 720 hours a month."
    )
if plan.day:
    with st.container(border=True, key="pl-day-card", gap="xsmall"):
        card_title("Replicas over the day", help=about("plan"))
        show(replica_day(plan), "pl-day", f"Replicas of {len(plan.day)} machine types by hour")
        st.caption(
            "Following the traffic at once: a lower bound, for no replica starts at once. Dotted: a fixed fleet."
        )
st.subheader("Side by side", anchor=False)


def table(found: list[dict[str, str]], alt: str) -> None:
    """Rows of text, names disarmed."""
    shown = [{name: plain(value) for name, value in row.items()} for row in found]
    st.table(
        pd.DataFrame(shown).rename(columns=lambda head: head if head == "p99" else head[:1].upper() + head[1:]),
        border="horizontal",
        hide_index=True,
        alt=alt,
    )


def export(ending: str) -> bytes:
    """The figures with all their digits."""
    found = figures(plan)
    flat = [{k: v for k, v in row.items() if k != "queue"} for row in found["machines"]]
    return export_table.to_csv(flat, list(flat[0])) if ending == "csv" else export_table.to_json([found])


table(rows(plan), "Machine types side by side")
if plan.day:
    table(day_rows(plan), "Fleets that follow the day beside fixed ones")
with st.container(horizontal=True, vertical_alignment="center", key="pl-export"):
    st.caption("The address of this page holds the whole plan.", width="content")
    for ending, mime in (("csv", "text/csv"), ("json", "application/json")):
        st.download_button(
            ending.upper(), data=partial(export, ending), file_name=f"plan-cost.{ending}", mime=mime,
            icon=":material/download:", key=f"pl-{ending}", on_click="ignore",
        )  # fmt: skip
with st.expander(
    "How this is computed, and what is not in it", icon=":material/calculate:", key="pl-how", type="compact"
):
    st.markdown("\n".join(f"- {plain(text, 400)}" for text in formulas(plan)))
