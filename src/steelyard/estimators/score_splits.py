"""Score splits: the rows that train a classifier and those that it scores, fold by fold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from steelyard._types import Array, Estimator, Features
    from steelyard.estimators.row_details import RowDetails

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
