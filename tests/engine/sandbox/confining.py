"""What the tests of the sandbox share."""

import sys

import pytest

from engine.errors import Contained
from engine.sandbox import held, run

HERE = "tests.engine.sandbox.confined"
HOLDS = held()
landlock = pytest.mark.skipif(not HOLDS["file access"], reason="this kernel has no Landlock")
linux = pytest.mark.skipif(sys.platform != "linux", reason="a measure of Linux")


def contained(target, request=None, **options) -> Contained:
    with pytest.raises(Contained) as caught:
        run(f"{HERE}:{target}", request or {}, **options)
    message = str(caught.value)
    assert 0 < len(message) < 300
    assert "\n" not in message
    return caught.value
