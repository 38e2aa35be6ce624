import pytest

from engine.data.choices import DataChoices
from engine.data.mapping import confirmed_inputs, plan_inputs
from engine.data.roles import guess_roles
from engine.errors import Mismatch
from engine.records import Signature, TensorSpec


def tensor(name, *shape, dtype="float32", **more):
    return TensorSpec(name=name, dtype=dtype, shape=shape, **more)


def plan(profile, signature, **said):
    choices = DataChoices(**said)
    return plan_inputs(profile, signature, guess_roles(profile, signature, choices=choices), choices)


def model(*inputs):
    return Signature(inputs=inputs, outputs=(tensor("y", "batch", 2),))


def filled(found):
    return {one.spec.name: one.columns for one in found.inputs}


def test_one_input_per_column_by_name(columns):
    signature = model(tensor("age", "N", 1), tensor("city", "N", dtype="string"))
    profile = columns(city=["x"], label=[1], age=[3])
    assert filled(plan(profile, signature)) == {"age": ("age",), "city": ("city",)}


def test_missing_inputs_are_named_all_at_once(columns):
    signature = model(tensor("age", "N", 1), tensor("city", "N", dtype="string"), tensor("fare", "N", 1))
    with pytest.raises(Mismatch, match=r"2 of 3 inputs have no column of their name: age, fare. .*: label, years"):
        plan(columns(city=["x"], label=[1], years=[3]), signature)


def test_one_missing_input_is_named_with_what_there_is(columns):
    signature = model(tensor("age", "N", 1), tensor("city", "N", dtype="string"))
    with pytest.raises(Mismatch, match=r"input age \(float32, 1 per row\) has no column .* the file has city, agee"):
        plan(columns(city=["x"], agee=[3.0]), signature, task="other")


def test_p04_one_input_by_name_and_the_other_takes_the_rest(columns):
    signature = model(tensor("ids", "N", dtype="int64"), tensor("dense", "N", 2))
    found = plan(columns(ids=[1], d0=[1.0], d1=[2.0], label=[0]), signature)
    assert filled(found) == {"ids": ("ids",), "dense": ("d0", "d1")}
    assert found.notes == ("Input dense: columns in the order of the file: d0, d1",)


def test_names_of_the_metadata_decide_the_order(columns):
    signature = model(tensor("x", "N", 2, columns=("b", "a")))
    assert filled(plan(columns(a=[1], c=[1], b=[1], label=[0]), signature)) == {"x": ("b", "a")}


def test_p12_order_of_the_file_does_not_matter(columns, booster):
    profile = columns(d=[1.0], c=[1.0], b=[1.0], a=[1.0], label=[0])
    assert filled(plan(profile, booster(["a", "b", "c", "d"]))) == {"features": ("a", "b", "c", "d")}


def test_p12_missing_and_extra_names_are_listed(columns, booster):
    with pytest.raises(Mismatch, match=r"needs 3 columns, 2 .* not in the file: b, c. .* does not know: bb, town"):
        plan(columns(a=[1.0, 2], bb=[1.0, 2], town=["x", "y"], label=[0, 1]), booster(["a", "b", "c"]))


def test_p12_position_only_after_consent(columns, booster):
    profile = columns(f0=[1.0], f1=[2.0], label=[0])
    signature = booster(["Column_0", "Column_1"])
    with pytest.raises(Mismatch, match=r"only by position .*--features f0,f1"):
        plan(profile, signature)
    agreed = plan(profile, signature, feature_order=("f1", "f0"))
    assert filled(agreed) == {"features": ("f1", "f0")}
    assert agreed.notes == ("Input features: columns in the order confirmed: f1, f0",)
    assert filled(plan(columns(Column_1=[1.0], Column_0=[2.0], label=[0]), signature)) == {
        "features": ("Column_0", "Column_1")
    }


def test_features_in_the_order_of_the_file_until_another_is_confirmed(columns, net):
    profile = columns(b=[1.0], label=[0], a=[2.0])
    assert filled(plan(profile, net(2))) == {"x": ("b", "a")}
    assert filled(plan(profile, net(2), feature_order=("a", "b"))) == {"x": ("a", "b")}


@pytest.mark.parametrize("width", [1, 3, 5])
def test_another_number_of_columns_is_told_with_both_numbers(columns, net, width):
    profile = columns(a=[1.0, 2], b=[2.0, 3], town=["x", "y"], label=[0, 1])
    with pytest.raises(Mismatch, match=f"takes {width} columns, the file has 2 features .a, b.; others: town, label"):
        plan(profile, net(width), label="label")


def test_a_symbolic_width_takes_all(columns):
    signature = model(tensor("x", "N", "K"))
    assert filled(plan(columns(a=[1.0], xx=[2.0], label=[0]), signature)) == {"x": ("a", "xx")}


