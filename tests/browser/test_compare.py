"""Compare in a real browser: order, what differs, columns that stay, a click on a mark, every export on the screen."""

import csv
import io
import json
import re

import openpyxl
import pytest
from playwright.sync_api import expect

ENDINGS = ("csv", "xlsx", "md", "json")
WAIT_MS = 60_000  # for what is drawn a moment after the script has ended
TABLE = ".st-key-cm-table [data-testid=stTable]"


def cells(page):
    """The table on the screen: its heads, and the lines of every cell."""
    lines = "row => [...row.cells].map(cell => cell.innerText.trim())"
    found = page.locator(f"{TABLE} tr").evaluate_all(f"rows => rows.map({lines})")
    return [[text.replace("\u00a0", " ").replace("\u2011", "-") for text in row] for row in found]


def column(page, head):
    table = cells(page)
    return [row[table[0].index(head)] for row in table[1:]]


def click(visitor, key):
    visitor.page.locator(f".st-key-{key} button").first.click()
    visitor.idle()


def choose(visitor, key, text):
    field = visitor.page.locator(f".st-key-{key} input")
    field.click()
    field.fill(text)
    field.press("Enter")
    expect(field).to_have_value(text, timeout=WAIT_MS)
    visitor.idle()


def saved(visitor, ending, folder):
    with visitor.page.expect_download() as waiting:
        visitor.page.locator(f".st-key-cm-{ending} button").first.click()
    path = folder / f"table.{ending}"
    waiting.value.save_as(path)
    return records(path, ending)


def records(path, ending):
    """Any of the four files as one dict per row; numbers are numbers, missing is None."""
    if ending == "json":
        return json.loads(path.read_text())
    if ending == "xlsx":
        head, *rows = openpyxl.load_workbook(path).active.iter_rows(values_only=True)
        return [dict(zip(head, row, strict=True)) for row in rows]
    if ending == "csv":
        return [
            {name: typed(text) for name, text in row.items()} for row in csv.DictReader(io.StringIO(path.read_text()))
        ]
    head, _, *rows = [line[2:-2].split(" | ") for line in path.read_text().splitlines()]
    bare = [[re.sub(r"\\(.)", r"\1", text).strip() for text in row] for row in (head, *rows)]
    return [dict(zip(bare[0], map(typed, row), strict=True)) for row in bare[1:]]


def typed(text):
    if text == "":
        return None
    try:
        return float(text)
    except ValueError:
        return text


def first_number(text):
    return re.search(r"[-−]?[\d,]*\.?\d+", text)[0].replace(",", "").replace("−", "-")


def agrees(text, value):
    """A number on the screen is the exported one, rounded to the decimals that are shown."""
    shown = first_number(text)
    places = len(shown.partition(".")[2])
    return float(shown) == pytest.approx(round(float(value), places), abs=0.51 * 10**-places)


def faults(table, found):
    """Every cell of the screen that the export does not say, and every exported cell that the screen does not."""
    said = []
    assert len(table) - 1 == len(found)
    for row, record in zip(table[1:], found, strict=True):
        left = {name for name, value in record.items() if value is not None}
        for head, text in zip(table[0], row, strict=True):
            said += [f"{record['Variant']}, {head}: {fault}" for fault in cell_faults(head, text, record, left)]
        said += [f"{record['Variant']}: the screen does not say {name}" for name in left]
    return said


def cell_faults(head, text, record, left):
    """Compares one cell and takes what it says out of `left`."""

    def take(pattern):
        name = next((name for name in record if re.fullmatch(pattern, name)), None)
        left.discard(name)
        return record.get(name)

    if head == "Variant":
        return [] if text.split("\n")[0] == take("Variant") else [text]
    if head == "Result":
        wanted = [value for value in (take("Result"), take("Certificate"), take("Reason")) if value]
        return [one for one in wanted if one.rstrip("…") not in text]
    lines = text.split("\n")
    value = take(re.escape(head) + r"(, [^ ]+)?")
    if value is None:
        return [] if lines == ["–"] else [text]
    said = []
    if not (lines[0] == value or (not isinstance(value, str) and agrees(lines[0], value))):
        said.append(f"{lines[0]} is not {value}")
    change, call = take(re.escape(head) + " change, .*"), take(re.escape(head) + " change is")
    low, high = take(re.escape(head) + " low.*"), take(re.escape(head) + " high.*")
    if low is not None:
        ends = lines[1].split(" to ")
        said += [] if agrees(ends[0], low) and agrees(ends[1], high) else [f"{lines[1]} is not {low} to {high}"]
    if call in ("better", "worse", "open"):
        sign = -1 if lines[-1].startswith(("▼", "−")) else 1
        said += [] if agrees(lines[-1], abs(change)) and sign * change >= 0 else [f"{lines[-1]} is not {change}"]
    elif call is not None:
        said += [] if lines[-1] == call else [f"{lines[-1]} is not {call}"]
    return said


