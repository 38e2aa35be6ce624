"""What was tried and what won; a first result in a minute for who starts."""

import streamlit as st

from pages._ui import loaders
from pages._ui.job_panel import live_jobs
from pages._ui.overview.sample_cards import sample_cards
from pages._ui.overview.study_cards import study_grid
from pages._ui.overview.tour import offer_tour, tour
from pages._ui.overview.won import headline
from pages._ui.parts import card_title, empty, head

IDEA = (
    ("timer", "Measure", "Latency, memory, cost and quality of the model as it is, on one fixed evaluation set."),
    ("content_cut", "Sharpen", "Try one change at a time, or a chain. What gets slower is shown as slower."),
    ("fact_check", "Compare", "Every variant beside the original, overall and slice by slice, against your promise."),
)
CARDS = (
    "One card per study: the best certified variant, else the best that keeps the promise, else the nearest miss. "
    "Times are medians of a call at the study's batch; the speed-up is of the same process pairs, with its 95 % "
    "interval; quality is that of the selection rows; cost is that of a fully used replica.  \n"
    "[How this is computed](measuring#time)"
)


def new_study() -> None:
    """The way to bring an own model."""
    st.page_link("new_study.py", label="New study", icon=":material/add:")


def own_model() -> None:
    """The same, in the words of a first visit."""
    st.page_link("new_study.py", label="Bring my own model", icon=":material/upload:")


seen = loaders.version()
studies = loaders.studies(seen)
anything = bool(loaders.all_studies(seen))
head("Overview", headline(seen) if studies else "Make a model cheaper to serve, and show that it is still good.")
if anything:
    if loaders.active_jobs(None):
        with st.container(border=True, key="ov-live"):
            card_title("Running")
            live_jobs(None, key="ov")
    tour(studies, seen)
    card_title("Studies", new_study, help=CARDS)
    study_grid(seen)
else:
    empty(
        "science",
        "No studies yet",
        "Run a sample below to see a whole study on real data: it takes about a minute and uses no data of yours.",
        own_model,
        key="ov",
    )
st.subheader("Samples", anchor=False)
sample_cards(primary=not anything)
if not anything:
    with st.grid(3, min_column_width=236):
        for icon, title, text in IDEA:
            with st.container(border=True, gap="xsmall", height="stretch", key=f"ov-idea-{title.lower()}"):
                st.markdown(f"**:material/{icon}: {title}**")
                st.markdown(text)
else:
    offer_tour()
