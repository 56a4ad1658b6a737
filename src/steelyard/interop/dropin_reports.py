"""Drop-in for scikit-learn's classification report, with further metrics as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.exceptions import InputError
from steelyard.ingest.array_tables import confusion
from steelyard.interop.dropin_inputs import LabelTable, delegate, label_table, usable_column, warn_undefined
from steelyard.interop.dropin_label_sets import columns_of, label_sets, row_cells
from steelyard.interop.dropin_rates import (
    RATE_NAMES,
    ClassRates,
    average_weights,
    class_average,
    class_rates,
    mean_rates,
    pooled,
    table_counts,
)
from steelyard.interop.sklearn_options import is_zero_division
from steelyard.metrics.registry import get_metric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Weights
    from steelyard.interop.sklearn_options import ClassAverage, ZeroDivision
    from steelyard.statistics.counts import Counts
    from steelyard.statistics.multilabel_table import MultilabelTable

_HEADS = (*ClassRates._fields[:2], "f1-score")
COLUMN_WIDTH = 9


class _ReportRow(NamedTuple):
    """One line of a report: a class or an average, its rates, and how many rows it is of."""

    name: str
    values: list[float]
    support: float


def classification_report(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    target_names: Sequence[str] | None = None,
    sample_weight: Weights = None,
    digits: int = 2,
    output_dict: bool = False,
    zero_division: ZeroDivision = "warn",
    extra: Sequence[str] = (),
) -> Any:
    """Precision, recall, F1 and support of each class and averaged; `extra` names more metrics, a column each.

    >>> print(classification_report([0, 0, 0, 1, 1], [0, 0, 1, 1, 0], extra=("specificity", "g_mean")))
                  precision    recall  f1-score  specificity    g_mean   support
    <BLANKLINE>
               0       0.67      0.67      0.67         0.50      0.58         3
               1       0.50      0.50      0.50         0.67      0.58         2
    <BLANKLINE>
        accuracy                           0.60                                5
       macro avg       0.58      0.58      0.58         0.58      0.58         5
    weighted avg       0.60      0.60      0.60         0.57      0.58         5
    <BLANKLINE>
    """
    usual = _usual(digits, output_dict, zero_division)
    if usual and (sets := label_sets(y_true, y_pred, sample_weight)) is not None:
        report = _set_report(sets, labels, target_names, zero_division, extra)
        if report is not None:
            return _as_dict(report, (*_HEADS, *extra)) if output_dict else _as_text(report, (*_HEADS, *extra), digits)
    table = label_table(y_true, y_pred, sample_weight) if usual else None
    names = None if table is None else _row_names(table, labels, target_names)
    if table is None or names is None:
        if extra:
            confusion(y_true, y_pred, sample_weight=sample_weight)  # says in a sentence what is wrong, if it can
            raise InputError("extra= adds columns to a report of two classes or more, each with a name of its own.")
        options = {"labels": labels, "target_names": target_names, "sample_weight": sample_weight, "digits": digits}
        return delegate(
            "classification_report", y_true, y_pred, **options, output_dict=output_dict, zero_division=zero_division
        )
    positions = list(range(len(table.labels))) if labels is None else table.positions(labels)
    rows = _rows(table, positions or [], names, zero_division, extra)
    return _as_dict(rows, (*_HEADS, *extra)) if output_dict else _as_text(rows, (*_HEADS, *extra), digits)


def _usual(digits: object, output_dict: object, zero_division: object) -> bool:
    return is_zero_division(zero_division) and type(digits) is int and digits >= 0 and isinstance(output_dict, bool)


def _row_names(table: LabelTable, labels: ArrayLike | None, target_names: Sequence[str] | None) -> list[str] | None:
    """What the rows are called; None where scikit-learn has a word to say on it."""
    if labels is not None and table.positions(labels) is None:
        return None
    if target_names is None and labels is None:
        kinds = {"bool": bool, "int": int, "float": float, "text": str}
        return None if table.kind is None else [str(kinds[table.kind](label)) for label in table.labels]
    listed: Any = table.labels if labels is None else usable_column(labels)
    names = [f"{label}" for label in listed] if target_names is None else list(target_names)
    return names if len(names) == len(listed) and all(isinstance(name, str) for name in names) else None


def _rows(
    table: LabelTable, positions: list[int], names: list[str], zero_division: ZeroDivision, extra: Sequence[str]
) -> list[_ReportRow]:
    """The row of every class, the averages last."""
    counts = table_counts(table, positions)
    rates = class_rates(counts, 1.0, RATE_NAMES, zero_division)
    extras = [_extra(name, counts, zero_division) for name in extra]
    columns = zip(names, *rates[:3], *extras, rates.support, strict=True)
    rows = [_ReportRow(name, values, support) for name, *values, support in columns]
    complete = len(table.labels) == len(set(positions) - {len(table.labels)})
    averages: tuple[ClassAverage, ...] = ("micro", "macro", "weighted")
    for average in averages:
        means: list[float] = [*mean_rates(counts, 1.0, average, RATE_NAMES, zero_division)[:3]]
        if average != "micro":
            means += [class_average(column, rates.support if average == "weighted" else None) for column in extras]
        elif not complete:
            means += [float(_extra(name, counts.sum(), zero_division)) for name in extra]
        head = "accuracy" if average == "micro" and complete else f"{average} avg"
        rows.append(_ReportRow(head, means, np.sum(rates.support)))
    return rows


def _set_report(
    table: MultilabelTable,
    labels: ArrayLike | None,
    target_names: Sequence[str] | None,
    zero_division: ZeroDivision,
    extra: Sequence[str],
) -> list[_ReportRow] | None:
    """The row of every label of rows that have several, the averages last, that over the rows included."""
    chosen = columns_of(table, labels)
    if chosen is None:
        return None
    names = [str(label) for label in chosen.labels] if target_names is None else list(target_names)
    if len(names) != len(chosen.labels) or not all(isinstance(name, str) for name in names):
        return None
    by_label, weight = chosen.by_label, chosen.sample_weight
    rates = class_rates(by_label, 1.0, RATE_NAMES, zero_division)
    extras = [_extra(name, by_label, zero_division) for name in extra]
    columns = zip(names, *rates[:3], *extras, rates.support, strict=True)
    rows = [_ReportRow(name, values, support) for name, *values, support in columns]
    averages: tuple[ClassAverage, ...] = ("micro", "macro", "weighted", "samples")
    for average in averages:
        counts = row_cells(chosen) if average == "samples" else by_label
        means: list[float] = [*mean_rates(counts, 1.0, average, RATE_NAMES, zero_division, weight)[:3]]
        cells = pooled(counts) if average == "micro" else counts
        each = average_weights(average, rates.support, weight)
        means += [class_average(_extra(name, cells, zero_division), each) for name in extra]
        rows.append(_ReportRow(f"{average} avg", means, np.sum(rates.support)))
    return rows


def _extra(name: str, counts: Counts[Any], zero_division: ZeroDivision) -> Array:
    metric = get_metric(name)
    values = metric(counts)
    undefined = np.isnan(values)
    if zero_division == "warn" and undefined.any():
        warn_undefined(f"{metric.name} is ill-defined and being set to 0.0 where it has no denominator.")
    return np.where(undefined, 0.0 if zero_division == "warn" else zero_division, values)[()]


def _as_dict(rows: Sequence[_ReportRow], heads: Sequence[str]) -> dict[str, Any]:
    report: dict[str, Any] = {}
    for name, values, support in rows:
        report[name] = dict(zip((*heads[: len(values)], "support"), map(float, (*values, support)), strict=True))
    if "accuracy" in report:
        report["accuracy"] = report["accuracy"][heads[0]]
    return report


def _as_text(rows: Sequence[_ReportRow], heads: Sequence[str], digits: int) -> str:
    first = len(rows) - (4 if rows[-1].name == "samples avg" else 3)  # of the averages
    width = max(len("weighted avg"), digits, *(len(row.name) for row in rows[:first]))
    widths = [max(COLUMN_WIDTH, len(head)) for head in heads]
    titles = zip((*heads, "support"), (*widths, COLUMN_WIDTH), strict=True)
    lines = [" " * (width + 1) + "".join(f" {head:>{w}}" for head, w in titles), ""]
    for i, (name, values, support) in enumerate(rows):
        cells = [f"{value:.{digits}f}" for value in values]
        if name == "accuracy" and i == first:
            cells = ["", "", cells[2], *[""] * (len(heads) - 3)]
        text = "".join(f" {cell:>{w}}" for cell, w in zip(cells, widths, strict=True))
        lines += [""] * (i == first) + [f"{name:>{width}} {text} {support:>{COLUMN_WIDTH}}"]
    return "\n".join(lines) + "\n"
