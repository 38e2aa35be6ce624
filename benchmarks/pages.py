"""What a person waits for when the history holds 5,000 experiments: server, browser, and ten sessions that poll.

The real server and a real Chromium on the same machine; the server's own times come from its log.
"""

from __future__ import annotations

import os
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.dashboard import CHROMIUM, CHROMIUM_FLAGS, IDLE, Server, serving
from benchmarks.history_fill import BATCHES, SHAPES, fill
from engine.records import Choice, ExperimentSpec, Study, Workload
from storage.ledger import Ledger

LINE = re.compile(r"^(\S+) ([\d.]+) ms, of it ([\d.]+) ms at work$", re.MULTILINE)
SAID = {"many": "100 studies of 50", "one": "one study of 5,000"}
RUNS = ("fewer", "onnx 0.5", "asha", "optim", "ravi", "score", "0.1", "mei onnx", "tom", "fewer 0.3")  # words to find
STUDIES = ("flight", "fraud", "asha", "churn", "ravi", "house", "ad", "mei", "digits", "demand")
N_ROUNDS, N_OPENED, N_SESSIONS, POLLED_S = 3, 5, 10, 20.0
LIMITS = {"server": "150 / 300 ms", "filter": "600 ms", "first": "3 s", "poll": "15 % of a core"}
# in the page: nothing is still being fetched for it, and every figure is there
DRAWN = """() => !document.querySelector("[data-testid=stSkeleton]")
    && [...document.querySelectorAll("[data-testid=stPlotlyChart]")].every((one) => one.querySelector(".main-svg"))"""
# in the page: remember what is shown and when a key was pressed, then wait until it is another and the script is idle
ARM = """(selector) => {
    window.was = document.querySelector(selector).innerText; window.t0 = performance.now()
}"""
DONE = f"""(selector) => document.querySelector("{IDLE}") && document.querySelector(selector)?.innerText !== window.was
    ? performance.now() - window.t0 : false"""


@dataclass
class Seen:
    """Times of one page in milliseconds."""

    server: list[float] = field(default_factory=list)
    worked: list[float] = field(default_factory=list)
    filtered: list[float] = field(default_factory=list)
    opened: list[float] = field(default_factory=list)


def table() -> list[str]:
    """Markdown lines."""
    lines = [
        "## Pages with 5,000 experiments",
        "Server and Chromium on the same machine, the history in SQLite. Server: the page's script alone, while",
        "searches and orders change. Filter: from the key press until the page shows the answer and rests. First page:",
        "a new browser session, until the page rests and its figures are drawn.",
        "",
        "| page | history | server: median, 95th (of it at work) | filter: median | first page: median, slowest |",
        f"| limit | | {LIMITS['server']} | {LIMITS['filter']} | {LIMITS['first']} |",
    ]
    lines.insert(-1, "|---|---|---|---|---|")
    polling = ""
    for shape in SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            studies = _fill(home, shape)
            with serving(home, {"WHETSTONE_LOG_LEVEL": "debug"}) as server, _chromium() as browser:
                for name, seen in _pages(server, browser, studies).items():
                    lines.append(f"| {name} | {SAID[shape]} | {_server(seen)} | {_filter(seen)} | {_first(seen)} |")
                if shape == "many":
                    polling = _polling(server, browser, studies[-1])
    return [
        *lines,
        "",
        f"{N_SESSIONS} sessions that watch a running job: the server takes {polling} (limit {LIMITS['poll']}).",
    ]


def _fill(home: Path, shape: str) -> list[Study]:
    """The history, and one job that runs for an hour in nobody's hands."""
    ledger = Ledger.open(f"sqlite:///{home / 'whetstone.db'}", home)
    studies = fill(ledger, shape)
    workloads = tuple(Workload(batch_size=size) for size in BATCHES)
    ledger.add_experiment(
        ExperimentSpec(study_id=studies[-1].id, runtime=Choice(name="lightgbm_native"), workloads=workloads, seed=-1),
        "Asha",
    )
    claimed = ledger.queue.claim("benchmark:1", 3600.0)
    assert claimed is not None
    ledger.queue.touch(
        claimed.experiment_id, claimed.attempt, 3600.0, phase="time", progress=0.4, message="pair 4 of 10"
    )
    ledger.close()
    return studies


@contextmanager
def _chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=list(CHROMIUM_FLAGS))
        yield browser
        browser.close()


