"""What this history holds already: models, evaluation rows, studies to start from, and the samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from engine.records import Manifest, Study
from pages._ui import loaders
from pages._ui.new_study.bring import Take, hand_over
from pages._ui.new_study.describe import in_a_line
from pages._ui.new_study.state import Brought, workspace
from pages._ui.text import shorten
from sample_models import samples
from sample_models.sample import Sample

MOST_KNOWN = 200


@dataclass(frozen=True)
class KnownData:
    """Evaluation rows that lie here, and what was said about them."""

    table_id: str
    name: str
    study: Study


def known_models(state: Brought, take: Take, use: Callable[[Manifest, str], None]) -> None:
    """A model that was brought before, the model of a sample, or everything of a study."""
    found = [one for one in reversed(loaders.ledger().models()) if _is_here(one.manifest)][:MOST_KNOWN]
    by_id = {one.manifest.id: one for one in found}
    options = [*by_id, *samples()]

    def label(option: str) -> str:
        if option in by_id:
            one = by_id[option]
            return f"{shorten(one.display_name, 60)} · {in_a_line(one.manifest)} · {one.created_at:%d %b %Y}"
        return f"Sample: {samples()[option].title}"

    chosen = _choice("Model", options, label, "Take this model", key="ns-known-model")
    if chosen in by_id:
        use(by_id[chosen].manifest, by_id[chosen].display_name)
        st.rerun()
    elif chosen:
        _sample(chosen, lambda sample: sample.model, "ns-model", take)
    _studies()


def known_data(state: Brought, take: Take, use: Callable[[KnownData], None]) -> None:
    """Rows that a study was made from, or those of a sample."""
    found: dict[str, KnownData] = {}
    for study in loaders.studies(loaders.version()):
        source = study.source
        if source and source.table_id not in found and (workspace().root / "tables" / source.table_id).is_dir():
            found[source.table_id] = KnownData(source.table_id, source.data_name or study.name, study)
    options = [*found, *samples()]

    def label(option: str) -> str:
        if option in found:
            return f"{shorten(found[option].name, 60)} · of the study {shorten(found[option].study.name, 60)}"
        return f"Sample: {samples()[option].title}"

    chosen = _choice("Evaluation rows", options, label, "Take these rows", key="ns-known-data")
    if chosen in found:
        use(found[chosen])
        st.rerun()
    elif chosen:
        state.fields["ns-sample"] = chosen
        _sample(chosen, lambda sample: sample.data, "ns-data", take)


def _choice(what: str, options: list[str], label: Callable[[str], str], verb: str, *, key: str) -> str | None:
    """The chosen option in the run in which the button was pressed."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox(what, options, format_func=label, key=key, width="stretch")
        go = st.button(verb, icon=":material/input:", key=f"{key}-go")
    return chosen if go else None


def _sample(name: str, file: Callable[[Sample], Path], key: str, take: Take) -> None:
    path = file(samples()[name])
    if hand_over(path, path.name, key, take):
        st.rerun()


def _studies() -> None:
    studies = {study.id: study for study in loaders.studies(loaders.version())[:MOST_KNOWN]}
    if not studies:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox(
            "Or everything of a study: its model, its rows and its promise, to be changed",
            list(studies),
            format_func=lambda key: f"{shorten(studies[key].name, 60)} · {studies[key].created_at:%d %b %Y}",
            key="ns-known-study",
            width="stretch",
        )
        if st.button("Start from it", icon=":material/content_copy:", key="ns-known-study-go"):
            st.query_params["from"] = chosen
            st.rerun()


def _is_here(manifest: Manifest) -> bool:
    return (workspace().root / "manifests" / f"upload-{manifest.id}.json").exists()
