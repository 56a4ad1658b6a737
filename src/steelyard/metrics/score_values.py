"""Values on scores: a metric on the ordered scores of two classes, or on one column of scores for each class."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from steelyard.arrays import checks
from steelyard.arrays.labels import absent_sentence, chosen_label
from steelyard.exceptions import InputError, InputTypeError
from steelyard.metrics.call_options import NATIVE
from steelyard.metrics.values import MetricValue
from steelyard.tables.array_tables import counted_where_they_are, needed_probabilities

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label
    from steelyard.metrics.call_options import CallOptions
    from steelyard.metrics.measure import Metric
    from steelyard.metrics.spec import MetricSpec
    from steelyard.tables.probability_table import ColumnTable, ProbabilityTable
    from steelyard.tables.score_table import ScoreTable


def on_scores(metric: Metric, table: ScoreTable, parameters: Mapping[str, object]) -> MetricValue:
    """On the ordered scores of the two classes."""
    scaled = table if metric.is_own else table.of_usual_size()
    value = score_values(metric, scaled, parameters)
    if scaled is not table and np.isnan(value).any():  # weights of 1e-311 beside 1e300, whose ratios are right
        value = score_values(metric, table, parameters)
    low, high = metric.range
    # Sums of weights in different orders differ in the last digit: 1.0000000000000002 is 1.
    bounded = np.clip(value, low - 1e-9, high + 1e-9) == value
    clipped = np.where(bounded, np.clip(value, low, high), value)
    return MetricValue(np.asarray(clipped, dtype=np.float64), lambda: _score_reason(metric, table, value))


def score_values(metric: Metric, table: ScoreTable, parameters: Mapping[str, object]) -> float | Array:
    """The value alone; one a draw where the table holds draws of weights."""
    if metric.scores is None:
        raise InputTypeError(
            f"{metric.name} needs a threshold: give it table.at(threshold), or labels in place of scores."
        )
    value: float | Array = metric.scores(table, **parameters)
    return value


def _score_reason(metric: Metric, table: ScoreTable, value: float | Array) -> str | None:
    if np.isinf(value).any():
        sides = ((table.positive, 0), (table.negative, 1))
        rows = sum(int((side.rows * (side.scores == score)).sum()) for side, score in sides)
        return _given_no_probability(rows) if metric.of_probabilities else None
    return getattr(value, "why", "the function returned NaN")


def _given_no_probability(rows: int) -> str:
    return f"{rows:,} {'row was' if rows == 1 else 'rows were'} given probability 0 for what came true"


def counted_columns(
    metric: Metric, y_true: ArrayLike, y_score: ArrayLike, options: CallOptions
) -> ProbabilityTable | ScoreTable:
    """A column of scores for each class as a table: that of all classes, or of the one that is meant."""
    if np.shape(y_score)[1] == 1:
        checks.check_one_column(y_score)  # refuses it by its shape
    rows = {"sample_weight": options.sample_weight, "frequency": options.frequency}
    table = counted_where_they_are(y_true, y_score, labels=options.labels, **rows)
    two = len(table.labels) == 2 and metric.columns is None
    if options.average != NATIVE or (options.pos_label is None and not two):
        return table
    return class_of_columns(table, options.pos_label)


def class_of_columns(table: ProbabilityTable, pos_label: Label) -> ScoreTable:
    """One class against the rest by its column: that named, or the positive one of two."""
    return table.class_table(class_place(table, pos_label)).table


def class_place(table: ProbabilityTable, pos_label: Label) -> int:
    """The column of one class: that named, or the positive one of two."""
    names = list(table.labels)
    label = chosen_label(pos_label, names, lambda: np.bincount(table.codes, minlength=len(names)))
    if label not in names:
        raise InputError(absent_sentence(f"The positive class {label!r}", label, names))
    return names.index(label)


def reads_columns(spec: MetricSpec) -> bool:
    """Whether the metric as asked can be taken of a column of scores for each class."""
    return spec.reads_scores(None) and (spec.metric.columns is not None or not spec.is_native)


def on_columns(
    metric: Metric, table: ProbabilityTable, options: CallOptions, parameters: Mapping[str, object]
) -> MetricValue:
    """On a column of scores for each class: the metric's own form, or each class against the rest, averaged."""
    if options.average == NATIVE and metric.columns is not None:
        return _on_rows(metric, table, parameters)
    parts, names = averaged_columns(metric, table, options, parameters), []
    each, shares = [], []
    for part in parts:
        names.append(part.name)
        each.append(on_scores(metric, part.table, parameters))
        shares.append(part.share)
    values = np.array([part.value for part in each])
    values = np.where(np.isnan(values), options.replacement, values)
    if options.average is None:
        return MetricValue(values, lambda: np.array([part.why for part in each], dtype=object))
    value = np.average(values, weights=np.ones(len(values)) if options.average == "macro" else shares)
    bad = next((i for i, v in enumerate(values) if math.isnan(v)), 0)
    return MetricValue(np.asarray(value), lambda: f"class {names[bad]!r}: {each[bad].why}", averaged=True)


def averaged_columns(
    metric: Metric, table: ProbabilityTable, options: CallOptions, parameters: Mapping[str, object]
) -> Iterable[ColumnTable]:
    """What is averaged: each class against the rest, each pair of classes, or all columns pooled; else refused."""
    of_pairs = parameters.get("multi_class") == "ovo"
    if options.average == NATIVE or (of_pairs and options.average == "micro"):
        ways = "average='macro', 'weighted'" + ("" if of_pairs else ", 'micro'")
        raise InputError(
            f"{metric.name} of several columns of scores needs {ways} or None, or one class as pos_label=."
        )
    if options.average == "micro":
        return (table.pooled_table(),)
    return table.pair_tables() if of_pairs else table.class_tables


def row_losses(metric: Metric, table: ProbabilityTable, parameters: Mapping[str, object]) -> Array:
    """The loss of each row by the probabilities that it was given, whose mean the metric is."""
    assert metric.columns is not None  # noqa: S101 - asked before
    given = needed_probabilities(table, metric.name) if metric.of_probabilities else table.probabilities
    losses: Array = metric.columns(given, table.codes, **parameters)
    return losses


def share_losses(metric: Metric, table: ProbabilityTable, parameters: Mapping[str, object]) -> Array:
    """The loss of a row of each class that is given the class shares as its probabilities."""
    assert metric.columns is not None  # noqa: S101 - asked before
    shares = table.class_shares
    losses: Array = metric.columns(np.tile(shares, (len(shares), 1)), np.arange(len(shares)), **parameters)
    return losses


def _on_rows(metric: Metric, table: ProbabilityTable, parameters: Mapping[str, object]) -> MetricValue:
    losses, weights = row_losses(metric, table, parameters), table.weights
    counted = weights > 0
    if not counted.any():
        return MetricValue(np.asarray(math.nan), lambda: "no rows of any weight")
    value = np.average(losses[counted], weights=weights[counted])
    if metric.is_skill_of_columns:
        shares = table.class_shares
        without_skill = share_losses(metric, table, parameters)[shares > 0] @ shares[shares > 0]
        if not without_skill:
            return MetricValue(np.asarray(math.nan), lambda: "all rows are of one class")
        value = 1 - value / without_skill
    lost = counted & np.isinf(losses)
    rows = int(lost.sum() if table.frequency is None else table.frequency[lost].sum())
    return MetricValue(np.asarray(value), lambda: _given_no_probability(rows))
