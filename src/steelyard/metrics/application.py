"""Calling: from what a user hands to a metric to the value and the reason. Used by Metric alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import InputError, InputTypeError, SteelyardError
from steelyard.ingest import array_tables as ingest
from steelyard.ingest.class_checks import check_both_classes, check_classes
from steelyard.ingest.label_overlap import check_label_overlap
from steelyard.ingest.score_matrix import tables_per_class, tables_per_pair
from steelyard.metrics import reasons
from steelyard.metrics.metric_value import MetricValue
from steelyard.statistics.confusion import Confusion, one_vs_rest
from steelyard.statistics.counts import Cells, Counts
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from steelyard.metrics.call_options import CallOptions
    from steelyard.metrics.metric import Metric


def answer(metric: Metric, data: Any, other: Any, options: CallOptions, parameters: Mapping[str, Any]) -> MetricValue:
    """The answer of a metric to whatever was handed to it."""
    if other is not None and metric.scores is not None and _is_matrix(other):
        return on_score_columns(metric, data, other, options, parameters)
    return on_table(metric, counted(metric, data, other, options), options, parameters)


def _is_matrix(scores: Any) -> bool:
    try:
        return np.ndim(scores) == 2
    except ValueError:  # ragged; the door words it
        return False


def counted(metric: Metric, data: Any, other: Any, options: CallOptions) -> Counts | Confusion | ScoreTable:
    """What was handed to a metric as a table: arrays are weighed, tables are what they are."""
    if other is None:
        if isinstance(data, (Counts, Confusion, ScoreTable)):
            _check_fits(metric, data, options)
            return data
        takes = "Counts, a Confusion" if metric.scores is None else "a ScoreTable"
        raise InputTypeError(f"{metric.name} takes {takes} or (y_true, y_pred), not {type(data).__name__} alone.")
    weights = {"sample_weight": options.sample_weight, "frequency": options.frequency}
    if metric.scores is None:
        table = ingest.confusion(data, other, labels=options.labels, pos_label=options.pos_label, **weights)
        check_classes(table)
        if options.labels is None:
            check_label_overlap(table)
        return table
    scores = ingest.single_use_table(data, other, labels=options.labels, pos_label=options.pos_label, **weights)
    check_both_classes(scores)
    return scores


def _check_fits(metric: Metric, table: Any, options: CallOptions) -> None:
    """Refuse an option that a table cannot heed any more, rather than ignore it."""
    rows = [key for key in ("labels", "sample_weight", "frequency") if getattr(options, key) is not None]
    if rows:
        raise InputError(
            f"{rows[0]}= is about rows, and {metric.name} was given a table; give it when weighing the rows."
        )
    if isinstance(table, Counts) and (options.pos_label is not None or options.average != "native"):
        raise InputError(
            "Counts are of one positive class already; pos_label= and average= need a Confusion or labels."
        )
    if isinstance(table, ScoreTable):
        if options.pos_label is not None and options.pos_label != table.label:
            raise InputError(
                f"These scores were weighed for the positive class {table.label!r}, not {options.pos_label!r}."
            )
        if options.average != "native":
            raise InputError("A ScoreTable is of one positive class; average= needs one column of scores a class.")


def on_table(metric: Metric, table: Any, options: CallOptions, parameters: Mapping[str, Any]) -> MetricValue:
    """The answer of a metric on a table of any kind."""
    if isinstance(table, Counts):
        return on_counts(metric, table, parameters)
    if isinstance(table, Confusion):
        return on_confusion(metric, table, options, parameters)
    return on_scores(metric, table, parameters)


# ---------------------------------------------------------------- counts


def on_counts(metric: Metric, counts: Counts, parameters: Mapping[str, Any]) -> MetricValue:
    """On the four cells: an array of tables gives an array of values."""
    values = count_values(metric, counts, parameters)
    return MetricValue(values, lambda: _count_reasons(metric, counts, values, parameters))


def count_values(metric: Metric, counts: Counts, parameters: Mapping[str, Any]) -> Any:
    """The values alone, in the shape of the counts."""
    if metric.function is None:
        raise InputTypeError(f"{metric.name} is a metric of scores; give (y_true, y_score) or a ScoreTable.")
    cells = Cells(*map(_floats, counts))
    if not metric.is_own:  # ours do not change with the scale, so weights of 1e-100 may be scaled
        cells = _of_usual_size(cells)
    try:
        values = _evaluate(metric.function, cells, parameters) + np.zeros(counts.shape)
    except (ValueError, TypeError, ZeroDivisionError) as error:
        if not metric.is_own or isinstance(error, SteelyardError):
            raise
        told = f"{metric.name} raised {type(error).__name__} ({error})"
        raise InputTypeError(f"{told}; a metric is handed arrays of cells, so use where() and ratio() in it.") from None
    return np.where(np.isinf(values), math.nan, values)  # x/0 in a plain division is as undefined as 0/0


def _of_usual_size(cells: Cells) -> Cells:
    """The cells times a power of two, which loses no digit, where products of them would leave what floats hold."""
    total = cells.total
    extreme = (total > 1e60) | ((total < 1e-60) & (total > 0))
    if not np.any(extreme):
        return cells
    factor = np.where(extreme, np.exp2(-np.floor(np.log2(np.where(extreme, total, 1.0)))), 1.0)
    return Cells(*(cell * factor for cell in cells))


def _floats(cell: Any) -> Any:
    return np.asarray(cell, dtype=np.float64)[()]


def _evaluate(form: Callable[..., Any], cells: Cells, parameters: Mapping[str, Any]) -> Any:
    with np.errstate(all="ignore"):
        return np.asarray(form(cells, **parameters), dtype=np.float64)


def _count_reasons(metric: Metric, counts: Counts, values: Any, parameters: Mapping[str, Any]) -> Any:
    undefined = np.isnan(values)
    cells = np.stack([np.broadcast_to(_floats(cell), undefined.shape)[undefined] for cell in counts], axis=-1)
    tables, which = np.unique(cells, axis=0, return_inverse=True)
    expression = metric.trace(**parameters)
    whys = np.array([_count_reason(expression, Cells(*table)) for table in tables.tolist()], dtype=object)
    found = np.full(undefined.shape, None, dtype=object)
    found[undefined] = whys[which.ravel()] if len(whys) else None
    return found[()]


def _count_reason(expression: Any, table: Cells) -> str:
    if table.total == 0:
        return "no rows"
    why = None if expression is None else reasons.reason(expression, table)
    return why or "the function returned NaN"


# ---------------------------------------------------------------- a table of classes


@dataclass(frozen=True, slots=True, eq=False)
class ClassCells(Cells):
    """The one-vs-rest cells of every class on the last axis, and the whole table on the last two of `matrix`."""

    matrix: Any

    @classmethod
    def of(cls, matrix: Any) -> ClassCells:
        """The cells of a table, or of an array of tables: added up as they are, then floats."""
        tp, fn, fp, tn = (np.asarray(cell, dtype=np.float64) for cell in one_vs_rest(np.asarray(matrix)))
        return cls(tp, fn, fp, tn, np.asarray(matrix, dtype=np.float64))


def on_confusion(metric: Metric, table: Confusion, options: CallOptions, parameters: Mapping[str, Any]) -> MetricValue:
    """On a table of classes: one class against the rest, an average over all, or the metric's own form."""
    if metric.function is None:
        raise InputTypeError(f"{metric.name} is a metric of scores, which a table of labels has lost; give scores.")
    if (place := positive_place(metric, table, options)) is not None:
        return on_counts(metric, table.one_vs_rest()[place], parameters)
    cells = ClassCells.of(table.matrix)
    value = class_values(metric, cells, options, parameters)
    averaged = options.average not in ("native", "micro")
    return MetricValue(value, lambda: _class_reason(metric, table, cells, options, parameters), averaged=averaged)


