"""Calibration influence: how much the metrics of calibration change for each unit of weight that is added to a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.metrics import calibration
from steelyard.metrics.logistic_recalibration import LogitRows, intercept_in_the_large, recalibrated

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from steelyard._types import Array
    from steelyard.statistics.score_table import ScoreTable

Influence = tuple["Array", "Array"]


def recalibration_influence(table: ScoreTable, intercept: float, slope: float) -> tuple[Influence, Influence]:
    """That of the rows on the intercept and on the slope of logistic recalibration, about these values of both.

    Summed over rows, its squares are the sandwich variance (White 1982, Econometrica 50, 1-25).
    """
    _, _, a, b, c = LogitRows.of(table.compact()).step(np.asarray(intercept), np.asarray(slope))
    on_intercept, on_slope = [], []
    with np.errstate(divide="ignore", invalid="ignore"):
        for side, truth in zip(table.classes, (1, 0), strict=True):
            logits = np.log(side.distinct[0]) - np.log1p(-side.distinct[0])
            off = truth - 1 / (1 + np.exp(-intercept - slope * logits))
            on_intercept.append(off * (c - b * logits) / (a * c - b * b))
            on_slope.append(off * (a * logits - b) / (a * c - b * b))
    return (on_intercept[0], on_intercept[1]), (on_slope[0], on_slope[1])


def _slope(table: ScoreTable, _: Mapping[str, Any]) -> Influence:
    return recalibration_influence(table, *map(float, recalibrated(table)))[1]


def _intercept(table: ScoreTable, _: Mapping[str, Any]) -> Influence:
    intercept = float(intercept_in_the_large(table))
    information = LogitRows.of(table.compact()).step(np.asarray(intercept), np.ones(()))[2]
    positive, negative = (side.distinct[0] for side in table.classes)
    with np.errstate(divide="ignore"):
        shares = [1 / (1 + np.exp(-intercept) * (1 / scores - 1)) for scores in (positive, negative)]
    return (1 - shares[0]) / information, -shares[1] / information


def _observed_to_expected(table: ScoreTable, _: Mapping[str, Any]) -> Influence:
    expected = sum(side.distinct[1] @ side.distinct[0] for side in table.classes)
    ratio = table.positive.total / expected
    return (1 - ratio * table.positive.distinct[0]) / expected, -ratio * table.negative.distinct[0] / expected


def _brier_skill_score(table: ScoreTable, _: Mapping[str, Any]) -> Influence:
    """The share of the prior's score that is left is a ratio; the prior's score moves with the prevalence alone."""
    total, share = table.total, table.positive.total / table.total
    losses = (1 - table.positive.distinct[0]) ** 2, table.negative.distinct[0] ** 2
    brier = sum(side.distinct[1] @ loss for side, loss in zip(table.classes, losses, strict=True)) / total
    prior = share * (1 - share)
    moved = (1 - 2 * share) * (1 - share), (2 * share - 1) * share  # of the prior's score
    positive, negative = (
        (brier / prior * move - (loss - brier)) / (total * prior) for loss, move in zip(losses, moved, strict=True)
    )
    return positive, negative


CALIBRATION_INFLUENCES: dict[object, Callable[[ScoreTable, Mapping[str, Any]], Influence]] = {
    calibration.calibration_slope.scores: _slope,
    calibration.calibration_intercept.scores: _intercept,
    calibration.observed_to_expected.scores: _observed_to_expected,
    calibration.brier_skill_score.scores: _brier_skill_score,
}
