"""Gain curve: the recall over the share of the rows that is flagged, with bounds that hold for the whole curve.

At one prevalence it is the ROC curve sheared: the share flagged is prevalence x recall + (1 - prevalence) x false
positive rate. A curve that lies within a band of ROC curves so lies, sheared, within the sheared band.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.metrics.curves import roc_points

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.intervals.rate_intervals import Ends
    from steelyard.analysis.thresholds.rate_bands import RateBand
    from steelyard.statistics.score_table import ScoreTable


class GainCurve(NamedTuple):
    """The recall against the share of the rows flagged, at every threshold, highest threshold first."""

    flagged: Array
    recall: Array
    thresholds: Array


def gain_points(table: ScoreTable, share: float) -> GainCurve:
    """The curve of a table at a prevalence."""
    fpr, recall, thresholds = roc_points(table)
    return GainCurve(share * recall + (1 - share) * fpr, recall, thresholds)


def gain_ends(band: RateBand, shares: tuple[float, ...], flagged: Array) -> Ends:
    """The least and the greatest recall at shares of flagged rows, of the ROC curves in a band, at some prevalences.

    A curve that passes through the rectangles of all thresholds lies between the lines through their corners, also
    where tied scores let it run straight from one to the next.
    """
    low = [_sheared(band.fpr_high, band.recall_low, share, flagged) for share in shares]
    high = [_sheared(band.fpr_low, band.recall_high, share, flagged) for share in shares]
    return np.minimum.reduce(low), np.maximum.reduce(high)


def _sheared(fpr: Array, recall: Array, share: float, flagged: Array) -> Array:
    """The recall at shares of flagged rows on lines between points of ROC curves, from none to all of both classes."""
    fpr, recall = (np.concatenate([[0.0], column, [1.0]]) for column in (fpr, recall))
    return np.asarray(np.interp(flagged, share * recall + (1 - share) * fpr, recall))
