"""What a choice is worth: the rank, on the held-out rows, of the model that a selector chooses, and its regret."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

from steelyard.studies.selection_metrics import oriented

if TYPE_CHECKING:
    from steelyard._types import Array

_DIGITS = 12  # values that differ by rounding alone are tied


def chances(selection: Array) -> Array:
    """How likely each model is chosen, one row for each metric: the best one, or all tied for it alike.

    >>> chances(np.array([[0.5, 0.7, 0.7, np.nan]] + [[np.nan] * 4] * 24))[:2].tolist()
    [[0.0, 0.5, 0.5, 0.0], [0.25, 0.25, 0.25, 0.25]]
    """
    values = np.round(oriented(selection), _DIGITS)
    best = values == values.max(-1, keepdims=True)
    return np.asarray(best / best.sum(-1, keepdims=True))


def ranks(held_out: Array) -> Array:
    """The rank of each model by each metric, 1 the best; tied ones share their mean rank, undefined ones the last."""
    values = np.round(oriented(held_out), _DIGITS)
    return np.asarray(rankdata(-values, axis=-1))


def chosen_ranks(selection: Array, held_out: Array) -> Array:
    """The rank of the chosen model: selector, goal; the mean over the splits, which come first."""
    return np.asarray(np.einsum("...sm,...gm->...sg", chances(selection), ranks(held_out)).mean(0))


def scaled_regrets(selection: Array, held_out: Array) -> Array:
    """What is lost to the best model over what the median model loses, both summed over the splits: selector, goal.

    NaN where the median model is as good as the best.
    """
    values = np.round(oriented(held_out), _DIGITS)
    lowest = np.where(np.isfinite(values), values, np.inf).min(-1, keepdims=True)
    values = np.where(np.isfinite(values), values, np.where(np.isfinite(lowest), lowest, 0.0))
    lost = values.max(-1, keepdims=True) - values
    of_choice = np.einsum("...sm,...gm->...sg", chances(selection), lost).sum(0)
    of_median = np.median(lost, axis=-1).sum(0)
    return np.asarray(np.divide(of_choice, of_median, out=np.full_like(of_choice, np.nan), where=of_median > 0))
