"""The optimised model to take away: a zip of its files, built when somebody asks for it."""

from __future__ import annotations

import io
import zipfile

import streamlit as st

from engine.errors import NotFound
from engine.records import Experiment, Manifest
from engine.settings import settings
from engine.workspace import Workspace
from pages._ui.text import file_stem, sentence
from pages._ui.variants import name_of


def artefact_download(run: Experiment) -> None:
    """A button when the files are here, else why they are not."""
    if run.artefact is None:
        return
    artefact = run.artefact
    try:
        Workspace(settings().home).artefact_folder(artefact.id)
    except NotFound as error:
        st.caption(sentence(error))
        return
    st.download_button(
        "Download the model",
        data=lambda: zipped(artefact),
        file_name=f"{file_stem(name_of(run))}-{artefact.id[:12]}.zip",
        mime="application/zip",
        icon=":material/download:",
        key="ex-download",
        on_click="ignore",
        help="The model's files with a manifest that says what they are.",
    )


def zipped(manifest: Manifest) -> bytes:
    """The payload files and manifest.json as a zip file."""
    folder = Workspace(settings().home).artefact_folder(manifest.id)
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("manifest.json", manifest.model_dump_json(indent=2))
        for path in sorted(item for item in folder.rglob("*") if item.is_file()):
            archive.write(path, path.relative_to(folder).as_posix())
    return target.getvalue()
