"""Asked tables: the table of Predictions that a metric reads, and what was assumed in making it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.exceptions import InputError, InputTypeError
from steelyard.metrics.call_options import NATIVE, CallOptions
from steelyard.metrics.multilabel_values import check_label_sets
from steelyard.metrics.score_values import class_of_columns
from steelyard.tables.array_tables import check_both_classes, check_predicted
from steelyard.tables.confusion import Confusion
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.metrics.spec import MetricSpec
    from steelyard.predictions import Predictions
    from steelyard.tables.statistic import AnyTable


def asked_table(spec: MetricSpec, p: Predictions) -> tuple[AnyTable, CallOptions]:
    """The table of the rows that a metric reads, counted once for all metrics, and the options that are left.

    The positive class that a convention takes is named in the options, as the question states it.
    """
    call = CallOptions(pos_label=p.given.pos_label)
    metric = spec.metric
    if p.are_sets:
        table = p.multilabel_table(to_host=False)
        return table, spec.options(CallOptions())
    counted = p.countable()
    if metric.function is None and not counted.has_scores:
        check_label_sets(metric)
        raise InputTypeError(f"{spec.name} is of scores; give y_score=, or of a frame score=.")
    if metric.scores is not None and counted.has_scores:
        options = spec.options(call)
        if counted.kind == "class scores":
            columns = counted.probability_table(to_host=False)
            if options.average != NATIVE or options.pos_label is None:
                return columns, options
            return class_of_columns(columns, options.pos_label), replace(options, pos_label=None)
        if options.average != NATIVE:
            raise InputError(f"{spec.name} needs one column of scores for each class, and there is one of one class.")
        if spec.label is not None and p.given.pos_label is None:  # whose scores these are then
            counted = counted.with_options(pos_label=options.pos_label)
        scores = counted.score_table()
        if spec.label is not None and str(scores.label) != str(options.pos_label):
            raise InputError(f"{spec.name} is of another class than these scores, which are of {scores.label!r}.")
        if not p.given.is_table:  # of which a part of a larger one may lack a class
            check_both_classes(scores)
        return scores, CallOptions()
    rows = counted.counted()
    if rows.table is None:
        raise InputError(f"{spec.name} is of predicted labels, and the scores are no probabilities; give threshold=.")
    if p.given.labels is None and not p.given.is_table:
        check_predicted(rows.table)
    if spec.is_native and call.pos_label is None:
        call = replace(call, pos_label=rows.positive_class(None, is_stated=p.given.is_stated)[0])
    return rows.table, spec.options(call)


def assumed_choices(p: Predictions, tables: Sequence[tuple[AnyTable, CallOptions]]) -> tuple[str, ...]:
    """Which class was taken as positive, at which threshold or by which columns, where that was not given."""
    has_labels = any(isinstance(table, Confusion) for table, _ in tables)
    has_scores = any(isinstance(table, ScoreTable) for table, _ in tables)
    rows = p.countable()
    if not has_labels and (not has_scores or rows.kind == "class scores"):
        return ()
    counted = rows.counted()
    stated = counted.positive_class(p.given.pos_label, is_stated=p.given.is_stated)[1]
    return (*stated, *counted.assumed) if has_labels else stated
