"""Working probabilities: how likely each row is positive, as far as scores alone have it, to plan labels by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.distributions import normal_quantile
from steelyard.analysis.prevalence.class_shares import checked_prevalence

if TYPE_CHECKING:
    from steelyard._types import Array

_LEAST = 1e-6  # a score of 0 or 1 is not certain
_USUAL_SHARE, _USUAL_SLOPE = 0.05, 2.0  # where scores are no probabilities: of positives, and of the logit by rank
_HALVINGS, _FURTHEST = 60, 40.0


def are_probabilities(scores: Array) -> bool:
    """Whether all scores lie between 0 and 1."""
    return bool(scores.min() >= 0 and scores.max() <= 1)


def working_probabilities(scores: Array, prevalence: float | None = None) -> Array:
    """The scores themselves where they lie between 0 and 1, else a logistic curve of their ranks.

    With a prevalence the logits are moved so that this share of the rows is positive.

    >>> working_probabilities(np.array([0.1, 0.2, 0.6]), prevalence=0.1).round(3).tolist()
    [0.022, 0.048, 0.231]
    """
    if are_probabilities(scores):
        logits = _logits(np.clip(scores, _LEAST, 1 - _LEAST))
    else:
        share = _USUAL_SHARE if prevalence is None else prevalence
        return _moved(_USUAL_SLOPE * _normal_ranks(scores), float(checked_prevalence(share)))
    return _probabilities(logits) if prevalence is None else _moved(logits, float(checked_prevalence(prevalence)))


def _normal_ranks(scores: Array) -> Array:
    """The normal quantiles of the ranks, the mean rank where scores tie."""
    _, place, times = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = np.cumsum(times) - times / 2
    return np.asarray(normal_quantile(ranks / len(scores))[place])


def _moved(logits: Array, share: float) -> Array:
    """The probabilities whose logits are moved by one number so that they have that mean."""
    low, high = -_FURTHEST - float(logits.max()), _FURTHEST - float(logits.min())
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _probabilities(logits + middle).mean() < share else (low, middle)
    return np.clip(_probabilities(logits + (low + high) / 2), _LEAST, 1 - _LEAST)


def _logits(probabilities: Array) -> Array:
    return np.asarray(np.log(probabilities) - np.log1p(-probabilities))


def _probabilities(logits: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.clip(logits, -_FURTHEST, _FURTHEST))))
