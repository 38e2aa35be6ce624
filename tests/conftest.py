"""Fixtures of every room: hostile files and the cases of the public record, made once per session when asked for."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# the same examples in every run: a failure can be had again, and a green main stays green
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

NOT_RUN: list[str] = []  # tests left out for want of a system part, told apart from ordinary skips by their reason
TESTS = Path(__file__).parent
CASES = TESTS / "cases"


SHARING = ("tests/engine/cli/", "tests/sample_models/")
ALONE = ("tests/engine/quality/", "tests/whole/test_public_cases.py")
BIG = {"P27"}  # minutes to train; made by the tests that are about it


def _generate(script: str, folder: Path, *names: str) -> Path:
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, CASES / script, folder, *names], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "FAIL" not in done.stdout, done.stdout
    return folder


@pytest.fixture(scope="session")
def hostile_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hostile files and their legitimate controls: manifest.json, <case>/<file>, and canary/, which must stay empty."""
    return _generate("malicious_gen.py", tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="session")
def public_cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the inputs of the public record: P01/model.onnx, P01/eval.csv, …"""
    names = re.findall(r"^def (P\d+)", (CASES / "public_gen.py").read_text(), re.MULTILINE)
    return _generate("public_gen.py", tmp_path_factory.mktemp("public"), *sorted(set(names) - BIG))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Pages last: Streamlit's test runner takes the place of __main__, a browser leaves an event loop and a server."""

    def late(item: pytest.Item) -> int:
        return 2 if item.get_closest_marker("browser") else int("pages" in item.path.parts)

    items.sort(key=late)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Workers take whole files, in order; where fixtures are dear a folder, where tests are long and alone one test."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFixtures(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            if nodeid.startswith(ALONE):
                return nodeid
            return next((folder for folder in SHARING if nodeid.startswith(folder)), nodeid.partition("::")[0])

    config.option.loadscopereorder = False
    return ByFixtures(config, log)


def pytest_configure() -> None:
    """Workers side by side: each waits for its own locks only, as if it had the machine to itself."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker:
        os.environ.setdefault("WHETSTONE_LOCK_DIR", f"{tempfile.gettempdir()}/whetstone-test-{os.getuid()}-{worker}")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember tests that were not run because Chromium or PostgreSQL is missing."""
    if report.skipped and isinstance(report.longrepr, tuple) and "not run:" in report.longrepr[2]:
        NOT_RUN.append(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where nothing may be left out (CI), a test that was not run fails the session."""
    if NOT_RUN and os.environ.get("WHETSTONE_NOTHING_LEFT_OUT"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests were not run, and which."""
    if NOT_RUN:
        terminalreporter.write_line(f"{len(NOT_RUN)} not run for want of Chromium or PostgreSQL, first: {NOT_RUN[0]}")
