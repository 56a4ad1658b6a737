"""Rows of features: the label of each, with its weight, what errors on it cost, its group and its fold."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.thresholds.threshold_sample import COST_KEYS
from steelyard.exceptions import InputError, InputTypeError, did_you_mean
from steelyard.ingest import arrays
from steelyard.ingest.array_groups import group_places
from steelyard.ingest.label_tables import sorted_groups
from steelyard.statistics.positive_class import conventional_label

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

    def take(self, places: Array) -> RowDetails:
        """Some of the rows."""
        costs = None if self.costs is None else {key: _taken(cost, places) for key, cost in self.costs.items()}
        weight, groups = (None if column is None else column[places] for column in (self.weight, self.groups))
        return RowDetails(self.y[places], weight, costs, groups)


def _taken(cost: ErrorCost, places: Array) -> ErrorCost:
    return np.asarray(cost)[places] if np.ndim(cost) else cost


def groups_of(values: Array) -> dict[Label, Array]:
    """The places of the rows of each group, in the order of the groups; a missing value is a group, None."""
    places = group_places({"by": values})
    return {key[0]: places[key] for key in sorted_groups(key for key in places if key)}


def costs_of(costs: CostsLike | None, by_row: Mapping[str, ArrayLike], X: Features, rows: int) -> CostsLike | None:
    """Costs, with those that fit was given by row, and arrays in the place of the names of columns of X."""
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
        return arrays.column(frame.get_column(column).to_native(), use)
    try:
        return _of_matrix(X, column) if names is None else arrays.column(frame[:, column].to_native(), use)
    except IndexError:
        raise InputError(f"X has no column at position {column} ({use}); the first is 0.") from None


def _of_matrix(X: Features, position: int) -> Array:
    """A column of an array, a list of rows or a sparse matrix."""
    if hasattr(X, "tocsc"):
        return np.asarray(X.tocsc()[:, [position]].toarray()).ravel()
    return np.asarray(X)[:, position]


# ---------------------------------------------------------------- score splits
# The rows that train a classifier and those that it scores, fold by fold.


_HELD_OUT = 0.5  # the share of rows that choose a threshold whose limits are promised


def check_folds(cv: object) -> None:
    """Refuse what is neither folds, nor a share of rows to hold out, nor a fitted classifier."""
    if isinstance(cv, str) and cv != "prefit":
        raise InputError(f"cv= takes a number of folds, a splitter or 'prefit', not {cv!r}.")
    if isinstance(cv, float) and not 0 < cv < 1:
        raise InputError(f"cv= as a share of rows to hold out lies between 0 and 1, not at {cv:g}.")


def score_splits(asked: Any, X: Features, y: Array, frozen: bool) -> list[tuple[Array, Array]]:
    """The rows to train on, and those to score, of each fold that a ThresholdClassifier asks for.

    Unless it says so, one half of the rows to score where limits are promised, which hold for a classifier that is
    kept; of one that no fit changes all rows.
    """
    from sklearn.base import is_classifier
    from sklearn.model_selection import StratifiedShuffleSplit, check_cv

    is_kept = asked.confidence is not None and not asked.refit and not frozen
    given = (_HELD_OUT if is_kept else None) if asked.cv is None else asked.cv
    share = isinstance(given, float)
    cv = StratifiedShuffleSplit(1, test_size=given, random_state=0) if share else given
    splits = [*check_cv(cv, y, classifier=is_classifier(asked.estimator)).split(X, y)]
    if asked.refit is not None and not asked.refit and len(splits) > 1:
        raise InputError(
            f"refit=False deploys the classifier of one split, and cv= makes {len(splits)}; give the share of rows "
            "to hold out, such as cv=0.25, a splitter with one split, or 'prefit'."
        )
    tested = np.concatenate([test for _, test in splits])
    if asked.confidence is not None and len(np.unique(tested)) < len(tested):
        raise InputError(
            "cv= leaves some rows out more than once, and limits are promised by rows that count once; give a "
            "splitter that leaves each out once, such as StratifiedKFold."
        )
    return splits


def is_refitted(asked: Any, splits: list[tuple[Array, Array]]) -> bool:
    """Whether it is fitted again on all rows: by default not where limits are promised for that of one split."""
    return bool(asked.refit) if asked.refit is not None else asked.confidence is None or len(splits) > 1


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
        scores, place = np.asarray(getattr(estimator, method)(X)), self.place(estimator.classes_)  # type: ignore[attr-defined]  # set by fit
        if scores.ndim == 2:
            return scores[:, place]
        return scores if place else -scores

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

    def place(self, classes: ArrayLike) -> int:
        """The place of the positive class among the two."""
        labels = np.asarray(classes)
        if len(labels) != 2:
            raise InputError(f"A fold or the fitted classifier holds {len(labels)} classes; a threshold separates two.")
        if self.pos_label is None:
            return 1
        places = np.flatnonzero(labels == self.pos_label)
        if not len(places):
            raise InputError(f"pos_label={self.pos_label!r} is none of the classes {labels.tolist()}.")
        return int(places[0])
