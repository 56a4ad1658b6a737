"""Drop-in rates: precision, recall and F of each class from its cells, divided and averaged by scikit-learn's rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.interop.dropin_inputs import Tally, tally, warn_undefined

if TYPE_CHECKING:
    from collections.abc import Collection

    from steelyard._types import Array

_AVERAGES = ("micro", "macro", "weighted", "binary")
PARTS = ("precision", "recall", "f-score")


class Asked(NamedTuple):
    """The options that scikit-learn's functions of one class at a time share."""

    labels: Any
    pos_label: Any
    average: Any
    sample_weight: Any
    zero_division: Any

    def is_usual(self, *, nan: bool = True) -> bool:
        """Whether every option is one that needs no check or warning of scikit-learn's."""
        if self.average is not None and not (type(self.average) is str and self.average in _AVERAGES):
            return False
        if self.average != "binary" and not (self.pos_label is None or self.pos_label is True or self.pos_label == 1):
            return False
        if type(self.zero_division) is str:
            return self.zero_division == "warn"
        return isinstance(self.zero_division, (int, float)) and (
            self.zero_division in (0, 1) or (nan and np.isnan(self.zero_division))
        )


class Cells(NamedTuple):
    """The weight of each class: rightly predicted, predicted, true."""

    tp: Array
    pred: Array
    true: Array

    @classmethod
    def of(cls, table: Tally, places: list[int] | None = None) -> Cells:
        """The cells of all labels, or of those at some places."""
        tp, pred, true = np.diagonal(table.matrix), table.matrix.sum(0), table.matrix.sum(1)
        if not tp.any():  # scikit-learn's counts are floats then, and its users see them as the support
            pred, true = pred.astype(np.float64), true.astype(np.float64)
        if places is None:
            return cls(tp, pred, true)
        return cls(*(np.append(cell, cell.dtype.type(0))[places] for cell in (tp, pred, true)))

    def pooled(self) -> Cells:
        """All classes as one."""
        return Cells(*(cell.sum(keepdims=True) for cell in self))


def per_class(y_true: Any, y_pred: Any, asked: Asked) -> Cells | None:
    """The cells that the options ask for; None where scikit-learn has to look itself."""
    table = tally(y_true, y_pred, asked.sample_weight)
    if table is None:
        return None
    if asked.average == "binary":
        place = table.place(asked.pos_label)
        usual = asked.labels is None and len(table.labels) == 2 and place is not None
        return Cells.of(table, [place]) if usual and place is not None else None
    places = None if asked.labels is None else table.places(asked.labels)
    return None if places is None and asked.labels is not None else Cells.of(table, places)


def divided(top: Array, bottom: Array, name: str, of: str, warn_for: Collection[str], zero_division: Any) -> Array:
    """Ratios; where the denominator is 0, what `zero_division` says, with scikit-learn's warning."""
    empty = bottom == 0
    if not empty.any():
        return top / bottom
    ratios = top / np.where(empty, 1, bottom)
    ratios[empty] = 0.0 if zero_division == "warn" else zero_division
    if zero_division == "warn" and name in warn_for:
        where = "due to" if len(ratios) == 1 else "in labels with"
        text = f"{name.capitalize()} is ill-defined and being set to 0.0 {where} no {of} samples."
        warn_undefined(text)
    return ratios


def mean(values: Array, weights: Array | None) -> float:
    """The mean of the values that are numbers, weighted unless no weight is left."""
    held = ~np.isnan(values)
    if not held.all():
        values, weights = values[held], None if weights is None else weights[held]
    if not len(values):
        return float("nan")
    total = 0 if weights is None else weights.sum()
    return float(values.mean()) if weights is None or total == 0 else float((values * weights).sum() / total)


def prfs(cells: Cells, beta: float, average: str | None, warn_for: Collection[str], zero_division: Any) -> Any:
    """Precision, recall, F and support of each class or averaged."""
    if average == "micro":
        cells = cells.pooled()
    tp, pred, true = cells
    precision = divided(tp, pred, "precision", "predicted", warn_for, zero_division)
    recall = divided(tp, true, "recall", "true", warn_for, zero_division)
    if beta == 0 or np.isposinf(beta):
        f_score = recall if beta else precision
    else:
        square = beta**2
        denominator = square * true.astype(np.float64) + pred
        f_score = divided((1 + square) * tp, denominator, "f-score", "true nor predicted", warn_for, zero_division)
    if average is None:
        return precision, recall, f_score, true
    weights = true if average == "weighted" else None
    return mean(precision, weights), mean(recall, weights), mean(f_score, weights), None
