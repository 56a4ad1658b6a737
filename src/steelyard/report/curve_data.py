"""Shapes: what a page draws of a score table: the band of its curves, its distributions, its reliability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis import draws as drawing
from steelyard.analysis.intervals import interval
from steelyard.metrics.curves import roc_points
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.statistics.class_scores import ClassScores
    from steelyard.statistics.score_table import ScoreTable

_GRID = 61  # recalls at which the band is given
_BAND_DRAWS, BAND_ENTRIES = 400, 2_048
_BINS, RELIABILITY_BINS = 48, 10
OUTER = 0.001  # share of the rows beyond either end of a histogram of scores that are no probabilities


def _sides(table: ScoreTable) -> tuple[ClassScores, ClassScores]:
    return table.positive, table.negative


def band(table: ScoreTable, level: float) -> dict[str, list[float]]:
    """The false positive rate at each of some recalls, as far as resampled rows put it there, pointwise.

    At a recall every other curve of the page is a rising or falling function of that rate, whatever the prevalence,
    so this one band serves them all.
    """
    small = drawing.binned(table, BAND_ENTRIES)
    drawn = drawing.rank_draws(small, _BAND_DRAWS, drawing.generator(None), level)
    fpr, tpr, _ = roc_points(drawn)
    recalls = np.linspace(0, 1, _GRID)
    rates = np.array([np.interp(recalls, t, f) for f, t in zip(fpr, tpr, strict=True)])
    low, high = np.quantile(rates, drawing.tails(level), axis=0)
    return {"recall": _short(recalls), "low": _short(low), "high": _short(high)}


def histogram(table: ScoreTable) -> dict[str, list[float]]:
    """The share of each class in bins of equal width; what lies beyond the ends is in the outer bins."""
    low, high = (0.0, 1.0) if table.has_probabilities else _ends(table)
    edges = np.linspace(low, high, _BINS + 1)
    shares = [_shares(side, edges) for side in _sides(table)]
    return {"ends": [low, high], "positive": _short(shares[0]), "negative": _short(shares[1])}


def _ends(table: ScoreTable) -> tuple[float, float]:
    ends = [np.quantile(side.scores, (OUTER, 1 - OUTER)) for side in _sides(table) if len(side.scores)]
    low, high = float(np.min(ends)), float(np.max(ends))
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _shares(side: ClassScores, edges: Array) -> Array:
    places = np.clip(np.searchsorted(edges, side.scores, side="right") - 1, 0, _BINS - 1)
    weights = np.bincount(places, side.entry_weights, minlength=_BINS).astype(np.float64)
    return np.asarray(weights / max(weights.sum(), 1e-300))


def reliability(table: ScoreTable, level: float) -> list[dict[str, float]]:
    """In bins of equal width: the weight and the summed score of each class, and how sure the share of positives is."""
    parts = [_bins(side) for side in _sides(table)]
    held = parts[0][0] + parts[1][0] > 0
    p, n = _effective(table, parts[0][0][held], parts[1][0][held], held)
    sure = interval("precision", Counts(p, 0 * p, n, 0 * n), level=level, method="jeffreys")
    columns = {"p": parts[0][0], "n": parts[1][0], "sp": parts[0][1], "sn": parts[1][1]}
    found = {key: np.asarray(value)[held] for key, value in columns.items()}
    found |= {"low": np.asarray(sure.low), "high": np.asarray(sure.high)}
    return [{key: float(f"{value[i]:.10g}") for key, value in found.items()} for i in range(int(held.sum()))]


def _effective(table: ScoreTable, p: Array, n: Array, held: Array) -> tuple[Array, Array]:
    """The weight of each class in a bin as the rows that would tell as much: (sum of w)^2 / sum of w^2 of them.

    The share of positives stays that of the weights, so that the interval is about the point that is drawn.
    """
    squares = sum(np.bincount(_places(s), s.squares, minlength=RELIABILITY_BINS) for s in _sides(table))
    worth = (p + n) / np.maximum(np.asarray(squares)[held], 1e-300)
    return p * worth, n * worth


def _places(side: ClassScores) -> Array:
    return np.minimum((side.scores * RELIABILITY_BINS).astype(np.int64), RELIABILITY_BINS - 1)


def _bins(side: ClassScores) -> tuple[Array, Array]:
    places, weights = _places(side), side.weights
    held, scored = (np.bincount(places, w, minlength=RELIABILITY_BINS) for w in (weights, weights * side.scores))
    return held, scored


def _short(values: Array) -> list[float]:
    """Digits that a picture can show."""
    return [float(f"{value:.4g}") for value in values]
