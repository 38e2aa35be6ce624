"""The page Compare as a person uses it: answer, order, filters, columns, pages, one variant, several up close."""

import pytest
from page_history import add_certificate, add_run, put_away
from pages_text import texts
from shown_table import unescaped

from engine.records import Recipe, Step

FEWER = Step(lever="pruning.fewer_trees", params={"keep_fraction": 0.2})


def variants(app):
    return [unescaped(cell.split("  \n")[0]) for cell in app.table[0].value["Variant"]]


def runs_of(ledger, study):
    return [run.id for run in ledger.summaries(study.id)]


def sort_by(app, key, order="up"):
    app.selectbox(key="cm-sort").set_value(key).run()
    app.segmented_control(key="pick-cm-order").set_value(order).run()
    assert not app.exception, app.exception


def test_the_baseline_stays_first_under_every_sort(study, open_page):
    app = open_page("compare.py", study=study.id)
    for key in ("speedup", "size_bytes", "metric_value", "runtime"):
        for order in ("down", "up"):
            sort_by(app, key, order)
            assert variants(app)[0] == "Original"
    sort_by(app, "speedup", "down")
    speeds = [float(cell.split("×")[0]) for cell in app.table[0].value["Speed‑up"].iloc[1:]]
    assert speeds == sorted(speeds, reverse=True)


def test_failed_runs_stay_with_their_reason(study, ledger, open_page):
    add_run(ledger, study, Recipe(steps=(Step(lever="gone.lever"),)), speedup=1, status="failed", message="no such op")
    table = open_page("compare.py", study=study.id).table[0].value
    assert "no such op" in table["Result"].iloc[-1]
    assert table["p50"].iloc[-1] == "–"


def test_colour_comes_with_an_arrow_and_noise_is_grey(study, ledger, open_page):
    add_run(ledger, study, Recipe(steps=(FEWER,)), speedup=2.0, drop=0.001)  # at most 0.4 points: could be a gain
    said = open_page("compare.py", study=study.id).table[0].value.to_string()
    assert ":green[▼" in said
    assert ":red[▲" in said
    assert "within" in said
    assert ":green[within" not in said


def test_filters_search_and_the_way_back(study, open_page):
    app = open_page("compare.py", study=study.id)
    assert len(variants(app)) == 4
    app.text_input(key="cm-q").set_value("fewer onnx").run()
    assert len(variants(app)) == 2
    app.text_input(key="cm-q").set_value("zebra").run()
    assert "No variants match" in texts(app)
    assert variants(app) == ["Original"]
    app.button(key="cm-clear").click().run()
    assert len(variants(app)) == 4
    app.pills(key="pick-cm-verdict").set_value(["Meets the promise"]).run()
    assert len(variants(app)) == 2


def test_a_link_reopens_the_view(study, ledger, open_page):
    ids = runs_of(ledger, study)
    app = open_page("compare.py", study=study.id, sort="speedup", order="down", runs=",".join(ids[1:3]))
    assert len(variants(app)) == 3
    assert app.selectbox(key="cm-sort").value == "speedup"
    assert "Only 2 chosen runs" in texts(app)
    link = app.code[0].value
    assert f"study={study.id}" in link
    assert "sort=speedup" in link
    app.button(key="cm-all").click().run()
    assert len(variants(app)) == 4


@pytest.mark.parametrize(
    "query",
    [
        {"batch": "x"}, {"batch": "9" * 30}, {"sort": "no such column"}, {"order": "sideways"}, {"x": "1", "y": "1"},
        {"runs": "a,b"}, {"chosen": "../../x"}, {"status": "weird"}, {"archived": "perhaps"}, {"q": "x" * 5000},
    ],
)  # fmt: skip
def test_a_wrong_address_is_read_as_far_as_it_makes_sense(study, open_page, query):
    app = open_page("compare.py", study=study.id, **query)
    assert variants(app)[0] == "Original"


def test_columns_are_remembered_for_this_person(study, open_page):
    app = open_page("compare.py", study=study.id)
    assert "Memory" not in app.table[0].value
    app.pills(key="pick-cm-figures").set_value(["p50_ms", "peak_bytes"]).run()
    app.pills(key="pick-cm-facts").set_value(["created_by"]).run()
    again = open_page("compare.py", study=study.id)  # another session of the same person
    assert list(again.table[0].value) == ["Variant", "Result", "p50", "Memory", "Who"]
    again.button(key="cm-columns-reset").click().run()
    assert "Memory" not in again.table[0].value
    assert "Size" in open_page("compare.py", study=study.id).table[0].value


def test_only_what_differs_and_parameters(study, ledger, open_page):
    add_run(ledger, study, Recipe(steps=(FEWER,)), speedup=2.0)
    app = open_page("compare.py", study=study.id)
    app.toggle(key="cm-parameters").set_value(True).run()
    app.pills(key="pick-cm-facts").set_value(["runtime"]).run()
    assert "Runtime" in app.table[0].value
    keep = next(name for name in app.table[0].value if name.endswith("keep fraction"))
    assert set(app.table[0].value[keep]) == {"–", "0\\.3", "0\\.2"}
    app.toggle(key="cm-differs").set_value(True).run()
    assert "Runtime" not in app.table[0].value
    assert keep in app.table[0].value
    assert "hidden: the same in all rows" in texts(app)


def test_side_by_side_turns_the_table(study, open_page):
    app = open_page("compare.py", study=study.id)
    app.toggle(key="cm-across").set_value(True).run()
    table = app.table[0].value
    assert list(table)[:2] == ["Figure", "Original"]
    assert list(table["Figure"])[:2] == ["Result", "p50"]


