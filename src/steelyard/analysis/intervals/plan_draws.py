"""Plan draws: the tables that all rows may have, where labels were chosen by a plan, and the rows of such a plan.

In each part the share of positives is drawn from its posterior, with a third of a row added to each class, and the
rows of the part around their number, as all rows are a sample of their population. With a half as with a third, these
draws and those around the observed value cover 95 % and more at 5 %, 1 % and .2 % positives; a third is narrower.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from steelyard.analysis.distributions import logistic
from steelyard.analysis.intervals.draws import (
    COUNT_DRAWS,
    HALF_ROW,
    RANK_PRIOR,
    DrawnValues,
    TableDraws,
    student_spread,
)
from steelyard.analysis.intervals.isotonic import is_calibration_error, is_isotonic
from steelyard.arrays.backend import DOUBLE
from steelyard.exceptions import InputError, InputTypeError
from steelyard.tables.class_scores import ClassScores
from steelyard.tables.confusion import Confusion
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from steelyard._types import Array, Label
    from steelyard.analysis.intervals.estimand import Estimand
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.predictions import Predictions


_THIRD_ROW = 1 / 3
_SCORE_DRAWS, _AT_ONCE = 1_000, 2_000_000  # draws of scores, and weights of rows that are drawn at a time
_NO_CALIBRATION = "no interval: how far the choice of labels moves a calibration error is not known"


@dataclass
class PlannedIntervals:
    """The draws of one set of planned labels for all metrics of a call."""

    rows: PlannedRows
    inference: Inference
    _tables: dict[bool, TableDraws] = field(default_factory=dict)
    _scores: list[ScoreTable] = field(default_factory=list)

    @classmethod
    def of(cls, inference: Inference) -> PlannedIntervals | None:
        """Those of an inference; None where labels were chosen by no plan."""
        return None if inference.planned is None else cls(inference.planned, inference)

    def values(self, estimand: Estimand) -> DrawnValues | str | None:
        """The metric on draws of its table and at their centre, or why there are none; None for one of each class."""
        if not isinstance(estimand.table, ScoreTable):
            if estimand.options.average is None:
                return None
            return DrawnValues.of(estimand, self._label_draws(estimand))
        if is_calibration_error(estimand.metric) or is_isotonic(estimand.metric):
            return _NO_CALIBRATION
        if not self._scores:
            draws, rng = self.inference.draws or _SCORE_DRAWS, self.inference.draws_of("scores")
            steps = math.ceil(draws * len(self.rows.scores) / _AT_ONCE)
            self._scores = [
                score_draws(self.rows, len(step), rng, self.inference.level)
                for step in np.array_split(np.arange(draws), steps)
            ]
        values = np.concatenate([estimand.on_scores(table) for table in self._scores])
        centre = self.rows.score_table(self.rows.entries_at(_centre_shares(self.rows)))
        return DrawnValues(values, values, estimand.on_scores(centre)[0])

    def _label_draws(self, estimand: Estimand) -> TableDraws:
        """The draws of the confusion matrix; the label that the metric is about stands first."""
        if not self._tables:
            drawn = table_draws(self.rows, self.inference.draws or COUNT_DRAWS, self.inference.generator)
            swapped = (tables[:, ::-1, ::-1] for tables in drawn[:3])  # type: ignore[index]  # there is a centre
            self._tables = {False: drawn, True: TableDraws(*swapped)}
        table, index = estimand.label_table, estimand.positive_place
        is_positive = isinstance(table, Confusion) and index is not None and table.labels[index] == self.rows.labels[1]
        return self._tables[is_positive or not isinstance(table, Confusion)]


def _centre_shares(rows: PlannedRows) -> Array:
    return np.asarray((rows.parts.positives + _THIRD_ROW) / (rows.parts.labels + 2 * _THIRD_ROW))


def table_draws(rows: PlannedRows, draws: int, rng: np.random.Generator) -> TableDraws:
    """Draws of the confusion matrix of all rows, negatives first, and the table at their centre."""
    cells = _cells(rows, *_drawn_parts(rows, draws, rng))
    return TableDraws(cells, cells, _cells(rows, _centre_shares(rows)[None], rows.parts.rows[None]))


def _cells(rows: PlannedRows, shares: Array, weights: Array) -> Array:
    """The cells, given the share of positives and the weight of each part."""
    sides = np.stack([~rows.parts.flagged, rows.parts.flagged], -1).astype(np.float64)
    positives = shares * weights
    return np.asarray(np.stack([(weights - positives) @ sides, positives @ sides], -2))


def _drawn_parts(rows: PlannedRows, draws: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draws of the share of positives of each part, and of its rows."""
    parts = rows.parts
    positives, negatives = parts.positives + _THIRD_ROW, parts.labels - parts.positives + _THIRD_ROW
    size = (draws, len(parts.labels))
    weights = rng.standard_gamma(np.where(parts.known, parts.rows, parts.labels + _THIRD_ROW), size)
    of_stratum = (parts.stratum[:, None] == np.arange(len(rows.sizes))).astype(np.float64)
    totals = rng.standard_gamma(rows.sizes.astype(np.float64), (draws, len(rows.sizes)))
    divided = weights / (weights @ of_stratum)[:, parts.stratum] * totals[:, parts.stratum]
    return rng.beta(positives, negatives, size), np.where(parts.known, weights, divided)


