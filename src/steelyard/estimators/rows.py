"""Rows of features: the label of each, with its weight, what errors on it cost, its group and its fold."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.thresholds.threshold_sample import COST_KEYS
from steelyard.arrays import checks
from steelyard.arrays.labels import conventional_label
from steelyard.exceptions import InputError, InputTypeError, did_you_mean
from steelyard.frames.decoding import sorted_groups
from steelyard.frames.groups import group_places

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Estimator, Features, Label
    from steelyard.analysis.thresholds.threshold_sample import CostsLike, ErrorCost


@dataclass(frozen=True, eq=False)
class RowDetails:
    """The labels of rows, their weights, what errors on them cost, and the value that each is grouped by."""

    y: Array
    weight: Array | None = None
    costs: CostsLike | None = None
    groups: Array | None = None

    def take(self, indices: Array) -> RowDetails:
        """Some of the rows."""
        costs: dict[str, ErrorCost] | None = None
        if self.costs is not None:  # each is one number, or one a row
            costs = {key: np.asarray(cost)[indices] if np.ndim(cost) else cost for key, cost in self.costs.items()}
        weight, groups = (None if column is None else column[indices] for column in (self.weight, self.groups))
        return RowDetails(self.y[indices], weight, costs, groups)


def groups_of(values: Array) -> dict[Label, Array]:
    """The indices of the rows of each group, in the order of the groups; a missing value is a group, None."""
    indices = group_places({"by": values})
    return {key[0]: indices[key] for key in sorted_groups(key for key in indices if key)}


def costs_of(costs: CostsLike | None, by_row: Mapping[str, ArrayLike], X: Features, rows: int) -> CostsLike | None:
    """Costs, with those that fit was given by row, and arrays instead of the names of columns of X."""
    for key in by_row:
        if key not in COST_KEYS:
            raise InputTypeError(
                f"fit takes X, y, sample_weight and, one value per row, {', '.join(COST_KEYS)}; {key!r} is none of "
                f"them.{did_you_mean(key, COST_KEYS)}"
            )
    read: dict[str, ErrorCost] = {}
    for key, cost in {**(costs or {}), **by_row}.items():
        otherwise = "give fit the costs themselves, one a row"
        read[key] = column_of(X, cost, key, otherwise) if isinstance(cost, str) else cost
        if np.ndim(read[key]) and len(np.asarray(read[key])) != rows:
            raise InputError(f"{key} has {len(np.asarray(read[key])):,} values, and X {rows:,} rows; give one a row.")
    return read or None


def column_of(X: Features, column: str | int, use: str, otherwise: str) -> Array:
    """A column of rows of features, by the name that it has in a frame or by its position."""
    import narwhals as nw

    frame: Any = nw.from_native(X, eager_only=True, pass_through=True)
    names = list(frame.columns) if isinstance(frame, nw.DataFrame) else None
    if isinstance(column, str):
        if names is None:
            raise InputTypeError(f"{use} names the column {column!r}, and X is no frame; give one, or {otherwise}.")
        if column not in names:
            raise InputError(f"X has no column {column!r} ({use}).{did_you_mean(column, map(str, names))}")
        return checks.column(frame.get_column(column).to_native(), use)
    try:
        if names is not None:
            return checks.column(frame[:, column].to_native(), use)
        if hasattr(X, "tocsc"):  # a sparse matrix
            return np.asarray(X.tocsc()[:, [column]].toarray()).ravel()
        return np.asarray(X)[:, column]
    except IndexError:
        raise InputError(f"X has no column at position {column} ({use}); the first is 0.") from None


# ---------------------------------------------------------------- score splits
# The rows that train a classifier and those that it scores, fold by fold.


_HELD_OUT = 0.5  # the share of rows that choose a threshold whose limits are guaranteed


def check_folds(cv: object) -> None:
    """Refuse what is neither folds, nor a share of rows to hold out, nor a fitted classifier."""
    if isinstance(cv, str) and cv != "prefit":
        raise InputError(argument="cv", expected="a number of folds, a splitter or 'prefit'", given=cv)
    if isinstance(cv, float) and not 0 < cv < 1:
        raise InputError(f"cv= as a share of rows to hold out lies between 0 and 1, not at {cv:g}.")


def check_refit(refit: object) -> None:
    """Refuse what neither fits the classifier again, nor keeps it, nor leaves that to the method."""
    if not (isinstance(refit, (bool, np.bool_)) or (isinstance(refit, str) and refit == "auto")):
        raise InputError(argument="refit", expected="True, False or 'auto'", given=refit)


def score_splits(classifier: Any, X: Features, y: Array, frozen: bool) -> list[tuple[Array, Array]]:
    """The rows to train on, and those to score, of each fold that a ThresholdClassifier asks for.

    Without `cv` one half of the rows is scored where limits are guaranteed, since they hold for a classifier that is
    kept. A frozen classifier, which no fit changes, is scored on all rows.
    """
    from sklearn.base import is_classifier
    from sklearn.model_selection import StratifiedShuffleSplit, check_cv

    cv = classifier.cv
    if (
        cv is None
        and classifier.confidence is not None
        and (classifier.refit == "auto" or not classifier.refit)
        and not frozen
    ):
        cv = _HELD_OUT
    if isinstance(cv, float):
        cv = StratifiedShuffleSplit(1, test_size=cv, random_state=0)
    splits = [*check_cv(cv, y, classifier=is_classifier(classifier.estimator)).split(X, y)]
    if not classifier.refit and len(splits) > 1:
        raise InputError(
            f"refit=False deploys the classifier of one split, and cv= makes {len(splits)}; give the share of rows "
            "to hold out, such as cv=0.25, a splitter with one split, or 'prefit'."
        )
    tested = np.concatenate([test for _, test in splits])
    if classifier.confidence is not None and len(np.unique(tested)) < len(tested):
        raise InputError(
            "cv= leaves some rows out more than once, and limits are promised by rows that count once; give a "
            "splitter that leaves each out once, such as StratifiedKFold."
        )
    return splits


def is_refitted(classifier: Any, splits: list[tuple[Array, Array]]) -> bool:
    """Whether it is fitted again on all rows: by default unless limits are guaranteed for that of one split."""
    if classifier.refit != "auto":
        return bool(classifier.refit)
    return classifier.confidence is None or len(splits) > 1


def fitted_clone(estimator: Estimator, X: Features, rows: RowDetails) -> Any:
    """A copy of the classifier, fitted on rows."""
    from sklearn.base import clone

    weighted = {} if rows.weight is None else {"sample_weight": rows.weight}
    return clone(estimator).fit(X, rows.y, **weighted)


# ---------------------------------------------------------------- positive scores
# What a fitted classifier of two classes scores rows for the class that is positive.


_METHODS = ("predict_proba", "decision_function")


@dataclass(frozen=True)
class PositiveScores:
    """The positive class, by default the later of two, and the method that scores, or "auto" for the first there is."""

    pos_label: Label | None
    response_method: str

    def __post_init__(self) -> None:
        if self.response_method not in ("auto", *_METHODS):
            raise InputError(f"response_method= takes 'auto', {' or '.join(map(repr, _METHODS))}.")

    def of(self, estimator: Estimator, X: Features) -> Array:
        """The scores of the positive class, higher meaning more positive."""
        wanted = _METHODS if self.response_method == "auto" else (self.response_method,)
        method = next((name for name in wanted if hasattr(estimator, name)), None)
        if method is None:
            raise InputTypeError(
                f"{type(estimator).__name__} has no {' or '.join(wanted)}, so there is nothing to threshold."
            )
        scores = np.asarray(getattr(estimator, method)(X))
        positive = positive_index(estimator.classes_, self.pos_label)  # type: ignore[attr-defined]  # set by fit
        if scores.ndim == 2:
            return scores[:, positive]
        return scores if positive else -scores

    def warn_of_doubt(self, classes: ArrayLike) -> None:
        """Warn where no label was named and the classes do not show which is positive, with the one that was taken."""
        labels = np.asarray(classes).tolist()
        taken, other = labels[1], labels[0]
        if self.pos_label is None and conventional_label(labels) != taken:
            warnings.warn(
                f"The positive class is taken to be {taken!r}, the later of {other!r} and {taken!r} in sorted order, "
                f"as in scikit-learn; name it with pos_label={taken!r}, or take the other one with "
                f"pos_label={other!r}.",
                UserWarning,
                stacklevel=3,
            )


def positive_index(classes: ArrayLike, pos_label: Label | None) -> int:
    """The index of the positive class among two: that of the label, without one the later class."""
    labels = np.asarray(classes)
    if len(labels) != 2:
        raise InputError(f"A fold or the fitted classifier holds {len(labels)} classes; a threshold separates two.")
    if pos_label is None:
        return 1
    indices = np.flatnonzero(labels == pos_label)
    if not len(indices):
        raise InputError(f"pos_label={pos_label!r} is none of the classes {labels.tolist()}.")
    return int(indices[0])
