"""A real dashboard and a real Chromium. Every test ends with: no exception shown, no error in the console."""

import re

import pytest

from benchmarks.dashboard import CHROMIUM, CHROMIUM_FLAGS, IDLE, serving

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


class Visitor:
    """One browser tab, and what went wrong in it."""

    def __init__(self, page, url):
        self.page, self.url, self.faults = page, url, []
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