def test_long_tables_have_pages_with_the_baseline_on_each(study, ledger, open_page):
    for at in range(35):
        step = Step(lever="pruning.fewer_trees", params={"keep_fraction": 0.5 + at / 100})
        add_run(ledger, study, Recipe(steps=(step,)), speedup=1.5 + at / 10)
    app = open_page("compare.py", study=study.id)
    assert len(variants(app)) == 21
    first = set(variants(app))
    app.pagination[0].set_value(2).run()
    assert variants(app)[0] == "Original"
    assert len(variants(app)) == 19
    assert first & set(variants(app)) == {"Original"}
    sort_by(app, "speedup", "down")
    assert app.pagination[0].value == 1


def test_a_click_opens_the_card_of_a_variant(study, ledger, open_page):
    one = runs_of(ledger, study)[1]
    app = open_page("compare.py", study=study.id)
    app.session_state["cm-card"] = one
    app.run()
    assert not app.exception, app.exception
    assert any("Fewer trees" in head.value for head in app.subheader)
    assert "3.40× faster and loses 0.40" in texts(app)
    app.button(key="cm-card-choose").click().run()
    assert app.multiselect(key="cm-chosen").value == [one]
    app.button(key="cm-card-close").click().run()
    assert app.session_state["cm-card"] is None


def test_figures_up_close_are_made_when_their_fold_is_opened_or_something_is_chosen(study, ledger, open_page):
    def drawn(app):
        return {part for part in ("Slices and classes", "Step by step") if part in [one.value for one in app.subheader]}

    app = open_page("compare.py", study=study.id)
    assert len(app.get("plotly_chart")) == 1
    assert drawn(app) == set()
    app.session_state["cm-fold-slices"] = True
    app.run()
    assert drawn(app) == {"Slices and classes"}
    assert len(app.get("plotly_chart")) == 2
    again = open_page("compare.py", study=study.id)
    again.multiselect(key="cm-chosen").set_value(runs_of(ledger, study)[-1:]).run()
    assert drawn(again) == {"Slices and classes", "Step by step"}
    assert "timed at more than one batch size" in texts(again)


def test_slices_are_read_out_in_full(study, open_page):
    app = open_page("compare.py", study=study.id)
    app.session_state["cm-fold-slices"] = True
    app.run()
    names = app.selectbox(key="cm-slice").options
    assert "origin: JFK" in names
    app.selectbox(key="cm-slice").select_index(names.index("origin: JFK")).run()
    table = next(table.value for table in app.table if "Worst rows" in table.value)
    assert len(table) == 3
    assert set(table["Rows"]) == {"2,500"}
    assert any("Outside the band" in cell for cell in table["Verdict"])
    assert all("experiment?id=" in cell for cell in table["Worst rows"])


def test_batch_sizes_and_steps_of_the_chosen(study, ledger, open_page):
    steps = (FEWER, Step(lever="export.lightgbm_to_onnx"))
    add_run(ledger, study, Recipe(steps=steps[:1]), speedup=2.0, batches=(1, 8, 64))
    whole = add_run(ledger, study, Recipe(steps=steps), speedup=4.0, batches=(1, 8, 64))
    app = open_page("compare.py", study=study.id, chosen=whole)
    heads = [head.value for head in app.subheader]
    assert "Batch size" in heads
    assert "Step by step" in heads
    table = next(table.value for table in app.table if "This step alone" in table.value)
    assert [unescaped(step) for step in table["Step"]] == [
        "Original",
        "Fewer trees (keep fraction 0.2)",
        "LightGBM to ONNX",
    ]
    assert table["This step alone"].iloc[2] == ":gray[2.00×]"


def test_a_step_that_was_not_run_on_its_own_is_said(study, ledger, open_page):
    steps = (FEWER, Step(lever="export.lightgbm_to_onnx"))
    whole = add_run(ledger, study, Recipe(steps=steps), speedup=4.0)
    app = open_page("compare.py", study=study.id, chosen=whole)
    assert "Not run on its own: Fewer trees" in texts(app)


def test_the_strip_names_up_to_three_that_come_near(ledger, open_page):
    from page_history import make_study

    made = make_study(ledger, name="Slow")
    add_run(ledger, made, Recipe(), speedup=None)
    for at, speedup in enumerate((1.2, 2.4, 1.9, 2.1)):
        step = Step(lever="pruning.fewer_trees", params={"keep_fraction": 0.1 * (at + 1)})
        add_run(ledger, made, Recipe(steps=(step,)), speedup=speedup)
    app = open_page("compare.py", study=made.id)
    assert "No variant keeps the promise yet" in [head.value for head in app.subheader]
    strip = next(text.value for text in app.markdown if text.value.startswith("The nearest:"))
    found = [line.split(" is ")[1].split("×")[0] for line in strip.splitlines()[1:]]
    assert found == ["2.40", "2.10", "1.90"]
    assert "2\\.4× of the 3× goal" in strip


def test_a_certified_variant_leads_a_faster_one_that_is_not(study, ledger, open_page):
    certified = runs_of(ledger, study)[1]
    add_certificate(ledger, study, certified)
    add_run(ledger, study, Recipe(steps=(FEWER,)), speedup=9.0)
    app = open_page("compare.py", study=study.id)
    assert "3.40× faster" in app.subheader[0].value


def test_archived_variants_lead_nothing(study, ledger, open_page):
    put_away(ledger, runs_of(ledger, study)[1])
    app = open_page("compare.py", study=study.id)
    assert "No variant keeps the promise yet" in [head.value for head in app.subheader]
    assert len(variants(app)) == 3
    app.toggle(key="cm-archived").set_value(True).run()
    assert len(variants(app)) == 4
    assert any("Archived" in cell for cell in app.table[0].value["Variant"])
