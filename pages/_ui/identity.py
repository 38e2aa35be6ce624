"""Who is looking. The only module that reads `st.user`."""

from __future__ import annotations

import streamlit as st

from engine.settings import settings


def current_user() -> str:
    """The name written beside what this person does. Stops the page until a required sign-in is done.

    Without an `[auth]` section in the Streamlit secrets nobody signs in, and the name comes from the environment.
    """
    signed_in = st.user.get("is_logged_in")
    if signed_in is None:
        return settings().user
    if not signed_in:
        st.title("Sign in to Whetstone", anchor=False)
        st.button("Sign in", type="primary", icon=":material/login:", key="sign-in", on_click=st.login)
        st.stop()
    return str(st.user.get("name") or st.user.get("email") or st.user.get("sub"))