def score_draws(rows: PlannedRows, draws: int, rng: np.random.Generator, level: float) -> ScoreTable:
    """Draws of the scores of all rows by class: in each part the rows of a class have random weights.

    A little is added at the score of a random row of that part, of either class: few rows, or none, do not show where
    others of their class are.
    """
    shares, part_weights = _drawn_parts(rows, draws, rng)
    scores, index = np.unique(rows.scores, return_inverse=True)
    sides = []
    for is_positive, share in ((True, shares), (False, 1 - shares)):
        table = np.zeros((draws, len(scores)))
        for part, weight in enumerate((part_weights * share).T):
            in_part = rows.codes == part
            in_class = index[in_part & (rows.positive == is_positive)]
            shape = student_spread(len(in_class), level)
            of_rows = rng.standard_gamma(shape, (draws, len(in_class))) / shape
            of_random_row = rng.standard_gamma(RANK_PRIOR, draws)
            total = np.maximum(of_rows.sum(1) + of_random_row, 1e-300)
            random_row = rng.choice(index[in_part], draws)
            _add_columns(table, in_class, of_rows / total[:, None] * weight[:, None])
            table[np.arange(draws), random_row] += of_random_row / total * weight
        rows_per_weight = float((rows.positive == is_positive).sum() / rows.sizes.sum())
        sides.append(ClassScores(scores, table * rows_per_weight, table, table))
    return ScoreTable(sides[0], sides[1], rows.labels[1], precision=rows.precision)


def _add_columns(table: Array, columns: Array, weights: Array) -> None:
    """Add weights to columns, several of which may be the same."""
    if len(columns):
        order = np.argsort(columns, kind="stable")
        used, starts = np.unique(columns[order], return_index=True)
        table[:, used] += np.add.reduceat(weights[:, order], starts, axis=1)


# ---------------------------------------------------------------- planned rows
# Labels of some rows of strata whose sizes are known, and what they show of all rows.
#
# The share of positives in a stratum is that of its labels with half a positive more on each side of the threshold,
# divided over the strata as the scores have it: without it a side in which no positive was found would have none, and
# one of 1,000 labels at .2 % positives would then often show a recall of 1.


_STEPS, _HALVINGS, _NEAR, _MOST_LOGIT = 50, 30, 1e-7, 30.0  # of the fit, and the logits that it is limited to


class SamplingDesign(Protocol):
    """A design by which rows were chosen to be labelled, such as a label plan."""

    def labelled(self, given: Predictions) -> PlannedRows:
        """The labelled rows, each in its stratum."""


def labelled_by(p: Predictions) -> PlannedRows:
    """The labelled rows of a design; anything else is refused."""
    if not hasattr(p.design, "labelled"):
        raise InputTypeError(
            argument="design", expected="'random', 'stratified' or a plan of label_plan", given=p.design, do="give one"
        )
    rows: PlannedRows = p.design.labelled(p)
    return rows