def _pages(server: Server, browser: Browser, studies: list[Study]) -> dict[str, Seen]:
    """Page -> its times. Every page is opened anew several times, then used in one tab."""
    work: dict[str, tuple[str, Callable[[Page, Seen], None]]] = {
        "Overview": ("", _search("ov-q", STUDIES, ".st-key-ov-studies") if len(studies) > 1 else _reloads),
        "Compare": (f"compare?study={studies[-1].id}", _turns),
        "History": ("history", _search("hi-q", RUNS, ".st-key-hi-bar")),
    }
    found = {}
    for name, (address, use) in work.items():
        seen = Seen()
        for _ in range(N_OPENED):
            with _tab(browser) as tab:
                started = time.perf_counter()
                tab.goto(f"{server.url}/{address}")
                _rest(tab)
                seen.opened.append(1000 * (time.perf_counter() - started))
        with _tab(browser) as tab:
            tab.goto(f"{server.url}/{address}")
            _rest(tab)
            begin = server.log.stat().st_size
            use(tab, seen)
            page = address.partition("?")[0] or "overview"
            text = server.log.read_bytes()[begin:].decode()
            runs = [(float(ms), float(work_ms)) for where, ms, work_ms in LINE.findall(text) if where == page]
            seen.server, seen.worked = [run[0] for run in runs], [run[1] for run in runs]
        found[name] = seen
    return found


@contextmanager
def _tab(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield context.new_page()
    context.close()


def _rest(tab: Page) -> None:
    """The page has its title, its script rests, and its figures are drawn."""
    tab.wait_for_selector("[data-testid=stHeading] h1", timeout=60_000)
    tab.wait_for_selector(IDLE, timeout=60_000)
    tab.wait_for_function(DRAWN, polling="raf", timeout=60_000)


def _timed(tab: Page, shown: str, act: Callable[[], None]) -> float:
    """Milliseconds from `act` until `shown` says something else and the script rests."""
    tab.evaluate(ARM, shown)
    act()
    return float(tab.wait_for_function(DONE, arg=shown, polling="raf", timeout=30_000).json_value())


def _search(key: str, words: Sequence[str], shown: str) -> Callable[[Page, Seen], None]:
    """Search for one word after another; every one finds something else."""

    def use(tab: Page, seen: Seen) -> None:
        field = tab.locator(f".st-key-{key} input")
        for word in [*words] * N_ROUNDS:
            field.fill(word)
            seen.filtered.append(_timed(tab, shown, lambda: field.press("Enter")))

    return use


def _reloads(tab: Page, seen: Seen) -> None:
    """One study has nothing to search in."""
    for _ in STUDIES:
        tab.reload()
        _rest(tab)


def _turns(tab: Page, seen: Seen) -> None:
    """The order turned round, again and again: always to the one that is not chosen."""
    for _ in range(len(RUNS) * N_ROUNDS):
        other = tab.locator(".st-key-pick-cm-order").get_by_role("radio", checked=False)
        seen.filtered.append(_timed(tab, ".st-key-cm-table", other.click))


def _polling(server: Server, browser: Browser, study: Study) -> str:
    """Share of a core that the server takes while many watch a job."""
    contexts = [browser.new_context(viewport={"width": 800, "height": 600}) for _ in range(N_SESSIONS)]
    for context in contexts:
        tab = context.new_page()
        tab.goto(f"{server.url}/study?study={study.id}")
        _rest(tab)
    time.sleep(3)
    shares = []
    for _ in range(3):
        before, started = _cpu_s(server.pid), time.monotonic()
        time.sleep(POLLED_S / 3)
        shares.append((_cpu_s(server.pid) - before) / (time.monotonic() - started))
    for context in contexts:
        context.close()
    return f"{100 * statistics.median(shares):.1f} % of a core"


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _server(seen: Seen) -> str:
    middle, high = np.percentile(seen.server, [50, 95])
    return f"{middle:.0f}, {high:.0f} ms ({statistics.median(seen.worked):.0f} ms)"


def _filter(seen: Seen) -> str:
    return f"{statistics.median(seen.filtered):.0f} ms" if seen.filtered else "nothing to filter"


def _first(seen: Seen) -> str:
    return f"{statistics.median(seen.opened) / 1000:.2f}, {max(seen.opened) / 1000:.2f} s"