def test_several_wide_inputs_by_prefix(columns):
    signature = model(tensor("num", "N", 2), tensor("code", "N", 2, dtype="int64"))
    profile = columns(num_a=[1.0], code_a=[1], num_b=[1.0], code_b=[2], label=[0])
    assert filled(plan(profile, signature)) == {"num": ("num_a", "num_b"), "code": ("code_a", "code_b")}


def test_several_wide_inputs_in_the_confirmed_order(columns):
    signature = model(tensor("num", "N", 2), tensor("code", "N", 1, dtype="int64"), tensor("ids", "N", 2))
    profile = columns(a=[1.0], b=[1.0], code=[1], c=[1.0], d=[1.0], label=[0])
    with pytest.raises(Mismatch, match="num takes 2, ids takes 2; left in the file: a, b, c, d"):
        plan(profile, signature)
    found = plan(profile, signature, feature_order=("d", "c", "b", "a"))
    assert filled(found) == {"num": ("d", "c"), "code": ("code",), "ids": ("b", "a")}
    with pytest.raises(Mismatch, match="left over: code"):
        plan(profile, signature, feature_order=("d", "c", "b", "a", "code"))
    with pytest.raises(Mismatch, match="input ids takes 2 columns, the file has 1 features"):
        plan(profile, signature, feature_order=("d", "c", "b"))


def test_an_order_is_refused_where_names_are_known(columns, booster):
    profile = columns(a=[1.0], b=[1.0], c=[1.0], label=[0])
    assert filled(plan(profile, booster(["a", "b"]), feature_order=("b", "a"))) == {"features": ("a", "b")}
    with pytest.raises(Mismatch, match=r"by name .a, b. .* leave out c"):
        plan(profile, booster(["a", "b"]), feature_order=("c", "a"))


def test_arrays_by_name(columns):
    signature = model(tensor("image", "N", 2, 3), tensor("flag", "N"))
    profile = columns(flag=[1], image=[[[1.0] * 3] * 2], label=[0])
    assert filled(plan(profile, signature)) == {"image": ("image",), "flag": ("flag",)}


@pytest.mark.parametrize("shape", [(3, 2), (6,), (2, 3, 1)])
def test_an_array_of_another_shape_is_not_reshaped(columns, shape):
    signature = model(tensor("image", "N", *shape))
    wanted = "×".join(map(str, shape))
    with pytest.raises(Mismatch, match=f"image takes {wanted} per row, column image holds 2×3 per row"):
        plan(columns(image=[[[1.0] * 3] * 2], label=[0]), signature)


@pytest.mark.parametrize("shape", [("N", "H", 3), ("N", 2, 3)])
def test_symbolic_axes_take_any_size(columns, shape):
    assert filled(plan(columns(image=[[[1.0] * 3] * 2], label=[0]), model(tensor("image", *shape))))


def test_an_array_of_another_name_needs_consent(columns):
    signature = model(tensor("input_1", "N", 2, 3))
    profile = columns(image=[[[1.0] * 3] * 2], label=[0])
    with pytest.raises(Mismatch, match="call the array 'input_1'"):
        plan(profile, signature)
    assert filled(plan(profile, signature, feature_order=("image",))) == {"input_1": ("image",)}


def test_a_wide_array_fills_a_model_with_column_names(columns, booster):
    profile = columns(features=[[1.0, 2.0]], label=[0])
    assert plan(profile, booster(["a", "b"])).inputs[0].whole
    other = columns(x=[[1.0, 2.0]], label=[0])
    assert plan(other, booster(["Column_0", "Column_1"]), feature_order=("x",)).inputs[0].whole


def test_a_column_cannot_be_label_and_input(columns, booster):
    with pytest.raises(Mismatch, match=r"another role: a \(label\)"):
        plan(columns(a=[1.0], b=[1.0]), booster(["a", "b"]), label="a")
    with pytest.raises(Mismatch, match=r"another role: b \(ignored\)"):
        plan(columns(a=[1.0], b=[1.0]), booster(["a", "b"]), roles={"b": "ignored"})


def test_a_slice_may_be_an_input_as_well(columns, booster):
    found = plan(columns(a=[1.0], b=[1.0]), booster(["a", "b"]), roles={"b": "slice"}, group="a")
    assert filled(found) == {"features": ("a", "b")}


@pytest.mark.parametrize(
    ("spec", "said"), [(tensor("flag"), "no rows"), (tensor("x", "N", 2, dtype="bfloat16"), "takes bfloat16")]
)
def test_inputs_that_no_table_fills(columns, spec, said):
    with pytest.raises(Mismatch, match=said):
        plan(columns(a=[1.0], b=[1.0]), model(spec))


def test_the_signature_remembers_the_columns(columns, booster):
    signature = booster(["Column_0", "Column_1"], categories={"Column_1": ("x", "y")})
    found = plan(columns(f0=[1.0], f1=["x"], label=[0]), signature, feature_order=("f0", "f1"))
    spec = confirmed_inputs(signature, found).inputs[0]
    assert (spec.columns, spec.categories) == (("f0", "f1"), {"f1": ("x", "y")})
