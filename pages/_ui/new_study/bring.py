"""The ways for a file to come in: from the browser, streamed, out of the import folder, or known here already."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from engine.errors import WhetstoneError
from engine.settings import settings
from pages._ui import uploads
from pages._ui.new_study.drop_zone import drop_zone
from pages._ui.parts import refusal
from pages._ui.text import plain

Take = Callable[[Path, str], None]  # (file on this machine, name to show); raises WhetstoneError with a sentence
WAYS = {
    "Upload": "upload_file",
    "Stream a big file": "cloud_upload",
    "Known here": "history",
    "Import folder": "folder_open",
}


def bring(what: str, key: str, take: Take, known: Callable[[], None] | None = None) -> None:
    """Draw the ways in; hand a file that came to `take`, then rerun. A refusal is shown until another file comes.

    known: draws what this history holds already, where there is such a thing.
    """
    folder = settings().import_dir
    offered = {"Import folder": folder is not None, "Known here": known is not None}
    ways = [way for way in WAYS if offered.get(way, True)]
    way = st.segmented_control(
        "How does the file come?",
        ways,
        default=ways[0],
        required=True,
        format_func=lambda name: f":material/{WAYS[name]}: {name}",
        key=f"pick-{key}-way",
        label_visibility="collapsed",
    )
    if way == "Upload":
        _upload(what, key, take)
    elif way == "Import folder":
        _import(what, key, folder, take)
    elif way == "Known here" and known is not None:
        known()
    else:
        _stream(what, key, take)
    if refused := st.session_state.get(f"{key}-refusal"):
        refusal(refused)


def hand_over(path: Path, name: str, key: str, take: Take) -> bool:
    """Let `take` read the file; a refusal is kept for the next run, which shows it below the ways in."""
    st.session_state.pop(f"{key}-refusal", None)
    try:
        with st.spinner(f"Reading {plain(name, 60)}"):
            take(path, name)
    except WhetstoneError as error:
        st.session_state[f"{key}-refusal"] = str(error)
        return False
    return True


def _upload(what: str, key: str, take: Take) -> None:
    config = settings()
    upload = st.file_uploader(what, key=f"{key}-file", max_upload_size=uploads.WIDGET_LIMIT_MB)
    st.caption(
        f"Up to {uploads.WIDGET_LIMIT_MB} MB this way (the setting server.maxUploadSize); stream anything larger. "
        "The file stays on this server."
    )
    if upload is None or st.session_state.get(f"{key}-seen") == upload.file_id:
        return
    st.session_state[f"{key}-seen"] = upload.file_id
    try:
        path = uploads.keep(upload, upload.name, config.home)
    except WhetstoneError as error:
        st.session_state[f"{key}-refusal"] = str(error)
        return
    finally:
        _drop_buffer(upload)
    if hand_over(path, uploads.display_name(upload.name), key, take):
        st.rerun()
    uploads.forget(path, config.home)


def _drop_buffer(upload: UploadedFile) -> None:
    """Give the memory back: Streamlit would keep the bytes until the session expires."""
    context = get_script_run_ctx()
    if context is not None and runtime.exists():
        manager: Any = runtime.get_instance().uploaded_file_mgr
        manager.remove_file(context.session_id, upload.file_id)


def _import(what: str, key: str, folder: Path | None, take: Take) -> None:
    names = [path.name for path in uploads.import_files(folder)]
    if not names:
        st.caption("The import folder holds no files.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox(what, names, key=f"{key}-import")
        if st.button("Take this file", icon=":material/input:", key=f"{key}-import-go"):
            hand_over(uploads.import_file(folder, name), name, key, take) and st.rerun()


def _stream(what: str, key: str, take: Take) -> None:
    home = settings().home
    token = st.session_state.get(f"{key}-token")
    if token is None or uploads.arrival(home, token).stage == "unknown":
        token = st.session_state[f"{key}-token"] = uploads.issue(home)
    hint = "Drop it here. It is streamed to the server's disk, however big it is."
    drop_zone(what, hint, token, key=f"{key}-zone")
    st.markdown("Or run this where the file is. The command works once, within an hour.")
    st.code(_command(token), language="bash", wrap_lines=True)
    arrived = uploads.arrival(home, token)
    if arrived.stage == "whole" and arrived.path is not None:
        done = hand_over(arrived.path, arrived.name, key, take)
        st.session_state.pop(f"{key}-token")
        if not done:
            uploads.discard(home, token)
        st.rerun()
    elif arrived.stage == "failed":
        st.session_state[f"{key}-refusal"] = arrived.message
        uploads.discard(home, token)
        st.session_state.pop(f"{key}-token")
        st.rerun()
    _watch(home, token, key)


def _command(token: str) -> str:
    site = urlsplit(st.context.url or "http://127.0.0.1:8501/")
    address = f"{site.scheme}://{site.netloc}/upload?token={token}"
    return f'FILE=model.onnx\ncurl --fail-with-body -T "$FILE" "{address}&name=$(basename "$FILE")"'


def _watch(home: Path, token: str, key: str) -> None:
    @st.fragment(run_every=1.0, key=f"{key}-watch")
    def watch() -> None:
        arrived = uploads.arrival(home, token)
        if arrived.stage in ("whole", "failed"):
            st.rerun()
        text = f"{arrived.n_bytes / 1e6:,.0f} MB arrived" if arrived.stage == "arriving" else "Waiting for the file"
        st.caption(f":material/hourglass_top: {text}")

    watch()
