"""Class recalls: which classes are found less often than the median class, and the rare classes as one.

What is stated is the median of the recalls seen. The classes are tested against that of the Beta distribution that
all recalls share, fitted to their rows: of classes with a few rows each the one seen would be 1, and every miss beyond.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.holm import holm
from steelyard.analysis.intervals.rate_intervals import jeffreys
from steelyard.statistics.effective_rows import weight_per_class_row, weight_per_row

if TYPE_CHECKING:
    from steelyard._types import Array, Labels
    from steelyard.statistics.confusion import Confusion

RARE_ROWS = 5  # rows below which a class is shown with the other rare ones
_LOGITS, _MASSES = np.linspace(-7, 7, 29), 2.0 ** np.arange(-1, 14)  # of the mean recall, and the rows it is worth
_FINE, _UNLIKELY, _NEAR = np.linspace(-0.6, 0.6, 61), 1e-4, 1e-9


@dataclass(frozen=True)
class ClassStanding:
    """The median of the recalls, and the places of the classes that are shown to lie below and above it."""

    median: float
    below: tuple[int, ...]
    above: tuple[int, ...]
    classes: int  # that have rows in the truth


@dataclass(frozen=True)
class PooledClasses:
    """Classes with fewer rows than stated as one: their rows and hits, and the recall of all with its ends."""

    fewest: int
    labels: Labels
    rows: int
    hits: float
    weight: float
    recall: float
    low: float
    high: float


def class_standing(table: Confusion, level: float) -> ClassStanding:
    """Which classes are below and above the median class: exact binomial tails, adjusted by Holm's method.

    The tails are averaged over the medians that the recalls may have, as that is not known either.

    >>> from steelyard import Confusion
    >>> table = Confusion.of_rows(range(10, 22), np.diag([5] + [90] * 11) + np.roll(np.diag([85] + [10] * 11), 1, 1))
    >>> class_standing(table, 0.95).below
    (0,)
    """
    from scipy.stats import binom

    row_weight = weight_per_class_row(table.weights, table.squares)[:, 0] if table.weighted else 1.0
    hits, totals = table.hits / row_weight, table.matrix.sum(1) / row_weight
    present = np.flatnonzero(totals > 0)
    hits, totals = hits[present], totals[present]
    medians, share = _medians(hits, totals)
    low, high = np.floor(hits + _NEAR), np.ceil(hits - _NEAR)
    size = np.maximum(np.ceil(totals - _NEAR), high)
    below, above = np.zeros(len(present)), np.zeros(len(present))
    for median, part in zip(medians, share, strict=True):
        below += part * binom.cdf(high, size, median)
        above += part * binom.sf(low - 1, size, median)
    shown = np.array(holm(np.concatenate([below, above]))) <= 1 - level
    under, over = (present[part].tolist() for part in np.split(shown, 2))
    return ClassStanding(float(np.median(hits / totals)), tuple(under), tuple(over), len(present))


def _medians(hits: Array, totals: Array) -> tuple[Array, Array]:
    """Medians that the distribution of the recalls may have, and how likely each is."""
    from scipy.stats import beta

    pairs, times = np.unique(np.round(np.stack([hits, totals - hits]), 9), axis=1, return_counts=True)
    logit, mass = (grid.ravel() for grid in np.meshgrid(_LOGITS, _MASSES, indexing="ij"))
    best = int(_log_likelihoods(pairs, times, logit, mass).argmax())
    near, masses = logit[best] + _FINE, mass[best] * np.array([0.5, 1.0, 2.0])
    logit, mass = (grid.ravel() for grid in np.meshgrid(near, masses, indexing="ij"))
    logs = _log_likelihoods(pairs, times, logit, mass)
    share = np.exp(logs - logs.max())
    kept = share > _UNLIKELY
    mean = 1 / (1 + np.exp(-logit[kept]))
    return np.asarray(beta.ppf(0.5, mean * mass[kept], (1 - mean) * mass[kept])), share[kept] / share[kept].sum()


def _log_likelihoods(pairs: Array, times: Array, logit: Array, mass: Array) -> Array:
    """The log-likelihood of hits and misses where recalls are of Beta distributions of these means and masses."""
    from scipy.special import betaln

    mean = 1 / (1 + np.exp(-logit))
    a, b = mean * mass, (1 - mean) * mass
    return np.asarray(times @ (betaln(pairs[0][:, None] + a, pairs[1][:, None] + b) - betaln(a, b)))


def pooled_classes(table: Confusion, level: float, fewest: int = RARE_ROWS) -> PooledClasses | None:
    """The classes with fewer rows than stated, and some, as one rate; None where there are not two of them."""
    rows = table.true_rows
    rare = np.flatnonzero((rows > 0) & (rows < fewest))
    if len(rare) < 2:
        return None
    weight, hits = (float(part[rare].sum()) for part in (table.matrix.sum(1), table.hits))
    per_row = float(weight_per_row(weight, table.squares.sum(1)[rare].sum())) if table.weighted else 1.0
    low, high = jeffreys(np.array(hits / per_row), np.array(weight / per_row), level)
    labels = tuple(table.labels[place] for place in rare.tolist())
    return PooledClasses(fewest, labels, int(rows[rare].sum()), hits, weight, hits / weight, float(low), float(high))
