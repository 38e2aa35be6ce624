import pytest

from engine.cli.steps import parse_batches, parse_runtime, parse_step, parse_threads
from engine.errors import InvalidRecipe, InvalidRequest
from engine.records import Choice, Step


def test_a_bare_name_is_a_step():
    assert parse_step("export.onnx_optimise") == Step(lever="export.onnx_optimise")


def test_values_take_their_type():
    text = "pruning.fewer_trees:keep_fraction=0.33,count=4,exact=true,method=entropy,exclude=1,2,seed=7"
    assert parse_step(text).params == {
        "keep_fraction": 0.33, "count": 4, "exact": True, "method": "entropy", "exclude": (1, 2), "seed": 7,
    }  # fmt: skip


def test_a_runtime_is_spelled_the_same():
    assert parse_runtime("onnxruntime_cpu:level=all") == Choice(name="onnxruntime_cpu", params={"level": "all"})


@pytest.mark.parametrize("text", ["a:b", "a:=1", "a:b=1,c"])
def test_what_is_no_pair_is_named(text):
    if text == "a:b=1,c":
        assert parse_step(text).params == {"b": "1,c"}
    else:
        with pytest.raises(InvalidRecipe, match="key=value"):
            parse_step(text)


def test_batches():
    assert parse_batches("1, 32,1024") == [1, 32, 1024]


@pytest.mark.parametrize("text", ["", "0", "1,x", "-4", "1.5"])
def test_bad_batches_are_refused(text):
    with pytest.raises(InvalidRequest, match="--batch"):
        parse_batches(text)


@pytest.mark.parametrize(("fixed", "expected"), [(None, [1, 2, 4, 8, 16, 32, 64, 128]), (16, [16])])
def test_a_sweep_is_what_the_model_allows(fixed, expected):
    assert parse_batches(" sweep ", fixed) == expected


def test_threads():
    assert parse_threads("1,2") == [1, 2]
    with pytest.raises(InvalidRequest, match=r"--threads takes whole numbers .* got 'two'"):
        parse_threads("two")
