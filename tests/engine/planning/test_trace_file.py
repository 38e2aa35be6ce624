import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import BadData
from engine.planning.trace_file import read_trace


def span(number, parent, name, start_ms, end_ms, trace="t"):
    return {
        "traceId": trace,
        "spanId": str(number),
        "parentSpanId": str(parent) if parent else "",
        "name": name,
        "startTimeUnixNano": str(int(start_ms * 1e6) + 1_700_000_000_000_000_000),
        "endTimeUnixNano": int(end_ms * 1e6) + 1_700_000_000_000_000_000,
    }


def otlp(*spans):
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def test_csv_with_and_without_a_total():
    found = read_trace("\ufefffetch_ms, model_ms, total_ms\n15,2,25\n14,2.5,20\n\n")
    assert found.names == ("fetch", "model")
    assert found.total_ms.tolist() == [25, 20]
    assert read_trace("fetch,model\n15,2\n").total_ms.tolist() == [17]


def test_json_rows_and_one_request():
    rows = [{"fetch": 15, "model": 2, "total": 25}, {"model": 3, "fetch": 10, "total": 14}]
    found = read_trace(json.dumps(rows))
    assert found.stages_ms.tolist() == [[15, 2], [10, 3]]
    assert read_trace(json.dumps(rows[0])).total_ms.tolist() == [25]


def test_spans_become_stages():
    document = otlp(
        span(1, 0, "predict", 0, 25),
        span(2, 1, "feature fetch", 4, 19),
        span(3, 2, "a read within", 5, 6),
        span(4, 1, "model", 20, 22),
        span(5, 0, "health", 0, 1, trace="u"),
        span(6, 0, "predict", 0, 10, trace="v"),
        span(7, 6, "model", 1, 3, trace="v"),
    )
    for text in (json.dumps(document), json.dumps([document]), json.dumps(document) + "\n"):
        found = read_trace(text)
        assert found.names == ("feature fetch", "model")
        assert found.stages_ms == pytest.approx(np.array([[15, 2], [0, 2]]))
        assert found.total_ms == pytest.approx(np.array([25, 10]))
        assert "1 requests of other kinds" in found.notes[0]


def test_documents_one_a_line():
    lines = [otlp(span(1, 0, "r", 0, 9, t), span(2, 1, "a", 1, 2, t)) for t in "xyz"]
    assert len(read_trace("\n".join(map(json.dumps, lines))).total_ms) == 3


def test_stages_at_the_same_time_share_it():
    document = otlp(
        span(1, 0, "r", 0, 10),
        span(2, 1, "read", 1, 5),
        span(3, 1, "read", 2, 6),  # four reads in parallel count once
        span(4, 1, "model", 5, 8),
        span(5, 1, "late", 9, 30),  # cut at the end of the request
    )
    assert read_trace(json.dumps(document)).stages_ms == pytest.approx(np.array([[4.5, 2.5, 1.0]]))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("a,b\n", "no request below it"),
        ("a,b\n1\n", "request 1: 1 values below 2 headings"),
        ("a,b\n1,x\n", "request 1: b = 'x' is no number"),
        ("a,a\n1,1\n", "a name of its own"),
        ("a,total,total_ms\n1,1,1\n", "two columns called total"),
        ("total\n1\n", "1 to 100 stages"),
        ("[1, 2]", "a list of objects"),
        ("[]", "a list of objects"),
        ("{}", "a list of objects"),
        ('[{"a": 1}, {"b": 1}]', "request 2 has other stages"),
        ('[{"a": null}]', "request 1: not every time is a finite number"),
        ('[{"a": [1, 2]}]', "is no number"),
        ('[{"a": 1e999}]', "finite"),
        ('[{"a": 1' + "0" * 400 + "}]", "no number of ms"),
        ('[{"a": 1' + "0" * 5000 + "}]", "too many digits"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": 1', "no JSON"),
        ('{"a": 1}\n{"a": ', "line 2"),
        ('{"resourceSpans": 3}', "no OTLP JSON"),
        ('{"resourceSpans": []}', "no span without a parent"),
        (json.dumps(otlp(span(1, 2, "a", 0, 1), span(2, 1, "b", 0, 1))), "no span without a parent"),
        (json.dumps(otlp(span(1, 0, "a", 5, 5))), "takes any time"),
        (json.dumps(otlp(span(1, 0, "a", 0, 5))), "no child spans"),
        (json.dumps(otlp(span(1, 0, "a", 0, 5) | {"endTimeUnixNano": 2**70})), "beyond 64 bits"),
        ('a,b\n"1,2\n', "no CSV"),
    ],
)
def test_what_cannot_be_read_gets_a_sentence(text, says):
    with pytest.raises(BadData, match=says):
        read_trace(text)


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(alphabet='[]{},:"\n0123456789.-eaN \x00', max_size=60), st.text(max_size=40)))
def test_any_text_is_read_or_refused(text):
    try:
        found = read_trace(text)
    except BadData:
        return
    assert (found.total_ms > 0).all()
    assert found.stages_ms.shape == (len(found.total_ms), len(found.names))