def positive_place(metric: Metric, table: Confusion, options: CallOptions) -> int | None:
    """The place of the label that the call is about, against the rest; None where it is about all classes."""
    if options.average != "native":
        return None
    if options.pos_label is not None:
        return table.index(options.pos_label)
    if table.positive is not None or metric.classes is None or _is_plain_pair(table):
        return table.index(table.positive_label())
    return None


def _is_plain_pair(table: Confusion) -> bool:
    try:
        return bool(table.labels) and table.positive_label() is not None
    except InputError:
        return False


def class_values(metric: Metric, cells: ClassCells, options: CallOptions, parameters: Mapping[str, Any]) -> Any:
    """The metric over all classes on the last axis of the cells: its own form, one value a class, or their mean."""
    if options.average == "native":
        assert metric.classes is not None  # noqa: S101 - positive_place finds a class for the others
        return _evaluate(metric.classes, cells, parameters)
    if options.average == "micro":
        return count_values(metric, Counts.trusted(*(cell.sum(-1) for cell in cells)), parameters)
    values = count_values(metric, Counts.trusted(*cells), parameters)
    values = np.where(np.isnan(values), options.replacement, values)
    if options.average is None:
        return values
    held = _held(cells, options)
    share = held * (1.0 if options.average == "macro" else cells.positives)
    with np.errstate(invalid="ignore"):
        return np.asarray((np.where(held, values, 0) * share).sum(-1) / share.sum(-1))


