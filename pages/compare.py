"""Every variant of a study beside the original: verdict, picture, table to take away, slices."""

import streamlit as st

from engine.records import Experiment
from engine.reports import export_table
from pages._ui import loaders
from pages._ui.certifying import certify_action
from pages._ui.compare_table import FIGURES, SORTS, comparison, ordered
from pages._ui.explanations import legend
from pages._ui.keys import study_or_stop
from pages._ui.parts import empty, head
from pages._ui.plots import scatter_card, slices_card
from pages._ui.standing import study_verdict
from pages._ui.text import file_stem, plain
from pages._ui.variants import name_of

EXPORTS = {
    "CSV": ("csv", "text/csv", export_table.to_csv),
    "Excel": ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", export_table.to_xlsx),
    "Markdown": ("md", "text/markdown", export_table.to_markdown),
    "JSON": ("json", "application/json", export_table.to_json),
}

study = study_or_stop("Compare")
seen = loaders.version()
runs = loaders.experiments(study.id, seen)
info = loaders.eval_set(study.eval_set_id, seen)
names = {run.id: name_of(run) for run in runs}
issued = loaders.certificates(study.id, seen)
n_variants = sum(bool(run.comparisons) for run in runs)


def to_study() -> None:
    """The way back to the levers."""
    st.page_link("study.py", label="Try a lever", icon=":material/stairs:", query_params={"study": study.id})


def actions(best: Experiment | None) -> None:
    """Certify what the strip names, or go on trying."""
    if best is not None:
        certify_action(study, best, key="cm", primary=True)
    to_study()


head(
    "Compare",
    context=f"{plain(study.name, 80)} · {info.n_rows:,} evaluation rows · "
    f"{n_variants} variant{'' if n_variants == 1 else 's'}",
)
study_verdict(study, runs, issued, key="cm", actions=actions)

batches = sorted({m.workload.batch_size for run in runs for m in run.measurements} | {study.workload.batch_size})
with st.container(horizontal=True, vertical_alignment="bottom"):
    batch = st.selectbox(
        "Items per call",
        batches,
        index=batches.index(study.workload.batch_size),
        format_func=lambda size: f"{size:,}" + (" (the promise)" if size == study.workload.batch_size else ""),
        key="cm-batch",
        width=190,
    )
    sort = st.selectbox("Sort by", list(SORTS), key="cm-sort", width=190)

rows = ordered(loaders.compare(study.id, batch, seen), sort)
if n_variants:
    scatter_card(study, runs, rows, names, batch)
st.subheader("Variants", anchor=False)
if rows:
    st.table(
        comparison(study, rows, names, issued),
        border="horizontal",
        hide_index=True,
        alt="Variants against the original",
    )
    st.caption(
        "▲ and ▼ show which way the number moved. Colour shows whether that is good, and only where the change is "
        "larger than the noise. Speed-ups are of the same process pairs, with their 95 % interval."
    )
    with st.container(horizontal=True, vertical_alignment="center", key="cm-export"):
        legend(FIGURES, key="cm-legend")
        st.caption("Export as shown", width="content")
        for label, (ending, mime, write) in EXPORTS.items():
            st.download_button(
                label,
                data=lambda write=write: write(rows),  # type: ignore[misc]
                file_name=f"{file_stem(study.name)}-batch-{batch}.{ending}",
                mime=mime,
                icon=":material/download:",
                key=f"cm-{ending}",
                on_click="ignore",
            )
if n_variants:
    slices_card(study, runs, names)
else:
    empty(
        "stairs",
        "Nothing to compare yet",
        "Queue a lever; its row appears here beside the original.",
        to_study,
        key="cm",
    )
