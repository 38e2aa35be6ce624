"""The science: measuring, certifying, levers. No Streamlit, no SQL outside jobs and cli."""
