"""The cost plan: the table of typed numbers, what a variant saves, and input that cannot be planned with."""

import pytest
from page_history import HOSTILE
from pages_text import texts

from engine.records import Recipe


def said(app):
    return texts(app).replace("\u202f", " ").replace("\\", "")


def table(app, column="Replicas"):
    found = next(one.value for one in app.table if column in one.value)
    return found.map(lambda cell: str(cell).replace("\u202f", " ").replace("\\", ""))


def test_the_278_requests_table(home, open_page):
    app = open_page("plan_cost.py")
    assert "8 CPU replicas, ₹2.3 lakh a month; the GPU would pay off from a peak of 462 requests/s" in said(app)
    rows = table(app)
    assert list(rows["Replicas"]) == ["8", "2"]
    assert list(rows["A month"]) == ["₹2.3 lakh", "₹3.6 lakh"]
    assert list(rows["Per 1,000, full use"]) == ["₹0.222", "₹0.116"]


def test_the_day(home, open_page):
    app = open_page("plan_cost.py")
    app.number_input(key="pl-low").set_value(20).run()
    assert not app.exception
    rows = table(app, "A day, following")
    assert list(rows["A day, following"]) == ["₹4,640", "₹12,000"]
    assert (rows["A day, static"][0], rows["Saved"][0]) == ("₹7,680", "39.6%")
    assert list(table(app)["Per 1,000, real traffic"]) == ["₹0.533", "₹0.833"]


def test_a_study_says_what_its_variant_saves(study, open_page):
    app = open_page("plan_cost.py", study=study.id)
    app.number_input(key="pl-peak").set_value(20_000.0).run()
    assert not app.exception
    assert "saves $" in said(app)
    assert "a month ($" in said(app)
    assert "against the baseline at this traffic" in said(app)
    assert next(iter(table(app)["Machine"])) == "Original"


def test_a_variant_of_the_address(study, ledger, open_page):
    runs = [run for run in ledger.summaries(study.id) if run.spec.recipe != Recipe()]
    slower = next(run for run in runs if run.comparisons[0].ratio > 1)
    app = open_page("plan_cost.py", study=study.id, variant=slower.id)
    app.number_input(key="pl-peak").set_value(20_000.0).run()
    assert "more a month" in said(app)


def test_an_address_holds_the_plan(home, open_page):
    sheet = "small:10:1:9:11;large:100:5"
    app = open_page("plan_cost.py", study="none", machines=sheet, **{"pl-peak": "50", "pl-currency": "EUR"})
    assert list(table(app)["Machine"]) == ["small", "large"]
    assert "€" in said(app)
    assert app.query_params["machines"] in (sheet, [sheet])


@pytest.mark.parametrize(
    ("machines", "says"),
    [
        ("cpu:inf:1", "requests/s must be above 0"),
        ("cpu:10:-1", "price_per_hour = -1.0 cannot be used"),
        ("a:1;b:", "no machine to plan with"),
        (f"{HOSTILE.replace(':', ' ')}:1:1;{HOSTILE.replace(':', ' ')}:1:1", "two machines are called '<img"),
    ],
)
def test_silly_addresses_get_a_sentence(home, open_page, machines, says):
    app = open_page("plan_cost.py", study="none", machines=machines)
    assert says in said(app).lower()
