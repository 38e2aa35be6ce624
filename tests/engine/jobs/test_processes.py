"""Finding and ending processes, and no others."""

from __future__ import annotations

import os
import subprocess
import sys

import psutil

from engine.jobs import processes
from tests.engine.jobs.conftest import alive, until

TREE = """
import subprocess, sys, time
depth = int(sys.argv[1])
held = b"x" * (30 << 20)
if depth:
    subprocess.Popen([sys.executable, "-c", sys.argv[2], str(depth - 1), sys.argv[2]], start_new_session=depth == 2)
time.sleep(600)
"""


def tree():
    top = subprocess.Popen([sys.executable, "-c", TREE, "2", TREE], start_new_session=True)
    until(lambda: len(processes.descendants(top.pid)) == 2)
    return top, processes.descendants(top.pid)


def test_memory_of_a_tree_counts_every_process():
    top, below = tree()
    whole = [psutil.Process(top.pid), *below]
    until(lambda: processes.resident_bytes(whole) > 90 << 20)
    processes.end_tree(top.pid)
    top.wait()
    assert processes.resident_bytes(whole) == 0


def test_a_tree_is_ended_with_what_left_its_session():
    top, below = tree()
    processes.end_tree(top.pid)
    assert top.wait(5) == -9
    until(lambda: not any(alive(process.pid) for process in below))


def test_what_was_seen_before_is_found_after_its_parent_died():
    top, below = tree()
    os.kill(top.pid, 9)
    until(lambda: not alive(top.pid))
    processes.end_tree(top.pid, known=below)
    top.wait()
    until(lambda: not any(alive(process.pid) for process in below))


def test_only_marked_processes_are_ended(tmp_path):
    marked, other, bare = (
        subprocess.Popen(["sleep", "600"], start_new_session=True, env=environment)
        for environment in ({processes.MARK: "me/x/1"}, {processes.MARK: "you/x/1"}, {})
    )
    until(lambda: processes.end_marked(lambda mark: mark.startswith("me/")))
    assert marked.wait(5) == -9
    assert alive(other.pid)
    assert alive(bare.pid)
    for process in (other, bare):
        process.kill()
        process.wait()
