"""Drop-ins for the classification reports, and imbalanced-learn's functions done right.

Where imbalanced-learn 0.14 is wrong, these are not: true negatives are weighed as the other cells are (it takes them
from the number of rows, so a specificity can be negative), and an averaged G-mean is the mean of the classes' G-means
(it takes the root of the product of two means, imbalanced-learn#1096).
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import InputError
from steelyard.ingest.array_tables import confusion
from steelyard.interop.dropin_inputs import Tally, delegate, tally, warn_undefined
from steelyard.interop.dropin_rates import PARTS, Cells, divided, mean, prfs
from steelyard.metrics.registry import get_metric
from steelyard.statistics.confusion import one_vs_rest
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from steelyard._types import Array

_NAMES = ("precision", "recall", "f1-score")
_WIDTH = 9
IMBALANCED = ("pre", "rec", "spe", "f1", "geo", "iba")
_AVERAGES = ("binary", "micro", "macro", "weighted", None)


def classification_report(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    target_names: Any = None,
    sample_weight: Any = None,
    digits: Any = 2,
    output_dict: Any = False,
    zero_division: Any = "warn",
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
    table = tally(y_true, y_pred, sample_weight) if _usual(digits, output_dict, zero_division) else None
    names = None if table is None else _row_names(table, labels, target_names)
    if table is None or names is None:
        if extra:
            confusion(y_true, y_pred, sample_weight=sample_weight)  # says in a sentence what is wrong, if it can
            raise InputError("extra= adds columns to a report of two classes or more, each with a name of its own.")
        options = {"labels": labels, "target_names": target_names, "sample_weight": sample_weight, "digits": digits}
        return delegate(
            "classification_report", y_true, y_pred, **options, output_dict=output_dict, zero_division=zero_division
        )
    places = list(range(len(table.labels))) if labels is None else table.places(labels)
    rows = _rows(table, places or [], names, zero_division, extra)
    return _as_dict(rows, (*_NAMES, *extra)) if output_dict else _as_text(rows, (*_NAMES, *extra), digits)


def _usual(digits: Any, output_dict: Any, zero_division: Any) -> bool:
    known = zero_division == "warn" if isinstance(zero_division, str) else type(zero_division) in (int, float)
    known = known and (zero_division == "warn" or zero_division in (0, 1) or np.isnan(zero_division))
    return bool(known) and type(digits) is int and digits >= 0 and isinstance(output_dict, bool)


def _row_names(table: Tally, labels: Any, target_names: Any) -> list[str] | None:
    """What the rows are called; None where scikit-learn has a word to say on it."""
    if labels is not None and table.places(labels) is None:
        return None
    if target_names is None and labels is None:
        kinds = {"bool": bool, "int": int, "float": float, "text": str}
        return None if table.kind is None else [str(kinds[table.kind](label)) for label in table.labels]
    asked = table.labels if labels is None else np.asarray(labels)
    names = [f"{label}" for label in asked] if target_names is None else list(target_names)
    return names if len(names) == len(asked) and all(isinstance(name, str) for name in names) else None


def _rows(table: Tally, places: list[int], names: list[str], zero: Any, extra: Sequence[str]) -> Any:
    """The name, the values and the support of every row, the averages last."""
    cells, counts = Cells.of(table, places), _counts(table.matrix, places)
    each = prfs(cells, 1.0, None, PARTS, zero)
    more = [_extra(name, counts, zero) for name in extra]
    rows = [(name, [*values], n) for name, *values, n in zip(names, *each[:3], *more, each[3], strict=True)]
    support = np.sum(each[3])
    for average in ("micro", "macro", "weighted"):
        head = f"{average} avg"
        if average == "micro":
            head = "accuracy" if len(table.labels) == len(set(places) - {len(table.labels)}) else head
            added = [] if head == "accuracy" else [_extra(name, counts.sum(), zero) for name in extra]
        else:
            added = [mean(values, cells.true if average == "weighted" else None) for values in more]
        rows.append((head, [*prfs(cells, 1.0, average, PARTS, zero)[:3], *added], support))
    return rows


def _counts(matrix: Array, places: Sequence[int]) -> Counts:
    """The four cells of the classes at some places; a class that does not occur is one past the last."""
    return Counts.trusted(*one_vs_rest(np.pad(matrix, (0, 1))))[list(places)]


def _extra(name: str, counts: Counts, zero: Any) -> Any:
    metric = get_metric(name)
    values = metric(counts)
    undefined = np.isnan(values)
    if zero == "warn" and undefined.any():
        warn_undefined(f"{metric.name} is ill-defined and being set to 0.0 where it has no denominator.")
    return np.where(undefined, 0.0 if zero == "warn" else zero, values)[()]


def _as_dict(rows: Any, heads: Sequence[str]) -> dict[str, Any]:
    report: dict[str, Any] = {}
    for name, values, support in rows:
        report[name] = dict(zip((*heads[: len(values)], "support"), map(float, (*values, support)), strict=True))
    if "accuracy" in report:
        report["accuracy"] = report["accuracy"]["precision"]
    return report


def _as_text(rows: Any, heads: Sequence[str], digits: int) -> str:
    width = max(len("weighted avg"), digits, *(len(name) for name, *_ in rows[:-3]))
    columns = [max(_WIDTH, len(head)) for head in heads]
    lines = [
        " " * (width + 1) + "".join(f" {h:>{w}}" for h, w in zip((*heads, "support"), (*columns, _WIDTH), strict=True))
    ]
    lines.append("")
    for i, (name, values, n) in enumerate(rows):
        cells = [f"{value:.{digits}f}" for value in values]
        if name == "accuracy" and i == len(rows) - 3:
            cells = ["", "", cells[2], *[""] * (len(heads) - 3)]
        told = "".join(f" {cell:>{w}}" for cell, w in zip(cells, columns, strict=True))
        lines += [""] * (i == len(rows) - 3) + [f"{name:>{width}} {told} {n:>{_WIDTH}}"]
    return "\n".join(lines) + "\n"


# ---------------------------------------------------------------- imbalanced-learn's


def sensitivity_specificity_support(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: Any = None,
    warn_for: Any = ("sensitivity", "specificity"),
    sample_weight: Any = None,
) -> Any:
    """Share of each class's rows that were found, share of the others' that were left alone, and its weight."""
    counts = _asked_counts(y_true, y_pred, labels, pos_label, average, sample_weight)
    sensitivity, specificity = _rates(counts, warn_for)
    if average is None:
        return sensitivity, specificity, counts.positives
    return *(_averaged(values, counts, average) for values in (sensitivity, specificity)), None


def _asked_counts(y_true: Any, y_pred: Any, labels: Any, pos_label: Any, average: Any, sample_weight: Any) -> Counts:
    """The four cells of each class asked for, one against the rest."""
    if average not in _AVERAGES:
        raise InputError(f"average= takes 'binary', 'micro', 'macro', 'weighted' or None, not {average!r}.")
    table = confusion(y_true, y_pred, sample_weight=sample_weight)
    found = Tally(table.labels, table.matrix, None, not table.weighted)
    places = None if labels is None else found.places(labels)
    if labels is not None and places is None:
        raise InputError(f"labels= lists each label once, of the kind that y_true holds, not {labels!r}.")
    if average == "binary":
        if len(table.labels) > 2:
            raise InputError("Target is multiclass but average='binary'. Please choose another average setting.")
        places = [table.index(pos_label)]
    elif pos_label not in (None, 1):
        text = f"Note that pos_label (set to {pos_label!r}) is ignored when average != 'binary' (got {average!r}). "
        warnings.warn(text + "You may use labels=[pos_label] to specify a single positive class.", UserWarning, 3)
    counts = _counts(table.matrix, range(len(table.labels)) if places is None else places)
    return Counts.trusted(*(np.atleast_1d(cell) for cell in counts.sum())) if average == "micro" else counts


def _rates(counts: Counts, warn_for: Collection[str]) -> tuple[Array, Array]:
    """Sensitivity and specificity of each class, 0 with a warning where there is nothing to find or to leave alone."""
    specificity = divided(counts.tn, counts.negatives, "specificity", "negative", warn_for, "warn")
    return divided(counts.tp, counts.positives, "sensitivity", "true", warn_for, "warn"), specificity


def _averaged(values: Array, counts: Counts, average: str) -> np.float64:
    return np.float64(mean(values, counts.positives if average == "weighted" else None))


def sensitivity_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: Any = "binary",
    sample_weight: Any = None,
) -> Any:
    """Share of the rows of a class that were found."""
    options = {"labels": labels, "pos_label": pos_label, "average": average, "sample_weight": sample_weight}
    return sensitivity_specificity_support(y_true, y_pred, **options, warn_for=("sensitivity",))[0]


def specificity_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: Any = "binary",
    sample_weight: Any = None,
) -> Any:
    """Share of the rows of the other classes that were left alone."""
    options = {"labels": labels, "pos_label": pos_label, "average": average, "sample_weight": sample_weight}
    return sensitivity_specificity_support(y_true, y_pred, **options, warn_for=("specificity",))[1]


def geometric_mean_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: Any = "multiclass",
    sample_weight: Any = None,
    correction: Any = 0.0,
) -> Any:
    """The K-th root of the product of the K class recalls; averaged, the mean of the classes' own G-means."""
    native = average == "multiclass"
    counts = _asked_counts(y_true, y_pred, labels, pos_label, None if native else average, sample_weight)
    sensitivity, specificity = _rates(counts, ("sensitivity",) if native else ("sensitivity", "specificity"))
    if native:
        recalls = np.where(sensitivity == 0, correction, sensitivity)
        return np.prod(recalls ** (1 / len(recalls)))
    values = np.sqrt(sensitivity * specificity)
    return values if average is None else _averaged(values, counts, average)


