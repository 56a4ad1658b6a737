"""Predictions: what a fitted estimator predicts for the test rows of a run, checked before it is counted."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

import numpy as np

from steelyard.exceptions import InputError
from steelyard.ingest import arrays, label_codes
from steelyard.protocol.cost import Cost
from steelyard.protocol.resample import Training
from steelyard.statistics.probability_table import SUM_OFF

if TYPE_CHECKING:
    from collections.abc import Sized

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Estimator, Features, Label, Labels


@dataclass(frozen=True, eq=False)
class Data:
    """The rows to learn from and to test on: y as it was given, and as codes into its labels."""

    X: Features = field(compare=False)  # JSON keeps no features
    y: Array
    codes: Array
    labels: Labels
    positive: Label = None
    weight: Array | None = None

    @property
    def are_label_sets(self) -> bool:
        """Whether each row may have several labels: then `y` and `codes` have a column of 0 and 1 for each."""
        return self.codes.ndim == 2

    def training(self, rows: Array) -> Training:
        """The rows that a run is trained on."""
        return Training(self.features(rows), self.y[rows], None if self.weight is None else self.weight[rows])

    def subset(self, rows: Array) -> Data:
        """The same of these rows alone."""
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, X=self.features(rows), y=self.y[rows], codes=self.codes[rows], weight=weight)

    def features(self, rows: Array) -> ArrayLike:
        """Their X, of whatever kind it is."""
        from sklearn.utils import _safe_indexing

        return cast("ArrayLike", _safe_indexing(self.X, rows))


@dataclass(frozen=True, eq=False)
class RunPredictions:
    """What an estimator predicts for the test rows, as codes and, where it has any, scores; and what that cost.

    Scores are those of the positive class, or where none is named a column for each class. `trained` is the share of
    the positive class among the rows of the fit where a sampler has changed it.
    """

    codes: Array | None = None
    scores: Array | None = None
    cost: Cost = Cost()  # noqa: RUF009 - frozen
    error: str | None = None
    trained: float | None = None

    @property
    def has_probabilities(self) -> bool:
        """Whether the columns of scores of all classes, if there are any, are probabilities."""
        scores = self.scores
        return scores is None or (bool((scores >= 0).all()) and bool((np.abs(scores.sum(1) - 1) <= SUM_OFF).all()))


def predictions_of(model: Estimator, data: Data, test: Array) -> RunPredictions:
    """What a fitted estimator predicts for the test rows."""
    X = data.features(test)
    return checked_predictions(model, X, model.predict(X), data, test)


def checked_predictions(
    model: Estimator, X: ArrayLike, labels: ArrayLike, data: Data, test: Array, *, scores: bool = True
) -> RunPredictions:
    """The predicted labels as codes and, on request, the scores; one of each a test row, or none at all."""
    if data.weight is not None and not data.weight[test].any():
        raise InputError("All rows tested have weight 0, so nothing can be evaluated on them.")
    if data.are_label_sets:
        from steelyard.protocol.label_set_runs import label_set_predictions

        return label_set_predictions(model, X, labels, data, test, scores=scores)
    column = arrays.column(labels, "y_pred")
    _check_length("predict", column, len(test))
    codes, _ = label_codes.encode(column, data.labels, "y_pred")
    return RunPredictions(codes, model_scores(model, X, data) if scores else None)


def _check_length(method: str, values: Array, rows: int) -> None:
    if len(values) != rows:
        raise InputError(f"{method} gave {len(values):,} answers about {rows:,} rows; it has to give one a row.")


def model_scores(model: Estimator, X: ArrayLike, data: Data) -> Array | None:
    """The scores of the positive class, or of every class where none is named; None where the model gives none."""
    classes = getattr(model, "classes_", None)
    method = next((name for name in ("predict_proba", "decision_function") if hasattr(model, name)), None)
    if method is None or classes is None:
        return None
    scores = np.asarray(getattr(model, method)(X), dtype=np.float64)
    _check_length(method, scores, X.shape[0] if hasattr(X, "shape") else len(cast("Sized", X)))
    lost = int((~np.isfinite(scores)).any(axis=tuple(range(1, scores.ndim))).sum())
    if lost:
        raise InputError(f"{method} gave no finite number for {lost:,} of {len(scores):,} rows; scores are numbers.")
    if data.positive is None:
        return _columns(scores, np.asarray(classes), data.labels)
    return _positive_column(scores, np.asarray(classes), data.positive)


def _columns(scores: Array, classes: Array, labels: Labels) -> Array | None:
    """A column of scores for each label; a class that was never trained on has the lowest scores there are."""
    if scores.ndim == 1:
        scores = np.column_stack([-scores, scores])
    if scores.shape[1] != len(classes):  # one column a pair of classes, as of some support vector machines
        return None
    codes, _ = label_codes.encode(classes, labels, "classes_")
    columns = np.full((len(scores), len(labels)), scores.min(initial=0.0))
    columns[:, codes] = scores
    return columns


def _positive_column(scores: Array, classes: Array, positive: Label) -> Array | None:
    """The scores of the positive class, higher meaning more positive."""
    if scores.ndim == 2 and scores.shape[1] != len(classes):
        return None
    places = np.flatnonzero(classes == positive)
    if not len(places):
        return np.zeros(len(scores))  # never seen in training: all rows are equally unlikely to be positive
    place = int(places[0])
    if scores.ndim == 2:
        return np.asarray(scores[:, place])
    return scores if place == len(classes) - 1 else -scores
