"""How time, quality and cost are computed: docs/measuring.md as a page, where every figure's help leads."""

import streamlit as st

from engine.reports.explain import DOCUMENT

st.markdown(DOCUMENT.read_text(encoding="utf-8"))
