import json

import pytest


def test_quality_by_trees(shell, study):
    text = shell("curve", study, "trees")
    lines = text.splitlines()
    assert lines[0].split()[:3] == ["trees", "roc_auc", "lost"]
    sizes = [int(line.split()[0]) for line in lines[1:] if line[:1].isdigit()]
    assert (sizes[0], sizes[-1]) == (2, 120)
    assert sizes == sorted(sizes)
    assert "flattens at" in text
    curve = json.loads(shell("curve", study, "trees", "--json"))
    *smaller, whole = curve["points"]
    assert whole["drop"] == {"value": 0.0, "low": 0.0, "high": 0.0}
    assert smaller[0]["drop"]["value"] > 0.02
    for point in smaller:
        assert point["drop"]["low"] <= point["drop"]["value"] <= point["drop"]["high"]
        assert point["value"] == pytest.approx(whole["value"] - point["drop"]["value"])
    assert curve["flattens_at"] in [point["size"] for point in curve["points"]]
    assert curve["order"] == []


@pytest.mark.slow
def test_quality_by_features_with_what_fetching_them_costs(shell, study, tmp_path):
    assert "fetch time unknown" in shell("curve", study, "features")
    costs = tmp_path / "costs.csv"
    costs.write_text("feature,group,ms,price\na,x,2,0\nb,x,2,0\nc,y,3,0\nd,slow,50,1\ne,slow,60,2\n")
    curve = json.loads(shell("curve", study, "features", "--feature-cost", costs, "--json"))
    assert set(curve["order"][:3]) == set("abc")  # the labels are made of these
    saved = {one["size"]: one for one in curve["saved"]}
    assert saved[5] == {"size": 5, "ms": 0.0, "price": 0.0}
    assert saved[3] == {"size": 3, "ms": 60.0, "price": 2.0}
    drops = {point["size"]: point["drop"]["value"] for point in curve["points"]}
    assert drops[1] > 0.1 > drops[3]
    table = shell("curve", study, "features", "--feature-cost", costs)
    assert "fetch time saved" in table
    assert "the last one in" in table


def test_what_cannot_be_drawn_is_said(shell, study, tmp_path):
    costs = tmp_path / "costs.csv"
    costs.write_text("feature,group,ms,price\n")
    assert "belongs to `curve STUDY features`" in shell.refused("curve", study, "trees", "--feature-cost", costs)
    assert "no study" in shell.refused("curve", "01NOSUCH", "trees")
