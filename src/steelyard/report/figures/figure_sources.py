"""Figure sources: what a figure is drawn from: predictions, fitted estimators or folds, evaluated."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

import numpy as np

from steelyard.analysis.results.formatting import three_digits
from steelyard.arguments import refuse_keywords
from steelyard.evaluation.evaluate import evaluate
from steelyard.evaluation.evaluation import Evaluation
from steelyard.exceptions import InputError, InputTypeError
from steelyard.predictions import Predictions, RowOptions
from steelyard.report.figures.estimator_threshold import own_threshold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Estimator, Label
    from steelyard.report.figures.estimator_threshold import OwnThreshold
    from steelyard.report.figures.figure_types import CvResults

Model = TypeVar("Model")
ROW_OPTIONS = tuple(RowOptions.__annotations__)
_ASKED = ("prevalence", "level", "draws", "rng")  # of evaluate
_METHODS = {"predict_proba": None, "decision_function": 0.0}  # the threshold of predict; None is evaluate's own 0.5
LABELS_ALONE, SCORES_ALONE = ("accuracy",), ("roc_auc",)


def by_name(given: Model | Mapping[str, Model]) -> dict[str, Model]:
    """Models by name; a lone one has the empty name."""
    return dict(given) if isinstance(given, Mapping) else {"": given}


def cv_results_by_name(given: CvResults) -> dict[str, CvResults]:
    """Results of cross_validate by name; they are themselves a dictionary, which has an item "estimator"."""
    if not isinstance(given, Mapping) or "estimator" in given:
        return {"": given}
    return dict(given) if all(isinstance(results, Mapping) for results in given.values()) else {"": given}


@dataclass(frozen=True)
class FigureSource:
    """How rows become an evaluation: what is read of an estimator, which metrics are needed, evaluate's options."""

    reads: Literal["labels", "scores", "columns"]
    needs: tuple[str, ...]
    options: dict[str, Any] = field(default_factory=dict)
    response_method: str = "auto"

    @classmethod
    def split(
        cls, reads: Literal["labels", "scores", "columns"], needs: tuple[str, ...], options: dict[str, Any]
    ) -> tuple[Self, dict[str, Any]]:
        """The source that the options describe, and the options that are about drawing."""
        refuse_keywords("a figure", options, ("by", "zero_division", "average"))
        rest = dict(options)
        evaluating = {key: rest.pop(key) for key in (*ROW_OPTIONS, *_ASKED) if key in rest}
        return cls(reads, needs, evaluating, rest.pop("response_method", "auto")), rest

    def of_values(self, y_true: ArrayLike, **columns: ArrayLike) -> Evaluation:
        """The evaluation of labels or scores that were given, or that an estimator gave."""
        rows = {name: option for name, option in self.options.items() if name in ROW_OPTIONS}
        return self.evaluated(Predictions.of(y_true, **columns, **rows))  # type: ignore[arg-type]  # each of its kind

    def evaluated(self, p: Predictions) -> Evaluation:
        """The evaluation of the rows of one model by the metrics that the figure needs."""
        if self.reads == "scores":
            self._check_scores(p)
        return evaluate(p, metrics=self._metrics(p), **self._asked)

    def _metrics(self, p: Predictions) -> Sequence[str] | None:
        return self.needs or (SCORES_ALONE if p.has_scores else LABELS_ALONE)

    @property
    def _asked(self) -> dict[str, Any]:
        return {name: self.options[name] for name in _ASKED if name in self.options}

    def _check_scores(self, p: Predictions) -> None:
        """Refuse labels, and a column for each of several classes of which none is named."""
        if p.given.models and not p.has_scores:
            raise InputTypeError("The figure is of scores, and labels alone were given; name the scores with score=.")
        if p.kind == "class scores" and (all_of := p.collect()).kind == "class scores":
            given = f"The figure is of the scores of one class, and there is a column for each of {len(all_of.labels)}"
            raise InputError(f"{given}; name the class with pos_label=.")

    def of_estimator(self, estimator: Estimator, X: ArrayLike, y: ArrayLike) -> Evaluation:
        """The evaluation of a fitted estimator's predictions on the rows."""
        if self.reads == "columns":
            return self.of_columns(y, np.asarray(estimator.predict_proba(X)), estimator)  # type: ignore[attr-defined]  # or it says so
        if self.reads == "labels" and "threshold" not in self.options:
            return self.of_values(y, y_pred=estimator.predict(X))
        scores, label, threshold = self.scores(estimator, X)
        return self.for_class(label, threshold).of_values(y, y_score=scores)

    def of_folds(self, results: CvResults, X: ArrayLike, y: ArrayLike) -> Evaluation:
        """The evaluation of the rows of all test folds together."""
        tests = _folds(results)
        rows = np.concatenate([test for _, test in tests])
        source = self._taking(rows)
        if self.reads == "columns":
            columns = np.concatenate([model.predict_proba(take_rows(X, test)) for model, test in tests])  # type: ignore[attr-defined]  # see above
            return source.of_columns(take_rows(y, rows), columns, tests[0][0])
        if self.reads == "labels" and "threshold" not in self.options:
            return source.of_values(take_rows(y, rows), y_pred=self.test_predictions(results, X)[1])
        parts = [self.scores(model, take_rows(X, test)) for model, test in tests]
        scores = np.concatenate([part[0] for part in parts])
        return source.for_class(parts[0][1], self._one_threshold(parts)).of_values(take_rows(y, rows), y_score=scores)

    def of_columns(self, y: ArrayLike, columns: Array, estimator: Estimator) -> Evaluation:
        """The evaluation of a column of probabilities for each class of an estimator."""
        labels = {"labels": list(estimator.classes_)}  # type: ignore[attr-defined]  # set by fit
        return FigureSource(self.reads, self.needs, {**labels, **self.options}).of_values(y, y_score=columns)

    def _one_threshold(self, parts: Sequence[tuple[Array, Label, float | None]]) -> float | None:
        """The threshold of all folds; several are refused unless one is named."""
        thresholds = {part[2] for part in parts}
        if len(thresholds) > 1 and "threshold" not in self.options:
            low, high = (three_digits(end(t for t in thresholds if t is not None)) for end in (min, max))
            raise InputError(f"The folds predict at thresholds from {low} to {high}; name one by threshold=.")
        return parts[0][2]

    def test_predictions(self, results: CvResults, X: ArrayLike) -> tuple[Array, Array]:
        """The rows of all test folds, and their predictions: labels, or scores of the positive class."""
        tests = _folds(results)
        parts = [(model, take_rows(X, test)) for model, test in tests]
        scored = self.reads == "scores"
        columns = [self.scores(m, part)[0] if scored else np.asarray(m.predict(part)) for m, part in parts]
        return np.concatenate([test for _, test in tests]), np.concatenate(columns)

    def of_each_fold(self, results: CvResults, X: ArrayLike, y: ArrayLike) -> list[Evaluation]:
        """One evaluation a test fold."""
        tests = _folds(results)
        return [self._taking(test).of_estimator(model, take_rows(X, test), take_rows(y, test)) for model, test in tests]

    def for_class(self, label: Label, threshold: float | None) -> FigureSource:
        """The same, with the class and the threshold that the scores of an estimator are about."""
        implied = {"pos_label": label, **({} if threshold is None else {"threshold": threshold})}
        return FigureSource(self.reads, self.needs, {**implied, **self.options}, self.response_method)

    def _taking(self, rows: Array) -> FigureSource:
        """The same for some of the rows: their weights alone."""
        options = {
            key: take_rows(value, rows)
            if key in ("sample_weight", "frequency", "cluster") and value is not None
            else value
            for key, value in self.options.items()
        }
        return FigureSource(self.reads, self.needs, options, self.response_method)

    def scores(self, estimator: Estimator, X: ArrayLike) -> tuple[Array, Label, float | None]:
        """The scores of the positive class, that class, and the threshold by which the estimator predicts."""
        own = own_threshold(estimator)
        method = self._method(estimator, own)
        classes = list(estimator.classes_)  # type: ignore[attr-defined]  # set by fit, so no part of the protocol
        label = self.options.get("pos_label")
        if label is None and len(classes) > 2:
            raise InputError(f"The estimator has {len(classes)} classes apart; name one with pos_label=.")
        label = (classes[-1] if own is None else own.label) if label is None else label
        if label not in classes:
            raise InputError(f"pos_label={label!r} is none of the estimator's classes {classes}.")
        answer, place = np.asarray(getattr(estimator, method)(X)), classes.index(label)
        scores = answer[:, place] if answer.ndim == 2 else answer if place else -answer
        return scores, label, _METHODS[method] if own is None else own.of_class(label, method)

    def _method(self, estimator: Estimator, own: OwnThreshold | None) -> str:
        """The method that gives the scores: the one asked for, that of the threshold, or the first that there is."""
        given = self.response_method
        if given != "auto" and given not in _METHODS:
            raise InputError(f"response_method= takes 'auto' or one of {', '.join(_METHODS)}.")
        asked = given if own is None or own.response_method == "auto" or given != "auto" else own.response_method
        wanted = list(_METHODS) if asked == "auto" else [asked]
        method = next((name for name in wanted if hasattr(estimator, name)), None)
        if method is None:
            raise InputTypeError(f"{type(estimator).__name__} has no {' or '.join(wanted)}, so it gives no scores.")
        if own is None or "threshold" in self.options:
            return method
        if math.isnan(own.value):
            raise InputError("The classifier has a threshold for each group; name one by threshold=.")
        if method != _method_of(own, estimator):
            raise InputError(
                f"{type(estimator).__name__} predicts by {_method_of(own, estimator)}, so response_method={given!r} "
                "has no threshold; leave it out, or give threshold=."
            )
        return method


