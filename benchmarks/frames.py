"""Frames: how long a page takes to follow its sliders, in Chromium, beside the 16.7 ms of a frame of a screen.

`make frames` prints a line for each page and each place it is scrolled to: the median and the 95th percentile of the
updates of a threshold and of a prevalence, layout included, and the size of the file. What is out of view follows when
the sliders rest, so that each place is a measurement of its own.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from steelyard import evaluate
from steelyard.report.pages.page import page

if TYPE_CHECKING:
    from playwright.sync_api import Page

_FRAME = 1000 / 60
_MEASURE = """async ([key, places]) => {
    const times = [];
    for (const place of places) times.push(await new Promise((done) => requestAnimationFrame(() => {
        const began = performance.now();
        steelyard.move({ [key]: place });
        document.body.offsetHeight;
        done(performance.now() - began);
    })));
    return times;
}"""


def scored(rows: int, groups: int = 0) -> str:
    """The page of so many scored rows, with so many groups."""
    rng = np.random.default_rng(0)
    y = (rng.random(rows) < 0.02).astype(int)
    score = 1 / (1 + np.exp(-(rng.normal(size=rows) + 2 * y - 3)))
    by = {"site": rng.integers(groups, size=rows)} if groups else None
    return page(evaluate(y, y_score=score, by=by))


PAGES = {
    "1,000 rows": lambda: scored(1_000),
    "1,000,000 rows": lambda: scored(1_000_000),
    "1,000,000 rows, 12 groups": lambda: scored(1_000_000, 12),
}
SCROLLED = {
    "top": ("metrics", "h1"),
    "metrics": ("metrics", "#metrics"),
    "curves": ("curves", "#pr"),
    "over prevalence": ("curves", "#over-prevalence"),
    "groups": ("groups", "#group-table"),
}
_SCROLL = """place => new Promise((done) => {
    place.scrollIntoView({ block: "center" });
    requestAnimationFrame(() => setTimeout(done, 250));
})"""


def main() -> None:
    """Open each page, move its sliders, print the times."""
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    print(
        f"{'page':<28}{'size':>10}  {'scrolled to':<18}{'threshold':>16}{'prevalence':>18}"
        f"   (median, 95th percentile; a frame: {_FRAME:.1f} ms)"
    )
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for name, make in PAGES.items():
            html, file = make(), Path(folder) / "page.html"
            file.write_text(html, encoding="utf-8")
            tab = browser.new_page(viewport={"width": 1440, "height": 900})
            tab.goto(file.as_uri())
            tab.wait_for_selector("html[data-ready]", state="attached")
            for place, (part, found) in SCROLLED.items():
                tab.click(f"#tab-{part}")
                if (where := tab.query_selector(found)) is not None:
                    where.evaluate(_SCROLL)
                    cells = "".join(f"{cell:>18}" for cell in _times(tab))
                    print(f"{name:<28}{len(html.encode()) / 1024:>7.0f} KB  {place:<16}{cells}")
        browser.close()


def _times(tab: Page) -> list[str]:
    """The median and the 95th percentile of the updates of each slider."""
    last = tab.evaluate("steelyard.last")
    places = {"index": [round(last * (0.1 + 0.013 * i)) for i in range(60)], "stop": [*range(5, 40)]}
    times = (tab.evaluate(_MEASURE, [key, found]) for key, found in places.items())
    return [f"{np.median(t):.1f}, {np.quantile(t, 0.95):.1f} ms" for t in times]


if __name__ == "__main__":
    main()
