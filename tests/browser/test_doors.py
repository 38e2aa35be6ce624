"""Addresses, the listening socket, headers, and text that must stay text."""

import json
import urllib.request

import psutil
import pytest
from playwright.sync_api import expect

from benchmarks.dashboard import serving

TITLES = {
    "": "Overview",
    "new-study": "New study",
    "study?study=study0001": "Flight delay",
    "compare?study=study0001": "Compare",
    "plan?study=study0001": "How many machines, and what do they cost?",
    "history": "History",
    "experiment?id=RUN": "Original",
    "certificate?id=CERT": "Certificate",
    "measuring": "How time and quality are measured",
}


@pytest.mark.slow
@pytest.mark.parametrize("address", list(TITLES))
def test_the_first_visit_of_a_fresh_server_may_be_any_page(filled, visit, address):
    with serving(filled.home) as fresh:
        visitor = visit(fresh.url)
        page = visitor.open(address.replace("RUN", filled.original).replace("CERT", filled.certificate))
        expect(page.get_by_role("heading", name=TITLES[address], exact=True)).to_be_visible(timeout=30_000)
        names = page.locator("[data-testid=stSidebarNavLink]").all_inner_texts()
        assert [name.strip().split("\n")[-1] for name in names] == [
            "Overview",
            "New study",
            "Study",
            "Compare",
            "Plan",
            "History",
        ]
        assert page.get_by_text("Page not found").count() == 0
        assert "study=" not in address or "study0001" in page.url
        visitor.leave()


@pytest.mark.parametrize(
    "address", ["", "study?study=hostile01", "compare?study=hostile01", "history", "certificate?id=CERT"]
)
def test_hostile_names_are_text_in_the_browser(running, filled, visit, address):
    visitor = visit(running.url)
    alerts = []
    visitor.page.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.dismiss()))
    page = visitor.open(address.replace("CERT", filled.hostile_certificate))
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
