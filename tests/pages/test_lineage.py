"""What a step changed, and which runs stand before and after another."""

from page_history import HOSTILE, ORIGINAL, add_run
from pages_text import texts

from engine.records import Recipe, Step
from pages._ui.experiment.lineage import changes, children, parents

FEWER, ONNX = Step(lever="pruning.fewer_trees", params={"keep_fraction": 0.3}), Step(lever="export.lightgbm_to_onnx")
FEWER_ONNX = Recipe(steps=(FEWER, ONNX))


def test_a_step_says_what_it_changed():
    before = ORIGINAL
    spec = before.signature.inputs[0]
    smaller = before.signature.model_copy(update={"inputs": (spec.model_copy(update={"dtype": "float32"}),)})
    after = before.model_copy(
        update={"format": "onnx", "n_trees": 360, "signature": smaller, "notes": {"dropped": HOSTILE, "n_bytes": 3}}
    )
    said = changes(before, after)
    assert said[:3] == ["LightGBM → ONNX", "1,200 → 360 trees", "input features\\: float64 → float32"]
    assert HOSTILE[:30] not in said[3]
    assert len(said) == 4
    assert changes(before, before) == []


def test_operators_that_came_and_went_are_named():
    before = ORIGINAL.model_copy(update={"operators": ("Gemm", "Relu")})
    after = ORIGINAL.model_copy(update={"operators": ("MatMulInteger", "Relu")})
    assert changes(before, after) == ["adds the operators MatMulInteger", "drops the operators Gemm"]


def test_runs_before_and_after_are_the_beginnings_and_continuations_of_a_chain(study, ledger):
    runs = {
        len(run.spec.recipe.steps): run for run in ledger.summaries(study.id) if run.spec.recipe.steps[:1] != (ONNX,)
    }
    both = ledger.experiment(runs[2].id)
    assert [one.id for one in parents(both, ledger.summaries(study.id))] == [runs[0].id, runs[1].id]
    one_step = ledger.experiment(runs[1].id)
    assert [one.id for one in children(one_step, ledger.summaries(study.id))] == [runs[2].id]
    add_run(ledger, study, Recipe(steps=(FEWER,)), speedup=1, status="failed")
    assert [one.id for one in parents(both, ledger.summaries(study.id))] == [runs[0].id, runs[1].id]
    again = add_run(ledger, study, Recipe(steps=(FEWER,)), speedup=3.5)
    assert [one.id for one in parents(both, ledger.summaries(study.id))] == [runs[0].id, again]


def test_the_page_leads_to_them(study, ledger, open_page):
    both = next(run.id for run in ledger.summaries(study.id) if len(run.spec.recipe.steps) == 2)
    app = open_page("experiment.py", id=both)
    assert "Grew from" in texts(app)
    labels = [one.label for one in app.get("page_link")]
    assert "Original" in labels
    assert any(label.startswith("Fewer trees") for label in labels)
