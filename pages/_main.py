"""The frame around every page: settings of the browser tab, who is looking, navigation, time taken."""

import logging
import time
from pathlib import Path

import streamlit as st

from pages._ui.identity import current_user
from pages._ui.parts import CSS

UI = Path(__file__).parent / "_ui"
LOG = logging.getLogger("whetstone.pages")
started_s, worked_s = time.perf_counter(), time.thread_time()
st.set_page_config(page_title="Whetstone", page_icon=str(UI / "icon.svg"), layout="wide", initial_sidebar_state=224)
page = st.navigation(
    [
        st.Page("overview.py", title="Overview", icon=":material/home:", default=True),
        st.Page("new_study.py", title="New study", icon=":material/add_circle:", url_path="new-study"),
        st.Page("study.py", title="Study", icon=":material/stairs:", url_path="study"),
        st.Page("compare.py", title="Compare", icon=":material/compare_arrows:", url_path="compare"),
        st.Page("plan_cost.py", title="Plan", icon=":material/payments:", url_path="plan"),
        st.Page("history.py", title="History", icon=":material/history:", url_path="history"),
        st.Page("experiment.py", title="Experiment", url_path="experiment", visibility="hidden"),
        st.Page("measuring.py", title="How it is measured", url_path="measuring", visibility="hidden"),
        st.Page("certificate.py", title="Certificate", url_path="certificate", visibility="hidden"),
    ]
)
st.logo(str(UI / "logo.svg"), size="large")
st.html(CSS)
current_user()
try:
    page.run()
finally:  # also when the page stops early or goes to another one
    took_ms, work_ms = 1e3 * (time.perf_counter() - started_s), 1e3 * (time.thread_time() - worked_s)
    LOG.debug("%s %.1f ms, of it %.1f ms at work", page.url_path or "overview", took_ms, work_ms)
