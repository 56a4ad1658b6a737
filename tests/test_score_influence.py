"""The influence of rows on metrics of scores: what adding a little weight to one of them changes."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard import get_metric, interval, list_metrics, score_table
from steelyard.analysis.intervals.design import ClassInfluence
from steelyard.analysis.intervals.influence import score_influence

STEP = 1e-5
OTHERS = [("roc_auc", {"max_fpr": 0.2}), ("roc_auc", {"max_fpr": 0.55}), ("weighted_auc", {"rho": 0.3, "bands": 7})]
OF_SCORES = [(m.name, {}) for m in list_metrics() if m.scores is not None]


NORMAL = 1.959963984540054  # the quantile at 97.5 %
WITHOUT = {  # at one threshold, of absolute gaps, of a searched or an isotonic curve: no derivative that a table shows
    *("recall_at_precision", "precision_at_recall", "precision_at_k", "lift", "top_k_accuracy"),
    *("recall_at_fpr", "specificity_at_recall", "expected_calibration_error", "mcc_f1", "auprg", "ks", "h_measure"),
    *("integrated_calibration_index", "brier_miscalibration", "brier_discrimination", "brier_uncertainty"),
}


def random_rows(rng):
    """Few distinct scores that both classes share, with weights; each class in ascending order."""
    size = int(rng.integers(4, 25))
    sides = []
    for truth in (1, 0):
        scores = np.unique(rng.integers(1, size, rng.integers(2, size)) / size)
        sides.append((np.full(len(scores), truth), scores, rng.gamma(2.0, 1.0, len(scores))))
    return map(np.concatenate, zip(*sides, strict=True))


def moved(weights, place, change):
    weights = weights.copy()
    weights[place] += change
    return weights


@pytest.mark.parametrize(("name", "given"), OF_SCORES + OTHERS, ids=str)
def test_the_influence_is_what_a_little_more_weight_changes(name, given):
    metric, rng = get_metric(name), np.random.default_rng(7)
    for y, scores, weights in (random_rows(rng) for _ in range(10)):
        influence = score_influence(metric, score_table(y, scores, sample_weight=weights), metric.parameters | given)
        assert (influence is None) == (name in WITHOUT)
        if influence is None:
            return
        expected = np.concatenate(influence)
        changes = (
            [metric(y, y_score=scores, sample_weight=moved(weights, i, step), **given) for step in (STEP, -STEP)]
            for i in range(len(y))
        )
        assert np.diff(list(changes), axis=1)[:, 0] / (-2 * STEP) == pytest.approx(expected, abs=1e-8)
        assert weights @ expected == pytest.approx(0, abs=1e-12)


def test_a_spread_that_heavy_rows_determine_is_known_by_fewer_degrees():
    influence = np.random.default_rng(51).normal(size=60)
    ones = np.ones(60)
    assert ClassInfluence(influence, ones, ones).degrees == 59
    assert ClassInfluence(influence, 7 * ones, 49 * ones).degrees == pytest.approx(59)
    weights = np.where(np.arange(60) < 6, 10.0, 1.0)
    alone = ClassInfluence(influence, weights, weights**2)
    assert 1 <= alone.degrees < 0.9 * (alone.size - 1)
    tied = ClassInfluence(*(np.array(column) for column in ([-1.0, 1.0], [600.0, 400.0], [700.0, 450.0])))
    assert tied.degrees == pytest.approx(tied.size - 1)  # many rows of a score are not one heavy row


def test_the_variance_of_an_auc_is_delongs():
    rng = np.random.default_rng(3)
    y, scores = rng.random(500) < 0.2, rng.integers(0, 30, 500) + 0.0
    table = score_table(y, scores + 5 * y)
    influence = score_influence(get_metric("roc_auc"), table, {})
    parts = [
        side.distinct[1] @ part**2 * side.n / (side.n - 1) for side, part in zip(table.classes, influence, strict=True)
    ]
    found = interval("roc_auc", table, method="delong")
    assert ((found.high - found.low) / 2 / NORMAL) ** 2 == pytest.approx(sum(parts), rel=1e-12)


def test_a_table_of_one_class_has_no_influence():
    assert score_influence(get_metric("brier"), score_table([1, 1], [0.2, 0.4], labels=[0, 1]), {}) is None
