"""Label shift: the class shares of unlabelled scores, and the test that only these have changed.

Saerens, Latinne and Decaestecker (2002), Neural Computation 14, 21-41, by expectation maximisation; here over ranges of
scores, so that no score needs to be a calibrated probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.distributions import logistic
from steelyard.analysis.levels import tails
from steelyard.analysis.prevalence.prevalence import Prevalence, set_fields
from steelyard.arrays.backend import as_read

if TYPE_CHECKING:
    from typing import Any

    from steelyard._types import Array, Labels
    from steelyard.tables.probability_table import ProbabilityTable
    from steelyard.tables.score_table import ScoreTable


_STEPS, _CLOSE = 2_000, 1e-10  # of the maximisation, and when it stops
_MOST_LOGIT = 16.0  # of the largest share that is looked at, and minus that of the smallest
_COARSE, _FINE = 49, 65  # shares looked at for each draw: everywhere, and where they are likely
_UNLIKELY = 14.0  # the log-likelihood below the highest from which on a share is not looked at closely
_AT_ONCE = 2_000_000  # terms in memory together
_BOOTSTRAP_STEPS, _SWEEPS = 100, 12
_TINY = 1e-300


def most_likely_shares(rates: Array, counts: Array, steps: int = _STEPS) -> Array:
    """The class shares at which the counts of each range are most likely, where a class has these rates there.

    Axes before the last of the counts, and before the last two of the rates, are draws.

    >>> rates = np.array([[0.8, 0.2], [0.1, 0.9]])  # of two classes in two ranges
    >>> most_likely_shares(rates, np.array([24, 76])).round(3).tolist()
    [0.2, 0.8]
    """
    rows = counts.sum(-1, keepdims=True)
    shares = np.full((*np.broadcast_shapes(rates.shape[:-2], counts.shape[:-1]), rates.shape[-2]), 1 / rates.shape[-2])
    for _ in range(steps):
        joint = shares[..., None] * rates
        parts = counts / np.maximum(joint.sum(-2), _TINY)
        moved = (joint * parts[..., None, :]).sum(-1) / rows
        change, shares = np.abs(moved - shares).max(initial=0), moved / np.maximum(moved.sum(-1, keepdims=True), _TINY)
        if change < _CLOSE:
            break
    return np.asarray(shares)


def share_draws(rates: Array, counts: Array, rng: np.random.Generator) -> Array:
    """Draws of the class shares of the rows, one for each draw of the rates: draws first, classes last."""
    if rates.shape[1] > 2:
        return _gibbs_draws(rates, counts, rng)
    size = max(_AT_ONCE // (_FINE * rates.shape[-1]), 1)
    parts = [_grid_draws(rates[i : i + size], counts, rng) for i in range(0, len(rates), size)]
    first = np.concatenate(parts)
    return np.stack([first, 1 - first], -1)


def _grid_draws(rates: Array, counts: Array, rng: np.random.Generator) -> Array:
    """A draw from the posterior of the first class's share under Jeffreys' prior, by each draw of the rates."""
    coarse = np.broadcast_to(np.linspace(-_MOST_LOGIT, _MOST_LOGIT, _COARSE), (len(rates), _COARSE))
    density = _log_density(coarse, rates, counts)
    likely = density > density.max(1, keepdims=True) - _UNLIKELY
    step = coarse[0, 1] - coarse[0, 0]
    low = coarse[0, likely.argmax(1)] - step
    high = coarse[0, _COARSE - 1 - likely[:, ::-1].argmax(1)] + step
    fine = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, _FINE)
    density = _log_density(fine, rates, counts)
    weights = np.exp(density - density.max(1, keepdims=True))
    running = np.cumsum((weights[:, 1:] + weights[:, :-1]) / 2, axis=1)
    drawn = rng.random(len(rates)) * running[:, -1]
    index = np.minimum((running < drawn[:, None]).sum(1), _FINE - 2)
    logits = fine[np.arange(len(rates)), index] + (high - low) / (_FINE - 1) * rng.random(len(rates))
    return logistic(logits)


def _log_density(logits: Array, rates: Array, counts: Array) -> Array:
    """The logarithm of the posterior density of each logit of the first class's share, up to a constant."""
    share, other = logistic(logits), logistic(-logits)
    mixed = share[..., None] * rates[:, None, 0] + other[..., None] * rates[:, None, 1]
    prior = -0.5 * (np.logaddexp(0, logits) + np.logaddexp(0, -logits))
    return np.asarray(np.log(np.maximum(mixed, _TINY)) @ counts + prior)


