"""Dots: at most a thousand for the rows of the headline, by score."""

import re
from collections import Counter

import numpy as np
import pytest

from steelyard import Counts, evaluate, score_table
from steelyard.figures import DotsDisplay

FLAGGED = {"true positive", "false alarm"}


def _sample(rows, share, seed=0, weights=None):
    rng = np.random.default_rng(seed)
    y = (rng.random(rows) < share).astype(int)
    y[:2] = 0, 1
    return score_table(y, 1 / (1 + np.exp(-rng.normal(2 * y - 1.5))), sample_weight=weights)


def drawn(table, threshold=None, prevalence=None):
    """The dots of the positives and of the negatives, each the scores and which are flagged, and the outcomes."""
    evaluation = evaluate(table, threshold=threshold, prevalence=prevalence, metrics=["recall"])
    rows = DotsDisplay.from_evaluation(evaluation).frame()
    sides = [[row for row in rows if row["class"] == name] for name in ("positive", "negative")]
    dots = [(np.array([r["score"] for r in side]), np.array([r["outcome"] in FLAGGED for r in side])) for side in sides]
    return *dots, Counter(row["outcome"] for row in rows)


def test_rows_up_to_a_thousand_are_the_dots_themselves():
    table = _sample(700, 0.2)
    positives, negatives, _ = drawn(table, 0.4)
    np.testing.assert_array_equal(positives[0], table.positive.scores)
    np.testing.assert_array_equal(negatives[0], table.negative.scores)
    for scores, flagged in (positives, negatives):
        np.testing.assert_array_equal(flagged, scores >= 0.4)


@pytest.mark.parametrize("share", [0.002, 0.018, 0.3, 0.97])
@pytest.mark.parametrize("prevalence", [None, 0.01, 0.5])
@pytest.mark.parametrize("threshold", [0.05, 0.3, 0.9])
def test_a_thousand_rows_lie_on_their_side_and_are_as_many_as_the_caption_says(share, prevalence, threshold):
    table = _sample(20_000, share)
    *sides, outcomes = drawn(table, threshold, prevalence)
    assert sum(outcomes.values()) == 1_000
    for scores, flagged in sides:
        assert (np.diff(scores) >= 0).all()
        np.testing.assert_array_equal(scores >= threshold, flagged)
    evaluation = evaluate(table, threshold=threshold, prevalence=prevalence, metrics=["recall"])
    caption = DotsDisplay.from_evaluation(evaluation).caption()
    stated = re.search(
        r"(\S+|fewer than 1) positives are found and (\S+|fewer than 1) missed, with (\S+|fewer than 1) false", caption
    )
    base = evaluation.denominator
    assert caption.startswith(f"{base:,} rows by score{f', {base // 1_000:,} to a dot' if base > 1_000 else ''}, of")
    for number, word in zip(stated.groups(), ("true positive", "missed", "false alarm"), strict=True):
        rows = 0.3 if number == "fewer than 1" else int(number.replace(",", ""))
        assert abs(rows * 1_000 / base - outcomes[word]) <= 1.5
        assert f" {number}" in " ".join(evaluation.verdict[:2]) or number == "0"


@pytest.mark.parametrize("share", [0.05, 0.02])
def test_dots_and_headline_state_the_same_where_they_are_about_as_many_rows(share):
    table = _sample(20_000, share)
    *_, outcomes = drawn(table, 0.4)
    found, missed, alarms = (outcomes[word] for word in ("true positive", "missed", "false alarm"))
    headline = evaluate(table, threshold=0.4, metrics=["recall"]).verdict[0]
    assert f"Of 1,000 rows like these, {found + missed} are positive." in headline
    assert f"flags {found + alarms}, finds {found} and misses {missed}; {alarms} are false alarms." in headline


def test_the_dots_of_a_class_lie_at_even_quantiles_of_its_weight():
    table = score_table([1, 1, 1, 0], [0.1, 0.2, 0.3, 0.5], sample_weight=[6.0, 1.0, 3.0, 10.0])
    (positives, _), (negatives, _), _ = drawn(table, 0.4)
    np.testing.assert_array_equal(positives, [0.1] * 300 + [0.2] * 50 + [0.3] * 150)
    np.testing.assert_array_equal(negatives, [0.5] * 500)


def test_a_class_of_less_than_one_row_in_a_thousand_keeps_one_dot():
    table = score_table(np.arange(50_000) < 3, np.linspace(1, 0, 50_000))
    *_, outcomes = drawn(table, 0.99998)
    assert outcomes == {"true positive": 1, "true negative": 999}
    *_, outcomes = drawn(Counts(tp=2, fn=1, fp=49_000, tn=997))
    assert outcomes["true positive"] + outcomes["missed"] == 1


def test_dots_of_a_column_stand_one_above_the_other():
    y, scores = [1] * 5 + [0], [0.0, 0.0, 0.0, 0.35, 1.0, 0.35]
    collections = DotsDisplay.from_evaluation(evaluate(score_table(y, scores), threshold=0.3)).ax_.collections
    missed, found, *of_negatives = (collection.get_offsets() for collection in collections)
    assert len({x for x, _ in missed}) == 1 and sorted(height for _, height in missed) == [0.5, 1.5, 2.5]
    assert len({x for x, _ in found}) == 2 and [height for _, height in found] == [0.5, 0.5]
    assert [height for collection in of_negatives for _, height in collection] == [-0.5]


@pytest.mark.parametrize("threshold", [np.inf, -np.inf])
def test_everybody_and_nobody_flagged(threshold):
    *sides, outcomes = drawn(_sample(3_000, 0.1), threshold)
    assert outcomes["true positive"] + outcomes["false alarm"] == (0 if threshold > 0 else 1_000)
    assert all(np.isfinite(scores).all() for scores, _ in sides)


def test_float32_scores_are_flagged_as_the_table_flags_them():
    scores = np.array([0.7, 0.69, 0.7, 0.1], dtype=np.float32)
    *_, outcomes = drawn(score_table([1, 1, 0, 0], scores), 0.7)
    assert outcomes == {"true positive": 1, "missed": 1, "false alarm": 1, "true negative": 1}
