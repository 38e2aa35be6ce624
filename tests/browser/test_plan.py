"""From a finished study to money, and a plan that travels in its address."""

import re

from playwright.sync_api import expect


def test_from_a_study_to_what_its_variant_saves(running, filled, visit):
    visitor = visit(running.url)
    page = visitor.open(f"study?study={filled.study}")
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Plan").click()
    expect(page.get_by_role("heading", name="How many machines, and what do they cost?")).to_be_visible(timeout=30_000)
    peak = page.get_by_label("Peak, requests/s")
    peak.fill("20000")
    peak.press("Enter")
    expect(
        page.get_by_text(re.compile(r"saves \$[\d,]+ a month \(\$.* to \$.*\) against the baseline"))
    ).to_be_visible()
    visitor.idle()
    assert "pl-peak=20000" in page.url


def test_the_278_requests_table(running, visit):
    visitor = visit(running.url)
    page = visitor.open("plan?study=none&pl-low=20&machines=CPU:50:40;GPU:600:250")
    told = "8 CPU replicas, ₹2.3\u202flakh a month; the GPU would pay off from a peak of 462 requests/s"
    expect(page.get_by_text(told)).to_be_visible(timeout=30_000)
    for figure in ("₹0.222", "₹0.116", "₹4,640", "₹7,680", "39.6%"):
        expect(page.get_by_role("cell", name=figure).first).to_be_visible()