def classification_report_imbalanced(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    target_names: Any = None,
    sample_weight: Any = None,
    digits: Any = 2,
    alpha: Any = 0.1,
    output_dict: Any = False,
    zero_division: Any = "warn",
) -> Any:
    """Precision, recall, specificity, F1, G-mean, index of balanced accuracy and support, by class and averaged."""
    known = confusion(y_true, y_pred, sample_weight=sample_weight).labels if labels is None else labels
    names = [f"{label}" for label in known] if target_names is None else list(target_names)
    counts = _asked_counts(y_true, y_pred, labels, None, None, sample_weight)
    cells = Cells(counts.tp, counts.predicted_positives, counts.positives)
    precision, recall, f1, support = prfs(cells, 1.0, None, PARTS, zero_division)
    sensitivity, specificity = _rates(counts, ())
    geo = np.sqrt(sensitivity * specificity)
    iba = (1 + alpha * (sensitivity - specificity)) * geo**2
    columns = (precision, recall, specificity, f1, geo, iba)
    averages = [np.average(values, weights=support) for values in columns]
    if output_dict:
        each = zip(names, *columns, support, strict=True)
        report: dict[str, Any] = {name: dict(zip((*IMBALANCED, "sup"), row, strict=True)) for name, *row in each}
        report |= {f"avg_{head}": value for head, value in zip(IMBALANCED, averages, strict=True)}
        return report | {"total_support": np.sum(support)}
    last = "avg / total"
    width = max(len(last), digits, *map(len, names))
    rows = [
        (name, *(f"{v:.{digits}f}" for v in row), f"{n}")
        for name, *row, n in zip(names, *columns, support, strict=True)
    ]
    total = (last, *(f"{value:.{digits}f}" for value in averages), f"{np.sum(support)}")
    line = [
        f"{row[0]:>{width}}  " + " ".join(f"{cell:>{_WIDTH}}" for cell in row[1:])
        for row in (("", *IMBALANCED, "sup"), *rows, total)
    ]
    return "\n".join([line[0], "", *line[1:-1], "", line[-1], ""])
