"""The real dashboard in a process of its own, on a free port and a given home; used by browser tests and screens."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
START_LIMIT_S = 60
CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
CHROMIUM_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
IDLE = "[data-testid=stApp][data-test-script-state=notRunning]"


@dataclass(frozen=True)
class Server:
    """A dashboard that answers."""

    url: str
    home: Path
    pid: int
    log: Path


@contextmanager
def serving(home: Path, extra: Mapping[str, str] | None = None) -> Iterator[Server]:
    """The dashboard on 127.0.0.1 until the block is left. The settings are those of .streamlit/config.toml."""
    home.mkdir(parents=True, exist_ok=True)
    port = free_port()
    log = home / "server.log"
    known = {k: v for k, v in os.environ.items() if not k.startswith(("WHETSTONE_", "STREAMLIT_"))}
    with log.open("ab") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)],
            cwd=ROOT,
            env={**known, "WHETSTONE_HOME": str(home), "WHETSTONE_USER": "Asha", **(extra or {})},
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait(url, process, log)
        yield Server(url, home, process.pid, log)
    finally:
        process.terminate()
        process.wait(20)
        stop_runners(home)


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def stop_runners(home: Path) -> None:
    """End the detached job runners of this home, and of this home only."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if any(str(home).encode() in part for part in command) and int(entry.name) != os.getpid():
            try:
                os.kill(int(entry.name), signal.SIGKILL)
            except ProcessLookupError:
                continue


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_LIMIT_S
    while True:
        if process.poll() is not None:
            raise RuntimeError(f"the dashboard did not start:\n{log.read_text()[-4000:]}")
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=2) as answer:  # noqa: S310
                if answer.status == 200:
                    return
        except OSError:
            pass
        if time.monotonic() > end:
            raise RuntimeError(f"the dashboard did not answer within {START_LIMIT_S} s:\n{log.read_text()[-4000:]}")
        time.sleep(0.1)
