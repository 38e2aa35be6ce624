"""First code of an attempt's process: tie it to its supervisor, then become the worker.

`python -X faulthandler -m engine.jobs.lifeline PARENT_PID DATA_BYTES MODULE ARGS…`. Done here and not between fork
and exec of the supervisor, which has threads. Only the standard library is imported.
"""

from __future__ import annotations

import ctypes
import os
import resource
import runpy
import signal
import sys
from contextlib import suppress
from pathlib import Path

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def tie_to(parent_pid: int) -> None:
    """Die when the supervising thread does, however it ends; keep orphaned grandchildren as our own, to be found."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if os.getppid() != parent_pid:  # it died before we asked to be told
        os._exit(1)


def limit(data_bytes: int) -> None:
    """A wall behind the polled limit: a fast allocator can outrun the poll. And no core dumps.

    Not the address space, of which CUDA reserves more than any machine has.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    if most == resource.RLIM_INFINITY or data_bytes < most:
        resource.setrlimit(resource.RLIMIT_DATA, (data_bytes, data_bytes))
    with suppress(OSError):  # not offered by every kernel
        Path("/proc/self/oom_score_adj").write_text("1000")  # rather this process than the database


if __name__ == "__main__":
    tie_to(int(sys.argv[1]))
    limit(int(sys.argv[2]))
    module = sys.argv[3]
    del sys.argv[1:4]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
