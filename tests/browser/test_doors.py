"""Addresses, the listening socket, headers, and text that must stay text."""

import json
import urllib.request

import psutil
import pytest
from page_history import HOSTILE, add_certificate, add_run, make_study
from playwright.sync_api import expect

from benchmarks.dashboard import serving
from engine.records import Recipe, Step
from storage.ledger import Ledger

TITLES = {
    "": "Overview",
    "new-study": "New study",
    "study?study=study0001": "Flight delay",
    "compare?study=study0001": "Compare",
    "history": "History",
    "experiment?id=RUN": "Original",
    "certificate?id=CERT": "Certificate",
    "measuring": "How time and quality are measured",
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A home with a study that is finished, and one whose names are hostile."""
    home = tmp_path_factory.mktemp("filled")
    ledger = Ledger.open(f"sqlite:///{home / 'whetstone.db'}", home)
    study = make_study(ledger, name="Flight delay")
    run = add_run(ledger, study, Recipe(), speedup=None)
    fewer = add_run(ledger, study, Recipe(steps=(Step(lever="pruning.fewer_trees"),)), speedup=3.4, drop=0.004)
    certificate = add_certificate(ledger, study, fewer)
    hostile = make_study(ledger, name=HOSTILE, study_id="hostile01")
    add_run(ledger, hostile, Recipe(), speedup=None)
    add_run(ledger, hostile, Recipe(steps=(Step(lever="x"),)), speedup=1, status="failed", message=HOSTILE)
    kept = add_run(ledger, hostile, Recipe(steps=(Step(lever="pruning.fewer_trees"),)), speedup=3.4)
    of_hostile = add_certificate(ledger, hostile, kept)
    ledger.close()
    return home, run, certificate.id, of_hostile.id


@pytest.mark.parametrize("address", list(TITLES))
def test_the_first_visit_of_a_fresh_server_may_be_any_page(filled, visit, address):
    home, run, certificate, _ = filled
    with serving(home) as fresh:
        visitor = visit(fresh.url)
        page = visitor.open(address.replace("RUN", run).replace("CERT", certificate))
        expect(page.get_by_role("heading", name=TITLES[address], exact=True)).to_be_visible(timeout=30_000)
        names = page.locator("[data-testid=stSidebarNavLink]").all_inner_texts()
        assert [name.strip().split("\n")[-1] for name in names] == [
            "Overview",
            "New study",
            "Study",
            "Compare",
            "History",
        ]
        assert page.get_by_text("Page not found").count() == 0
        assert "study=" not in address or "study0001" in page.url
        visitor.leave()


@pytest.fixture(scope="module")
def running(filled):
    with serving(filled[0]) as server:
        yield server


@pytest.mark.parametrize(
    "address", ["", "study?study=hostile01", "compare?study=hostile01", "history", "certificate?id=CERT"]
)
def test_hostile_names_are_text_in_the_browser(running, filled, visit, address):
    visitor = visit(running.url)
    alerts = []
    visitor.page.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.dismiss()))
    page = visitor.open(address.replace("CERT", filled[3]))
    page.wait_for_timeout(500)
    assert alerts == []
    assert page.locator("img[src=x]").count() == 0
    assert page.locator("a[href*='evil.example']").count() == 0
    if address != "history":  # a canvas there
        assert "<img src=x onerror=alert(1)> **b** :" in page.locator("body").inner_text()


def test_only_this_machine_can_reach_it(running):
    process = psutil.Process(running.pid)
    listening = [c.laddr.ip for c in process.net_connections("inet") if c.status == psutil.CONN_LISTEN]
    assert listening == ["127.0.0.1"]


def test_answers_carry_security_headers_and_health_is_told(running):
    with urllib.request.urlopen(f"{running.url}/health") as answer:
        assert json.load(answer)["status"] == "ok"
        headers = {name.lower(): value for name, value in answer.headers.items()}
    assert headers["x-frame-options"] == "DENY"
    assert headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    with urllib.request.urlopen(running.url) as answer:
        assert answer.headers["X-Frame-Options"] == "DENY"


def test_nothing_is_asked_of_another_host(running, visit):
    visitor = visit(running.url)
    hosts = set()
    visitor.page.on("request", lambda request: hosts.add(request.url.split("/")[2]))
    visitor.open("compare?study=study0001")
    visitor.page.wait_for_timeout(1000)
    assert hosts == {running.url.split("/")[2]}
