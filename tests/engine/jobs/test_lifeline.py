"""The first code of an attempt's process."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.engine.jobs.conftest import alive, until

LIFELINE = [sys.executable, "-m", "engine.jobs.lifeline"]


def test_it_becomes_the_module_it_is_given(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "told.py").write_text("import sys; print(__name__, sys.argv[1:])")
    command = [*LIFELINE, str(os.getpid()), str(8 << 30), "told", "a", "b"]
    assert subprocess.check_output(command, text=True) == "__main__ ['a', 'b']\n"


def test_it_does_not_start_when_its_supervisor_is_gone_already():
    command = [*LIFELINE, "1", str(8 << 30), "this", "x"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (1, b"")


def test_it_keeps_orphans_where_they_can_be_found(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    code = """
import subprocess, sys, psutil, os
middle = "import subprocess; subprocess.Popen(['sleep', '600'], stdout=subprocess.DEVNULL, start_new_session=True)"
subprocess.run([sys.executable, "-c", middle])
print(*[child.pid for child in psutil.Process().children()], flush=True)
sys.stdin.read()
"""
    (tmp_path / "mother.py").write_text(code)
    command = [*LIFELINE, str(os.getpid()), str(8 << 30), "mother"]
    mother = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    (orphan,) = [int(pid) for pid in mother.stdout.readline().split()]
    assert alive(orphan)
    os.kill(orphan, 9)
    mother.communicate()
    until(lambda: not alive(orphan))
