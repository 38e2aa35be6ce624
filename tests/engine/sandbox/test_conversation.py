"""One child that is asked many times."""

import os
import time

import pytest

from engine.errors import BadData, Contained
from engine.sandbox import Limits, conversation

CONVERSING = "tests.engine.sandbox.confined:conversing"


def test_a_thousand_round_trips(tmp_path):
    end = tmp_path / "end"
    with conversation(CONVERSING, {"end": str(end)}, write=tmp_path) as child:
        totals = [child.ask({"add": 1})["total"] for _ in range(1000)]
        assert not end.exists()
    assert totals == list(range(1, 1001))
    assert end.read_text() == "ended by itself"


def test_both_sides_can_talk_at_once():
    noise = []
    with conversation(
        "tests.engine.sandbox.confined:chatter", {}, on_message=lambda message: noise.append(len(message["noise"]))
    ) as child:
        for length in (10, 3 << 20, 7):
            answer = child.ask({"text": "z" * length})
            assert (answer["length"], len(answer["text"])) == (length, length)
        assert child.log().endswith("x\n")
        assert len(child.log()) < 1 << 20
    assert noise == [300_000] * 3


def test_an_error_ends_it(tmp_path):
    with conversation(CONVERSING, {"end": ""}) as child, pytest.raises(BadData, match="no such row: 7"):
        child.ask({"raise": True})


def test_one_question_can_have_its_own_limit():
    with conversation(CONVERSING, {"end": ""}) as child:
        assert child.ask({"add": 2}, timeout_s=30) == {"total": 2}
        with pytest.raises(Contained, match=r"limit of 0\.2 s") as caught:
            child.ask({"sleep": 60}, timeout_s=0.2)
        assert caught.value.reason == "timeout"
        with pytest.raises(ProcessLookupError):
            os.kill(child.pid, 0)


def test_the_wall_limit_bounds_the_whole_conversation():
    with conversation(CONVERSING, {"end": ""}, limits=Limits(wall_s=1.5)) as child:
        assert child.ask({"add": 1}) == {"total": 1}
        with pytest.raises(Contained, match=r"limit of 1\.5 s"):
            child.ask({"sleep": 60})


def test_a_crash_between_questions_is_named():
    with conversation(CONVERSING, {"end": ""}) as child:
        with pytest.raises(Contained, match="SIGSEGV"):
            child.ask({"crash": True})
        assert "Segmentation fault" in child.log()
        with pytest.raises(Contained, match="SIGSEGV"):
            child.ask({"add": 1})


def test_a_function_that_returns_early_is_named():
    with conversation(CONVERSING, {"end": ""}) as child, pytest.raises(Contained, match="ended before"):
        child.ask({"return": True})


def test_an_exception_in_the_block_kills_the_child_at_once():
    class OwnError(Exception):
        pass

    started = time.monotonic()
    with pytest.raises(OwnError), conversation("tests.engine.sandbox.confined:sleep", {}) as child:
        raise OwnError
    assert time.monotonic() - started < 4
    with pytest.raises(ProcessLookupError):
        os.kill(child.pid, 0)


def test_it_says_which_measures_it_took():
    with conversation(CONVERSING, {"end": ""}) as child:
        child.ask({})
        assert child.held["memory limit"] is True
