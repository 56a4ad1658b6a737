"""Answers: what a fitted estimator says about the test rows of a run, checked before it is counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import InputError
from steelyard.ingest import arrays, label_codes
from steelyard.protocol.cost import Cost
from steelyard.protocol.resample import Training

if TYPE_CHECKING:
    from steelyard._types import Array


@dataclass(frozen=True, eq=False)
class Data:
    """The rows to learn from and to test on: y as it was given, and as codes into its labels."""

    X: Any
    y: Array
    codes: Array
    labels: tuple[Any, ...]
    positive: Any = None
    weight: Array | None = None

    def training(self, rows: Array) -> Training:
        """The rows that a run is trained on."""
        return Training(self.features(rows), self.y[rows], None if self.weight is None else self.weight[rows])

    def features(self, rows: Array) -> Any:
        """Their X, of whatever kind it is."""
        from sklearn.utils import _safe_indexing

        return _safe_indexing(self.X, rows)


@dataclass(frozen=True, eq=False)
class Answer:
    """What an estimator said about the test rows, as codes and, where it has any, scores; and what that cost.

    Scores are those of the positive class, or where none is named a column for each class.
    """

    codes: Array | None = None
    scores: Array | None = None
    cost: Cost = Cost()  # noqa: RUF009 - frozen
    error: str | None = None


def answer_of(model: Any, data: Data, test: Array) -> Answer:
    """What a fitted estimator says about the test rows."""
    X = data.features(test)
    return checked(model, X, model.predict(X), data, test)


def checked(model: Any, X: Any, predicted: Any, data: Data, test: Array, *, scores: bool = True) -> Answer:
    """The predictions as codes and, where they are asked for, the scores; one of each a test row, or none at all."""
    if data.weight is not None and not data.weight[test].any():
        raise InputError("All rows tested have weight 0, so nothing is measured on them.")
    column = arrays.column(predicted, "y_pred")
    _check_length("predict", column, test)
    codes, _ = label_codes.encode(column, data.labels, "y_pred")
    return Answer(codes, model_scores(model, X, data) if scores else None)


def _check_length(method: str, found: Array, rows: Any) -> None:
    if len(found) != len(rows):
        raise InputError(f"{method} gave {len(found):,} answers about {len(rows):,} rows; it has to give one a row.")


def model_scores(model: Any, X: Any, data: Data) -> Array | None:
    """The scores of the positive class, or of every class where none is named; None where the model gives none."""
    classes = getattr(model, "classes_", None)
    method = next((name for name in ("predict_proba", "decision_function") if hasattr(model, name)), None)
    if method is None or classes is None:
        return None
    found = np.asarray(getattr(model, method)(X), dtype=np.float64)
    _check_length(method, found, range(X.shape[0] if hasattr(X, "shape") else len(X)))
    lost = int((~np.isfinite(found)).any(axis=tuple(range(1, found.ndim))).sum())
    if lost:
        raise InputError(f"{method} gave no finite number for {lost:,} of {len(found):,} rows; scores are numbers.")
    if data.positive is None:
        return _columns(found, classes, data.labels)
    return _positive_column(found, classes, data.positive)


def _columns(found: Array, classes: Any, labels: tuple[Any, ...]) -> Array | None:
    """A column of scores for each label; a class that was never trained on has the lowest scores there are."""
    if found.ndim == 1:
        found = np.column_stack([-found, found])
    if found.shape[1] != len(classes):  # one column a pair of classes, as of some support vector machines
        return None
    held, _ = label_codes.encode(np.asarray(classes), labels, "classes_")
    columns = np.full((len(found), len(labels)), found.min(initial=0.0))
    columns[:, held] = found
    return columns


def _positive_column(found: Array, classes: Any, positive: Any) -> Array | None:
    """The scores of the positive class, higher meaning more positive."""
    if found.ndim == 2 and found.shape[1] != len(classes):
        return None
    places = np.flatnonzero(np.asarray(classes) == positive)
    if not len(places):
        return np.zeros(len(found))  # never seen in training: all rows are equally unlikely to be positive
    place = int(places[0])
    if found.ndim == 2:
        return np.asarray(found[:, place])
    return found if place == len(classes) - 1 else -found
