from typing import get_args

import pytest

from engine import errors
from engine.records import Failure
from engine.reports.failures import FORESEEN, SILENT, UNFORESEEN, diagnose

REASONS = get_args(Failure.model_fields["reason"].annotation)


def test_our_errors_are_known_by_their_name():
    for name in FORESEEN:
        assert issubclass(getattr(errors, name), errors.WhetstoneError)


@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_has_a_cause_and_a_next_step(reason):
    found = diagnose(Failure(reason=reason, message="broken"))
    assert len(found.cause) > 10
    assert len(found.todo) > 10
    assert not found.cause.endswith(".")
    assert not found.todo.endswith(".")


def test_the_log_says_which_of_our_errors_it_was():
    log = ["build 10 %", "DoesNotFit: needs calibration rows; this study has none", "bye"]
    failure = Failure(reason="error", message="needs calibration rows; this study has none\nbring some")
    assert diagnose(failure, log).cause == FORESEEN["DoesNotFit"][0]
    assert diagnose(failure, ["DoesNotFit: something else"]).cause == SILENT[0]


def test_an_error_that_nobody_foresaw_is_told_apart():
    failure = Failure(reason="error", message="ValueError: shapes do not match")
    assert diagnose(failure, ["Traceback", "ValueError: shapes do not match"]).cause == UNFORESEEN[0]
    assert diagnose(failure).cause == UNFORESEEN[0]
    assert diagnose(Failure(reason="error", message=""), ["x: y"]).cause == SILENT[0]


def test_the_reason_goes_before_the_words():
    failure = Failure(reason="memory", message="MemoryError: cannot allocate")
    assert "memory" in diagnose(failure, ["MemoryError: cannot allocate"]).cause
