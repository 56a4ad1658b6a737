"""One full update of the report page in a real browser, beside one frame of a screen at 60 a second."""

from __future__ import annotations

import functools
import shutil
import tempfile
import time
from multiprocessing.util import Finalize
from pathlib import Path

import numpy as np

from benchmarks.row import Missing, Row, needed

TITLE = "The page"
FRAME = 1 / 60
ROWS = 100_000
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


def rows():
    """An update as ours, the way to the browser included; a frame as theirs: a ratio of 1 or more is within a frame."""
    for key in ("threshold", "prevalence"):
        what = f"page, one update of every metric and chart, {key}"
        yield Row(what, "one frame", functools.partial(moved, key), ROWS, 1, outside=True)


def moved(key, _):
    tab = opened()
    return lambda: tab.evaluate(MOVE, key), lambda: time.sleep(FRAME) or 0


@functools.cache
def opened():
    """A browser with the page of 1e5 rows open, closed when the process ends."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        raise Missing("chromium is not installed")
    driver = needed("playwright.sync_api").sync_playwright().start()
    Finalize(None, driver.stop, exitpriority=1)
    tab = driver.chromium.launch(executable_path=browser, args=QUIET).new_page(viewport={"width": 1280, "height": 900})
    tab.goto(written().as_uri())
    return tab


def written():
    """The page, made once in a run."""
    path = Path(tempfile.gettempdir()) / "report.html"
    if not path.exists():
        _write(path)
    return path


def _write(path):
    from steelyard import evaluate
    from steelyard.report.pages.page import page

    rng = np.random.default_rng(0)
    truth = (rng.random(ROWS) < 0.03).astype(int)
    score = 1 / (1 + np.exp(-(rng.normal(size=ROWS) + 2 * truth - 3)))
    path.write_text(page(evaluate(truth, y_score=score, draws=200)), encoding="utf-8")
