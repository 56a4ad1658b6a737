"""Writes docs/images/page-light.webp and page-dark.webp: the page of rare positives while its sliders move."""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from live import live_page
from PIL import Image
from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).parent / "images"
SIZE = {"width": 1200, "height": 1008}
REST, STEP = 2_400, 110  # milliseconds at the start and at each turn, and of every other picture
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def moves(tab):
    """The places of both sliders, picture by picture: the threshold down and back, then the prevalence down and back."""
    for name, reach in (("threshold", -0.30), ("prevalence", -0.35)):
        slider = tab.locator(f"#{name}")
        start, last = int(slider.input_value()), int(slider.get_attribute("max"))
        there = np.linspace(start, max(start + reach * last, 0), 9).round().astype(int)
        for place in (*there[1:], *there[-2::-1]):
            yield slider, int(place), REST if place in (there[0], there[-1]) else STEP


def pictures(tab):
    """What the browser shows at each place, and for how long."""

    def taken():
        return Image.open(io.BytesIO(tab.screenshot())).convert("RGB")

    shown = [(taken(), REST)]
    for slider, place, milliseconds in moves(tab):
        slider.evaluate("(node, place) => { node.value = place; node.dispatchEvent(new Event('input')); }", place)
        tab.wait_for_timeout(60)
        shown.append((taken(), milliseconds))
    return shown


def main():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        return "no chromium on PATH; install it to take the screenshots"
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        path = Path(folder) / "report.html"
        path.write_text(live_page(), encoding="utf-8")
        browser = driver.chromium.launch(executable_path=chromium, args=QUIET)
        for scheme in ("light", "dark"):
            tab = browser.new_page(viewport=SIZE, color_scheme=scheme)
            tab.goto(path.as_uri())
            (first, rest), *others = pictures(tab)
            target = IMAGES / f"page-{scheme}.webp"
            first.save(
                target,
                save_all=True,
                append_images=[picture for picture, _ in others],
                duration=[rest, *(milliseconds for _, milliseconds in others)],
                loop=0,
                quality=55,
                method=6,
            )
            print(target, f"{target.stat().st_size / 1e3:,.0f} kB")
        browser.close()
    return None


if __name__ == "__main__":
    sys.exit(main())
