"""History with the eyes of two people: both write one note, then runs are archived, restored and compared."""

import re

import pytest
from page_history import add_run, make_study
from playwright.sync_api import expect

from benchmarks.dashboard import serving
from engine.records import Recipe, Step
from storage.ledger import Ledger

ROW_PX, HEAD_PX, WAIT_MS = 38, 35, 30_000


@pytest.fixture
def churn(tmp_path):
    """A history of three runs, made before it is served: a runner would take what is queued. Ledger, study, server."""
    ledger = Ledger.open(f"sqlite:///{tmp_path / 'whetstone.db'}", tmp_path)
    study = make_study(ledger, name="Churn")
    add_run(ledger, study, Recipe(), speedup=None)
    for kept, speedup in ((0.3, 3.4), (0.2, 4.4)):
        step = Step(lever="pruning.fewer_trees", params={"keep_fraction": kept})
        add_run(ledger, study, Recipe(steps=(step,)), speedup=speedup, drop=0.004)
    with serving(tmp_path) as server:
        yield ledger, study.id, server.url
    ledger.close()


def tick(page, *rows, begin=0):
    """Tick rows of the table, which is drawn on a canvas; `begin` were ticked before."""
    grid = page.locator("[data-testid=stDataFrame]")
    expect(grid).to_be_visible(timeout=WAIT_MS)
    for n_before, row in enumerate(rows, start=begin):
        grid.click(position={"x": 18, "y": HEAD_PX + ROW_PX * row + ROW_PX // 2})
        expect(page.get_by_text(re.compile(rf"^{n_before + 1} of \d+ ticked"))).to_be_visible(timeout=WAIT_MS)


@pytest.mark.slow
def test_two_write_one_note_and_runs_are_archived_restored_and_compared(visit, churn):
    ledger, study, url = churn
    newest = ledger.summaries(study)[-1].id
    first, second = (visit(url) for _ in range(2))
    for visitor, text in ((first, "theirs: ship it"), (second, "mine: p99 looks odd")):
        page = visitor.open(f"history?study={study}")
        tick(page, 0)
        field = page.locator(f".st-key-hi-note-{newest} textarea")
        field.fill(text)
        field.press("Control+Enter")
    first.page.locator(f".st-key-hi-save-{newest} button").click()
    expect(first.page.get_by_text("Saved.")).to_be_visible(timeout=WAIT_MS)
    second.page.locator(f".st-key-hi-save-{newest} button").click()
    expect(second.page.get_by_role("alert").filter(has_text="was changed by Asha")).to_be_visible(timeout=WAIT_MS)
    expect(second.page.locator(".st-key-hi-theirs").get_by_text("theirs: ship it")).to_be_visible(timeout=WAIT_MS)
    expect(second.page.locator(f".st-key-hi-note-{newest} textarea")).to_have_value("mine: p99 looks odd")
    second.page.get_by_role("button", name="Put both in the field").click()
    both = "theirs: ship it\n\nmine: p99 looks odd"
    expect(second.page.locator(f".st-key-hi-note-{newest} textarea")).to_have_value(both, timeout=WAIT_MS)
    second.page.locator(f".st-key-hi-save-{newest} button").click()
    expect(second.page.get_by_text("Saved.")).to_be_visible(timeout=WAIT_MS)
    assert ledger.annotation(newest).note == both

    page = second.page
    tick(page, 1, begin=1)
    link = page.get_by_role("link", name="Compare these").get_attribute("href")
    assert link.endswith(",".join(run.id for run in reversed(ledger.summaries(study)[1:])).replace(",", "%2C"))
    page.get_by_role("button", name="Archive").click()
    expect(page.get_by_text("2 runs archived.")).to_be_visible(timeout=WAIT_MS)
    expect(page.get_by_text("1 of 3 runs")).to_be_visible(timeout=WAIT_MS)
    page.reload()  # the filter is in the address
    second.idle()
    page.get_by_role("radio", name="Archived", exact=True).click()
    expect(page.get_by_text("2 of 3 runs")).to_be_visible(timeout=WAIT_MS)
    tick(page, 0, 1)
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_text("2 runs restored.")).to_be_visible(timeout=WAIT_MS)
    assert not any(one.archived for one in ledger.annotations().values())
    second.leave()
    first.leave()  # before the server ends
