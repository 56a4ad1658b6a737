"""Chance: what guessing scores on the same table."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.formatting import ROUNDING, three_digits
from steelyard.analysis.rows import Flat
from steelyard.errors import InputError
from steelyard.ingest.score_matrix import tables_per_class
from steelyard.metrics import application
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.registry import get_metric
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.counts import Counts
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.metrics.metric import Metric

OPTIONS = frozenset(field.name for field in fields(CallOptions))
TABLE_OPTIONS = ("average", "pos_label")


@dataclass(frozen=True, repr=False)
class Chance(Flat):
    """What guessing scores by one metric: a number each, or an array where the data or the average are one.

    A score has no classes to guess: there `same_margins` is the value of a score that tells the rows nothing.
    """

    metric: str
    same_margins: Any
    majority: Any
    minority: Any
    coin: Any

    def __repr__(self) -> str:
        said = [("with the same margins", self.same_margins), ("always the majority", self.majority)]
        said += [("always the minority", self.minority), ("a fair coin", self.coin)]
        return f"{self.metric} of guessing {', '.join(f'{words} {_shown(value)}' for words, value in said)}"


def _shown(value: Any) -> str:
    return f"[{', '.join(map(_shown, value))}]" if np.ndim(value) else three_digits(float(value))


def chance(metric: Any, data: Any, y_other: Any = None, **options: Any) -> Chance:
    """What guessing scores by a metric on the same data; data and options as in calling the metric.

    The guesses: independent of the truth with the same margins; always the commonest class; always the rarest class
    that occurs; each class equally often.

    >>> from steelyard import Counts
    >>> chance("f1", Counts(tp=28, fn=23, fp=72, tn=2680))
    f1 of guessing with the same margins 0.0241, always the majority 0, always the minority 0.0357, a fair coin 0.0351
    >>> chance("accuracy", ["a", "a", "b", "c"], ["a", "b", "b", "c"])
    accuracy of guessing with the same margins 0.312, always the majority 0.500, always the minority 0.250, ...
    """
    metric, reading = read(metric, options)
    if y_other is not None and metric.scores is not None and np.ndim(y_other) == 2:
        prior = _prior_columns(data, y_other, reading)
        return Chance(metric.name, metric(data, prior, **options), *[math.nan] * 3)
    table = application.counted(metric, data, y_other, reading)
    if isinstance(table, Confusion) and reading.average == "native":
        table = collapsed(table, reading.pos_label)
    one_class = lacks_a_class(table)
    # What was about the rows is weighed by now, and the positive class of a two-class table is settled.
    left = {key: value for key, value in options.items() if isinstance(table, Confusion) and key in TABLE_OPTIONS}
    left |= {"undefined": reading.undefined}
    values = [np.where(one_class, math.nan, metric(guess, **left)) for guess in _guesses(table)]
    return Chance(metric.name, *(_plain(metric, value) for value in values), *[math.nan] * (4 - len(values)))


def read(metric: Any, options: dict[str, Any]) -> tuple[Metric, CallOptions]:
    """The metric with its parameters, which leave the options, and how its call is to be read."""
    metric, parameters = get_metric(metric), {key: options.pop(key) for key in list(options) if key not in OPTIONS}
    return metric.fixed(**parameters) if parameters else metric, CallOptions(**options)


def collapsed(table: Confusion, pos_label: Any) -> Counts | Confusion:
    """The table of the named class against the rest, if one was named."""
    return table if pos_label is None and table.positive is None else table.counts(pos_label)


def _plain(metric: Metric, value: Array) -> Any:
    # Where a metric can be negative, the guess of the same margins is 0 by a difference, which floats miss by 1e-17.
    value = np.where(np.abs(value) < ROUNDING, 0.0, value) if metric.range[0] < 0 else value
    return value if value.ndim else value.item()


def lacks_a_class(table: Any) -> Any:
    """Which tables of an array hold one true class or no rows; a single one is refused."""
    match table:
        case Counts():
            classes = np.stack([table.positives, table.negatives], -1)
        case Confusion():
            classes = table.matrix.sum(1)
        case _:
            classes = np.stack([table.positive.total, table.negative.total], -1)
    lacking = (classes > 0).sum(-1) < 2
    if lacking.ndim == 0 and lacking:
        what = "rows of one true class only" if classes.any() else "no rows"
        raise InputError(f"The table holds {what}; guessing is judged on rows of at least two classes.")
    return lacking


def _guesses(table: Any) -> tuple[Any, ...]:
    """The tables that guessing expects: of the same margins, always the majority, always the minority, a coin."""
    match table:
        case Counts():
            return _guessed_counts(table)
        case Confusion():
            return _guessed_classes(table)
        case _:
            return (_uninformed(table),)


def _guessed_counts(counts: Counts) -> tuple[Counts, ...]:
    p, n, flagged, left = (np.asarray(margin, dtype=np.float64) for margin in _margins(counts))
    common = p > n  # of equal classes the negative is called the majority
    with np.errstate(invalid="ignore"):
        return tuple(
            Counts.trusted(p * share, p * rest, n * share, n * rest)
            for share, rest in (
                (flagged / (p + n), left / (p + n)),
                (common * 1.0, ~common * 1.0),
                (~common * 1.0, common * 1.0),
                (0.5, 0.5),
            )
        )


def _margins(counts: Counts) -> tuple[Any, ...]:
    return counts.positives, counts.negatives, counts.predicted_positives, counts.predicted_negatives


def _guessed_classes(table: Confusion) -> tuple[Confusion, ...]:
    truth = table.matrix.sum(1).astype(np.float64)
    k, present = len(truth), np.flatnonzero(truth)
    # The last of the rarest classes, so that equal classes have a majority and a minority that differ.
    rarest = present[::-1][truth[present][::-1].argmin()]
    shares = (np.eye(k)[truth.argmax()], np.eye(k)[rarest], np.full(k, 1 / k))
    matrices = [independent(table.matrix), *(np.outer(truth, share) for share in shares)]
    return tuple(_expected(table, matrix) for matrix in matrices)


def independent(matrix: Array) -> Array:
    """The table that guessing with the same margins expects."""
    truth, predicted = (matrix.sum(axis).astype(np.float64) for axis in (1, 0))
    return np.outer(truth, predicted / truth.sum())


def _expected(table: Confusion, matrix: Array) -> Confusion:
    # The rows only tell which cells are empty, lest what rounding leaves of a sum of weights be taken for one.
    return Confusion(table.labels, (matrix > 0).astype(np.int64), matrix, matrix, table.positive)


def _uninformed(table: ScoreTable) -> ScoreTable:
    """The same rows, each with the share of positives as its score."""
    share = np.array([table.positive.total / table.total])
    return ScoreTable(_level(table.positive, share), _level(table.negative, share), table.label)


def _level(side: ClassScores, score: Array) -> ClassScores:
    rows, weights = np.array([side.n]), np.array([side.total])
    return ClassScores(score, rows) if side.given_weights is None else ClassScores(score, rows, weights, weights)


def _prior_columns(y_true: Any, y_score: Any, reading: CallOptions) -> Array:
    """One column of scores a class, each row's score the share of that class."""
    weights = {"sample_weight": reading.sample_weight, "frequency": reading.frequency}
    _, _, shares = tables_per_class(y_true, y_score, labels=reading.labels, **weights)
    return np.broadcast_to(np.asarray(shares) / sum(shares), np.shape(y_score))
