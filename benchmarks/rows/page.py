"""One full update of the report page in a real browser, beside one frame of a screen at 60 a second."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

from steelyard import evaluate
from steelyard.report.page import page

FRAME = 1 / 60
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# One step of a slider, every number and chart following; reading the height makes the browser lay the page out as well.
MOVE = """id => { const s = document.getElementById(id); s.value = (Number(s.value) + 7) % Number(s.max);
s.dispatchEvent(new Event("input")); return document.body.offsetHeight > 0 ? 0 : 1; }"""


def rows(wanted):
    """An update as ours, the way to the browser included; a frame as theirs: a ratio of 1 or more is within a frame."""
    names = {f"page, one update of every measure and chart, {key}": key for key in ("threshold", "prevalence")}
    chosen = {what: key for what, key in names.items() if wanted in what}
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if not chosen or chromium is None:
        return
    with measured(chromium) as tab:
        for what, key in chosen.items():
            yield what, "one frame", lambda key=key: tab.evaluate(MOVE, key), lambda: time.sleep(FRAME) or 0, 1


class measured:
    """A browser with the page of 1e5 rows open."""

    def __init__(self, chromium):
        self.chromium = chromium

    def __enter__(self):
        from playwright.sync_api import sync_playwright

        rng = np.random.default_rng(0)
        truth = (rng.random(100_000) < 0.03).astype(int)
        score = 1 / (1 + np.exp(-(rng.normal(size=100_000) + 2 * truth - 3)))
        self.folder, self.driver = tempfile.TemporaryDirectory(), sync_playwright().start()
        path = Path(self.folder.name) / "report.html"
        path.write_text(page(evaluate(truth, y_score=score, draws=200)), encoding="utf-8")
        self.browser = self.driver.chromium.launch(executable_path=self.chromium, args=QUIET)
        tab = self.browser.new_page(viewport={"width": 1280, "height": 900})
        tab.goto(path.as_uri())
        return tab

    def __exit__(self, *_):
        self.browser.close()
        self.driver.stop()
        self.folder.cleanup()
