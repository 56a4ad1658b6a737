"""Bins of scores: ranges inside which the order of the rows was not kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.statistics.class_scores import ClassScores

NO_BINS: Array = np.zeros((0, 2))


def merge_bins(bins: Array, others: Array = NO_BINS) -> Array:
    """The bins of two tables, those that overlap made one."""
    ranges = np.concatenate([bins, others])
    if not len(ranges):
        return NO_BINS
    ranges = ranges[np.argsort(ranges[:, 0], kind="stable")]
    reach = np.maximum.accumulate(ranges[:, 1])
    starts = np.flatnonzero(np.append(True, ranges[1:, 0] > reach[:-1]))
    return np.column_stack([ranges[starts, 0], reach[np.append(starts[1:], len(ranges)) - 1]])


def lowered(scores: ClassScores, bins: Array) -> ClassScores:
    """The same rows with every score inside a bin moved to its lower end, the one threshold that is exact there."""
    if not len(bins) or not scores.size:
        return scores
    return scores.moved(_moved(scores.scores, bins, 0)).compact()


def raised(scores: ClassScores, bins: Array) -> ClassScores:
    """The same rows with the scores at the lower end of a bin moved to its upper end: above all others in it."""
    return scores.moved(_moved(scores.scores, bins, 1)) if len(bins) and scores.size else scores


def _moved(scores: Array, bins: Array, end: int) -> Array:
    place = np.searchsorted(bins[:, 0], scores, side="right") - 1
    inside = (place >= 0) & (scores <= bins[place, 1])
    return np.where(inside, bins[place, end], scores)


def upper_end(bins: Array, score: float) -> float:
    """The highest score that a row counted at this one may have had."""
    return float(_moved(np.array([score]), bins, 1)[0]) if len(bins) else score


def bin_divided_at(bins: Array, threshold: float) -> tuple[float, float] | None:
    """The bin that a threshold would divide, if any."""
    place = int(np.searchsorted(bins[:, 0], threshold, side="left")) - 1
    if place >= 0 and threshold <= bins[place, 1]:
        return float(bins[place, 0]), float(bins[place, 1])
    return None


def saved_bins(values: object) -> Array:
    """The bins of a saved table, checked."""
    if values is None:
        return NO_BINS
    try:
        bins = np.asarray(values, dtype=np.float64).reshape(-1, 2)
    except (TypeError, ValueError, OverflowError):
        raise InputError("The blurs of a saved score table are pairs of numbers, low and high.") from None
    ends = bins.ravel()
    if not np.isfinite(ends).all() or (np.diff(ends) <= 0).any():
        raise InputError(
            "The blurs of a saved score table are finite ranges in ascending order, apart from each other."
        )
    return bins
