"""Every page runs on an empty and on a filled history, and says the right things."""

import pytest

PAGES = ["overview.py", "new_study.py", "study.py", "compare.py", "history.py", "experiment.py"]


@pytest.mark.parametrize("name", PAGES)
def test_pages_run_on_an_empty_history(home, open_page, name):
    open_page(name)


@pytest.mark.parametrize("name", PAGES)
def test_pages_run_on_a_filled_history(study, open_page, name):
    open_page(name, study=study.id)
