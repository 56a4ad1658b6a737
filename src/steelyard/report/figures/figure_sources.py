"""Sources: what a figure is drawn from: predictions, fitted estimators or folds, evaluated. Used by the displays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from steelyard.errors import InputError, InputTypeError
from steelyard.evaluation.evaluate import evaluate

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.evaluation.evaluation import Evaluation

WEIGHING = ("threshold", "pos_label", "labels", "sample_weight", "frequency", "level", "rng", "draws", "prevalence")
_METHODS = {"predict_proba": None, "decision_function": 0.0}  # where predict cuts; None is evaluate's own 0.5
LABELS_ALONE, SCORES_ALONE = ("accuracy",), ("roc_auc",)


def several(given: Any, one: type | None = None) -> dict[str, Any]:
    """Models by name; a lone one has the empty name. Where one model is itself a dictionary, `one` tells."""
    named = isinstance(given, Mapping) and (one is None or all(isinstance(v, Mapping) for v in given.values()))
    if named and given and one is not None and "estimator" in given:
        named = False
    return dict(given) if named else {"": given}


@dataclass(frozen=True)
class Source:
    """How rows become an evaluation: what is read of an estimator, which metrics are needed, how rows are weighed."""

    reads: str
    needs: tuple[str, ...]
    weighing: dict[str, Any] = field(default_factory=dict)
    response_method: str = "auto"

    @classmethod
    def split(cls, reads: str, needs: tuple[str, ...], options: dict[str, Any]) -> tuple[Self, dict[str, Any]]:
        """The source that the options describe, and the options that are about drawing."""
        rest = dict(options)
        weighing = {key: rest.pop(key) for key in WEIGHING if key in rest}
        return cls(reads, needs, weighing, rest.pop("response_method", "auto")), rest

    def evaluated(self, y_true: Any, **columns: Any) -> Evaluation:
        """The evaluation of the rows by the metrics that the figure needs."""
        if all(column is None for column in columns.values()):
            raise InputTypeError(f"There is nothing to draw: give {' or '.join(columns)} beside y_true.")
        usual = SCORES_ALONE if columns.get("y_score") is not None else LABELS_ALONE
        return evaluate(y_true, metrics=self.needs or usual, **{**columns, **self.weighing})

    def of_estimator(self, estimator: Any, X: Any, y: Any) -> Evaluation:
        """The evaluation of what a fitted estimator says of the rows."""
        if self.reads == "labels" and "threshold" not in self.weighing:
            return self.evaluated(y, y_pred=estimator.predict(X))
        scores, label, cut = self.scores(estimator, X)
        return self.about(label, cut).evaluated(y, y_score=scores)

    def of_folds(self, results: Any, X: Any, y: Any) -> Evaluation:
        """The evaluation of the rows of all test folds together."""
        tests = _folds(results)
        rows = np.concatenate([test for _, test in tests])
        source = self._taking(rows)
        if self.reads == "labels" and "threshold" not in self.weighing:
            return source.evaluated(taken(y, rows), y_pred=self.told(results, X)[1])
        read = [self.scores(model, taken(X, test)) for model, test in tests]
        scores = np.concatenate([part[0] for part in read])
        return source.about(*read[0][1:]).evaluated(taken(y, rows), y_score=scores)

    def told(self, results: Any, X: Any) -> tuple[Array, Array]:
        """The rows of all test folds, and what was said of them: labels, or scores of the positive class."""
        tests = _folds(results)
        parts = [(model, taken(X, test)) for model, test in tests]
        said = [self.scores(m, part)[0] if self.reads == "scores" else np.asarray(m.predict(part)) for m, part in parts]
        return np.concatenate([test for _, test in tests]), np.concatenate(said)

    def of_each_fold(self, results: Any, X: Any, y: Any) -> list[Evaluation]:
        """One evaluation a test fold."""
        tests = _folds(results)
        return [self._taking(test).of_estimator(model, taken(X, test), taken(y, test)) for model, test in tests]

    def about(self, label: Any, cut: float | None) -> Source:
        """The same, with the class and the cut that the scores of an estimator are about."""
        known = {"pos_label": label, **({} if cut is None else {"threshold": cut})}
        return Source(self.reads, self.needs, {**known, **self.weighing}, self.response_method)

    def _taking(self, rows: Array) -> Source:
        """The same for some of the rows: their weights alone."""
        kept = {
            key: taken(value, rows) if key in ("sample_weight", "frequency") and value is not None else value
            for key, value in self.weighing.items()
        }
        return Source(self.reads, self.needs, kept, self.response_method)

    def scores(self, estimator: Any, X: Any) -> tuple[Array, Any, float | None]:
        """The scores of the positive class, that class, and the cut by which the estimator predicts."""
        wanted = list(_METHODS) if self.response_method == "auto" else [self.response_method]
        if not set(wanted) <= set(_METHODS):
            raise InputError(f"response_method= takes 'auto' or one of {', '.join(_METHODS)}.")
        method = next((name for name in wanted if hasattr(estimator, name)), None)
        if method is None:
            raise InputTypeError(f"{type(estimator).__name__} has no {' or '.join(wanted)}, so it gives no scores.")
        classes = list(estimator.classes_)
        label = self.weighing.get("pos_label")
        if label is None and len(classes) > 2:
            raise InputError(f"The estimator tells {len(classes)} classes apart; name one with pos_label=.")
        label = classes[-1] if label is None else label
        if label not in classes:
            raise InputError(f"pos_label={label!r} is none of the estimator's classes {classes}.")
        told, place = np.asarray(getattr(estimator, method)(X)), classes.index(label)
        scores = told[:, place] if told.ndim == 2 else told if place else -told
        return scores, label, _METHODS[method]


def _folds(results: Any) -> list[tuple[Any, Array]]:
    """The estimator of each fold with the rows that it had not seen."""
    try:
        return list(zip(results["estimator"], results["indices"]["test"], strict=True))
    except (TypeError, KeyError, IndexError):
        raise InputError(
            "Cross-validation results need their estimators and rows: "
            "cross_validate(..., return_estimator=True, return_indices=True)."
        ) from None


def taken(data: Any, rows: Array) -> Any:
    """Some rows of an array, a frame or a list."""
    from sklearn.utils import _safe_indexing

    return _safe_indexing(data, rows)
