"""Who may import whom, how light the imports stay, and how large the files get."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HEAVY = {
    "torch",
    "onnx",
    "onnxruntime",
    "openvino",
    "lightgbm",
    "xgboost",
    "sklearn",
    "numba",
    "onnxscript",
    "onnxconverter_common",
}
SQL = {"sqlalchemy", "alembic", "psycopg"}
# Rooms of engine, from the outermost to the innermost; a room may import its own row and those below.
INNERMOST = {"engine.records", "engine.errors"}
ALLOWED = {
    "engine.measurement": INNERMOST,
    "engine.quality": INNERMOST,
    "engine.reports": INNERMOST,
    "engine.forest": INNERMOST,
    "engine.graph": INNERMOST,
    "engine.plugin": INNERMOST,
    "engine.sandbox": INNERMOST,
    "engine.formats": INNERMOST | {"engine.plugin", "engine.forest", "engine.graph", "engine.sandbox"},
    "engine.quantisation": INNERMOST | {"engine.plugin", "engine.forest", "engine.graph", "engine.environment"},
    "engine.pruning": INNERMOST | {"engine.plugin", "engine.forest", "engine.graph", "engine.environment"},
    "engine.distillation": INNERMOST | {"engine.plugin", "engine.forest", "engine.graph", "engine.environment"},
    "engine.export": INNERMOST | {"engine.plugin", "engine.forest", "engine.graph", "engine.environment"},
    "engine.runtimes": INNERMOST | {"engine.plugin", "engine.forest", "engine.graph", "engine.environment"},
    "engine.profiling": INNERMOST | {"engine.plugin", "engine.forest", "engine.graph", "engine.runtimes"},
    "engine.simulation": INNERMOST,
    "engine.planning": INNERMOST | {"engine.simulation"},
    "engine.data": INNERMOST | {"engine.plugin", "engine.sandbox"},
}


def source_files(folder):
    return sorted(path for path in (ROOT / folder).rglob("*.py"))


def module_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path, *, top_level_only=False):
    """Dotted names a file imports; `from engine import x` counts as engine.x."""
    tree = ast.parse(path.read_text())
    for node in tree.body if top_level_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "engine":
                yield from (f"engine.{alias.name}" for alias in node.names)
            yield node.module


def roots(path):
    return {name.split(".")[0] for name in imports(path)}


def room(name):
    return ".".join(name.split(".")[:2])


@pytest.mark.parametrize("path", source_files("engine"), ids=module_of)
def test_engine_stays_headless(path):
    name = module_of(path)
    forbidden = {"streamlit", "pages", "app"} | SQL
    if not name.startswith(("engine.jobs", "engine.cli")):
        forbidden |= {"storage"}
    assert not roots(path) & forbidden


@pytest.mark.parametrize("path", source_files("storage"), ids=module_of)
def test_storage_sees_only_the_records(path):
    assert not roots(path) & ({"streamlit", "pages", "app", "numpy", "pandas"} | HEAVY)
    assert {name for name in imports(path) if name.startswith("engine")} <= INNERMOST | {"engine"}


@pytest.mark.parametrize("path", [*source_files("pages"), ROOT / "app.py"], ids=module_of)
def test_pages_know_no_sql_and_no_model(path):
    assert not roots(path) & (HEAVY | SQL)


@pytest.mark.parametrize("path", [p for p in source_files("engine") if room(module_of(p)) in ALLOWED], ids=module_of)
def test_rooms_import_inwards(path):
    own = room(module_of(path))
    seen = {room(name) for name in imports(path) if name.startswith("engine.")}
    assert seen <= ALLOWED[own] | {own}


@pytest.mark.parametrize(
    "path",
    [p for folder in ("engine", "storage", "pages", "sample_models") for p in source_files(folder)],
    ids=module_of,
)
def test_heavy_libraries_are_imported_where_they_are_needed(path):
    names = {name.split(".")[0] for name in imports(path, top_level_only=True)}
    assert not names & HEAVY


@pytest.mark.parametrize(
    "code",
    [
        "import engine.plugin as p; p.levers(); p.runtimes()",
        "import storage.ledger",
        "import engine.cli.main",
        "import engine.jobs.runner",
        "import sample_models; sample_models.samples()",
    ],
)
def test_what_is_imported_often_stays_light(code):
    check = f"import sys; {code}; print(sorted({HEAVY!r} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", check], cwd=ROOT, text=True).strip() == "[]"


@pytest.mark.parametrize(
    "path",
    [p for folder in ("engine", "storage", "pages", "sample_models") for p in source_files(folder)] + [ROOT / "app.py"],
    ids=module_of,
)
def test_no_file_outgrows_a_head(path):
    assert len(path.read_text().splitlines()) <= 300


def test_top_level_holds_what_the_readme_names():
    allowed = {
        "app.py", "pages", "engine", "storage", "sample_models", "tests", "benchmarks", "docs", ".ci", ".streamlit",
        "requirements.txt", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "pyproject.toml",
        ".gitignore", "requirements-cluster.txt", "requirements-gpu.txt",
    }  # fmt: skip
    tracked = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines()
    assert {name.split("/")[0] for name in tracked} <= allowed