def refuse_beside_plan(p: Predictions, **options: object) -> None:
    """Refuse what cannot go with a plan: options of the question, and what rows of a plan cannot have."""
    given = p.given
    weight = "weight" if given.is_frame else "sample_weight"
    rows = {"labels": given.labels, weight: given.sample_weight, "frequency": given.frequency, "by": given.by}
    rows |= {"cluster": given.cluster, "exact": given.exact, "bins": given.bins}
    for name, value in (rows | options).items():
        if value is not None:
            raise InputError(
                f"{name}= does not go with a label plan: it is of all rows, of which the plan labels some. Leave "
                f"{name}= out."
            )


class StratumParts(NamedTuple):
    """The strata, those that a threshold divides in two: labels, positives among them, rows that they stand for."""

    stratum: Array
    flagged: Array
    labels: Array
    positives: Array
    rows: Array
    expected: Array  # the share of positives that the scores have
    known: Array  # whether the number of rows is known, not estimated from the labels


class PlannedEntries(NamedTuple):
    """Labelled rows with the rows that each stands for; after them rows for classes without a label in their part."""

    part: Array
    positive: Array
    score: Array
    weight: Array

    def first(self, rows: int) -> PlannedEntries:
        """So many of them: those that are labelled."""
        return PlannedEntries(*(column[:rows] for column in self))


@dataclass(frozen=True, eq=False)
class PlannedRows:
    """Labelled rows, the stratum of each, and how many rows each stratum has."""

    positive: Array
    strata: Array
    sizes: Array
    expected: Array
    scores: Array
    flagged: Array | None
    flagged_sizes: Array | None  # of each stratum the rows below the threshold and above, where all scores are given
    labels: tuple[Label, Label] = (0, 1)
    precision: str = DOUBLE
    threshold: float | None = None
    stated: tuple[str, ...] = ()

    @cached_property
    def codes(self) -> Array:
        """The part of each row, numbered without gaps."""
        return np.asarray(np.unique(self._halves, return_inverse=True)[1])

    @property
    def _halves(self) -> Array:
        flagged = np.zeros(len(self.strata), dtype=np.int64) if self.flagged is None else self.flagged.astype(np.int64)
        return np.asarray(2 * self.strata + flagged)

    @cached_property
    def parts(self) -> StratumParts:
        """The parts in which there are labels."""
        labels = np.bincount(self._halves, minlength=2 * len(self.sizes))
        positives = np.bincount(self._halves, self.positive, minlength=len(labels))
        by_stratum = labels.reshape(-1, 2)
        rows = by_stratum / np.maximum(by_stratum.sum(1, keepdims=True), 1) * self.sizes[:, None]
        known = np.zeros(len(self.sizes), dtype=bool)
        if self.flagged_sizes is not None:  # known where each half with rows has a label
            known = ~((self.flagged_sizes > 0) & (by_stratum == 0)).any(1)
            rows = np.where(known[:, None], self.flagged_sizes, rows)
        labelled = np.flatnonzero(labels)
        stratum = labelled // 2
        return StratumParts(
            stratum,
            labelled % 2 == 1,
            labels[labelled],
            positives[labelled],
            rows.ravel()[labelled],
            self.expected[stratum],
            known[stratum],
        )

    @cached_property
    def shares(self) -> Array:
        """The share of positives in each part, with half a row of the rarer class on each side of the threshold.

        The half row is divided over the parts of the side as the rarer class is.
        """
        parts = self.parts
        fitted = fitted_shares(parts)
        rare = np.minimum(fitted, 1 - fitted)
        sides = parts.flagged.astype(np.int64)
        added = HALF_ROW * (parts.rows * rare) / np.bincount(sides, parts.rows * rare, minlength=2)[sides]
        return np.asarray((parts.positives + added * fitted / rare) / (parts.labels + added / rare))

    @cached_property
    def entries(self) -> PlannedEntries:
        """The labelled rows, each with its share of the rows of its part."""
        return self.entries_at(self.shares)

    def entries_at(self, shares: Array) -> PlannedEntries:
        """The same where the parts have those shares of positives."""
        parts, codes = self.parts, self.codes
        rows = np.stack([1 - shares, shares], -1) * parts.rows[:, None]  # of each class in each part
        labels = np.stack([parts.labels - parts.positives, parts.positives], -1)
        weight = (rows / np.maximum(labels, 1))[codes, self.positive.astype(np.int64)]
        part, missing = np.nonzero((labels == 0) & (rows > 0))
        middle = np.array([np.median(self.scores[codes == each]) for each in part], dtype=np.float64)
        return PlannedEntries(
            np.concatenate([codes, part]),
            np.concatenate([self.positive, missing == 1]),
            np.concatenate([self.scores, middle]),
            np.concatenate([weight, rows[part, missing]]),
        )

    def confusion(self) -> Confusion:
        """The confusion matrix of all rows, as the labels show it."""
        entries = self.entries
        cells = 2 * entries.positive + self.parts.flagged[entries.part]
        columns = (entries.weight, entries.weight**2)
        weights, squares = (np.bincount(cells, column, minlength=4).reshape(2, 2) for column in columns)
        rows = np.bincount(cells[: len(self.positive)], minlength=4).reshape(2, 2)
        return Confusion(self.labels, rows, weights, squares, self.labels[1])

    def score_table(self, entries: PlannedEntries | None = None) -> ScoreTable:
        """The scores of all rows by class, as the labels show them."""
        entries = self.entries if entries is None else entries
        rows = (np.arange(len(entries.part)) < len(self.positive)).astype(np.int64)  # those after them are not labelled
        sides = []
        for is_positive in (True, False):
            in_class = np.flatnonzero(entries.positive == is_positive)
            order = in_class[np.argsort(entries.score[in_class], kind="stable")]
            weights = entries.weight[order]
            sides.append(ClassScores(entries.score[order], rows[order], weights, weights**2))
        return ScoreTable(sides[0], sides[1], self.labels[1], precision=self.precision)


