from engine.data.choices import DataChoices
from engine.data.pairing import pairing
from engine.data.roles import guess_roles
from engine.records import Signature, TensorSpec


def tensor(name, *shape, dtype="float32", **more):
    return TensorSpec(name=name, dtype=dtype, shape=shape, **more)


def pair(profile, signature, **said):
    choices = DataChoices(**said)
    return pairing(profile, signature, guess_roles(profile, signature, choices=choices), choices)


def lines(found):
    return [(one.input, one.wants, one.column, one.cast) for one in found.pairs]


def test_columns_stand_beside_what_they_fill(columns, booster):
    profile = columns(a=[1, 2], city=["x", "y"], label=[0, 1])
    found = pair(profile, booster(["city", "a"], categories={"city": ("x", "y", "z")}))
    assert lines(found) == [
        ("features", "city", "city", "string → code"),
        ("features", "a", "a", "int64 → float64"),
    ]
    assert found.pairs[0].takes == "category of 3"
    assert (found.problem, found.unmatched, found.unused) == (None, (), ())


def test_what_does_not_meet_is_named_on_both_sides(columns, booster):
    profile = columns(a=[1.0, 2], years=[1.5, 2], label=[0, 1])
    found = pair(profile, booster(["a", "age"]), roles={"years": "feature"})
    assert "1 of them are not in the file: age" in found.problem
    assert lines(found) == [("features", "a", "a", None), ("features", "age", None, None)]
    assert (found.unmatched, found.unused) == (("age",), ("years",))


def test_an_array_fills_a_whole_input(columns):
    signature = Signature(inputs=(tensor("image", "N", 2, 2),), outputs=(tensor("y", "N", 2),))
    profile = columns(image=[[[1.0, 2], [3, 4]]] * 2, label=[0, 1])
    found = pair(profile, signature)
    assert lines(found) == [("image", "image", "image", "float64 → float32")]
    assert (found.pairs[0].takes, found.pairs[0].holds) == ("float32 2×2", "array 2×2")


def test_without_names_the_order_of_the_file_is_shown(columns, net):
    profile = columns(a=[1.0, 2], b=[1.0, 2], label=[0, 1])
    found = pair(profile, net(2))
    assert [(wants, column) for _, wants, column, _ in lines(found)] == [("column 1", "a"), ("column 2", "b")]
    short = pair(profile, net(3))
    assert short.problem is not None
    assert lines(short) == [("x", "3 columns, in its order", None, None)]
    assert short.unused == ("a", "b")


def test_an_input_without_its_column_is_named(columns):
    signature = Signature(inputs=(tensor("age", "N", 1), tensor("city", "N", dtype="string")), outputs=())
    found = pair(columns(city=["x"], label=[1]), signature)
    assert lines(found) == [("age", "age", None, None), ("city", "city", "city", None)]
