import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import DoesNotFit
from engine.graph.calibration import CHUNK_BYTES, COPIES, Reader, activation_bytes, plan
from tests.model_zoo import onnx_net_artefact, sample_inputs

GIB = 1 << 30


@given(
    n_rows=st.integers(1, 500),
    max_rows=st.integers(1, 600),
    fixed=st.none() | st.integers(1, 40),
    row_bytes=st.floats(0, 1e8),
    seed=st.integers(0, 5),
)
def test_every_row_is_fed_in_whole_batches_within_the_memory(n_rows, max_rows, fixed, row_bytes, seed):
    found = plan(n_rows, max_rows, seed, fixed, row_bytes, 1 << 60)
    assert len(found.rows) == found.n_batches * found.batch
    assert found.n_batches % found.chunk == 0
    assert len(np.unique(found.rows)) == min(n_rows, max_rows)
    assert 0 <= found.rows.min() <= found.rows.max() < n_rows
    assert found.batch == fixed or found.batch <= 16
    if found.chunk > 1 or fixed is None:
        assert found.chunk_bytes <= max(CHUNK_BYTES, COPIES * row_bytes)


def test_rows_are_drawn_with_the_seed():
    first, again, other = (plan(1000, 50, seed, None, 0.0, GIB).rows for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert set(first) != set(other)
    assert set(first) != set(range(50))


def test_too_little_memory_is_said_before_anything_runs():
    with pytest.raises(DoesNotFit, match=r"calibration needs about 3.0 GB for 1 rows at once, 2.0 GB are allowed"):
        plan(100, 100, 0, None, 1e9, int(2e9))
    with pytest.raises(DoesNotFit, match="needs calibration rows"):
        plan(0, 100, 0, None, 1.0, GIB)


def test_reader_gives_the_range_it_was_asked_for():
    found = plan(10, 10, 0, 4, 0.0, GIB)
    x = np.arange(10, dtype=np.float32)[:, None]
    told = []
    reader = Reader({"x": x}, found, lambda fraction, text: told.append((fraction, text)))
    assert len(reader) == 3
    batches = list(iter(reader.get_next, None))
    np.testing.assert_array_equal(np.concatenate([b["x"] for b in batches])[:, 0], found.rows)
    assert {int(row) for row in found.rows} == set(range(10))
    reader.set_range(1, 2)
    np.testing.assert_array_equal(reader.get_next()["x"], batches[1]["x"])
    assert reader.get_next() is None
    assert told[2][1] == "calibrating, batch 3 of 3"
    assert all(0.2 <= fraction <= 0.8 for fraction, _ in told)


def test_activations_are_measured_not_guessed(tmp_path):
    artefact = onnx_net_artefact("tabular", tmp_path)
    one, many = (
        activation_bytes(artefact.folder / "model.onnx", sample_inputs(artefact.manifest.signature, n)) for n in (1, 20)
    )
    assert one == many == 4 * (16 + 16 + 3)  # hidden layer before and after ReLU, and the output