def fitted_shares(parts: StratumParts) -> Array:
    """The shares of positives that fit the labels best: the logits of the expected ones, moved and stretched.

    Half a row of each class at their mean, and a prior of the slope with mean 1 and standard deviation 1, keep the fit
    within limits where few positives were found. Newton's steps, halved until the fit is better.
    """
    logits = np.log(parts.expected) - np.log1p(-parts.expected)
    fit = _LogisticFit(parts.positives, parts.labels, logits - float(np.average(logits, weights=parts.labels)))
    share = (parts.positives.sum() + HALF_ROW) / (parts.labels.sum() + 2 * HALF_ROW)
    at = np.array([np.log(share / (1 - share)), 0.0])
    for _ in range(_STEPS):
        step = fit.step(at)
        if np.abs(step).max() < _NEAR:
            break
        here = fit.log_posterior(at)
        better = (size for size in 0.5 ** np.arange(_HALVINGS) if fit.log_posterior(at + size * step) > here)
        size = next(better, 0.0)
        at = at + size * step
        if not size:
            break
    return fit.shares(at)


class _LogisticFit(NamedTuple):
    """A logistic curve over centred logits, with its prior."""

    positives: Array
    labels: Array
    centred: Array

    def shares(self, at: Array) -> Array:
        """The shares on the curve of that intercept and slope."""
        return _limited_logistic(at[0] + at[1] * self.centred)

    def log_posterior(self, at: Array) -> float:
        """The logarithm of the posterior of that intercept and slope, up to a constant."""
        shares, mean = self.shares(at), _limited_logistic(at[:1])[0]
        likelihood = self.positives @ np.log(shares) + (self.labels - self.positives) @ np.log1p(-shares)
        return float(likelihood + HALF_ROW * np.log(mean * (1 - mean)) - (at[1] - 1) ** 2 / 2)

    def step(self, at: Array) -> Array:
        """Newton's step from there."""
        shares, mean = self.shares(at), float(_limited_logistic(at[:1])[0])
        residuals, variances = self.positives - self.labels * shares, self.labels * shares * (1 - shares)
        gradient = np.array([residuals.sum() + HALF_ROW * (1 - 2 * mean), residuals @ self.centred - (at[1] - 1)])
        cross = variances @ self.centred
        information = [[variances.sum() + mean * (1 - mean), cross], [cross, variances @ self.centred**2 + 1]]
        return np.asarray(np.linalg.solve(np.array(information), gradient))


def _limited_logistic(logits: Array) -> Array:
    return logistic(np.clip(logits, -_MOST_LOGIT, _MOST_LOGIT))
