"""Writes docs/images/page-light.png and page-dark.png: the page of Finley-like forecasts, as a browser shows it."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from steelyard import evaluate
from steelyard.report.page import page

IMAGES = Path(__file__).parent / "images"
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def example():
    """Rare positives, scored by a model that separates them in part; the same rows each time."""
    rng = np.random.default_rng(1884)
    truth = (rng.random(4_000) < 0.04).astype(int)
    return truth, 1 / (1 + np.exp(-(1.3 * rng.normal(size=4_000) + 2.6 * truth - 2.8)))


def main():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        return "no chromium on PATH; install it to take the screenshots"
    truth, score = example()
    html = page(evaluate(truth, y_score=score), source="predictions.parquet")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        path = Path(folder) / "report.html"
        path.write_text(html, encoding="utf-8")
        browser = driver.chromium.launch(executable_path=chromium, args=QUIET)
        for scheme in ("light", "dark"):
            tab = browser.new_page(viewport={"width": 1200, "height": 1008}, color_scheme=scheme)
            tab.goto(path.as_uri())
            tab.screenshot(path=IMAGES / f"page-{scheme}.png")
            print(IMAGES / f"page-{scheme}.png")
        browser.close()
    return None


if __name__ == "__main__":
    sys.exit(main())
