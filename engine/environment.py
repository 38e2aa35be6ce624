"""The machine, its limits and the versions in use: stored with every experiment, shown by `doctor`. No heavy import."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import psutil

DISTRIBUTION = {"sklearn": "scikit-learn"}  # import name -> package name, where they differ
LIBRARIES = (
    "numpy",
    "torch",
    "onnx",
    "onnxruntime",
    "lightgbm",
    "numba",
    "scikit-learn",
    "scipy",
    "pyarrow",
    "pandas",
    "streamlit",
)
# Instruction sets that decide how fast low precision runs (names as /proc/cpuinfo spells them).
FLAGS = (
    "avx2",
    "avx512f",
    "avx512_vnni",
    "avx_vnni",
    "avx512_bf16",
    "avx512_fp16",
    "amx_int8",
    "amx_bf16",
    "asimddp",
    "asimdhp",
    "i8mm",
    "sve",
    "bf16",
)


def describe() -> dict[str, Any]:
    """Everything that can change a figure, as JSON: processor, limits, load, accelerators, library versions."""
    return {
        **_fixed(),
        "load_average": round(os.getloadavg()[0], 2),
        "free_memory_bytes": psutil.virtual_memory().available,
    }


def usable_cores() -> int:
    """Cores this process may really use: the smaller of affinity and container quota, at least 1."""
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    quota = cpu_quota()
    return max(1, min(affinity, int(quota) if quota is not None else affinity))


def cpu_quota() -> float | None:
    """Cores the container may use at once (cgroup v2 or v1), or None without a quota."""
    try:
        limit, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return None if limit == "max" else int(limit) / int(period)
    except (OSError, ValueError):
        pass
    try:
        limit_us = int(Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us").read_text())
        return None if limit_us < 0 else limit_us / int(Path("/sys/fs/cgroup/cpu/cpu.cfs_period_us").read_text())
    except (OSError, ValueError):
        return None


def memory_limit_bytes() -> int:
    """Memory this process may use: the smaller of the machine's and the container's."""
    total = int(psutil.virtual_memory().total)
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        return total if limit == "max" else min(total, int(limit))
    except (OSError, ValueError):
        return total


@cache
def machine_id() -> str:
    """12 hex digits for this machine as it is now: host name, processor, instruction sets, cores that may be used."""
    parts = [platform.node(), _processor(), platform.machine(), *sorted(cpu_flags()), str(usable_cores())]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


@cache
def cpu_flags() -> frozenset[str]:
    """Instruction sets of this processor, as the kernel names them; empty where it does not say."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return frozenset()
    line = next((text for text in lines if text.startswith(("flags", "Features"))), ":")
    return frozenset(line.split(":", 1)[1].split())


def library_version(name: str) -> str | None:
    """Installed version of a package, by its package or import name; None where it is not installed."""
    try:
        return importlib.metadata.version(DISTRIBUTION.get(name, name))
    except importlib.metadata.PackageNotFoundError:
        return None


@cache
def _fixed() -> dict[str, Any]:
    return {
        "machine_id": machine_id(),
        "processor": _processor(),
        "architecture": platform.machine(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "n_cores": os.cpu_count() or 1,
        "usable_cores": usable_cores(),
        "cpu_quota": cpu_quota(),
        "cpu_flags": sorted(cpu_flags() & set(FLAGS)),
        "governor": _first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "memory_bytes": memory_limit_bytes(),
        "accelerators": _accelerators(),
        "libraries": {name: version for name in LIBRARIES if (version := library_version(name))},
        "git_commit": _commit(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    named = next((text.split(":", 1)[1].strip() for text in lines if text.startswith("model name")), "")
    return named or platform.processor() or platform.machine()


def _first_line(path: str) -> str | None:
    try:
        return Path(path).read_text().splitlines()[0]
    except (OSError, IndexError):
        return None


def _accelerators() -> list[str]:
    tool = shutil.which("nvidia-smi")
    return _output([tool, "--query-gpu=name", "--format=csv,noheader"]).splitlines() if tool else []


def _commit() -> str | None:
    return _output(["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]) or None


def _output(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""
