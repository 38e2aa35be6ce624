"""The whole job in a real browser: own model and data, baseline, two levers, progress, compare, take the table away."""

import csv
import io
import re

import openpyxl
import pytest
from browser.own_model import write
from playwright.sync_api import expect

from storage.ledger import Ledger

RUN_LIMIT_MS = 240_000


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return write(tmp_path_factory.mktemp("own"))


def upload(visitor, key, path):
    visitor.page.locator(f".st-key-{key} [data-testid=stFileUploaderDropzoneInput]").set_input_files(str(path))


def click(visitor, key):
    visitor.page.locator(f".st-key-{key} button").first.click()


def new_study(visitor, files, *, name, twice=False):
    """Through the three steps; ends on the page of the study, whose id it returns."""
    model, rows = files
    page = visitor.open("new-study")
    upload(visitor, "ns-model-file", model)
    expect(page.get_by_role("heading", name="churn.onnx")).to_be_visible(timeout=60_000)
    click(visitor, "ns-model-next")
    upload(visitor, "ns-data-file", rows)
    expect(page.get_by_text("What each column is")).to_be_visible(timeout=60_000)
    click(visitor, "ns-check")
    expect(page.get_by_text("Matches the model")).to_be_visible(timeout=90_000)
    page.locator(".st-key-ns-classes-ok label").first.click()  # the model does not name its classes
    expect(page.locator(".st-key-ns-data-next button").first).to_be_enabled(timeout=20_000)
    click(visitor, "ns-data-next")
    page.locator(".st-key-ns-name input").fill(name)
    page.locator(".st-key-ns-name input").press("Enter")
    visitor.idle()
    page.locator(".st-key-ns-go button").click(click_count=2 if twice else 1)
    expect(page.get_by_role("heading", name=name.split(":")[0])).to_be_visible(timeout=90_000)
    return re.search(r"study=(\w+)", page.url).group(1)


def queue(visitor, lever, *, effort="Quick", twice=False):
    page = visitor.page
    click(visitor, f"st-add-{lever}")
    expect(page.locator("[class*=st-key-st-step-]")).to_be_visible(timeout=20_000)
    visitor.idle()
    choice = page.locator(".st-key-st-preset input")
    choice.click()
    choice.fill(effort)
    choice.press("Enter")
    expect(choice).to_have_value(re.compile(effort))
    visitor.idle()
    page.locator(".st-key-st-go button").click(click_count=2 if twice else 1)
    expect(page.locator("[class*=st-key-st-step-]")).to_have_count(0, timeout=20_000)


def wait_until_done(visitor):
    expect(visitor.page.locator("[class*=st-key-st-stop-]")).to_have_count(0, timeout=RUN_LIMIT_MS)
    visitor.idle()


def saved(visitor, key):
    with visitor.page.expect_download() as waiting:
        click(visitor, key)
    return waiting.value


def test_from_upload_to_the_exported_table(server, visit, files, tmp_path):
    me = visit(server.url)
    study = new_study(me, files, name="Churn <b>x</b> :red[y]")
    expect(me.page.locator(".st-key-st-queue [data-testid=stProgress]").first).to_be_visible(timeout=60_000)
    wait_until_done(me)
    expect(me.page.get_by_text("Items per second")).to_be_visible()

    queue(me, "export-onnx_optimise")
    queue(me, "quantisation-int8_dynamic")
    expect(me.page.locator("[class*=st-key-st-stop-]")).not_to_have_count(0)
    me.page.reload()  # in mid-job: nothing is lost
    me.idle()
    expect(me.page.locator("[class*=st-key-st-stop-]").first).to_be_visible(timeout=30_000)
    other = visit(server.url)  # a second person sees the same jobs
    other.open(f"study?study={study}")
    expect(other.page.locator("[class*=st-key-st-stop-]").first).to_be_visible(timeout=30_000)
    wait_until_done(me)
    wait_until_done(other)

    page = me.open(f"compare?study={study}")
    expect(page.get_by_role("cell", name="Original").first).to_be_visible()
    page.wait_for_function("document.querySelector('.js-plotly-plot')?._fullLayout", timeout=30_000)
    colours = page.evaluate("document.querySelector('.js-plotly-plot')._fullLayout.colorway")
    assert len(colours) == 10
    assert colours[0].lower() == "#336990"

    page.locator(".st-key-pick-cm-what").get_by_text("Every column").click()
    page.wait_for_timeout(1000)  # until the click has reached the server
    me.idle()
    download = saved(me, "cm-csv")
    assert download.suggested_filename.endswith(".csv")
    download.save_as(tmp_path / "t.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "t.csv").read_text())))
    assert [row["recipe"].split("(")[0] for row in rows] == [
        "original",
        "export.onnx_optimise",
        "quantisation.int8_dynamic",
    ]
    assert {row["status"] for row in rows} == {"succeeded"}
    assert float(rows[0]["speedup"]) == 1.0
    assert all(float(row["speedup_low"]) <= float(row["speedup"]) <= float(row["speedup_high"]) for row in rows[1:])
    assert rows[1]["metric"] == "roc_auc"
    shown = page.locator("[data-testid=stTable] td").all_inner_texts()
    assert any(f"{float(rows[2]['speedup']):.2f}×" in text for text in shown)

    saved(me, "cm-xlsx").save_as(tmp_path / "t.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx").active
    table = list(sheet.iter_rows(values_only=True))
    assert list(table[0]) == list(rows[0])
    at = table[0].index("p50_ms")
    assert [line[at] for line in table[1:]] == pytest.approx([float(row["p50_ms"]) for row in rows])

    run = rows[2]["experiment"]
    page = me.open(f"experiment?id={run}")
    expect(page.get_by_role("heading", name="What was done")).to_be_visible()
    package = saved(me, "ex-download")
    assert package.suggested_filename.endswith(".zip")


@pytest.mark.slow
def test_a_double_click_starts_one_job_and_it_can_be_stopped(server, visit, files):
    me = visit(server.url)
    study = new_study(me, files, name="Clicked twice", twice=True)
    expect(me.page.locator(".st-key-st-queue [data-testid=stProgress]").first).to_be_visible(timeout=60_000)
    wait_until_done(me)
    queue(me, "quantisation-int8_dynamic", effort="Strict", twice=True)
    expect(me.page.locator(".st-key-st-queue [data-testid=stProgress]").first).to_be_visible(timeout=60_000)
    ledger = Ledger.open(f"sqlite:///{server.home / 'whetstone.db'}", server.home)
    assert [one.id for one in ledger.studies() if one.name == "Clicked twice"] == [study]
    assert len(ledger.experiments(study_id=study)) == 2
    ledger.close()
    me.page.locator("[class*=st-key-st-stop-] button").first.click()
    expect(me.page.locator(".st-key-st-queue").get_by_text("Stopped").first).to_be_visible(timeout=30_000)
    expect(me.page.locator("[class*=st-key-st-stop-]")).to_have_count(0, timeout=30_000)
