"""Prevalence: the same classifier where the classes come in other shares; one more axis of the table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from steelyard.analysis.prevalence.class_shares import checked_prevalence, class_shares, positive_shares
from steelyard.analysis.prevalence.estimated_prevalence import Prevalence, stated_prevalence
from steelyard.analysis.results.formatting import ROUNDING
from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputError
from steelyard.ingest.frame_columns import FrameColumns
from steelyard.ingest.refused_keywords import refuses_other_keywords
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.frame_tables import given_table
from steelyard.metrics.registry import get_metric
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.counts import Counts
from steelyard.statistics.placed_values import taken
from steelyard.statistics.probability_table import ProbabilityTable
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame, Label, LabelSet, Weights
    from steelyard.analysis.prevalence.estimated_prevalence import PrevalenceLike
    from steelyard.ingest.source import Source
    from steelyard.metrics.metric import Metric
    from steelyard.metrics.registry import MetricLike
    from steelyard.statistics.statistic import MetricTable, Statistic


@overload
def at_prevalence(y_true: Counts, pi: float) -> Counts: ...
@overload
def at_prevalence(y_true: Counts[Any], pi: PrevalenceLike) -> Counts[Array]: ...
@overload
def at_prevalence(y_true: Confusion, pi: PrevalenceLike) -> Confusion: ...
@overload
def at_prevalence(y_true: ScoreTable, pi: PrevalenceLike) -> ScoreTable: ...
@overload
def at_prevalence(
    y_true: ArrayLike,
    pi: PrevalenceLike,
    y_pred: ArrayLike,
    *,
    pos_label: Label = None,
    labels: LabelSet | None = None,
    sample_weight: Weights = None,
    frequency: Weights = None,
) -> Confusion: ...
@overload
def at_prevalence(
    y_true: Frame | Source | ArrayLike,
    pi: PrevalenceLike,
    *,
    y_score: ArrayLike | None = None,
    pos_label: Label = None,
    labels: LabelSet | None = None,
    sample_weight: Weights = None,
    frequency: Weights | str = None,
    true: str | None = None,
    pred: str | None = None,
    score: str | None = None,
    weight: str | None = None,
) -> Confusion | ScoreTable: ...
@refuses_other_keywords
def at_prevalence(
    y_true: Statistic | Frame | Source | ArrayLike,
    pi: PrevalenceLike,
    y_pred: ArrayLike | None = None,
    *,
    y_score: ArrayLike | None = None,
    pos_label: Label = None,
    labels: LabelSet | None = None,
    sample_weight: Weights = None,
    frequency: Weights | str = None,
    true: str | None = None,
    pred: str | None = None,
    score: str | None = None,
    weight: str | None = None,
) -> Statistic:
    """The table that the same rates would give where a share `pi` of the rows is positive.

    Rows of each class are re-weighted, their total kept: any metric and any curve of the result is that of the
    other prevalence, and an array of shares gives an array of tables. Nguyen's unbalanced factor is pi = 1/2. A table
    of K classes takes a vector of K shares; a Prevalence is read at the share that was seen. Rows are given as (y_true,
    y_pred) or with y_score=, or as a frame with the names of its columns: true, pred or score, weight. For intervals
    give `prevalence=pi` to interval or evaluate.

    >>> from steelyard import Counts, accuracy, precision
    >>> forecasts = Counts(tp=28, fn=23, fp=72, tn=2680)
    >>> round(precision(forecasts), 3), round(precision(at_prevalence(forecasts, 0.5)), 3)
    (0.28, 0.955)
    >>> accuracy(at_prevalence(forecasts, [0.01, 0.1, 0.5])).round(3)
    array([0.97 , 0.931, 0.761])
    """
    columns = FrameColumns(true, pred, score, weight)
    call = CallOptions(pos_label, labels, sample_weight=sample_weight, frequency=frequency)
    data, pi = given_table(y_true, y_pred, y_score, call, columns)[0], stated_prevalence(pi)
    if isinstance(data, Counts):
        return _counts_at(data, checked_prevalence(pi))
    if isinstance(data, Confusion):
        return _confusion_at(data, pi)
    if np.asarray(pi).ndim and not isinstance(pi, Prevalence):
        raise InputError("Scores are read at one prevalence at a time; give a number, not several.")
    return scores_at(data, float(positive_shares(data, pi)))


def _counts_at(counts: Counts[Any], pi: Array) -> Counts[Any]:
    p, n = (np.asarray(part, dtype=np.float64) for part in (counts.positives, counts.negatives))
    if (p == 0).any() or (n == 0).any():
        raise InputError("A table without positives or without negatives has no value at another prevalence.")
    if pi.ndim:
        p, n = p[..., None], n[..., None]
        cells = [np.asarray(cell)[..., None] for cell in counts]
    else:
        cells = list(counts)
    up, down = pi * (p + n) / p, (1 - pi) * (p + n) / n
    return Counts(cells[0] * up, cells[1] * up, cells[2] * down, cells[3] * down)


def _confusion_at(table: Confusion, pi: PrevalenceLike) -> Confusion:
    factor = class_shares(table, pi) * table.matrix.sum() / np.where(table.matrix.sum(1) > 0, table.matrix.sum(1), 1)
    weights = table.matrix * factor[:, None]
    return Confusion(table.labels, table.rows, weights, table.squares * factor[:, None] ** 2, table.positive)


def table_at(table: MetricTable, pi: PrevalenceLike | None) -> MetricTable:
    """A table of any kind where the classes have these shares; as it is where none are given."""
    if pi is None:
        return table
    return columns_at(table, pi) if isinstance(table, ProbabilityTable) else at_prevalence(table, pi)


def columns_at(table: ProbabilityTable, pi: PrevalenceLike) -> ProbabilityTable:
    """The rows of a column of scores for each class, those of each class re-weighted to its share."""
    weights = np.bincount(table.codes, table.weights, minlength=len(table.labels))
    margins = Confusion(table.labels, np.diag((weights > 0).astype(np.int64)), np.diag(weights), np.diag(weights))
    factor = class_shares(margins, pi) * weights.sum() / np.where(weights > 0, weights, 1)
    factors = taken(factor, table.codes)
    weights = factors if table.sample_weight is None else table.sample_weight * factors
    return replace(table, sample_weight=weights)


def scores_at(table: ScoreTable, pi: Array | float) -> ScoreTable:
    """The score table re-weighted to a prevalence, or to each of several; the weights may have an axis of draws."""
    p, n = np.asarray(table.positive.total, dtype=float), np.asarray(table.negative.total, dtype=float)
    if (p == 0).any() or (n == 0).any():
        raise InputError("Scores of one class only have no value at another prevalence.")
    total = p + n
    return ScoreTable(
        _scaled(table.positive, pi * total / p), _scaled(table.negative, (1 - pi) * total / n), table.label
    )


def _scaled(side: ClassScores, factor: Array) -> ClassScores:
    factor = np.asarray(factor)[..., None]
    return ClassScores(side.scores, side.rows, side.weights * factor, side.squares * factor**2)


@names_wrong_arguments
def swap_prevalences(metric: MetricLike, a: Counts, b: Counts, *, least: float = 1e-6) -> list[float]:
    """The prevalences at which two classifiers, as Counts, swap rank by a metric, ascending; none where one leads.

    >>> from steelyard import Counts
    >>> careful, eager = Counts(60, 40, 10, 890), Counts(90, 10, 150, 750)
    >>> [round(pi, 3) for pi in swap_prevalences("accuracy", careful, eager)]
    [0.341]
    """
    ranked_by = get_metric(metric)
    ends = np.log(least / (1 - least))
    grid = 1 / (1 + np.exp(-np.linspace(ends, -ends, 4_001)))
    gap = _gap(ranked_by, a, b, grid)
    apart = np.flatnonzero(np.abs(gap) > ROUNDING)  # metrics that agree everywhere never swap
    turns = apart[:-1][np.sign(gap[apart[:-1]]) != np.sign(gap[apart[1:]])]
    return [_root(ranked_by, a, b, grid[i], grid[apart[apart > i][0]]) for i in turns]


def _gap(metric: Metric, a: Counts, b: Counts, pi: Array) -> Array:
    return np.asarray(metric(at_prevalence(a, pi)) - metric(at_prevalence(b, pi)))


def _root(metric: Metric, a: Counts, b: Counts, low: float, high: float) -> float:
    """Where the difference changes sign, by looking ever closer."""
    for _ in range(8):
        grid = np.linspace(low, high, 101)
        signs = np.sign(_gap(metric, a, b, grid))
        i = int(np.flatnonzero(signs != signs[0])[0])
        low, high = grid[i - 1], grid[i]
    return float((low + high) / 2)
