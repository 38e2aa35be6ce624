"""While scripts run, Streamlit puts `pages/` first on the path: a page must shadow nothing."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py") if path.stem != "__init__")
OURS = {path.name for path in ROOT.iterdir() if path.is_dir()}


@pytest.mark.parametrize("name", PAGES)
def test_no_page_is_named_like_a_module(name):
    assert name not in sys.stdlib_module_names
    assert name not in OURS


@pytest.mark.parametrize("name", PAGES)
def test_pages_stay_thin(name):
    limit = 60 if name == "_main" else 120
    assert len((ROOT / "pages" / f"{name}.py").read_text().splitlines()) <= limit


def test_the_palette_has_ten_colours_in_both_modes():
    import tomllib

    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"]
    for mode in ("light", "dark"):
        assert len(theme[mode]["chartCategoricalColors"]) == 10  # fewer and Plotly silently takes its own


def test_the_settings_keep_the_dashboard_on_this_machine():
    import tomllib

    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    assert config["server"]["address"] == "127.0.0.1"
    assert config["server"]["maxUploadSize"] == 200
    assert config["browser"]["gatherUsageStats"] is False
    assert config["client"]["toolbarMode"] == "viewer"
