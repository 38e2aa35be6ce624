import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as some

from engine.cli.run import command as run_command
from engine.cli.steps import parse_batches, parse_runtime, parse_step, parse_threads
from engine.records import Choice, ExperimentSpec, Recipe, Step, Workload
from engine.reports.again import command, spelled

values = (
    some.booleans()
    | some.integers(0, 10**6)
    | some.floats(allow_nan=False, allow_infinity=False)
    | some.sampled_from(["all", "per_channel", "min-max"])
    | some.lists(some.integers(0, 999), min_size=1, max_size=4).map(tuple)
)
params = some.dictionaries(some.from_regex(r"[a-z][a-z_]{0,9}", fullmatch=True), values, max_size=4)


@given(params)
def test_what_is_spelled_is_read_back(given_params):
    assert parse_step(spelled("pruning.fewer_trees", given_params)).params == given_params
    assert parse_runtime(spelled("onnxruntime_cpu", given_params)).params == given_params


def test_a_run_is_one_line_that_the_command_line_understands():
    steps = (Step(lever="pruning.fewer_trees", params={"keep_fraction": 0.3}), Step(lever="export.lightgbm_to_onnx"))
    spec = ExperimentSpec(
        study_id="01STUDY", recipe=Recipe(steps=steps), runtime=Choice(name="onnxruntime_cpu", params={"level": "all"}),
        workloads=tuple(Workload(batch_size=size, threads=count) for count in (1, 2) for size in (1, 64)),
        preset="strict",
    )  # fmt: skip
    python, flag, module, verb, *rest = shlex.split(command(spec))
    assert (python, flag, module, verb) == ("python", "-m", "engine", "run")
    read = run_command.make_context("run", rest, resilient_parsing=False).params
    assert read["study_ref"] == "01STUDY"
    assert tuple(parse_step(text) for text in read["steps"]) == steps
    assert parse_runtime(read["runtime"]) == spec.runtime
    assert parse_batches(read["batch"]) == [1, 64]
    assert parse_threads(read["threads"]) == [1, 2]
    assert read["preset"] == "strict"


@pytest.mark.parametrize("text", ["a b", "$(reboot)", "'; echo"])
def test_nothing_in_a_parameter_is_for_the_shell(text):
    spec = ExperimentSpec(study_id="01STUDY", runtime=Choice(name="x", params={"mode": text}), workloads=(Workload(),))
    assert f"x:mode={text}" in shlex.split(command(spec))
