"""What a test does with an open page."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64decode
from dataclasses import replace

import pytest

from steelyard import Counts, at_prevalence, evaluate
from steelyard.evaluation.verdict import sentences

FINLEY = evaluate(Counts(28, 23, 72, 2680), metrics=["recall", "mcc"], draws=20)
percent_text, three_digits = FINLEY["recall"].text, FINLEY["mcc"].text  # how a share and another number are written


def unbroken(text):
    """The text as a page shows it, where a percent sign does not begin a line."""
    return text.replace(" %", "\u00a0%")


def grouped(evaluation, *keys, by=("site",), rows=12):
    """The evaluation as if its rows were in groups of these keys, each with the metrics of all of them."""
    part = evaluate([0, 1], [0, 1], by={"g": ["a", "a"]}, metrics=["recall"], draws=20).groups[0]
    part = replace(part, by=by, rows=rows, metrics=evaluation.metrics, confusion=None)
    return replace(evaluation, groups=type(evaluation.groups)(replace(part, key=key) for key in keys))


def dot_outcomes(scores, threshold, prevalence=None, dots=1_000):
    """How many of so many dots are found, missed, false alarms and true negatives."""
    counts = scores.at(threshold) if prevalence is None else at_prevalence(scores.at(threshold), prevalence)
    outcomes = sentences.whole_outcomes(counts, dots) if dots <= 1_000 else sentences.dot_outcomes(counts, 1_000)
    return outcomes.found, outcomes.missed, outcomes.false_alarms, dots - outcomes.positives - outcomes.false_alarms


def refuse_constant(word):
    """Strict JSON has no NaN and no infinity."""
    pytest.fail(f"{word} in JSON")


def page_data(html):
    """The numbers that a page holds."""
    packed = re.search(r'<script type="text/plain" id="data">(.*?)</script>', html, re.DOTALL)[1]
    return json.loads(zlib.decompress(b64decode(packed)), parse_constant=refuse_constant)


def turn(tab, part):
    """Another part of the report: metrics, groups, probabilities or curves."""
    tab.click(f"#tab-{part}")


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
