"""The rows on which a variant and the original differ most: filter, read, take away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from engine.disagreement import disagreements
from engine.errors import WhetstoneError
from engine.records import Disagreement, EvalSetInfo, Experiment, SliceQuality, Study
from engine.reports import export_table, numbers
from engine.reports.disagreements import COLUMNS, disagreement_rows
from engine.settings import settings
from engine.workspace import Workspace
from pages._ui import loaders
from pages._ui.explanations import about
from pages._ui.parts import card_title, refusal, tone
from pages._ui.text import file_stem, plain
from pages._ui.variants import name_of

N_SHOWN, N_EXPORTED, N_PLACES = 10, 5000, 12
KINDS = {
    "no answer": ("No answer", "worse"),
    "bad flip": ("Right before, wrong now", "worse"),
    "worse": ("Larger error", "worse"),
    "other flip": ("Other class", "same"),
    "good flip": ("Wrong before, right now", "better"),
    "better": ("Smaller error", "better"),
    "differs": ("Same answer, other score", "same"),
}


def has_answers(run: Experiment) -> bool:
    """True where there is something to compare: a variant whose answers are not those of the original."""
    return run.quality is not None and not run.is_baseline and not run.quality.agreement.identical


def worst_rows(study: Study, run: Experiment) -> None:
    """What differs, row by row: filters, where it lies, the worst rows, and all of them to take away."""
    within = _filter(loaders.eval_set(study.eval_set_id, loaders.version()))
    try:
        with st.spinner("Comparing the answers row by row"):
            found = worst(run.id, within)
    except WhetstoneError as error:
        refusal(error)
        return
    if not found:
        st.markdown(":gray[No row differs here.]")
        return
    kept = _of_kinds(found)
    st.table(table(kept[:N_SHOWN]), border="horizontal", hide_index=True, alt="Rows that differ most")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(_how_many(kept, found), width="stretch")
        st.download_button(
            "CSV",
            data=lambda: export_table.to_csv(disagreement_rows(kept), COLUMNS),
            file_name=f"{file_stem(name_of(run))}-rows.csv",
            mime="text/csv",
            icon=":material/download:",
            key="ex-worst-csv",
            on_click="ignore",
            help="The rows of these filters, with every slice they are in.",
        )
    report = run.quality
    if not within and report is not None and (places := by_slice(found, report.slices)):
        card_title("Where they lie", help=about("disagreements"))
        st.table(pd.DataFrame(places), border="horizontal", hide_index=True, alt="Rows that differ by slice")
        st.caption("Of the rows of the slice; the slice with the largest share of harm is on top.")


def _of_kinds(found: Sequence[Disagreement]) -> list[Disagreement]:
    """The rows of the kinds that are ticked; with none ticked all."""
    counts: Counter[str] = Counter(one.kind for one in found)
    kinds, cut = [kind for kind in KINDS if counts[kind]], len(found) == N_EXPORTED
    if len(kinds) < 2:
        return list(found)
    chosen = st.pills(
        "What happened",
        kinds,
        selection_mode="multi",
        format_func=lambda kind: f"{KINDS[kind][0]} ({counts[kind]:,}{'+' if cut and kind == kinds[-1] else ''})",
        key="pick-ex-worst-kinds",
        help=about("disagreements"),
    )
    return [one for one in found if not chosen or one.kind in chosen]


def _how_many(kept: Sequence[Disagreement], found: Sequence[Disagreement]) -> str:
    n_shown = min(N_SHOWN, len(kept))
    more = f" of {len(kept):,}{' or more' if len(found) == N_EXPORTED else ''}" if len(kept) > n_shown else ""
    rows = f"{n_shown} worst{more}" if n_shown > 1 else "1"
    return f"{rows} of the selection rows, harm first. Row numbers count from 1."


def by_slice(found: Sequence[Disagreement], slices: Sequence[SliceQuality]) -> list[dict[str, str]]:
    """Slice by slice the rows that differ and those where harm was done; at most N_PLACES, the worst first.

    Harm comes first among the rows, so it is complete when the rest was cut off; what else differs is not shown then.
    """
    cut = len(found) == N_EXPORTED
    if cut and KINDS[found[-1].kind][1] == "worse":
        return []
    differ = Counter((column, value) for one in found for column, value in one.slices.items())
    harmed = Counter(
        (column, value) for one in found if KINDS[one.kind][1] == "worse" for column, value in one.slices.items()
    )
    sizes = {(cell.column, cell.value): cell.n_rows for cell in slices if cell.n_rows}
    places = [place for place in differ if place in sizes]
    places.sort(key=lambda place: (-harmed[place] / sizes[place], -differ[place] / sizes[place]))
    return [
        {
            "Slice": plain(f"{place[0]}: {place[1]}", 80),
            "Rows": f"{sizes[place]:,}",
            **({} if cut else {"Differ": _of(differ[place], sizes[place])}),
            "Harm": _of(harmed[place], sizes[place]),
        }
        for place in places[:N_PLACES]
    ]


def _of(n_rows: int, size: int) -> str:
    return f"{n_rows:,} ({numbers.percent(n_rows / size, 1)})"


@st.cache_data(show_spinner=False, max_entries=16)
def worst(experiment_id: str, within: tuple[tuple[str, str], ...]) -> list[Disagreement]:
    """At most N_EXPORTED rows; answers of a finished run never change."""
    ledger = loaders.ledger()
    run = ledger.experiment(experiment_id)
    study = ledger.study(run.spec.study_id)
    return disagreements(run, study, Workspace(settings().home), within=within, limit=N_EXPORTED)


def table(found: Sequence[Disagreement]) -> pd.DataFrame:
    """What each model says, by how much it differs, and which slices the row is in."""
    columns: dict[str, list[str]] = {"Row": [f"{one.row:,}" for one in found]}
    columns["What happened"] = [tone(*KINDS[one.kind]) for one in found]  # type: ignore[arg-type]
    if any(one.label is not None for one in found):
        columns["Label"] = [_text(one.label) for one in found]
    columns["Original"] = [_answer(one.baseline, one.baseline_score) for one in found]
    columns["This run"] = [_answer(one.candidate, one.candidate_score) for one in found]
    columns["Difference"] = [_number(one.difference) for one in found]
    if any(one.kl_nats is not None for one in found):
        columns["KL, nats"] = [_number(one.kl_nats) for one in found]
    for name in found[0].slices:
        columns[plain(name, 40)] = [_text(one.slices.get(name)) for one in found]
    return pd.DataFrame(columns)


def _filter(info: EvalSetInfo) -> tuple[tuple[str, str], ...]:
    """One slice value, or all rows."""
    options = [None, *((cell.column, cell.value) for cell in info.slices)]
    if len(options) == 1:
        return ()
    chosen = st.selectbox(
        "Rows",
        options,
        format_func=lambda one: "All rows" if one is None else f"{one[0]}: {one[1]}"[:80],
        key="ex-worst-slice",
        width=280,
        help=about("disagreements"),
    )
    return () if chosen is None else (chosen,)


def _answer(answer: str, score: float | None) -> str:
    text = _text(answer)
    return text if score is None or answer == f"{score:.6g}" else f"{text}  :gray[{numbers.percent(score, 1)}]"


def _text(value: str | None) -> str:
    return numbers.MISSING if value is None else plain(value, 60)


def _number(value: float | None) -> str:
    return numbers.MISSING if value is None else numbers.significant(value, 3) if value >= 1e-3 else f"{value:.1e}"
