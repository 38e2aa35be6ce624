"""Quality by number of trees or features: asked for, drawn aside by another process, kept for the next visit."""

from __future__ import annotations

import tempfile
from pathlib import Path

import streamlit as st

from engine.curve import FORMATS
from engine.errors import InvalidRequest
from engine.jobs.curves import CurveState, drawing, known_curve, start
from engine.records import Manifest, Study
from engine.records.curve import Over
from engine.reports.feature_cost import COLUMNS, FeatureCosts, read_costs
from engine.settings import settings
from engine.workspace import Workspace
from pages._ui import loaders
from pages._ui.explanations import about
from pages._ui.parts import card_title, problem, refusal
from pages._ui.sections import fold
from pages._ui.study.curve_figure import curve_parts
from pages._ui.text import sentence

OVER: dict[Over, str] = {"trees": "Trees", "features": "Features"}
TAKES: dict[Over, str] = {
    "trees": "Takes seconds: every tree is walked once.",
    "features": "Takes minutes: every feature is left out once, and leaves are refitted at every size.",
}
POLL_S = 1.0


def curves_fold(study: Study, manifest: Manifest) -> None:
    """Closed until somebody asks; only where the model is made of trees and quality is judged."""
    if manifest.format in FORMATS and study.promise.band.metric is not None:
        fold(
            "Quality by number of trees or features, before anything is built",
            lambda: _curves(study), key="st-curves", icon="show_chart",
        )  # fmt: skip


def _curves(study: Study) -> None:
    def choose() -> None:
        st.segmented_control(
            "By number of", list(OVER), required=True, default="trees", format_func=OVER.__getitem__,
            key="pick-st-curve-over", label_visibility="collapsed",
        )  # fmt: skip

    card_title("How small may it be?", choose, help=about("quality curve"))
    over: Over = st.session_state.get("pick-st-curve-over") or "trees"
    workspace = Workspace(settings().home)
    running = _is_running(drawing(workspace, study.id, over))

    @st.fragment(run_every=POLL_S if running else None, key=f"st-curve-{over}")
    def panel() -> None:
        state = drawing(workspace, study.id, over)
        if running and not _is_running(state):
            st.rerun()
        _draw(study, over, workspace, state)

    panel()


def _is_running(state: CurveState | None) -> bool:
    return state is not None and not state.failed


def _draw(study: Study, over: Over, workspace: Workspace, state: CurveState | None) -> None:
    curve = known_curve(workspace, study, over)
    if state is not None and not state.failed:
        st.progress(min(1.0, state.fraction), text=sentence(state.message, 120))
        st.caption("It is drawn aside: the page may be left, and the curve stays for the next visit.")
    elif curve is not None:
        curve_parts(curve, _costs() if over == "features" else None)
    else:
        if state is not None:
            problem(f"**The curve was not drawn.** {sentence(state.message)}", "try again.")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                "Draw the curve", icon=":material/show_chart:", key=f"st-curve-draw-{over}", on_click=_start,
                args=(study.id, over),
            )  # fmt: skip
            st.caption(f"{TAKES[over]} It reads the selection rows only, and the page stays usable.", width="content")


def _start(study_id: str, over: Over) -> None:
    start(loaders.ledger(), study_id, over)


def _costs() -> FeatureCosts | None:
    """What fetching costs, from a file that is only read."""
    given = st.file_uploader(
        f"What fetching costs (CSV: {', '.join(COLUMNS)})", type=["csv"], key="st-curve-costs", max_upload_size=1,
        help="Features of one group arrive together: one fetch, which is saved when none of them is needed.",
    )  # fmt: skip
    if given is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "costs.csv"
        path.write_bytes(given.getvalue())
        try:
            return read_costs(path)
        except InvalidRequest as error:
            refusal(error, "mend the file and bring it again.")
            return None
