"""What the steps of New study keep, say and translate, apart from the page."""

import pytest

from engine.data.choices import DataChoices
from engine.data.profile import ColumnProfile, TableProfile
from engine.data.roles import guess_roles
from engine.quality.capability import coverage
from engine.records import Band, Census, PartRows, Signature, TensorSpec
from pages._ui.new_study.enough_rows import overall
from pages._ui.new_study.hints import on_page
from pages._ui.new_study.roles import MEANING, ROLES, as_roles, guessed, said_of_labels, shown, with_roles

MODEL = Signature(
    inputs=(TensorSpec(name="features", dtype="float64", shape=("batch", 2), columns=("age", "region")),),
    outputs=(TensorSpec(name="score", dtype="float64", shape=("batch",)),),
    task="binary",
)


def column(name, kind="whole number", dtype="int64", n_unique=3, examples=("1", "2", "3")):
    return ColumnProfile(name=name, position=0, kind=kind, dtype=dtype, n_unique=n_unique, examples=examples)


FILE = TableProfile(
    format="csv",
    n_rows=100,
    columns=(
        column("age"), column("region"), column("device"), column("churned", n_unique=2), column("late", n_unique=2),
    ),
)  # fmt: skip


def edited(said, *, also=(), **roles):
    """What is said after these roles were chosen in the table."""
    before, _ = shown(FILE, MODEL, said)
    return with_roles(said, {**before, **roles}, set(also), guessed(FILE, MODEL, said))


def test_every_role_of_the_engine_has_its_meaning():
    assert set(MEANING) == set(ROLES)


def test_only_what_differs_from_the_guess_is_said():
    assert edited({}) == {}
    assert edited({}, churned="label") == {"roles": {"churned": "label"}}
    back = edited(edited({}, churned="label"), churned=guessed(FILE, MODEL, {})["churned"])
    assert back == {}


def test_a_feature_can_be_judged_by_its_values():
    said = edited({}, also=["region"], churned="label")
    roles, also = shown(FILE, MODEL, said)
    assert (roles["region"], roles["device"], also) == ("feature", "slice", {"region"})
    assert set(DataChoices(**said).slices) == {"region", "device", "late"}
    assert edited(said, churned="label") == {"roles": {"churned": "label"}}  # the tick taken out again


def test_what_a_sample_says_becomes_roles_that_can_be_changed():
    said = as_roles({"label": "late", "slices": ["region"], "task": "binary", "group": "age"}, FILE, MODEL)
    assert "label" not in said
    roles, also = shown(FILE, MODEL, said)
    assert (roles["late"], roles["region"], roles["age"], also) == ("label", "feature", "feature", {"region"})
    assert said["group"] == "age"  # it goes into the model as well
    assert said["task"] == "binary"
    changed = edited(said, also=["region"], late="ignored", churned="label")
    assert guess_roles(FILE, MODEL, choices=DataChoices(**changed))["churned"] == "label"
    assert guess_roles(FILE, MODEL, choices=DataChoices(**changed))["late"] == "ignored"


def test_labels_of_several_keep_their_order_as_long_as_they_are_labels():
    roles, _ = shown(FILE, MODEL, {"task": "multilabel"})
    said = said_of_labels({"task": "multilabel"}, roles, ("late", "churned"))
    now, _ = shown(FILE, MODEL, said)
    assert [name for name, role in now.items() if role == "label"] == ["churned", "late"]
    kept = with_roles(said, now, set(), guessed(FILE, MODEL, said))
    assert kept["labels"] == ("late", "churned")
    fewer = with_roles(said, {**now, "late": "ignored"}, set(), guessed(FILE, MODEL, said))
    assert "labels" not in fewer
    assert fewer["roles"]["churned"] == "label"
    other = said_of_labels(said, now, ("device",))
    assert [name for name, role in shown(FILE, MODEL, other)[0].items() if role == "label"] == ["device"]


def test_columns_that_a_new_file_does_not_have_are_forgotten():
    said = as_roles(
        {"roles": {"gone": "label", "late": "label"}, "slices": ["gone"], "split_column": "gone"}, FILE, MODEL
    )
    assert set(said["roles"]) >= {"late"}
    assert "gone" not in str(said)


@pytest.mark.parametrize(
    ("said", "shows"),
    [
        ("no label column was found; name it (--label COLUMN), or choose the task other (--task other) for timing",
         "no label column was found; name it, or choose the task other for timing"),
        ("Change the roles, or name the feature columns in order (--features a,b,…)",
         "Change the roles, or name the feature columns in order under “Columns in the model's order”"),
        ("If they belong together in this order, confirm it: --features a,b,c",
         "If they belong together in this order, confirm it under “Columns in the model's order”"),
        ("say which label belongs to each score (--classes a,b,…)", "say which label belongs to each score"),
        ("a file", "a file"),
    ],
)  # fmt: skip
def test_the_page_does_not_speak_of_the_command_line(said, shows):
    assert on_page(said) == shows


def enough(n, changed=0.02, n_rarer=None, **band):
    """What the promise step says about n certification rows."""
    made = Band(**{"metric": "accuracy", "n_certificates": 1, **band})
    whole = PartRows(rows={"certification": n}, n_judged=n, n_rarer=n_rarer)
    counted = Census(whole=whole)
    return "\n".join(overall(coverage(counted, made)[0], made, counted, changed)).replace("\u202f", " ")


@pytest.mark.parametrize(
    ("said", "parts"),
    [
        (enough(298), ("298 rows** of the 299 that a band of 1.00 points needs at the least: 1 more",)),
        (enough(299), ("certify a band of 1.00 points in 28% of the cases", "you need about 1,400")),
        (enough(1397), ("Enough rows", "smallest band", "**1.00 points**", "For one certificate, at α = 0.05")),
        (enough(1397, n_certificates=3), ("Only just", "you need about 2,000", "each of 3 certificates, at α = 0.017")),
        (enough(1397, changed=0.05), ("Only just", "you need about 3,200", "5.0% of the answers change")),
        (enough(400, metric="roc_auc", n_rarer=200), ("Enough rows", "about 300 decide")),
        (enough(400, metric="roc_auc", n_rarer=20), ("20 rows of the rarer class** of the 30", "10 more are needed")),
        (enough(400, metric="rmse", relative=True), ("Can be judged", "at least 299", "1.00%", "the first variants")),
        (enough(0), ("No certification rows", "none can be certified")),
        (enough(400, max_drop=0.0), ("Identical answers only",)),
    ],
)  # fmt: skip
def test_what_the_rows_can_certify_is_said_in_a_sentence(said, parts):
    assert all(part in said for part in parts), said
