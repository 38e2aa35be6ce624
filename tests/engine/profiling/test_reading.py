import pytest

from engine.profiling.reading import family_share, reading
from engine.records import OperatorCost


def profile(**shares):
    """op=(nodes, ms), with _ for what a keyword cannot spell."""
    total = sum(ms for _, ms in shares.values())
    costs = [
        OperatorCost(op=op.replace("__", "::"), n=n, total_ms=ms, share=ms / total) for op, (n, ms) in shares.items()
    ]
    return sorted(costs, key=lambda cost: -cost.total_ms)


def test_int8_moves_the_wall_and_adds_nodes():
    before = profile(MatMul=(36, 81.0), Softmax=(6, 10.0), Add=(12, 9.0))
    after = profile(
        MatMulIntegerToFloat=(36, 22.0), DynamicQuantizeLinear=(29, 4.0), DequantizeLinear=(29, 2.0), Softmax=(6, 10.0),
        Add=(12, 12.0),
    )  # fmt: skip
    assert reading(before, after) == (
        "MatMul fell from 81% to 44% of the operators' time (81 to 22 ms per call); "
        "58 quantise/dequantise nodes cost 12%."
    )


def test_casts_are_named_apart():
    before, after = profile(Conv=(2, 9.0), Relu=(1, 1.0)), profile(Conv=(2, 9.0), Cast=(1, 1.0))
    assert reading(before, after) == (
        "Conv stayed at 90% of the operators' time (9 to 9 ms per call); 1 cast node costs 10%."
    )


def test_nodes_that_were_there_before_are_not_added():
    same = profile(MatMul=(2, 9.0), Cast=(3, 1.0))
    assert "cast" not in reading(same, same)


@pytest.mark.parametrize(
    ("op", "family"),
    [
        ("MatMul", "MatMul"), ("Gemm", "MatMul"), ("FusedMatMul", "MatMul"), ("QGemm", "MatMul"),
        ("DynamicQuantizeMatMul", "MatMul"), ("QLinearMatMul", "MatMul"), ("MatMulNBits", "MatMul"),
        ("aten__addmm", "MatMul"), ("aten__bmm", "MatMul"), ("Conv", "Conv"), ("QLinearConv", "Conv"),
        ("ConvInteger", "Conv"), ("FusedConv", "Conv"), ("aten__mkldnn_convolution", "Conv"),
        ("aten___slow_conv2d_forward", "Conv"), ("TreeEnsemble", "The trees"), ("TreeEnsembleClassifier", "The trees"),
        ("trees 2 to 150", "The trees"), ("tree 1", "The trees"),
    ],
)  # fmt: skip
def test_families_know_their_quantised_and_fused_forms(op, family):
    assert family_share(profile(**{op: (1, 1.0)}), family) == 1


@pytest.mark.parametrize(
    ("op", "family"), [("call, with tree 1", "The trees"), ("Softmax", "MatMul"), ("aten__copy_", "Conv")]
)
def test_families_leave_the_rest_alone(op, family):
    assert family_share(profile(**{op: (1, 1.0)}), family) == 0


def test_one_profile_says_where_the_time_goes():
    alone = profile(Conv=(4, 6.0), MaxPool=(2, 3.0), Relu=(4, 1.0), Add=(1, 0.0))
    assert reading(alone, ()) == "The time goes to Conv 60%, MaxPool 30% and Relu 10%."
    assert reading((), profile(Conv=(1, 1.0))) == "The time goes to Conv 100%."
    assert reading((), ()) == "no operator was timed"


def test_a_model_of_no_family_names_its_dearest_operator():
    before, after = profile(Gather=(1, 8.0), Add=(1, 2.0)), profile(Add=(1, 6.0), Gather=(1, 4.0))
    assert reading(before, after) == "The dearest operator was Gather with 80%, now Add with 60%."
