import pytest

from engine.data.choices import DataChoices
from engine.data.profile import ColumnProfile
from engine.data.roles import guess_roles, named_columns
from engine.errors import BadData
from engine.records import Signature, TensorSpec

N = 60
WORDS = ["train", "test", "validation"] * 20


def several(*names, dtype="float32"):
    inputs = tuple(TensorSpec(name=name, dtype=dtype, shape=("batch", 1)) for name in names)
    return Signature(inputs=inputs, outputs=(TensorSpec(name="y", dtype="float32", shape=("batch", 2)),))


def test_names_tell_and_the_rest_is_offered_as_slice(columns, booster):
    profile = columns(
        a=[0.5] * N,
        b=[1.5] * N,
        Label=[0, 1] * 30,
        split=WORDS,
        user_id=list(range(N)),
        id=list(range(N)),
        weight=[1.0] * N,
        city=["x", "y"] * 30,
        note=[str(at) for at in range(N)],
        constant=[1] * N,
    )
    assert guess_roles(profile, booster(["a", "b"])) == {
        "a": "feature",
        "b": "feature",
        "Label": "label",
        "split": "split",
        "user_id": "group",
        "id": "id",
        "weight": "weight",
        "city": "slice",
        "note": "ignored",
        "constant": "ignored",
    }


def test_what_the_model_wants_stays_a_feature(columns, booster):
    names = ["class", "id", "weight", "group", "split"]
    profile = columns(**{name: [1, 2] for name in names}, label=[0, 1])
    roles = guess_roles(profile, booster(names))
    assert [roles[name] for name in names] == ["feature"] * 5
    assert roles["label"] == "label"


def test_a_split_column_must_speak_of_splits(columns, booster):
    profile = columns(a=[1, 2], split=["north", "south"], fold=[1, 2], label=[0, 1])
    roles = guess_roles(profile, booster(["a"]))
    assert (roles["split"], roles["fold"]) == ("slice", "slice")


def test_only_the_first_of_two_label_names(columns, booster):
    roles = guess_roles(columns(a=[1, 2], y=[0, 1], target=[3, 4]), booster(["a"]))
    assert (roles["target"], roles["y"]) == ("label", "slice")


def test_the_one_column_too_many_is_the_label(columns, net):
    assert guess_roles(columns(a=[1.0, 2], b=[1.0, 2], price=[5.0, 6]), net(2))["price"] == "label"
    roles = guess_roles(columns(größe=["groß", "klein"], a=[1.0, 2], b=[1.0, 2]), net(2))
    assert roles == {"größe": "label", "a": "feature", "b": "feature"}


def test_no_label_is_guessed_for_a_task_without(columns, net):
    profile = columns(a=[1.0, 2], b=[1.0, 2], c=[5.0, 6])
    roles = guess_roles(profile, net(2), choices=DataChoices(task="embedding"))
    assert set(roles.values()) == {"feature"}


def test_inputs_without_names_take_numbers_and_leave_text(columns, net):
    profile = columns(f0=[1.0, 2], f1=[1, 2], region=["n", "s"], day=["x", "x"], label=[0, 1])
    assert guess_roles(profile, net(2)) == {
        "f0": "feature",
        "f1": "feature",
        "region": "slice",
        "day": "ignored",
        "label": "label",
    }


def test_numbers_beside_the_model_s_own_names_are_no_features(columns, booster):
    names = ["Column_0", "Column_1"]
    profile = columns(Column_0=[1.0, 2], Column_1=[1.0, 2], hour=[3, 4], label=[0, 1])
    assert guess_roles(profile, booster(names))["hour"] == "slice"
    unnamed = columns(f0=[1.0, 2], f1=[1.0, 2], label=[0, 1])
    assert guess_roles(unnamed, booster(names))["f0"] == "feature"


def test_a_row_number_is_ignored_until_somebody_says_otherwise(columns, booster):
    profile = columns(**{"Unnamed: 0": [0, 1], "a": [1.0, 2], "label": [0, 1]})
    number = profile.columns[0].model_copy(update={"row_number": True})
    profile = profile.model_copy(update={"columns": (number, *profile.columns[1:])})
    assert guess_roles(profile, booster(["a"]))["Unnamed: 0"] == "ignored"
    said = DataChoices(roles={"Unnamed: 0": "slice"})
    assert guess_roles(profile, booster(["a"]), choices=said)["Unnamed: 0"] == "slice"