def _held(cells: ClassCells, options: CallOptions) -> Any:
    """Which classes enter the mean: all, but for a weighted one those that occur, if two or more do."""
    occurs = cells.positives > 0
    every = (options.average == "macro") | (occurs.sum(-1, keepdims=True) < 2)
    return np.where(every, True, occurs)


def _class_reason(
    metric: Metric, table: Confusion, cells: ClassCells, options: CallOptions, parameters: Mapping[str, Any]
) -> Any:
    if options.average != "native":
        pooled = options.average == "micro"
        each = on_counts(metric, Counts.trusted(*(cell.sum() if pooled else cell for cell in cells)), parameters)
        if pooled:
            return each.why
        values = np.where(np.isnan(each.value), options.replacement, each.value)
        if options.average is None:
            return each.why
        bad = np.flatnonzero(_held(cells, options) & np.isnan(values))
        return f"class {table.labels[bad[0]]!r}: {each.why[bad[0]]}" if len(bad) else "no rows"
    if not table.matrix.sum():
        return "no rows"
    for label, weight in zip(table.labels, table.matrix.sum(1), strict=True):
        if weight == 0 and not metric.allows_absent_classes:
            return f"class {label!r} has no rows in the truth"
    if (table.matrix.sum(0) > 0).sum() == 1:
        return "one class only is predicted"
    return "the truth holds one class only"


# ---------------------------------------------------------------- scores


def on_scores(metric: Metric, table: ScoreTable, parameters: Mapping[str, Any]) -> MetricValue:
    """On the ordered scores of the two classes."""
    value = score_values(metric, table, parameters)
    low, high = metric.range
    # Sums of weights in different orders differ in the last digit: 1.0000000000000002 is 1.
    bounded = np.clip(value, low - 1e-9, high + 1e-9) == value
    clipped = np.where(bounded, np.clip(value, low, high), value)
    return MetricValue(np.asarray(clipped, dtype=np.float64), lambda: _score_reason(metric, table, value))


def score_values(metric: Metric, table: ScoreTable, parameters: Mapping[str, Any]) -> Any:
    """The value alone; one a draw where the table holds draws of weights."""
    if metric.scores is None:
        raise InputTypeError(f"{metric.name} needs a cut: give it table.at(threshold), or labels in place of scores.")
    return metric.scores(table, **parameters)


def _score_reason(metric: Metric, table: ScoreTable, value: Any) -> str | None:
    if math.isinf(value):
        sure = int((table.positive.scores == 0).sum() + (table.negative.scores == 1).sum())
        return f"{sure:,} rows were given probability 0 for what came true" if metric.of_probabilities else None
    return getattr(value, "why", "the function returned NaN")


def on_score_columns(
    metric: Metric, y_true: Any, y_score: Any, options: CallOptions, parameters: Mapping[str, Any]
) -> MetricValue:
    """On one column of scores a class: each class against the rest, or against each other one, averaged."""
    if options.average in ("native", "micro"):
        raise InputError(f"{metric.name} of several columns of scores needs average='macro', 'weighted' or None.")
    pairs = parameters.get("multi_class") == "ovo"
    weigh = tables_per_pair if pairs else tables_per_class
    names, tables, shares = weigh(
        y_true, y_score, labels=options.labels, sample_weight=options.sample_weight, frequency=options.frequency
    )
    each = [on_scores(metric, table, parameters) for table in tables]
    values = np.array([part.value for part in each])
    values = np.where(np.isnan(values), options.replacement, values)
    if options.average is None:
        return MetricValue(values, lambda: np.array([part.why for part in each], dtype=object))
    value = np.average(values, weights=np.ones(len(values)) if options.average == "macro" else shares)
    bad = next((i for i, v in enumerate(values) if math.isnan(v)), 0)
    return MetricValue(np.asarray(value), lambda: f"class {names[bad]!r}: {each[bad].why}", averaged=True)
