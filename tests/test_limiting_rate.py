"""What limits a classifier, in a sentence."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest

from steelyard import Counts, evaluate


def limiting_rate(evaluation):
    """The sentence under the verdict of the page; nothing where none is shown."""
    text = html.unescape(evaluation.to_html()).replace("\u00a0", " ")
    found = re.search(r"<p data-code=\"limit\">([^<>]*)</p>", text)
    return found[1] if found else ""


def scored(threshold):
    rng = np.random.default_rng(0)
    y = (rng.random(2000) < 0.1).astype(int)
    return evaluate(y, y_score=1 / (1 + np.exp(-(rng.normal(size=2000) + 2.5 * y - 2))), threshold=threshold, draws=100)


@pytest.mark.parametrize(
    ("counts", "start"),
    [
        (Counts(28, 23, 72, 2680), "Recall (54.9 %) limits it, far below specificity (97.4 %). There are no scores"),
        (Counts(980, 20, 100, 900), "Specificity (90.0 %) limits it, below recall (98.0 %)."),
        (Counts(50, 5, 60, 550), ""),
        (Counts(50, 5, 0, 0), ""),
    ],
)
def test_the_lower_rate_limits_where_the_intervals_are_apart(counts, start):
    words = limiting_rate(evaluate(counts, draws=100))
    assert words.startswith(start) and bool(words) == bool(start)


def test_scores_that_rank_better_than_their_threshold_shows_point_the_way():
    assert limiting_rate(scored(0.9)).endswith("than this threshold uses: a lower one finds more positives.")
    assert limiting_rate(scored(0.05)).endswith("than this threshold uses: a higher one raises fewer false alarms.")
    assert "threshold" not in limiting_rate(scored(0.3))
