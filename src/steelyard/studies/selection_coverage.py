"""How often the intervals of `evaluate` cover on real data: both parts of a split evaluated, model by model.

The truth of a model is what more rows would show. Where the held-out part has 200 positives or more it stands for the
truth, and an interval of the selection part covers where it holds that value. Everywhere the truth's own noise is
included: the limits of both parts give an interval of their difference (Zou and Donner 2008), which should hold 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.evaluation.evaluate import evaluate
from steelyard.studies.selection_metrics import METRICS, NET_BENEFIT

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.studies.selection_models import Fitted

COVERED = tuple(name for name in METRICS if name not in (NET_BENEFIT, "h_measure"))  # those that have intervals there
LIKE_TRUTH = 200  # positives from which the held-out part stands for the truth


def both_parts(truths: tuple[Array, Array], fitted: dict[str, Fitted]) -> Array:
    """Value, low and high of every metric at the default threshold: part, model, metric, three."""
    parts = [[_limits(truths[0], model.selection) for model in fitted.values()]]
    parts += [[_limits(truths[1], model.held_out) for model in fitted.values()]]
    return np.array(parts)


def _limits(y: Array, scores: Array) -> Array:
    rows = evaluate(y, y_score=scores, threshold=0.5, metrics=COVERED)
    return np.array([[rows[name].value, rows[name].low, rows[name].high] for name in COVERED])


def holds_truth(limits: Array) -> Array:
    """Whether the interval of the first part holds the value of the second; NaN where either is undefined."""
    (_, low, high), (truth, _, _) = (np.moveaxis(part, -1, 0) for part in limits)
    return _shares((low <= truth) & (truth <= high), low, high, truth)


def holds_no_difference(limits: Array) -> Array:
    """Whether the interval of the difference of both parts, made of the limits of each, holds 0."""
    (a, low_a, high_a), (b, low_b, high_b) = (np.moveaxis(part, -1, 0) for part in limits)
    with np.errstate(invalid="ignore"):
        low = a - b - np.hypot(a - low_a, high_b - b)
        high = a - b + np.hypot(high_a - a, b - low_b)
    return _shares((low <= 0) & (high >= 0), low, high)


def _shares(covered: Array, *values: Array) -> Array:
    return np.where(np.isfinite(values).all(0), covered.astype(float), np.nan)
