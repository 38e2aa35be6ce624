"""What every test of the formats is watched by."""

import pytest


@pytest.fixture
def canary_stays_empty(hostile_dir):
    """Whatever the test opens, the payload of a hostile file must not run."""
    yield
    assert [path.name for path in (hostile_dir / "canary").iterdir()] == []
