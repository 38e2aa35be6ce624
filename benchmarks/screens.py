"""`python -m benchmarks.screens FOLDER`: a picture of every page, light and dark, 1280 and 800 wide.

The history is a real one: the sample `flight_delay`, three runs and a certificate, made by the command line in a home
of its own.
WHETSTONE_SCREENS_HOME names a home to show instead.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page, sync_playwright

from benchmarks.dashboard import CHROMIUM, CHROMIUM_FLAGS, IDLE, ROOT, Server, serving
from storage.ledger import Ledger

MODES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
WIDTHS = (1280, 800)
MAX_HEIGHT_PX = 5000
RUNS = (
    ("pruning.fewer_trees",),
    ("export.lightgbm_to_onnx",),
    ("pruning.fewer_trees", "export.lightgbm_to_onnx"),
)


def main(folder: Path) -> int:
    """Write the pictures; 1 when a page showed an exception or a console error."""
    folder.mkdir(parents=True, exist_ok=True)
    faults = []
    with _home() as home, serving(home) as server, tempfile.TemporaryDirectory() as nothing:
        faults += shoot(server, folder, addresses(server))
        with serving(Path(nothing)) as empty:
            faults += shoot(
                empty, folder, {"overview-empty": "", "compare-empty": "compare", "history-empty": "history"}
            )
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


def addresses(server: Server) -> dict[str, str]:
    """Name of the picture -> address of the page."""
    ledger = Ledger.open(f"sqlite:///{server.home / 'whetstone.db'}", server.home)
    try:
        study = ledger.studies()[0]
        runs = [run for run in ledger.experiments(study_id=study.id) if run.comparisons]
        certificates = ledger.certificates()
        data = next((path.name for path in (server.home / "tables").iterdir()), "")
    finally:
        ledger.close()
    return {
        "overview": "",
        "new-study": "new-study",
        "new-study-model": f"new-study?model={study.model_id}",
        "new-study-data": f"new-study?model={study.model_id}&data={data}&step=Data",
        "study": f"study?study={study.id}",
        "compare": f"compare?study={study.id}",
        "experiment": f"experiment?id={runs[-1].id}" if runs else "experiment",
        "certificate": f"certificate?id={certificates[0].id}" if certificates else "certificate",
        "measuring": "measuring",
        "history": "history",
        "no-such-study": "study?study=nothing",
    }


def shoot(server: Server, folder: Path, pages: dict[str, str]) -> list[str]:
    """One picture per page, mode and width; returns what went wrong."""
    faults: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=list(CHROMIUM_FLAGS))
        for mode, width in itertools.product(MODES, WIDTHS):
            context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=mode)
            tab = context.new_page()
            for name, address in pages.items():
                where = f"{name}-{mode}-{width}"
                tab.on("pageerror", lambda error, where=where: faults.append(f"{where}: {error}"))
                tab.goto(f"{server.url}/{address}")
                _picture(tab, folder / f"{where}.png", width)
                if tab.locator("[data-testid=stException], .st-key-crash").count():
                    faults.append(f"{where}: the page shows an exception")
            context.close()
        browser.close()
    return faults


def _picture(tab: Page, path: Path, width: int) -> None:
    tab.wait_for_selector(IDLE, timeout=60_000)
    tab.wait_for_timeout(1200)
    height = tab.evaluate(
        "(document.querySelector('[data-testid=stMainBlockContainer]') || document.body).scrollHeight"
    )
    tab.set_viewport_size({"width": width, "height": min(MAX_HEIGHT_PX, max(900, int(height) + 60))})
    tab.wait_for_timeout(800)
    tab.screenshot(path=str(path))
    tab.set_viewport_size({"width": width, "height": 900})


@contextmanager
def _home() -> Iterator[Path]:
    """A home with a study: the one that was named, or a new one made through the command line."""
    named = os.environ.get("WHETSTONE_SCREENS_HOME")
    if named:
        yield Path(named)
        return
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "WHETSTONE_HOME": folder, "WHETSTONE_USER": "Asha"}

        def engine(*arguments: str) -> str:
            command = [sys.executable, "-m", "engine", *arguments]
            done = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
            return done.stdout.split()[-1]

        study_id = engine("sample", "flight_delay")
        for steps in RUNS:
            chain = itertools.chain.from_iterable(("--step", step) for step in steps)
            last = engine("run", study_id, *chain, "--batch", "1,8,64", "--preset", "quick")
        engine("certify", last, "--format", "json", "--output", str(Path(folder) / "certificate.json"))
        yield Path(folder)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "screens")))