def _gibbs_draws(rates: Array, counts: Array, rng: np.random.Generator) -> Array:
    """The same of many classes: the most likely shares of weighted rows, then sweeps of a Gibbs sampler.

    The rows of each range are assigned to the classes at random by how likely each is, and the shares are drawn by how
    many each class got, with a row of prior in all, so that no share is exactly 0.
    """
    weighted = rng.standard_gamma(np.maximum(counts, _TINY), (len(rates), len(counts)))
    shares, k = most_likely_shares(rates, weighted, _BOOTSTRAP_STEPS), rates.shape[1]
    rows = counts.astype(np.int64)
    for _ in range(_SWEEPS):
        joint = np.moveaxis(shares[..., None] * rates, 1, -1)
        joint = joint + _TINY
        assigned = rng.multinomial(rows, joint / joint.sum(-1, keepdims=True))
        drawn = np.maximum(rng.standard_gamma(assigned.sum(1) + 1 / k), _TINY)
        shares = drawn / drawn.sum(-1, keepdims=True)
    return np.asarray(shares)


# ---------------------------------------------------------------- mixture test
# Whether any class shares explain the scores of unlabelled rows, with both samples' noise carried.


_TEST_STEPS, _FIRST_STEPS, _SIMULATED = 60, 30, 499


class MixtureTest(NamedTuple):
    """The likelihood ratio of the unlabelled rows alone against the mixture, and how often chance alone exceeds it."""

    statistic: float
    p_value: float


def mixture_test(labelled: Array, counts: Array, rng: np.random.Generator, simulated: int = _SIMULATED) -> MixtureTest:
    """The test by a parametric bootstrap: both samples are drawn again as if the mixture were right.

    `labelled` has the rows of each class, first axis, in each range; `counts` the unlabelled ones.
    """
    rates, shares = _fitted(labelled[None], counts[None])
    seen = _statistic(labelled[None], counts[None], rates, shares)[0]
    again = np.stack(
        [
            rng.multinomial(max(round(rows.sum()), 1), _shares(rate), simulated)
            for rows, rate in zip(labelled, rates[0], strict=True)
        ],
        axis=1,
    ).astype(np.float64)
    mixed = rng.multinomial(round(counts.sum()), _shares(shares[0] @ rates[0]), simulated).astype(np.float64)
    statistics = _statistic(again, mixed, *_fitted(again, mixed))
    above = (statistics >= seen - 1e-9).sum()
    return MixtureTest(float(seen), float((1 + above) / (1 + simulated)))


def _shares(rates: Array) -> Array:
    """Shares that sum to 1, to rounding."""
    return np.asarray(rates / rates.sum())


def _fitted(labelled: Array, counts: Array) -> tuple[Array, Array]:
    """The rates and shares at which both samples are together most likely, by expectation maximisation."""
    rates = labelled / np.maximum(labelled.sum(-1, keepdims=True), 1e-300)
    seen = (counts / counts.sum(-1, keepdims=True))[..., None, :]
    # A range that a class was not seen in is possible, also where it holds unlabelled rows alone.
    mixed = 0.96 * rates + 0.02 * rates.mean(-2, keepdims=True) + 0.02 * seen
    shares = most_likely_shares(mixed, counts, _FIRST_STEPS)
    rates = mixed
    for _ in range(_TEST_STEPS):
        joint = shares[..., None] * rates
        assigned = joint * (counts / np.maximum(joint.sum(-2), 1e-300))[..., None, :]
        shares = assigned.sum(-1) / counts.sum(-1, keepdims=True)
        both = labelled + assigned
        rates = both / np.maximum(both.sum(-1, keepdims=True), 1e-300)
    return rates, shares


