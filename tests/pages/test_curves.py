"""Quality by number of trees or features on the Study page: asked for, awaited, shown, exported."""

import json

import pytest
from pages_text import texts

from engine.errors import InvalidRequest
from engine.jobs import curves
from engine.jobs.curves import CurveState, drawing, known_curve
from engine.jobs.locks import FileLock
from engine.records import Interval
from engine.records.curve import CurvePoint, QualityCurve
from engine.reports.curve import curve_lines, curve_records
from engine.reports.feature_cost import Cost, FeatureCosts
from engine.workspace import Workspace

DROPS = ((1, 0.21, 0.19, 0.23), (2, 0.03, 0.02, 0.04), (3, 0.004, -0.001, 0.009), (5, 0.0, 0.0, 0.0))


def curve_of(study, over="trees", **changes):
    points = tuple(
        CurvePoint(size=size, value=0.91 - drop, drop=Interval(value=drop, low=low, high=high))
        for size, drop, low, high in DROPS
    )
    usual = {
        "study_id": study.id, "over": over, "metric": "roc_auc", "relative": False, "max_drop": 0.01, "n_rows": 4000,
        "points": points, "flattens_at": 3, "within_band_at": 3, "how": "How it was done.",
        "order": ("b", "a", "<d>", "c", "e") if over == "features" else (),
    }  # fmt: skip
    return QualityCurve(**(usual | changes))


def keep(home, curve):
    workspace = Workspace(home)
    workspace.write_text(home / "curves" / f"{curve.study_id}-{curve.over}.json", curve.model_dump_json())
    return workspace


@pytest.fixture
def opened(open_page, study):
    """opened() -> the Study page with the fold open."""

    def run(over="trees"):
        app = open_page("study.py", study=study.id)
        app.session_state["st-curves"] = True
        app.session_state["pick-st-curve-over"] = over
        app.run()
        assert not app.exception, app.exception
        return app

    return run


def test_nothing_is_drawn_before_somebody_asks(study, open_page, opened, monkeypatch):
    asked = []
    monkeypatch.setattr("pages._ui.study.curves.start", lambda ledger, *args: asked.append(args))
    assert "How small may it be" not in texts(open_page("study.py", study=study.id))
    app = opened()
    assert "Takes seconds" in texts(app)
    app.button(key="st-curve-draw-trees").click().run()
    assert asked == [(study.id, "trees")]


def test_a_curve_that_is_there_is_shown_with_its_table(study, home, opened):
    keep(home, curve_of(study))
    app = opened()
    said = texts(app).replace("\u202f", " ")
    assert "flattens at 3 of 5 trees" in said
    assert "1\\.00 points are lost" in said
    table = next(one.value for one in app.table if "Trees" in one.value.columns)
    assert list(table["Trees"]) == ["5", "3", "2", "1"]
    assert list(table["Lost, points"]) == ["0.00", "0.40", "3.00", "21.00"]
    assert table["Could be"][1] == "−0.10 to 0.90"
    assert list(table[""]) == ["the original", "flattens here, within the promise from here", "", ""]


def test_fetch_time_is_unknown_until_a_file_says_it(study, home, opened):
    keep(home, curve_of(study, "features"))
    app = opened("features")
    assert "say what each fetch costs" in texts(app)
    rows = b"feature,group,ms,price\nb,x,2,0\na,x,2,0\nc,slow,50,1\ne,slow,60,2\n"
    app.file_uploader(key="st-curve-costs").upload("costs.csv", rows).run()
    assert not app.exception
    table = next(one.value for one in app.table if "Features" in one.value.columns)
    assert [one.replace("\u202f", " ") for one in table["Fetch time saved"]][:2] == ["0 ms", "60.0 ms"]
    assert "\\<d\\>" in texts(app)
    app.file_uploader(key="st-curve-costs").upload("costs.csv", b"a,b\n1,2\n").run()
    assert "has no column feature" in app.error[0].value.replace("\\", "")


def test_one_that_is_being_drawn_says_how_far_it_is_and_one_that_failed_why(study, home, opened):
    workspace = Workspace(home)
    lock = FileLock(home / "curves" / f"{study.id}-trees.lock")
    assert lock.try_acquire()
    curves._say(workspace, study.id, "trees", CurveState(fraction=0.4, message="12 of 30 rounds"))
    app = opened()
    assert "12 of 30 rounds" in str(app.get("progress")[0].proto)
    assert not [one for one in app.button if one.key == "st-curve-draw-trees"]
    lock.release()
    assert drawing(workspace, study.id, "trees").message == "it was stopped before it had ended"
    app = opened()
    assert "stopped before it had ended" in app.error[0].value
    assert app.button(key="st-curve-draw-trees")


def test_why_it_could_not_be_drawn_is_kept(study, ledger, home, monkeypatch):
    def refuses(*args, **more):
        raise InvalidRequest("no row has a label")

    monkeypatch.setattr(curves, "quality_curve", refuses)
    curves.draw(ledger, study.id, "trees")
    assert drawing(Workspace(home), study.id, "trees") == CurveState(message="no row has a label", failed=True)


def test_a_curve_of_another_promise_is_not_shown(study, home):
    workspace = keep(home, curve_of(study, max_drop=0.02))
    assert known_curve(workspace, study, "trees") is None


def test_the_files_hold_what_the_table_shows(study):
    costs = FeatureCosts({"b": "x", "a": "x", "c": "slow"}, {"x": Cost(2, 0), "slow": Cost(60, 2)})
    records = curve_records(curve_of(study, "features"), costs)
    assert json.loads(json.dumps(records[2])) == {
        "Features": 3, "ROC AUC": pytest.approx(0.906), "Lost, points": pytest.approx(0.4),
        "Lost at least, points": pytest.approx(-0.1), "Lost at most, points": pytest.approx(0.9),
        "Fetch time saved, ms": 60.0, "Price saved": 2.0, "Last one in": "<d>",
    }  # fmt: skip


def test_a_curve_that_never_flattens_says_so(study):
    assert "does not flatten" in curve_lines(curve_of(study, flattens_at=5))[0]
