"""What was tried and what won; a first result in a minute for who starts."""

import streamlit as st

from pages._ui import loaders
from pages._ui.job_panel import live_jobs
from pages._ui.parts import card_title, empty, head
from pages._ui.study_cards import sample_cards, study_card

IDEA = (
    ("timer", "Measure", "Latency, memory, cost and quality of the model as it is, on one fixed evaluation set."),
    ("content_cut", "Sharpen", "Try one change at a time, or a chain. What gets slower is shown as slower."),
    ("fact_check", "Compare", "Every variant beside the original, overall and slice by slice, against your promise."),
)


def new_study() -> None:
    """The way to bring an own model."""
    st.page_link("new_study.py", label="New study", icon=":material/add:")


def own_model() -> None:
    """The same, in the words of a first visit."""
    st.page_link("new_study.py", label="Bring my own model", icon=":material/upload:")


head("Overview", "Make a model cheaper to serve, and show that it is still good enough.")
seen = loaders.version()
studies = loaders.studies(seen)
if studies:
    if loaders.active_jobs(None):
        with st.container(border=True, key="ov-live"):
            live_jobs(None, key="ov")
    card_title("Studies", new_study)
    with st.grid(3, min_column_width=260):
        for study in studies:
            study_card(study, seen)
else:
    empty(
        "science",
        "No studies yet",
        "Run a sample below to see a whole study on real data: it takes about a minute and uses no data of yours.",
        own_model,
        key="ov",
    )
st.subheader("Samples", anchor=False)
sample_cards(primary=not studies)
if not studies:
    with st.grid(3, min_column_width=236):
        for icon, title, text in IDEA:
            with st.container(border=True, gap="xsmall", height="stretch", key=f"ov-idea-{title.lower()}"):
                st.markdown(f"**:material/{icon}: {title}**")
                st.markdown(text)
