"""What a test does with an open page."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64decode

import pytest


def page_data(html):
    """The numbers that a page holds."""
    packed = re.search(r'<script type="text/plain" id="data">(.*?)</script>', html, re.DOTALL)[1]
    return json.loads(zlib.decompress(b64decode(packed)))


def press(tab, kind, name="json"):
    """A kind of numbers copied or saved from the menu at the top."""
    tab.click("header .menu summary")
    tab.click(f"[data-{kind}={name}]")


def slide(tab, key, place):
    """A slider at a place; of the threshold at that many thresholds above the lowest, which a pointer may not reach."""
    if key == "threshold":
        tab.evaluate("place => steelyard.move({ index: Math.max(0, steelyard.last - place) })", place)
    else:
        script = (
            "([id, v]) => { const s = document.getElementById(id); s.value = v; s.dispatchEvent(new Event('input')); }"
        )
        tab.evaluate(script, [key, place])
    caught_up(tab)


def widened(tab, width):
    """A screen of another width, and the page drawn for it."""
    tab.set_viewport_size({"width": width, "height": tab.viewport_size["height"]})
    tab.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))")


def caught_up(tab):
    """What is out of view follows before the sliders rest."""
    tab.evaluate("() => { if (window.steelyard && steelyard.caughtUp) steelyard.caughtUp(); }")


def rested(tab):
    """Waits until the intervals at the sliders' own places are drawn, not those of the places before."""
    place = "`${steelyard.state.index === null ? '' : steelyard.state.index}/${steelyard.state.stop}`"
    until(tab, f"document.documentElement.dataset.rested === {place}")


def until(tab, condition):
    """Waits for a condition; wait_for_function would have to evaluate text in the page, which its policy forbids."""
    for _ in range(200):
        if tab.evaluate(condition):
            return
        tab.wait_for_timeout(20)
    pytest.fail(f"never came true: {condition}")
