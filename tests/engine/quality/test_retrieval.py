import numpy as np

from engine.quality import retrieval


def brute(vectors):
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    near = unit @ unit.T
    np.fill_diagonal(near, -np.inf)
    return near.argmax(axis=1)


def test_same_neighbour_is_brute_force(monkeypatch):
    monkeypatch.setattr(retrieval, "CHUNK_ROWS", 7)
    rng = np.random.default_rng(0)
    before = rng.normal(size=(60, 8))
    after = before + rng.normal(0, 0.5, size=before.shape)
    same = retrieval.same_neighbour(before, after)
    assert same.tolist() == (brute(before) == brute(after)).tolist()
    assert 0 < same.sum() < 60


def test_scale_does_not_matter_and_twins_are_interchangeable():
    rng = np.random.default_rng(1)
    before = np.repeat(rng.normal(size=(10, 4)), 3, axis=0)  # every row has two twins
    after = before * 3 + rng.normal(0, 1e-4, size=before.shape)
    assert retrieval.same_neighbour(before, after).all()


def test_many_rows_look_in_a_sample(monkeypatch):
    monkeypatch.setattr(retrieval, "CORPUS_ROWS", 20)
    vectors = np.random.default_rng(2).normal(size=(90, 4))
    assert retrieval.same_neighbour(vectors, vectors).all()
    assert not retrieval.same_neighbour(vectors, vectors[::-1]).all()
