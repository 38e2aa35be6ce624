"""Launcher: `streamlit run app.py`. The pages are in `pages/`, the science in `engine/`, the history in `storage/`."""

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import Route

from pages._ui.assets import Assets
from pages._ui.launch import SecurityHeaders, health, lifespan, show_script_error
from pages._ui.upload_route import put_upload

app = st.App(
    "pages/_main.py",
    lifespan=lifespan,
    middleware=[Middleware(SecurityHeaders), Middleware(Assets)],
    routes=[Route("/health", health), Route("/upload", put_upload, methods=["PUT"])],
    on_script_error=show_script_error,
)

if __name__ == "__main__":
    app.run()
