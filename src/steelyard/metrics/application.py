"""Application: whatever a user hands to a metric, counted where it is rows, and the metric applied to the table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.arguments import refuse_keywords
from steelyard.exceptions import InputError, InputTypeError, did_you_mean, file_hint
from steelyard.metrics.call_options import NATIVE
from steelyard.metrics.expression import Expression, Named, as_expression
from steelyard.metrics.formula import check_parameter
from steelyard.metrics.multilabel_values import check_label_sets, on_label_sets
from steelyard.metrics.score_values import counted_columns, on_columns, on_scores
from steelyard.metrics.spec_text import write_form
from steelyard.metrics.values import (
    ClassCells,
    on_confusion,
    on_counts,
)
from steelyard.predictions import Predictions
from steelyard.tables import array_tables
from steelyard.tables.array_tables import check_both_classes, check_classes, check_predicted
from steelyard.tables.confusion import Confusion
from steelyard.tables.counts import Cells, Counts, SharedCells
from steelyard.tables.label_sets import are_label_sets, label_sets_where_they_are
from steelyard.tables.multilabel_table import MultilabelTable
from steelyard.tables.probability_table import ProbabilityTable
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from steelyard.metrics.call_options import CallOptions
    from steelyard.metrics.measure import Metric
    from steelyard.metrics.values import MetricValue
    from steelyard.tables.statistic import AnyTable

INNER = (Cells, ClassCells, SharedCells)  # what a formula hands to the metrics inside it


def _is_matrix(scores: ArrayLike) -> bool:
    try:
        shape = getattr(scores, "shape", None)  # which frames give without a copy
        return (np.ndim(scores) if shape is None else len(shape)) == 2
    except ValueError:  # ragged; the door words it
        return False


def counted(
    metric: Metric, data: object, y_pred: ArrayLike | None, y_score: ArrayLike | None, options: CallOptions
) -> tuple[AnyTable, CallOptions]:
    """What was handed to a metric as a table, and the options that are left: rows are counted, tables as they are."""
    if y_score is not None:
        _check_scores(metric, y_pred, y_score)
    other = y_pred if y_score is None else y_score
    if isinstance(data, Predictions):
        return _table_of_predictions(metric, data, other, options)
    if other is None and isinstance(data, (Counts, Confusion, ScoreTable, ProbabilityTable, MultilabelTable)):
        _check_fits(metric, data, options)
        return data, options
    rows: Any = data  # beside predictions or scores it is the truth
    if other is not None and are_label_sets(rows):
        return _counted_sets(metric, rows, other, options), options
    check_label_sets(metric)
    if other is None:
        takes = "Counts, a Confusion" if metric.scores is None else "a ScoreTable"
        kind = f"{type(data).__name__} alone{file_hint(data)}"
        raise InputTypeError(f"{metric.name} takes {takes} or (y_true, y_pred), not {kind}.")
    if metric.scores is not None and _is_matrix(other):
        return counted_columns(metric, rows, other, options), options
    weights = {"sample_weight": options.sample_weight, "frequency": options.frequency}
    if metric.scores is None:
        table = array_tables.confusion(rows, other, labels=options.labels, pos_label=options.pos_label, **weights)
        check_classes(table)
        if options.labels is None:
            check_predicted(table)
        return table, options
    scores = array_tables.single_use_table(rows, other, labels=options.labels, pos_label=options.pos_label, **weights)
    check_both_classes(scores)
    return scores, options


def _check_scores(metric: Metric, y_pred: ArrayLike | None, y_score: ArrayLike) -> None:
    """Refuse scores beside predictions, or for a metric of labels."""
    if y_pred is not None:
        raise InputError(f"{metric.name} was given both y_pred= and y_score=; give one.")
    if not metric.takes_scores:
        labels = "the class of the highest column of each row" if _is_matrix(y_score) else "y_score >= 0.5"
        raise InputTypeError(f"{metric.name} is of predicted labels; give y_pred=, such as {labels}.")


def _table_of_predictions(
    metric: Metric, p: Predictions, other: ArrayLike | None, options: CallOptions
) -> tuple[AnyTable, CallOptions]:
    """The table of Predictions that a metric reads, and the options of the call with their positive class.

    A number alone cannot state a threshold that was assumed, so that scores need one for a metric of labels.
    """
    from steelyard.metrics.asked_tables import asked_table
    from steelyard.metrics.spec import MetricSpec

    given = {name: getattr(options, name) for name in ("pos_label", "labels", "sample_weight", "frequency")}
    for name, value in (given | {"y_pred": other}).items():
        if value is not None:
            raise InputTypeError(f"{name}= belongs to the rows; give it to Predictions, or to their with_options().")
    reads_labels = metric.scores is None or not p.has_scores
    if reads_labels and p.kind == "scores" and p.given.model.pred is None and p.given.threshold is None:
        raise InputError(
            f"{metric.name} is of predicted labels, and a number alone cannot state which threshold was assumed; ask "
            f"{metric.name}(predictions.at(0.5)), or evaluate the predictions."
        )
    table, asked = asked_table(MetricSpec(metric, options.average), p)
    return table, replace(asked, undefined=options.undefined)


def _counted_sets(metric: Metric, rows: ArrayLike, other: ArrayLike, options: CallOptions) -> MultilabelTable:
    """Rows of several labels each, with predictions or with scores, whichever the metric is of."""
    kind = "y_score" if metric.function is None and metric.takes_scores else "y_pred"
    weights = {"sample_weight": options.sample_weight, "frequency": options.frequency}
    return label_sets_where_they_are(rows, **{kind: other}, labels=options.labels, **weights)


def _check_fits(metric: Metric, table: AnyTable, options: CallOptions) -> None:
    """Refuse an option that a table cannot heed any more, rather than ignore it, and a table of other rows."""
    if not isinstance(table, MultilabelTable):
        check_label_sets(metric)
    rows = [key for key in ("labels", "sample_weight", "frequency") if getattr(options, key) is not None]
    if rows:
        raise InputError(
            f"{rows[0]}= is about rows, and {metric.name} was given a table; give it when counting the rows.",
            argument=rows[0],
        )
    if isinstance(table, Counts) and (options.pos_label is not None or options.average != "native"):
        raise InputError(
            "Counts are of one positive class already; pos_label= and average= need a Confusion or labels."
        )
    if isinstance(table, ScoreTable):
        if options.pos_label is not None and options.pos_label != table.label:
            raise InputError(
                f"These scores were counted for the positive class {table.label!r}, not {options.pos_label!r}."
            )
        if options.average != "native":
            raise InputError("A ScoreTable is of one positive class; average= needs one column of scores a class.")


def on_table(metric: Metric, table: AnyTable, options: CallOptions, parameters: Mapping[str, object]) -> MetricValue:
    """The value of a metric on a table of any kind."""
    if metric.family == "ordinal" and options.average != NATIVE:
        _check_order(metric, table)
    if isinstance(table, Counts):
        return on_counts(metric, table, parameters)
    if isinstance(table, Confusion):
        return on_confusion(metric, table, options, parameters)
    if isinstance(table, MultilabelTable):
        return on_label_sets(metric, table, options, parameters)
    if isinstance(table, ProbabilityTable):
        return on_columns(metric, table, options, parameters)
    return on_scores(metric, table, parameters)


def _check_order(metric: Metric, table: object) -> None:
    """Refuse an average of a metric of ordered classes over each against the rest, which has no order."""
    if len(getattr(table, "labels", ())) > 2:
        raise InputError(
            f"{metric.name} is of all classes in their order, and one against the rest has none; leave average= out. "
            "macro_mean_absolute_class_error gives every class equal weight."
        )


def inner_value(metric: Metric, cells: Cells, parameters: Mapping[str, object]) -> Any:
    """The formula as part of another: raw numbers, or a named part of the expression being traced."""
    if metric.function is None:
        raise InputTypeError(f"{metric.name} is a metric of scores; it cannot stand in a formula of counts.")
    values = {**metric.parameters, **parameters} if parameters else metric.parameters
    if type(cells) is SharedCells:
        key = (metric.function, *parameters.items())
        if key not in cells.parts:
            cells.parts[key] = metric.function(cells, **values)
        return cells.parts[key]
    if not isinstance(cells.tp, Expression):
        return metric.function(cells, **values)
    # As nodes, so that exact arithmetic meets 0.1 and not what floats make of 2 - 0.1.
    values = {key: as_expression(value) if isinstance(value, float) else value for key, value in values.items()}
    inner = metric.function(cells, **values)
    return Named(write_form(metric.name, parameters), inner, inner if metric.general is None else metric.general)


def checked_parameters(metric: Metric, parameters: Mapping[str, object]) -> dict[str, Any]:
    """All parameters, the given ones checked against their names and domains."""
    free = {} if metric.is_fixed else metric.parameters
    for key, value in parameters.items():
        if key not in free:
            refuse_keywords(metric.name, {key: value})
            names = ", ".join(free) or "none"
            raise InputTypeError(f"{metric.name} has no parameter {key!r} (it has {names}).{did_you_mean(key, free)}")
        check_parameter(f"{key} of {metric.name}", value, free[key], metric.domain.get(key))
    return {**metric.parameters, **parameters}
