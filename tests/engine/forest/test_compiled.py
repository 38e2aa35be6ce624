import subprocess
import sys
from pathlib import Path

import pytest

from engine.forest import compiled
from engine.forest.binned.trial import answer_with

ROOT = Path(__file__).parents[3]


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A folder of its own for compiled kernels."""
    monkeypatch.setattr(compiled, "folder", lambda: tmp_path / "kept")
    monkeypatch.setattr(
        compiled,
        "_WARM",
        "import sys; from pathlib import Path; from engine.forest import compiled;"
        f"compiled.folder = lambda: Path({str(tmp_path / 'kept')!r}); compiled.compile_here(sys.argv[1], sys.argv[2:])",
    )
    yield tmp_path / "kept"
    compiled.warm.cache_clear()


def files(folder):
    return {path.name: path.stat().st_mtime_ns for path in folder.rglob("*.nb?")}


def test_warming_compiles_once_per_machine_and_a_later_process_only_loads(kept):
    compiled.warm(("quickscorer:32",), "here")
    made = files(kept)
    assert made
    assert (kept / "quickscorer-32-here.done").exists()
    compiled.warm.cache_clear()
    compiled.warm(("quickscorer:32",), "here")
    code = (
        "import sys; from pathlib import Path; from engine.forest import compiled;"
        "compiled.folder = lambda: Path(sys.argv[1]); copy = compiled.private_copy();"
        "from engine.forest.binned.trial import answer_with; answer_with('quickscorer:32');"
        "from engine.forest.serve import jit; print(sum(jit.compiled('quickscorer').stats.cache_hits.values()),"
        "sum(jit.compiled('quickscorer').stats.cache_misses.values()), copy.name)"
    )
    hits, misses, copy = subprocess.check_output([sys.executable, "-c", code, kept], cwd=ROOT, text=True).split()
    assert (hits, misses) == ("1", "0")
    assert files(kept) == made, "a process that opens models works on a copy"
    assert not Path(copy).exists(), "the copy goes with its process"


def test_where_nothing_can_be_kept_nothing_fails(tmp_path, monkeypatch):
    locked = tmp_path / "locked"
    locked.write_text("a file where the folder should be")
    monkeypatch.setattr(compiled, "folder", lambda: locked / "kept")
    compiled.warm.cache_clear()
    compiled.warm(("quickscorer:32",), "here")
    compiled.warm.cache_clear()


@pytest.mark.parametrize(
    "kernel", ["block:8:0:0:64", "block:8:0:1:512", "block:10:1:0:512", "quickscorer:64", "level_walk"]
)
def test_every_kernel_has_a_forest_that_needs_it(kernel, monkeypatch):
    used = []
    import engine.forest.serve as serve

    original = serve.compiled
    monkeypatch.setattr(serve, "compiled", lambda *form: used.append(form) or original(*form))
    answer_with(kernel)
    kind, *form = kernel.split(":")
    assert used[0][0] == kind
    if kind == "block":
        n_steps, wide, sets, width = map(int, form)
        assert used[0][1:] == (n_steps, bool(sets), width)
        assert bool(wide) == (n_steps > 8), "bins of 16 bits are for more thresholds than 8 bits number"
