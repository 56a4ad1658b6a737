"""A thousand dots: the rows of a score table by score, in the whole rows of the headline."""

import numpy as np
import pytest

from steelyard import Counts, evaluate, score_table
from steelyard.evaluation.score_dots import dot_scores, score_dots, stacked_dots
from steelyard.evaluation.verdict.sentences import Outcomes, outcomes_of, whole_outcomes


def _sample(rows, share, seed=0, weights=None):
    rng = np.random.default_rng(seed)
    y = (rng.random(rows) < share).astype(int)
    y[:2] = 0, 1
    return score_table(y, 1 / (1 + np.exp(-rng.normal(2 * y - 1.5))), sample_weight=weights)


def test_rows_up_to_a_thousand_are_the_dots_themselves():
    table = _sample(700, 0.2)
    dots = score_dots(table, 0.4)
    np.testing.assert_array_equal(dots.positives, table.positive.scores)
    np.testing.assert_array_equal(dots.negatives, table.negative.scores)
    np.testing.assert_array_equal(dots.positives_flagged, dots.positives >= 0.4)
    np.testing.assert_array_equal(dots.negatives_flagged, dots.negatives >= 0.4)


@pytest.mark.parametrize("share", [0.002, 0.018, 0.3, 0.97])
@pytest.mark.parametrize("prevalence", [None, 0.01, 0.5])
@pytest.mark.parametrize("threshold", [0.05, 0.3, 0.9])
def test_a_thousand_rows_have_the_outcomes_of_the_headline_and_lie_on_their_side(share, prevalence, threshold):
    table = _sample(20_000, share)
    dots = score_dots(table, threshold, prevalence)
    assert len(dots.positives) + len(dots.negatives) == dots.outcomes.base == 1_000
    assert dots.positives_flagged.sum() == dots.outcomes.found
    assert dots.negatives_flagged.sum() == dots.outcomes.false_alarms
    for scores, flagged in ((dots.positives, dots.positives_flagged), (dots.negatives, dots.negatives_flagged)):
        assert (np.diff(scores) >= 0).all()
        np.testing.assert_array_equal(scores >= threshold, flagged)


@pytest.mark.parametrize(("rows", "share"), [(20_000, 0.05), (500, 0.2), (900, 0.02)])
def test_dots_and_headline_state_the_same_wherever_they_are_about_as_many_rows(rows, share):
    table = _sample(rows, share)
    evaluation = evaluate(table, threshold=0.4, metrics=["recall"])
    headline = whole_outcomes(evaluation.counts, rows)
    dots = score_dots(table, 0.4).outcomes
    if headline.base == dots.base:
        assert headline == dots
    else:
        assert outcomes_of(evaluation.counts, dots.base) == dots


def test_the_dots_of_a_class_lie_at_even_quantiles_of_its_weight():
    table = score_table([1, 1, 1, 0], [0.1, 0.2, 0.3, 0.5], sample_weight=[6.0, 1.0, 3.0, 1.0])
    np.testing.assert_array_equal(dot_scores(table.positive, 10), [0.1] * 6 + [0.2] + [0.3] * 3)
    assert len(dot_scores(table.positive, 0)) == 0


def test_a_class_of_less_than_one_row_in_a_thousand_keeps_one_dot():
    table = score_table(np.arange(50_000) < 3, np.linspace(1, 0, 50_000))
    dots = score_dots(table, 0.99998)
    assert dots.outcomes == Outcomes(1_000, 1, 0, 0)
    assert outcomes_of(Counts(tp=2, fn=1, fp=49_000, tn=997), 1_000).positives == 1


def test_dots_of_a_column_stand_one_above_the_other():
    columns, heights = stacked_dots(np.array([0.0, 0.05, 0.1, 0.35, 1.0]), np.linspace(0, 1, 11))
    np.testing.assert_array_equal(columns, [0, 0, 1, 3, 9])
    np.testing.assert_array_equal(heights, [0, 1, 0, 0, 0])


@pytest.mark.parametrize("threshold", [np.inf, -np.inf])
def test_everybody_and_nobody_flagged(threshold):
    dots = score_dots(_sample(3_000, 0.1), threshold)
    assert dots.outcomes.flagged == (0 if threshold > 0 else 1_000)
    assert np.isfinite(dots.positives).all() and np.isfinite(dots.negatives).all()


def test_float32_scores_are_flagged_as_the_table_flags_them():
    scores = np.array([0.7, 0.69, 0.7, 0.1], dtype=np.float32)
    dots = score_dots(score_table([1, 1, 0, 0], scores), 0.7)
    assert dots.outcomes == Outcomes(4, 1, 1, 1)
