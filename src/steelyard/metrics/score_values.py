"""Values on scores: a metric on the ordered scores of two classes, or on one column of scores for each class."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import InputError, InputTypeError
from steelyard.ingest import arrays
from steelyard.ingest.score_matrix import class_probabilities, tables_per_class, tables_per_pair
from steelyard.metrics.call_options import NATIVE
from steelyard.metrics.metric_value import MetricValue
from steelyard.statistics.positive_class import absent_sentence, chosen_label

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from steelyard._types import Array
    from steelyard.metrics.call_options import CallOptions
    from steelyard.metrics.formula import Formula
    from steelyard.metrics.metric import Metric
    from steelyard.statistics.score_table import ScoreTable


def on_scores(metric: Metric, table: ScoreTable, parameters: Mapping[str, object]) -> MetricValue:
    """On the ordered scores of the two classes."""
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
        sure = int((table.positive.scores == 0).sum() + (table.negative.scores == 1).sum())
        return f"{sure:,} rows were given probability 0 for what came true" if metric.of_probabilities else None
    return getattr(value, "why", "the function returned NaN")


def on_score_columns(
    metric: Metric, y_true: ArrayLike, y_score: ArrayLike, options: CallOptions, parameters: Mapping[str, object]
) -> MetricValue:
    """On one column of scores a class: the metric's own form, one class, or each class against the rest, averaged."""
    if np.shape(y_score)[1] == 1:
        arrays.check_one_column(y_score)  # refuses it by its shape
    if options.average == NATIVE and options.pos_label is None and metric.columns is not None:
        return _on_rows(metric, metric.columns, y_true, y_score, options)
    if options.average == NATIVE and (options.pos_label is not None or np.shape(y_score)[1] == 2):
        return _on_one_column(metric, y_true, y_score, options, parameters)
    if options.average in (NATIVE, "micro"):
        raise InputError(
            f"{metric.name} of several columns of scores needs average='macro', 'weighted' or None, or one class as "
            "pos_label=."
        )
    if options.pos_label is not None:
        raise InputError(f"pos_label= and average={options.average!r} contradict each other; give one.")
    split = tables_per_pair if parameters.get("multi_class") == "ovo" else tables_per_class
    names, tables, shares = split(y_true, y_score, **_row_options(options))
    each = [on_scores(metric, table, parameters) for table in tables]
    values = np.array([part.value for part in each])
    values = np.where(np.isnan(values), options.replacement, values)
    if options.average is None:
        return MetricValue(values, lambda: np.array([part.why for part in each], dtype=object))
    value = np.average(values, weights=np.ones(len(values)) if options.average == "macro" else shares)
    bad = next((i for i, v in enumerate(values) if math.isnan(v)), 0)
    return MetricValue(np.asarray(value), lambda: f"class {names[bad]!r}: {each[bad].why}", averaged=True)


def _row_options(options: CallOptions) -> dict[str, Any]:
    return {"labels": options.labels, "sample_weight": options.sample_weight, "frequency": options.frequency}


def _on_one_column(
    metric: Metric, y_true: ArrayLike, y_score: ArrayLike, options: CallOptions, parameters: Mapping[str, object]
) -> MetricValue:
    """One class against the rest, by its column: that named, or the positive one of two."""
    names, tables, _ = tables_per_class(y_true, y_score, **_row_options(options))
    rows = [round(float(table.positive.total)) for table in tables]
    label = chosen_label(options.pos_label, names, lambda: np.array(rows))
    if label not in names:
        raise InputError(absent_sentence(f"The positive class {label!r}", label, names))
    return on_scores(metric, tables[names.index(label)], parameters)


def _on_rows(metric: Metric, form: Formula, y_true: ArrayLike, y_score: ArrayLike, options: CallOptions) -> MetricValue:
    """The mean loss of the rows, each by the probabilities that it was given."""
    codes, probabilities, weights = class_probabilities(y_true, y_score, metric.name, **_row_options(options))
    losses = form(probabilities, codes)
    value = np.average(losses, weights=weights) if weights.any() else math.nan
    sure = int(np.isinf(losses).sum())
    why = f"{sure:,} rows were given probability 0 for what came true" if sure else "no rows of any weight"
    return MetricValue(np.asarray(value), lambda: why)