def _statistic(labelled: Array, counts: Array, rates: Array, shares: Array) -> Array:
    """Twice the log-likelihood that is lost to the mixture, by the rows of both samples."""
    mixed = (shares[..., None] * rates).sum(-2)
    lost = _deviance(counts, mixed) + _deviance(labelled, rates).sum(-1)
    return np.asarray(2 * lost)


def _deviance(counts: Array, rates: Array) -> Array:
    seen = counts / np.maximum(counts.sum(-1, keepdims=True), 1e-300)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(counts > 0, counts * np.log(seen / np.maximum(rates, 1e-300)), 0.0)
    return np.asarray(terms.sum(-1))


# ---------------------------------------------------------------- score cells
# Labelled rows by class and by range of scores, each range predicted as one class.


PRIOR_ROWS = 0.5  # added to the rows of a class that are predicted as each class, spread over the ranges there


@dataclass(frozen=True)
class ScoreRanges:
    """Ranges of scores by their lower ends; the scores below the first end are a range as well."""

    ends: Array

    def places(self, scores: Array) -> Array:
        """The range of each score."""
        return np.searchsorted(self.ends, scores, side="right")

    @property
    def size(self) -> int:
        """How many ranges there are."""
        return len(self.ends) + 1


@dataclass(frozen=True)
class ColumnRanges:
    """Ranges of rows that have a column for each class: the highest column, and ranges of how high that is."""

    by_class: tuple[ScoreRanges, ...]

    def places(self, columns: Array) -> Array:
        """The range of each row."""
        highest, starts = columns.argmax(1), np.cumsum([0, *(ranges.size for ranges in self.by_class)])
        indices = np.zeros(len(columns), dtype=np.int64)
        for k, ranges in enumerate(self.by_class):
            rows = highest == k
            indices[rows] = starts[k] + ranges.places(columns[rows, k])
        return indices

    @property
    def size(self) -> int:
        """How many ranges there are."""
        return sum(ranges.size for ranges in self.by_class)


@dataclass(frozen=True)
class ScoreCells:
    """The rows of each class, first axis, in each range of scores, and the index of the class predicted there.

    The positive one of two classes is first. Weighted rows count by their effective size.
    """

    rows: Array
    decisions: Array

    @property
    def shares(self) -> Array:
        """The share of the rows of a class that is in each range."""
        return np.asarray(self.rows / self.rows.sum(1, keepdims=True))

    @property
    def decided(self) -> Array:
        """The rows of each class, first axis, that are predicted as each class."""
        return np.asarray(self.rows @ self._by_decision.T)

    @property
    def _by_decision(self) -> Array:
        return np.asarray(np.arange(len(self.rows))[:, None] == self.decisions, dtype=np.float64)

    def drawn_shares(self, rates: Array, rng: np.random.Generator) -> Array:
        """Draws of the shares where so much of each class is predicted as each class: draws, classes, ranges."""
        balanced = self.shares.mean(0)
        together = np.maximum(self._by_decision @ balanced, 1e-300)[self.decisions]
        shape = np.maximum(self.rows + PRIOR_ROWS * balanced / together, 1e-6)
        within = rng.standard_gamma(shape, (len(rates), *shape.shape))
        sums = np.maximum(within @ self._by_decision.T, 1e-300)
        return np.asarray(within * (rates / sums)[..., self.decisions])

    def drawn_rates(self, draws: int, rng: np.random.Generator) -> Array:
        """Draws of how much of each class is predicted as each class; all of it where no class is predicted."""
        decided, possible = self.decided, self._by_decision.any(1)
        cells = rng.standard_gamma(decided + PRIOR_ROWS, (draws, *decided.shape)) * possible
        return np.asarray(cells / cells.sum(-1, keepdims=True))


class RangedCells(NamedTuple):
    """Cells, and the ranges that unlabelled rows are counted by."""

    cells: ScoreCells
    ranges: ScoreRanges | ColumnRanges

    def counted(self, scores: Array, times: Array | None = None) -> Array:
        """The unlabelled rows in each range, each as often as it counts."""
        return np.bincount(self.ranges.places(scores), times, minlength=self.ranges.size).astype(np.float64)


# ---------------------------------------------------------------- of two classes


