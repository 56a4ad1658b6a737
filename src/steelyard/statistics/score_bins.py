"""Blurs: ranges of scores inside which the order of the rows was not kept. Used by ScoreTable alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import InputError

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.statistics.class_scores import Side

NONE: Array = np.zeros((0, 2))


def joined(one: Array, other: Array) -> Array:
    """The ranges of two tables, those that overlap made one."""
    ranges = np.concatenate([one, other])
    if not len(ranges):
        return NONE
    ranges = ranges[np.argsort(ranges[:, 0], kind="stable")]
    reach = np.maximum.accumulate(ranges[:, 1])
    starts = np.flatnonzero(np.append(True, ranges[1:, 0] > reach[:-1]))
    return np.column_stack([ranges[starts, 0], reach[np.append(starts[1:], len(ranges)) - 1]])


def snapped(side: Side, ranges: Array) -> Side:
    """The same rows with every score inside a range moved to its lower end, where the whole range is cut."""
    if not len(ranges) or not side.size:
        return side
    return side.moved(_moved(side.scores, ranges, 0)).compact()


def raised(side: Side, ranges: Array) -> Side:
    """The same rows with the scores at the lower end of a range moved to its upper end: above all others in it."""
    return side.moved(_moved(side.scores, ranges, 1)) if len(ranges) and side.size else side


def _moved(scores: Array, ranges: Array, end: int) -> Array:
    place = np.searchsorted(ranges[:, 0], scores, side="right") - 1
    inside = (place >= 0) & (scores <= ranges[place, 1])
    return np.where(inside, ranges[place, end], scores)


def inside(ranges: Array, cut: float) -> tuple[float, float] | None:
    """The range that a cut would divide, if any."""
    place = int(np.searchsorted(ranges[:, 0], cut, side="left")) - 1
    if place >= 0 and cut <= ranges[place, 1]:
        return float(ranges[place, 0]), float(ranges[place, 1])
    return None


def read(ranges: Any) -> Array:
    """The ranges of a saved table, checked."""
    if ranges is None:
        return NONE
    try:
        found = np.asarray(ranges, dtype=np.float64).reshape(-1, 2)
    except (TypeError, ValueError):
        raise InputError("The blurs of a saved score table are pairs of numbers, low and high.") from None
    flat = found.ravel()
    if not np.isfinite(flat).all() or (np.diff(flat) <= 0).any():
        raise InputError(
            "The blurs of a saved score table are finite ranges in ascending order, apart from each other."
        )
    return found