def _method_of(own: OwnThreshold, estimator: Estimator) -> str:
    """The method of the scores that an estimator's own threshold is of."""
    first = next(name for name in _METHODS if hasattr(estimator, name))
    return first if own.response_method == "auto" else own.response_method


def _folds(results: CvResults) -> list[tuple[Estimator, Array]]:
    """The estimator of each fold with the rows that it had not seen."""
    try:
        return list(zip(results["estimator"], results["indices"]["test"], strict=True))
    except (TypeError, KeyError, IndexError):
        raise InputError(
            "Cross-validation results need their estimators and rows: "
            "cross_validate(..., return_estimator=True, return_indices=True)."
        ) from None


def take_rows(data: ArrayLike, rows: Array) -> Any:
    """Some rows of an array, a frame or a list."""
    from sklearn.utils import _safe_indexing

    return _safe_indexing(data, rows)


def not_drawn(given: object, what: str) -> InputError | InputTypeError:
    """Why a figure of evaluations is not drawn from something else."""
    if isinstance(given, Evaluation):  # of label sets: others are drawn
        return InputError(
            f"{what} is of one label, and these rows may have several; name the column of the truth of one label, and "
            "that of its predictions or scores."
        )
    return InputTypeError(f"{what} is drawn from an Evaluation, or several by name, not {type(given).__name__}.")
