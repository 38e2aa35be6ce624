"""A real dashboard and a real Chromium.

Every test ends with: no exception shown, no error in the console, nothing asked of another host.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from page_history import HOSTILE, add_certificate, add_run, make_study, raw_samples

from benchmarks.dashboard import CHROMIUM, CHROMIUM_FLAGS, IDLE, serving
from engine.records import ClassFigure, FoundSlice, Recipe, SliceQuality, Step, Workload
from storage.ledger import Ledger

# On a deep link Streamlit's own script first asks whether the app lives below the page's path: two answers are 404.
PROBE = re.compile(r"/[a-z-]+/_stcore/(health|host-config)$")


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/browser" in item.path.as_posix():
            item.add_marker(pytest.mark.browser)
            if not CHROMIUM.exists():
                item.add_marker(pytest.mark.skip(reason="not run: no Chromium"))


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    return {**browser_type_launch_args, "executable_path": str(CHROMIUM), "args": list(CHROMIUM_FLAGS)}


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("home")) as running:
        yield running


@dataclass(frozen=True)
class Filled:
    """A home, and ids in it. rich: a run that has all that a run can have; hostile: of names that are no names."""

    home: Path
    study: str
    original: str
    rich: str
    failed: str
    certificate: str
    hostile_certificate: str


@pytest.fixture(scope="session")
def filled(tmp_path_factory):
    """A home with a study that is finished, and one whose names are hostile; no model behind them."""
    home = tmp_path_factory.mktemp("filled")
    ledger = Ledger.open(f"sqlite:///{home / 'whetstone.db'}", home)
    study = make_study(ledger, name="Flight delay")
    original = add_run(ledger, study, Recipe(), speedup=None)
    fewer = Recipe(steps=(Step(lever="pruning.fewer_trees", params={"keep_fraction": 0.3}),))
    first = add_run(ledger, study, fewer, speedup=3.4, drop=0.004)
    rich = add_run(
        ledger, study, Recipe(steps=(*fewer.steps, Step(lever="export.lightgbm_to_onnx"))), speedup=4.1, drop=0.006,
        batches=(1, 4, 16, 64), threads=(1, 2), quality=_rich(ledger.experiment(first).quality),
        samples=raw_samples(home, Workload(), n_pairs=3, n_calls=300, spread=0.2),
    )  # fmt: skip
    failed = add_run(ledger, study, Recipe(steps=(Step(lever="quantisation.float16"),)), speedup=1, status="failed")
    certificate = add_certificate(ledger, study, rich)
    hostile = make_study(ledger, name=HOSTILE, study_id="hostile01")
    add_run(ledger, hostile, Recipe(), speedup=None)
    add_run(ledger, hostile, Recipe(steps=(Step(lever="x"),)), speedup=1, status="failed", message=HOSTILE)
    kept = add_run(ledger, hostile, fewer, speedup=3.4)
    of_hostile = add_certificate(ledger, hostile, kept)
    ledger.close()
    return Filled(home, study.id, original, rich, failed, certificate.id, of_hostile.id)


def _rich(quality):
    """The report with more slices, classes, and a slice that nobody declared."""

    def cell(value, drop, verdict):
        return SliceQuality(
            column="origin", value=value, n_rows=900, baseline=0.9, candidate=0.9 - drop, drop=drop, bound=drop + 0.008,
            verdict=verdict, reason="loses 3.0 points, limit 2.00" if verdict == "outside" else None,
        )  # fmt: skip

    more = (cell("LGA", 0.03, "outside"), cell("EWR", -0.015, "within band"))
    figures = {"recall": (0.91, 0.88), "precision": (0.8, 0.8), "f1": (0.85, 0.84)}
    found = FoundSlice(
        conditions={"hour": "17 to 23"}, n_rows=80, mean_loss=0.2, mean_loss_elsewhere=0.01, harm_p=0.01, confirmed=True
    )
    classes = tuple(ClassFigure(name=name, n_rows=900, **figures) for name in ("late", "on time"))
    return quality.model_copy(update={"slices": (*quality.slices, *more), "classes": classes, "found": (found,)})


@pytest.fixture(scope="session")
def running(filled):
    """The dashboard on the filled home."""
    with serving(filled.home) as server:
        yield server


class Visitor:
    """One browser tab, and what went wrong in it."""

    def __init__(self, page, url):
        self.page, self.url, self.faults, self.hosts = page, url, [], set()
        page.on("request", lambda request: self.hosts.add(urlsplit(request.url).netloc))
        page.on("pageerror", lambda error: self.faults.append(f"pageerror {error}"))
        page.on("console", self._console)

    def _console(self, message):
        if message.type == "error" and not PROBE.search(message.location.get("url", "")):
            self.faults.append(f"console {message.text} {message.location.get('url')}")

    def open(self, path=""):
        self.page.goto(f"{self.url}/{path}")
        self.idle()
        return self.page

    def idle(self):
        self.page.wait_for_selector(IDLE, timeout=60_000)

    def leave(self):
        """Check, and close the tab: later faults (a server that ends) are nobody's."""
        if not self.page.is_closed():
            self.check()
            self.page.context.close()

    def check(self):
        assert self.page.locator("[data-testid=stException]").count() == 0
        assert self.page.locator(".st-key-crash").count() == 0
        assert self.faults == []
        assert self.hosts <= {urlsplit(self.url).netloc, ""}  # "": data and blob, which ask nobody


@pytest.fixture
def visit(browser):
    """visit(url) -> Visitor in a browser context of its own; all are checked at the end."""
    visitors = []

    def new(url, **options):
        context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
        visitors.append(Visitor(context.new_page(), url))
        return visitors[-1]

    yield new
    for visitor in visitors:
        visitor.leave()
