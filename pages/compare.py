"""Every variant of a study beside the original: verdict, picture, table to take away, and a few of them up close."""

import streamlit as st

from engine.records import ExperimentSummary
from pages._ui import loaders
from pages._ui.certificate.certifying import certify_action
from pages._ui.compare import view
from pages._ui.compare.card import variant_card
from pages._ui.compare.closer import closer
from pages._ui.compare.controls import filter_bar
from pages._ui.compare.data import compared, matching, outline
from pages._ui.compare.plots import scatter_card
from pages._ui.compare.section import table_section
from pages._ui.keys import study_or_stop
from pages._ui.overview.tour import visited
from pages._ui.parts import empty, head, nothing_found
from pages._ui.request_line import request_share
from pages._ui.standing import leaders, study_verdict
from pages._ui.text import plain

study = study_or_stop("Compare")
seen = loaders.version()
runs = loaders.summaries(study.id, seen)
info = loaders.eval_set(study.eval_set_id, seen)
n_variants, batches = outline(study.id, seen)


def to_study() -> None:
    """The way back to the levers."""
    st.page_link("study.py", label="Try a lever", icon=":material/stairs:", query_params={"study": study.id})


def actions(best: ExperimentSummary | None) -> None:
    """Certify what the strip names, or go on trying."""
    if best is not None:
        certify_action(study, loaders.experiment(best.id, seen), key="cm", primary=True)
    to_study()


def nothing_yet() -> None:
    """What to do before there is a variant."""
    text = "Queue a lever; its row appears here beside the original."
    empty("stairs", "Nothing to compare yet", text, to_study, key="cm")


head(
    "Compare",
    context=f"{plain(study.name, 80)} · {info.n_rows:,} evaluation rows · "
    f"{n_variants:,} variant{'' if n_variants == 1 else 's'}",
)
leading = leaders(study.id, seen)
whole = request_share(study, leading.baseline.p50_ms if leading.baseline else None, seen)
study_verdict(study, runs, loaders.certificates(study.id, seen), key="cm", actions=actions, whole=whole)
if not runs:
    nothing_yet()
    st.stop()

primary = study.workload.batch_size
view.begin(study.id, {"batch": primary})
view.settle({"batch": batches}, {"batch": primary})
looked = compared(study.id, view.value("batch"), seen)
first = {"batch": primary, "figures": looked.usual, **looked.first_axes}
view.settle(looked.options, first)
view.unfold()
filter_bar(looked, batches)
filters = view.filters()
shown = matching(study.id, looked.beside.batch, filters, seen)
address = view.link(view.end(study.id, first))
if only := len(view.value("runs")):
    with st.container(horizontal=True, vertical_alignment="center", key="cm-only"):
        st.caption(f"Only {only:,} chosen run{'' if only == 1 else 's'} and the original.", width="content")
        st.button("Show all", type="tertiary", icon=":material/filter_alt_off:", key="cm-all", on_click=view.clear)
scatter_card(looked, filters, [*view.value("chosen"), *leading.ids[:1]], seen)
variant_card(looked)
if len(shown) < 2 and n_variants:
    if view.filtering():
        nothing_found("variants", view.clear, key="cm")
    else:
        st.caption("Every variant is archived. The filter can show archived runs, too.")
table_section(looked, filters, len(shown), address, seen)
closer(looked, filters, leading.ids, seen)
if not n_variants:
    nothing_yet()
visited("compared")
