"""The groups of a page in a real browser: they follow the sliders, in the order of what intervals separate."""

from __future__ import annotations

import numpy as np
import pytest
from pages_open import caught_up, slide

from steelyard import Counts, at_prevalence, evaluate, get_metric

READ = """() => [...document.querySelectorAll('#group-table tbody tr')].map(tr => [
    tr.querySelector('bdi').textContent, tr.querySelector('.apart').textContent,
    [...tr.querySelectorAll('td')].slice(1).map(td => td.childNodes[0].textContent.trim())])"""
NAMES = ["north", "south", "east"]


def rows(n=900, seed=4):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.2).astype(int)
    site = rng.choice(NAMES, n, p=[0.5, 0.3, 0.2])
    score = np.round(1 / (1 + np.exp(-(1.3 * rng.normal(size=n) + 2 * y - 1.5 - 1.5 * (site == "south")))), 3)
    return y, score, site


@pytest.fixture(scope="module")
def evaluation():
    y, score, site = rows()
    return evaluate(y, y_score=score, by={"site": site}, draws=200)


def shown(tab):
    return {name.removeprefix("site = "): values for name, _, values in tab.evaluate(READ)}


def by_python(evaluation, threshold, prevalence=None):
    found = {}
    for group in evaluation.groups:
        counts = group.scores.at(threshold)
        counts = counts if prevalence is None else at_prevalence(counts, prevalence)
        found[group.key[0]] = [float(get_metric(name)(counts)) for name in ("recall", "specificity", "precision", "f1")]
    return found


def test_the_groups_follow_the_threshold_and_the_prevalence_as_python_computes(show, evaluation):
    with show(evaluation.to_html()) as tab:
        stay = tab.evaluate("steelyard.state.stop")
        for place, stop in ((30, stay), (200, stay), (90, 12)):
            slide(tab, "threshold", place)
            slide(tab, "prevalence", stop)
            threshold = float(tab.get_attribute("#threshold", "data-threshold"))
            share = None if stop == stay else float(tab.get_attribute("#prevalence", "data-prevalence"))
            expected = by_python(evaluation, threshold, share)
            for name, values in shown(tab).items():
                for i, value in enumerate(expected[name]):
                    metric = ("recall", "specificity", "precision", "f1")[i]
                    words = tab.evaluate(
                        "([v, f]) => f ? steelyard.percent(v) : steelyard.digits(v)", [value, metric != "f1"]
                    )
                    assert values[i] == words, (name, metric)


def test_the_groups_are_those_of_the_evaluation_at_first_and_again(show, evaluation):
    with show(evaluation.to_html()) as tab:
        before = tab.evaluate(READ)
        for group in evaluation.groups:
            words = next(values for name, _, values in before if name.endswith(group.key[0]))
            assert words[0].replace("\u00a0", " ") == group["recall"].text(group["recall"].value)
        slide(tab, "threshold", 20)
        assert tab.evaluate(READ) != before
        tab.click("#reset")
        caught_up(tab)
        assert tab.evaluate(READ) == before


def test_a_group_whose_interval_lies_apart_is_marked_and_comes_first(show, evaluation):
    with show(evaluation.to_html()) as tab:
        found = [(name.removeprefix("site = "), mark) for name, mark, _ in tab.evaluate(READ)]
        whole, apart = evaluation["recall"].value, {}
        for group in evaluation.groups:
            row = group["recall"]
            apart[group.key[0]] = "− below" if row.high < whole else "+ above" if row.low > whole else ""
        assert dict(found) == apart
        assert found[0] == ("south", "− below")


def test_a_table_of_counts_by_group_follows_the_prevalence(show):
    y, _, site = rows()
    flagged = (np.arange(len(y)) % 7 < 3).astype(int)
    evaluation = evaluate(y, flagged, by={"site": site}, draws=100)
    with show(evaluation.to_html()) as tab:
        slide(tab, "prevalence", 3)
        share = float(tab.get_attribute("#prevalence", "data-prevalence"))
        for group in evaluation.groups:
            counts = at_prevalence(Counts(*group.confusion.counts(evaluation.positive)), share)
            words = tab.evaluate("v => steelyard.percent(v)", float(get_metric("precision")(counts)))
            assert shown(tab)[group.key[0]][2] == words