def test_what_a_person_says_wins(columns, booster):
    profile = columns(a=[1.0, 2], label=[0, 1], truth=[1, 0], city=["x", "y"], town=["x", "y"], k=[1, 2])
    said = DataChoices(label="truth", slices=("town", "a"), group="k", roles={"label": "id"})
    roles = guess_roles(profile, booster(["a"]), choices=said)
    assert roles == {
        "a": "feature", "label": "id", "truth": "label", "city": "ignored", "town": "slice", "k": "group",
    }  # fmt: skip
    named = named_columns(roles, said)
    assert (named.labels, named.slices, named.group, named.id) == (("truth",), ("town", "a"), "k", "label")


def test_the_confirmed_order_names_the_features(columns, net):
    profile = columns(a=[1.0, 2], b=[1.0, 2], c=[1.0, 2], label=[0, 1])
    roles = guess_roles(profile, net(2), choices=DataChoices(feature_order=("c", "a")))
    assert [name for name, role in roles.items() if role == "feature"] == ["a", "c"]


def test_a_label_argument_is_the_same_as_the_choice(columns, booster):
    profile = columns(a=[1.0, 2], big=["x", "y"])
    assert guess_roles(profile, booster(["a"]), "big") == guess_roles(
        profile, booster(["a"]), choices=DataChoices(label="big")
    )


@pytest.mark.parametrize(
    "said",
    [
        {"label": "labl"},
        {"labels": ("a", "labl")},
        {"slices": ("labl",)},
        {"group": "labl"},
        {"split_column": "labl"},
        {"feature_order": ("labl",)},
        {"roles": {"labl": "label"}},
    ],
)
def test_a_column_that_does_not_exist(columns, booster, said):
    with pytest.raises(BadData, match=r"called 'labl'; the file has a, label. Did you mean 'label'\?"):
        guess_roles(columns(a=[1.0], label=[1]), booster(["a"]), choices=DataChoices(**said))


def test_two_columns_cannot_both_be_the_label(columns, booster):
    profile = columns(a=[1.0, 2], x=[0, 1], y=[0, 1])
    roles = guess_roles(profile, booster(["a"]), choices=DataChoices(roles={"x": "label", "y": "label"}))
    with pytest.raises(BadData, match=r"2 columns have the role label \(x, y\); keep one of them, or choose the task"):
        named_columns(roles, DataChoices())


def test_several_columns_are_the_labels_where_each_is_a_class(columns, booster):
    profile = columns(a=[1.0, 2], x=[0, 1], y=[0, 1], z=[1, 1])
    said = DataChoices(roles={"y": "label", "x": "label"}, task="multilabel")
    assert named_columns(guess_roles(profile, booster(["a"]), choices=said), said).labels == ("x", "y")
    ordered = DataChoices(labels=("y", "x"))
    roles = guess_roles(profile, booster(["a"]), choices=ordered)
    assert (roles["x"], roles["y"], roles["z"]) == ("label", "label", "ignored")
    assert named_columns(roles, ordered).labels == ("y", "x")


def test_columns_called_like_the_classes_are_the_labels(columns, booster):
    profile = columns(a=[1.0, 2], x=[0, 1], y=[0, 1], label=[0, 1])
    several = booster(["a"], task="multilabel", classes=("y", "x"))
    roles = guess_roles(profile, several)
    assert (roles["x"], roles["y"], roles["label"]) == ("label", "label", "slice")
    assert named_columns(roles, DataChoices(), "multilabel").labels == ("x", "y")
    assert guess_roles(profile, booster(["a"], classes=("y", "x")))["label"] == "label"


def test_an_array_called_a_label_holds_several(columns, net):
    profile = columns(x=[[1.0, 2.0]] * 2, y=[[0, 1, 1]] * 2)
    assert guess_roles(profile, net(2)) == {"x": "feature", "y": "label"}
    assert guess_roles(profile, net(2), choices=DataChoices(task="binary"))["y"] == "ignored"
    beside = columns(x=[[1.0, 2.0]] * 2, y=[[0, 1, 1]] * 2, target=[0, 1])
    assert guess_roles(beside, net(2)) == {"x": "feature", "y": "ignored", "target": "label"}
    deep = columns(x=[[1.0, 2.0]] * 2, y=[[[0, 1]], [[0, 1]]])
    assert guess_roles(deep, net(2))["y"] == "ignored"


def test_arrays_are_features_only_by_name(columns, net):
    profile = columns(x=[[1.0, 2.0]] * 2, other=[[1.0]] * 2, label=[0, 1])
    assert isinstance(profile.columns[0], ColumnProfile)
    assert guess_roles(profile, net(2)) == {"x": "feature", "other": "ignored", "label": "label"}


def test_one_input_per_column(columns):
    profile = columns(age=[1, 2], city=["x", "y"], survived=["yes", "no"], more=["a", "b"], label=[0, 1])
    roles = guess_roles(profile, several("age", "city"))
    assert roles == {"age": "feature", "city": "feature", "survived": "slice", "more": "slice", "label": "label"}