def two_class_cells(table: ScoreTable, threshold: float | None, ranges: int) -> RangedCells:
    """The cells of about so many ranges of scores; a threshold divides none of them."""
    # Both classes together, each of the same weight, are divided into ranges of equal weight.
    scores = np.concatenate([side.scores for side in table.classes])
    weights = np.concatenate([side.weights / (2 * side.total) for side in table.classes])
    order = np.argsort(scores, kind="stable")
    quantiles = np.searchsorted(np.cumsum(weights[order]), np.arange(1, ranges) / ranges)
    ends = np.unique(scores[order][np.minimum(quantiles, len(scores) - 1)])
    if len(table.bins):  # an end within a bin moves down to its start
        index = np.searchsorted(table.bins[:, 0], ends, side="right") - 1
        inside = (index >= 0) & (ends <= table.bins[index, 1])
        ends = np.where(inside, table.bins[index, 0], ends)
    at = None if threshold is None or not np.isfinite(threshold) else as_read(threshold, table.precision)
    ends = np.unique(ends if at is None else np.append(ends, at))
    by_score, rows = ScoreRanges(ends), []
    for side in table.classes:
        in_range = np.bincount(by_score.places(side.scores), side.weights, minlength=by_score.size)
        rows.append(in_range.astype(np.float64) * (side.effective_size / side.total))
    flagged = np.arange(by_score.size) > (-1 if at is None else np.searchsorted(ends, at))
    if threshold == np.inf:
        flagged[:] = False
    return RangedCells(ScoreCells(np.array(rows), np.where(flagged, 0, 1)), by_score)


# ---------------------------------------------------------------- of many classes


def class_cells(table: ProbabilityTable, ranges: int) -> RangedCells:
    """The cells of the highest column and of about so many ranges of it."""
    highest, k, by_class = table.most_probable, len(table.labels), []
    for i in range(k):
        column = table.probabilities[highest == i, i]
        quantiles = np.quantile(column, np.arange(1, ranges) / ranges) if len(column) else np.zeros(0)
        by_class.append(ScoreRanges(np.unique(quantiles)))
    by_column = ColumnRanges(tuple(by_class))
    cell = table.codes * by_column.size + by_column.places(table.probabilities)
    weights, squares = (
        np.bincount(cell, part, minlength=k * by_column.size).reshape(k, -1) for part in (table.weights, table.squares)
    )
    per_row = squares.sum(1, keepdims=True) / np.maximum(weights.sum(1, keepdims=True), 1e-300)
    decisions = np.repeat(np.arange(k), [each.size for each in by_class])
    return RangedCells(ScoreCells(weights / np.maximum(per_row, 1e-300), decisions), by_column)


def decided_cells(rows: Array, threshold: float | None = None) -> RangedCells:
    """The cells of a confusion matrix, true classes first: a range is what is predicted as a class.

    A threshold divides the scores of two classes, the positive one first.
    """
    if threshold is not None:
        return RangedCells(
            ScoreCells(rows[:, ::-1].astype(np.float64), np.array([1, 0])), ScoreRanges(np.array([threshold]))
        )
    highest = ColumnRanges((ScoreRanges(np.zeros(0)),) * len(rows))
    return RangedCells(ScoreCells(rows.astype(np.float64), np.arange(len(rows))), highest)


# ---------------------------------------------------------------- how many


def range_count(fewest: float, *, fine: bool = False) -> int:
    """How many ranges the scores are divided into where the smallest class has so many rows.

    With few ranges the maximum is nearly unbiased: with 25 positives, 5,000 unlabelled rows and a true share of .30 the
    interval of three ranges covers .95, that of six .82 (250 runs), at widths of .15 and .13. `fine` ranges are for a
    test of fit and for the share of positives by score, where a share of its own is estimated in each.
    """
    return int(np.clip(fewest / 8, 4, 12)) if fine else int(np.clip(2 + np.sqrt(fewest) / 5, 3, 10))


# ---------------------------------------------------------------- unlabelled prevalence
# The class shares that the scores of unlabelled rows show, drawn together with the rates.


