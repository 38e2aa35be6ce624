"""What the child does to itself before it imports anything it was asked to run. Each measure is optional.

A machine without one of them (macOS, an old kernel, a container that forbids it) loses that measure and no more; the
names of those that hold are reported with every run.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.sandbox import landlock, seccomp

_NEWUSER, _NEWNET, _NEWIPC = 0x10000000, 0x40000000, 0x08000000
_PDEATHSIG, _NO_NEW_PRIVS = 1, 38
# Address space that costs no memory: library code, arenas that are reserved and never touched.
# torch 2.13 for CPU maps 0.6 GiB, every library of the project together 1.1 GiB; a build for GPUs maps some 5 GiB.
_LIBRARIES_BYTES = 8 << 30
_OTHER_PROCESSES = 4096  # RLIMIT_NPROC counts all of the user's threads where there is no user namespace

SYSTEM_PROGRAMS = ("/usr", "/bin", "/lib", "/lib32", "/lib64", "/nix/store")
SYSTEM_FILES = (
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/timezone", "/etc/os-release",
    "/etc/nsswitch.conf", "/etc/alternatives", "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat",
    "/proc/version", "/proc/filesystems", "/proc/sys/kernel/osrelease", "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system", "/sys/bus/pci/devices", "/sys/fs/cgroup", "/sys/kernel/mm/transparent_hugepage",
)  # fmt: skip
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")


def _prctl(option: int, value: int) -> bool:
    return sys.platform == "linux" and not ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def die_with(parent: int) -> bool:
    """Be killed when the parent ends, however it ends. Exits at once if it has ended already."""
    asked = _prctl(_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)
    return asked


def watch(life: int) -> None:
    """Leave a watcher in this process group that kills the group when the other end of `life` closes.

    The parent's death signal reaches this process alone; the watcher takes those it started.
    """
    first = os.fork()
    if first:
        os.waitpid(first, 0)
        os.close(life)
        return
    if os.fork():
        os._exit(0)
    os.closerange(0, life)
    os.closerange(life + 1, 256)
    with contextlib.suppress(OSError):
        os.read(life, 1)
    os.killpg(0, signal.SIGKILL)


def _limit(kind: int, soft: int, hard: int | None = None) -> bool:
    _, most = resource.getrlimit(kind)
    wanted = soft if hard is None else hard
    if most != resource.RLIM_INFINITY:
        soft, wanted = min(soft, most), min(wanted, most)
    try:
        resource.setrlimit(kind, (soft, wanted))
    except (ValueError, OSError):
        return False
    return True


def limit_resources(limits: Mapping[str, Any], threads: int) -> dict[str, bool]:
    """Memory, processor time, file size, no core dump."""
    memory, cpu_s = int(limits["memory_bytes"]), int(limits["cpu_s"])
    _limit(resource.RLIMIT_CORE, 0)
    space = _limit(resource.RLIMIT_AS, memory + _LIBRARIES_BYTES + threads * (128 << 20))
    return {
        "memory limit": _limit(resource.RLIMIT_DATA, memory) and space,
        "processor time limit": _limit(resource.RLIMIT_CPU, cpu_s, cpu_s + 5),
        "file size limit": _limit(resource.RLIMIT_FSIZE, int(limits["file_bytes"])),
    }


def _threads_of_user() -> int:
    total = 0
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if entry.stat().st_uid == os.getuid():
                total += (entry / "task").stat().st_nlink - 2
    return total


def limit_processes(n_processes: int, *, own_count: bool) -> bool:
    """How many processes and threads. Root is exempt. own_count: the kernel counts this child's alone."""
    if sys.platform != "linux" or os.getuid() == 0:
        return False
    others = 0 if own_count else _threads_of_user() + _OTHER_PROCESSES
    return _limit(resource.RLIMIT_NPROC, n_processes + others)


def _enter_namespaces() -> bool:
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.geteuid(), os.getegid()
    if libc.unshare(_NEWUSER | _NEWNET | _NEWIPC):
        return False
    try:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    except OSError:
        return False
    return os.geteuid() == user


def enter_namespaces(read: list[str], write: list[str]) -> bool:
    """A user namespace without rights outside and a network namespace without network, where the kernel allows it.

    Tried in a fork first: some systems let the first half succeed and leave the process as nobody, and root loses the
    files of others (its own stay readable).
    """
    if sys.platform != "linux":
        return False
    trial = os.fork()
    if not trial:
        inside = _enter_namespaces() and all(os.access(path, os.R_OK) for path in read)
        os._exit(0 if inside and all(os.access(path, os.W_OK) for path in write) else 1)
    return os.waitpid(trial, 0)[1] == 0 and _enter_namespaces()


def close_doors(*, code: list[Path], read: list[Path], write: list[Path]) -> dict[str, bool]:
    """Landlock and seccomp: from here on only the listed paths, and no network."""
    _prctl(_NO_NEW_PRIVS, 1)
    execute = [Path(path) for path in SYSTEM_PROGRAMS] + code
    held = {"file access": False, "system call filter": False}
    with contextlib.suppress(OSError):
        readable = [Path(path) for path in SYSTEM_FILES] + read
        devices = [Path(path) for path in DEVICES]
        held["file access"] = landlock.restrict(read=readable, execute=execute, write=write, devices=devices)
    held["system call filter"] = seccomp.restrict()
    return held
