"""Every page as a person meets it: readable in light and dark, by keyboard and screen reader, whole at 800 wide."""

import re

import pytest
from browser.axe import violations
from browser.own_model import write
from playwright.sync_api import expect

from benchmarks.dashboard import serving
from engine.intake import read_table, take_model
from engine.reports.explain import DOCUMENT
from engine.workspace import Workspace

pytestmark = pytest.mark.slow

FOLDS = ("ex-recipe", "ex-quantiles", "ex-calls", "ex-batch", "ex-operators-box", "ex-classes", "ex-log",
         "ex-environment", "ex-note-box")  # fmt: skip
SETTLED_MS = 700  # charts and tables are drawn a moment after the script has ended


def look(visitor, where):
    """What is wrong with the page as it stands: axe-core in light and its contrast in dark, names, width."""
    page = visitor.page
    page.wait_for_timeout(SETTLED_MS)
    said = [f"light, {one}" for one in violations(page)]
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(SETTLED_MS)
    assert sum(page.evaluate(BACKGROUND)) < 200, "the page did not follow the browser into the dark"
    said += [f"dark, {one}" for one in violations(page, only="color-contrast")]
    page.emulate_media(color_scheme="light")
    for kind in ("stPlotlyChart", "stTable", "stDataFrame"):
        said += [f"{kind} {at} has no name" for at in page.evaluate(NAMELESS, kind)]
    page.set_viewport_size({"width": 800, "height": 900})
    page.wait_for_timeout(SETTLED_MS)
    wide = page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth")
    shown = page.evaluate("document.querySelector('[data-testid=stMain]').clientWidth")
    if wide > shown:
        said.append(f"{wide - shown} px too wide at 800")
    page.set_viewport_size({"width": 1280, "height": 900})
    return [f"{where}: {one}" for one in said]


BACKGROUND = """() => getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor
    .match(/\\d+/g).slice(0, 3).map(Number)"""
NAMELESS = """kind => [...document.querySelectorAll(`[data-testid=${kind}]`)].map((one, at) => [one, at])
    .filter(([one]) => !one.matches('[aria-label]') && !one.querySelector('[aria-label],caption'))
    .map(([_, at]) => at)"""


def open_folds(visitor):
    """Open the parts of the page that are drawn when somebody asks for them."""
    for key in FOLDS:
        box = visitor.page.locator(f".st-key-{key} summary")
        if box.count():
            box.first.click()
            visitor.idle()
            expect(visitor.page.locator(f".st-key-{key} details[open]")).to_have_count(1, timeout=30_000)


def test_pages_of_a_filled_history(running, filled, visit):
    visitor = visit(running.url)
    faults = []
    for where, address in {
        "overview": "",
        "study": f"study?study={filled.study}",
        "compare": f"compare?study={filled.study}",
        "failed": f"experiment?id={filled.failed}",
        "certificate": f"certificate?id={filled.certificate}",
        "history": "history",
        "plan": f"plan?study={filled.study}&pl-low=20",
        "measuring": "measuring",
        "no such study": "study?study=nothing",
    }.items():
        visitor.open(address)
        faults += look(visitor, where)
        if where == "measuring":
            for heading in re.findall(r"^## (.+)$", DOCUMENT.read_text(), re.MULTILINE):
                slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
                assert visitor.page.locator(f"[id='{slug}']").count() == 1, heading
        if where == "study":
            visitor.page.locator("[class*=st-key-st-add-] button").first.click()
            expect(visitor.page.locator("[class*=st-key-st-step-]")).to_be_visible(timeout=30_000)
            visitor.idle()
            faults += look(visitor, "study with a lever")
    visitor.open(f"experiment?id={filled.rich}")
    open_folds(visitor)
    faults += look(visitor, "experiment")
    visitor.page.get_by_role("link", name="Log and machine").click()
    expect(visitor.page.locator("[id='log-and-machine']")).to_be_in_viewport()
    assert faults == []


def test_pages_of_an_empty_history(visit, tmp_path):
    with serving(tmp_path / "home") as server:
        visitor = visit(server.url)
        faults = []
        for where in ("", "compare", "history", "new-study"):
            visitor.open(where)
            faults += look(visitor, where or "overview")
        visitor.leave()
    assert faults == []