_DRAWS = 2_000
_MOST_CLASS_DRAWS = 1_000  # of many classes at a time


class UnlabelledPrevalence(Prevalence):
    """The prevalence of unlabelled rows by their scores, given how the scores of each class lie in labelled rows.

    Values are read at the most likely shares. Where a table is drawn, its draws of the rates give the draws of the
    prevalence, so that intervals carry the noise of both samples and what they have in common.
    """

    cells: ScoreCells
    unlabelled: Array
    likely: Array
    _drawn_shares: Array

    @classmethod
    def of(
        cls, cells: ScoreCells, unlabelled: Array, labels: Labels, rng: np.random.Generator, draws: int = _DRAWS
    ) -> UnlabelledPrevalence:
        """The prevalence of so many unlabelled rows in each range of the cells."""
        prevalence = cls.__new__(cls)
        likely = most_likely_shares(cells.shares, unlabelled)
        for name, value in {"cells": cells, "unlabelled": unlabelled, "likely": likely}.items():
            object.__setattr__(prevalence, name, value)
        drawn = prevalence.drawn_with(cells.drawn_rates(draws, rng), rng)
        object.__setattr__(prevalence, "_drawn_shares", drawn)
        if len(labels) == 2:
            set_fields(prevalence, None, None, None, tuple(drawn[:, 0].tolist()))
        else:
            # As many labelled rows as would show the shares as precisely.
            as_precise = np.maximum(likely * (1 - likely), 1e-6) / np.maximum(drawn.var(0), 1e-12)
            rows = float(np.clip(np.median(as_precise), 1.0, 1e9))
            set_fields(prevalence, None, None, tuple(zip(labels, (likely * rows).tolist(), strict=True)), None)
        return prevalence

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """The most likely share of the positives, or of each class; where it is 0 or 1, the mean of the draws."""
        if self.counts is not None:
            return np.asarray(self.likely, dtype=dtype)
        inside = 1e-9 < self.likely[0] < 1 - 1e-9
        return np.asarray(self.likely[0] if inside else self._drawn_shares[:, 0].mean(), dtype=dtype)

    def draws(self, n: int, rng: np.random.Generator) -> Array:
        """Draws of the share of the positives, or of every class on a last axis."""
        drawn: Array = self._drawn_shares[rng.integers(0, len(self._drawn_shares), n)]
        return drawn[:, 0] if self.counts is None else drawn

    def draws_beside(self, cells: Array, rng: np.random.Generator) -> Array:
        """Draws of the same, each given a draw of a table's cells: true classes in order, then predicted ones."""
        if cells.shape[1:] != self.cells.decided.shape:
            return self.draws(len(cells), rng)
        drawn = self.drawn_with(cells / np.maximum(cells.sum(-1, keepdims=True), 1e-300), rng)
        return drawn[:, 0] if self.counts is None else drawn

    def drawn_with(self, rates: Array, rng: np.random.Generator) -> Array:
        """Draws of the shares of all classes, by draws of how much of each class is predicted as each."""
        size = len(rates) if len(self.likely) == 2 else _MOST_CLASS_DRAWS
        parts = (rates[i : i + size] for i in range(0, len(rates), size))
        return np.concatenate([share_draws(self.cells.drawn_shares(part, rng), self.unlabelled, rng) for part in parts])

    def class_ends(self, level: float) -> Array:
        """The bounds of the interval of each class's share, a row each, which hold its most likely value."""
        low, high = np.quantile(self._drawn_shares, tails(level), axis=0)
        seen = self.likely if self.counts is not None else np.array([float(self), 1 - float(self)])
        return np.stack([np.minimum(low, seen), np.maximum(high, seen)], -1)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The bounds of the interval of the share of the positives."""
        float(self)
        low, high = self.class_ends(level)[0].tolist()
        return low, high

    def __repr__(self) -> str:
        rows = f"{int(self.unlabelled.sum()):,} unlabelled rows"
        if self.counts is None:
            return f"<Prevalence by {rows}: {self.text()}>"
        shares = ", ".join(f"{label} {share:.3g}" for (label, _), share in zip(self.counts, self.likely, strict=True))
        return f"<Prevalence by {rows}: {shares}>"