@pytest.mark.slow
def test_compare_from_the_order_to_the_export(running, filled, visit, tmp_path):
    me = visit(running.url)
    page = me.open(f"compare?study={filled.study}")
    expect(page.locator(TABLE)).to_be_visible(timeout=WAIT_MS)
    first = cells(page)
    assert first[1][0] == "Original"

    choose(me, "cm-sort", "Speed-up")
    page.locator(".st-key-pick-cm-order").get_by_text("Largest first").click()
    me.idle()
    expect(page.locator(f"{TABLE} tbody tr").nth(1)).to_contain_text("4.10×", timeout=WAIT_MS)
    assert column(page, "Variant")[0] == "Original"
    assert "sort=speedup" in page.url
    assert column(page, "Speed-up")[-1] == "–"  # the run that failed stands last

    click(me, "cm-columns")
    page.locator(".st-key-pick-cm-facts").get_by_text("Runtime").click()
    me.idle()
    page.locator(".st-key-pick-cm-figures").get_by_text("Memory").click()
    me.idle()
    page.keyboard.press("Escape")
    expect(page.locator(TABLE).get_by_text("Runtime")).to_be_visible(timeout=WAIT_MS)
    page.reload()
    me.idle()
    expect(page.locator(TABLE).get_by_text("Runtime")).to_be_visible(timeout=WAIT_MS)
    assert {"Runtime", "Memory"} <= set(cells(page)[0])
    expect(page.locator(f"{TABLE} tbody tr").nth(1)).to_contain_text("4.10×", timeout=WAIT_MS)  # and so does the order

    for ending in ENDINGS:
        assert faults(cells(page), saved(me, ending, tmp_path)) == [], ending

    page.locator(".st-key-cm-differs label").click()
    expect(page.locator(TABLE).get_by_text("Runtime")).to_have_count(0, timeout=WAIT_MS)
    assert faults(cells(page), saved(me, "csv", tmp_path)) == []

    click(me, "cm-columns")
    click(me, "cm-columns-reset")
    page.keyboard.press("Escape")
    page.locator(".st-key-cm-differs label").click()
    expect(page.locator(TABLE).get_by_text("Memory")).to_have_count(0, timeout=WAIT_MS)


def test_a_mark_that_is_clicked_opens_its_card(running, filled, visit):
    me = visit(running.url)
    page = me.open(f"compare?study={filled.study}")
    chart = page.locator("[class*=st-key-cm-scatter-] .js-plotly-plot")
    expect(chart).to_be_visible(timeout=WAIT_MS)
    page.wait_for_function("document.querySelector('.js-plotly-plot')?._fullLayout?.xaxis?._offset > 0")
    x, y = chart.evaluate(
        """(plot, run) => {
            const trace = plot._fullData.find(one => one.customdata && [...one.customdata].includes(run));
            const at = [...trace.customdata].indexOf(run), layout = plot._fullLayout;
            const box = plot.getBoundingClientRect();
            return [box.x + layout.xaxis._offset + layout.xaxis.d2p(trace.x[at]),
                    box.y + layout.yaxis._offset + layout.yaxis.d2p(trace.y[at])];
        }""",
        filled.rich,
    )
    page.mouse.click(x, y)
    expect(page.locator(".st-key-cm-card")).to_contain_text("LightGBM to ONNX", timeout=WAIT_MS)
    me.idle()
    page.locator(".st-key-cm-card").get_by_text("Use as a start").click()
    expect(page.get_by_role("heading", name="Flight delay")).to_be_visible(timeout=WAIT_MS)