@pytest.fixture
def brought(running, tmp_path):
    """The address of a new study whose model and rows were brought already."""
    model, rows = write(tmp_path)
    workspace = Workspace(running.home)
    manifest = take_model(model, model.name, workspace)
    table, _ = read_table(rows, rows.name, workspace)
    return f"new-study?model={manifest.id}&data={table}"


def test_every_step_of_a_new_study(running, brought, visit):
    visitor = visit(running.url)
    page = visitor.open(f"{brought}&step=Model")
    faults = look(visitor, "model")
    visitor.open(f"{brought}&step=Data")
    expect(page.get_by_text("What each column is")).to_be_visible(timeout=30_000)
    faults += look(visitor, "data")
    page.locator(".st-key-ns-check button").first.click()
    expect(page.get_by_text("Matches the model")).to_be_visible(timeout=90_000)
    page.locator(".st-key-ns-classes-ok label").first.click()
    expect(page.locator(".st-key-ns-data-next button").first).to_be_enabled(timeout=20_000)
    page.locator(".st-key-ns-data-next button").first.click()
    expect(page.locator(".st-key-ns-name input")).to_be_visible(timeout=30_000)
    visitor.idle()
    faults += look(visitor, "promise")
    assert faults == []


def focus(page, selector, *, key="Tab", most=250):
    """Press Tab until the focus is on what the selector finds."""
    for _ in range(most):
        page.keyboard.press(key)
        if page.evaluate("s => !!document.activeElement?.closest(s)", selector):
            return
    raise AssertionError(f"no way by keyboard to {selector}")


def test_the_main_job_without_a_mouse(visit, tmp_path):
    with serving(tmp_path / "home", {"WHETSTONE_LOCK_DIR": str(tmp_path / "locks")}) as server:
        visitor = visit(server.url)
        page = visitor.open()
        focus(page, "[class*=st-key-ov-sample-] button")
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(r"/study\?study=\w+"), timeout=60_000)
        visitor.idle()
        expect(page.locator("[class*=st-key-st-add-]").first).to_be_visible(timeout=30_000)
        focus(page, "[class*=st-key-st-add-] button")
        page.keyboard.press("Enter")
        expect(page.locator("[class*=st-key-st-step-]")).to_be_visible(timeout=20_000)
        visitor.idle()
        focus(page, ".st-key-st-preset")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Enter")
        visitor.idle()
        focus(page, ".st-key-st-go button")
        page.keyboard.press("Enter")
        expect(page.locator("[class*=st-key-st-step-]")).to_have_count(0, timeout=20_000)
        expect(page.locator("[class*=st-key-st-stop-]")).to_have_count(2, timeout=20_000)  # the baseline and ours
        focus(page, "a[href*='compare']")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Compare", exact=True)).to_be_visible(timeout=30_000)
        visitor.leave()


def test_two_people_who_write_one_note_lose_nothing(running, filled, visit):
    first, second = visit(running.url), visit(running.url)
    for visitor in (first, second):
        visitor.open(f"experiment?id={filled.rich}")
        visitor.page.locator(".st-key-ex-note-box summary").click()

    def write_note(visitor, text):
        field = visitor.page.locator("[class*=st-key-ex-note-] textarea")
        field.fill(text)
        field.press("Control+Enter")
        visitor.idle()
        visitor.page.locator("[class*=st-key-ex-save-] button").click()

    write_note(first, "first: ship it")
    expect(first.page.get_by_text("Saved.")).to_be_visible(timeout=30_000)
    write_note(second, "second: wait for the labels")
    expect(second.page.locator("[data-testid=stAlert]")).to_contain_text("Asha", timeout=30_000)
    expect(second.page.locator(".st-key-ex-theirs")).to_contain_text("first: ship it")
    field = second.page.locator("[class*=st-key-ex-note-] textarea")
    expect(field).to_have_value("second: wait for the labels")
    second.page.locator(".st-key-ex-both button").first.click()
    expect(field).to_have_value("first: ship it\n\nsecond: wait for the labels")
    second.page.locator("[class*=st-key-ex-save-] button").click()
    expect(second.page.get_by_text("Saved.")).to_be_visible(timeout=30_000)
    first.open(f"experiment?id={filled.rich}")
    expect(first.page.locator(".st-key-ex-note-box")).to_contain_text("second: wait for the labels")
