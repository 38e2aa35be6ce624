"""How time, quality and cost are computed: docs/measuring.md as a page, where every figure's help leads."""

import re

import streamlit as st

from engine.reports.explain import DOCUMENT
from pages._ui.sections import contents

beginning, rest = DOCUMENT.read_text(encoding="utf-8").split("\n## ", 1)
st.markdown(beginning)
contents(re.findall(r"^## (.+)$", f"## {rest}", re.MULTILINE), key="me")
st.markdown(f"## {rest}")
