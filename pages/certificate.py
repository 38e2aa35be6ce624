"""One certificate: verdict, what it rests on, what it does not cover, and the page to print."""

import streamlit as st

from engine.reports.certificate import as_document, to_html, to_json, to_markdown
from pages._ui.certificate.parts import certificate_verdict, sections
from pages._ui.keys import certificate_or_stop
from pages._ui.parts import head
from pages._ui.text import file_stem, plain

FILES = {
    "Page to print": ("html", "text/html", to_html, "One HTML file for A4, without anything from elsewhere."),
    "Markdown": ("md", "text/markdown", to_markdown, "For a pull request or a wiki."),
    "JSON": ("json", "application/json", to_json, "The record itself: python -m engine certify --check FILE."),
}

certificate = certificate_or_stop("Certificate")
head(
    "Certificate",
    context=f"{plain(certificate.study_name, 60)} · {certificate.created_at:%d %b %Y, %H:%M} UTC · "
    f"{plain(certificate.created_by, 40)} · {certificate.id}",
)


def to_experiment() -> None:
    """The way to the run that was judged, and to its study."""
    st.page_link(
        "experiment.py",
        label="Experiment",
        icon=":material/arrow_forward:",
        query_params={"id": certificate.experiment_id},
    )
    st.page_link(
        "compare.py", label="Compare", icon=":material/compare_arrows:", query_params={"study": certificate.study_id}
    )


certificate_verdict(certificate, to_experiment)
with st.container(horizontal=True, vertical_alignment="center", key="ce-export"):
    for label, (ending, mime, write, meaning) in FILES.items():
        st.download_button(
            label,
            data=lambda write=write: write(certificate),  # type: ignore[misc]
            file_name=f"certificate-{file_stem(certificate.study_name)}-{certificate.number}.{ending}",
            mime=mime,
            icon=":material/print:" if ending == "html" else ":material/download:",
            key=f"ce-{ending}",
            help=meaning,
            on_click="ignore",
        )
sections(as_document(certificate).sections)
