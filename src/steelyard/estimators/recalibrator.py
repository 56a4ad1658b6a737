"""Recalibrator: better probabilities from those of any classifier and the outcomes of rows that it did not learn from.

scikit-learn's CalibratedClassifierCV needs the classifier and its rows; here probabilities are enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from steelyard.analysis.prevalence.prevalence import class_share_vector
from steelyard.arrays import checks
from steelyard.arrays.checks import check_order
from steelyard.estimators.probability_maps import (
    IsotonicMap,
    LogisticMap,
    PriorMap,
    TemperatureMap,
    Unchanged,
    UnseenLoss,
    log_losses,
)
from steelyard.exceptions import InputError, needs_sklearn
from steelyard.tables.array_tables import both_columns, given_probabilities

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Splitter
    from steelyard.analysis.prevalence.prevalence import SharesLike
    from steelyard.estimators.probability_maps import ProbabilityMap

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.model_selection import StratifiedKFold, check_cv
    from sklearn.utils.validation import check_is_fitted
except ImportError as missing:
    raise needs_sklearn("Recalibrator") from missing

_OF_TWO: dict[str, type[LogisticMap | IsotonicMap]] = {"logistic": LogisticMap, "isotonic": IsotonicMap}
RECALIBRATIONS = ("prior", "temperature", *_OF_TWO)
_UNCHANGED = "none"
_LEAST_ROWS = 4  # of a class: two remain when folds of folds leave rows out


class Recalibrator(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Recalibrates probabilities by outcomes: fit(p, y) on rows that the classifier did not learn from.

    `p` is the column of the positive class, which is the later of two in sorted order, or one for each class in the
    order of `classes_`. `method` is "logistic" (slope and intercept of the logits), "isotonic" (any rising curve),
    "temperature" (one number, also for many classes), "prior" (correct_prior from the class shares `trained` to
    `deployed`, without which those of y are taken), or "auto": the one of these, or "none", whose log loss is least on
    rows that did not fit it, "prior" among them where `trained` is given. `cv` are the folds, or a splitter of
    scikit-learn; `level` is that of the intervals.

    Fitted: `classes_`; `method_`, the one chosen; `map_`, what it does, with its numbers; `log_losses_`, of "auto" that
    of each method on unseen rows; `judged_`, the log loss of all of fit, the choice included, on rows that it did not
    see, and its gain over the probabilities as they were, with intervals.

    >>> rng = np.random.default_rng(0)
    >>> logits = rng.normal(-2, 1, 4000)
    >>> y = (rng.random(4000) < 1 / (1 + np.exp(-logits))).astype(int)
    >>> oversampled = 1 / (1 + np.exp(-logits - np.log(4)))
    >>> model = Recalibrator("logistic").fit(oversampled, y)
    >>> model.transform([0.2, 0.5]).round(1).tolist()
    [0.1, 0.2]
    >>> model.judged_.gain_low > 0
    True
    """

    def __init__(
        self,
        method: str = "auto",
        *,
        trained: SharesLike | None = None,
        deployed: SharesLike | None = None,
        cv: int | Splitter = 5,
        level: float = 0.95,
    ) -> None:
        self.method = method
        self.trained = trained
        self.deployed = deployed
        self.cv = cv
        self.level = level

    def fit(self, p: ArrayLike, y: ArrayLike) -> Self:
        """Fit the map to the outcomes, and judge it on rows that each fold leaves out."""
        check_order(p=p, y=y)
        columns, truth = both_columns(given_probabilities(p, "p")), checks.column(y, "y")
        checks.check_lengths(p=columns, y=truth)
        self.classes_, codes = np.unique(truth, return_inverse=True)
        if (k := columns.shape[1]) != len(self.classes_):
            raise InputError(f"p has the probabilities of {k} classes, and in y there are {len(self.classes_)}.")
        if np.bincount(codes).min() < _LEAST_ROWS:
            raise InputError(f"Each class needs {_LEAST_ROWS} rows or more, so that some can be left out of each fit.")
        self.method_, self.map_, self.log_losses_ = self._chosen(columns, codes)
        unseen, folds = columns.copy(), self._folds(codes)
        for seen, left_out in folds:
            unseen[left_out] = self._chosen(columns[seen], codes[seen])[1](columns[left_out])
        shared = sum(len(left_out) / len(seen) for seen, left_out in folds)
        self.judged_ = UnseenLoss.of(codes, columns, unseen, level=self.level, shared=shared)
        return self

    def predict_proba(self, p: ArrayLike) -> Array:
        """The recalibrated probabilities, a column for each of `classes_`."""
        check_is_fitted(self)
        columns = both_columns(given_probabilities(p, "p"))
        if columns.shape[1] != len(self.classes_):
            raise InputError(f"p has the probabilities of {columns.shape[1]} classes, not of {len(self.classes_)}.")
        return self.map_(columns)

    def transform(self, p: ArrayLike) -> Array:
        """The recalibrated probabilities in the shape of those given."""
        moved = self.predict_proba(p)
        return moved if np.ndim(p) == 2 else moved[:, 1]

    # ---------------------------------------------------------------- the choice

    def _chosen(self, columns: Array, codes: Array) -> tuple[str, ProbabilityMap, dict[str, float]]:
        """The method, its map of these rows, and the losses by which it was chosen."""
        names = self._candidates(columns.shape[1])
        if len(names) == 1:
            return names[0], self._map(names[0], columns, codes), {}
        losses = {name: self._loss(name, columns, codes) for name in names}
        best = min(names, key=lambda name: losses[name])
        return best, self._map(best, columns, codes), losses

    def _candidates(self, k: int) -> tuple[str, ...]:
        """The methods that apply, the simplest first, which equal ones are decided by."""
        if self.method == "auto":
            usable = RECALIBRATIONS if self.trained is not None else RECALIBRATIONS[1:]
            return (_UNCHANGED, *(name for name in usable if k == 2 or name not in _OF_TWO))
        if self.method not in RECALIBRATIONS:
            raise InputError(
                argument="method", expected=f"one of {', '.join((*RECALIBRATIONS, 'auto'))}", given=self.method
            )
        if k > 2 and self.method in _OF_TWO:
            raise InputError(f"{self.method} recalibrates two classes, not {k}; use temperature, prior or auto.")
        return (self.method,)

    def _map(self, name: str, columns: Array, codes: Array) -> ProbabilityMap:
        if name == _UNCHANGED:
            return Unchanged()
        if name == "temperature":
            return TemperatureMap.fitted(columns, codes)
        return self._prior(codes) if name == "prior" else _OF_TWO[name].fitted(columns, codes)

    def _prior(self, codes: Array) -> PriorMap:
        if self.trained is None:
            raise InputError("method='prior' needs trained=, the class shares of the training rows.")
        seen = np.bincount(codes, minlength=len(self.classes_)) / len(codes)
        k, labels = len(self.classes_), list(self.classes_)
        given: Any = seen if self.deployed is None else self.deployed
        shares = (
            class_share_vector(part, k, use, labels) for part, use in ((self.trained, "trained"), (given, "deployed"))
        )
        trained, deployed = (tuple(part.tolist()) for part in shares)
        return PriorMap(trained, deployed)

    def _loss(self, name: str, columns: Array, codes: Array) -> float:
        """The log loss on rows that did not fit the method; infinite where it has no fit."""
        losses = np.empty(len(codes))
        try:
            for seen, left_out in self._folds(codes):
                mapped = self._map(name, columns[seen], codes[seen])(columns[left_out])
                losses[left_out] = log_losses(mapped, codes[left_out])
        except InputError:
            if name == "prior":  # the shares that were given
                raise
            return float("inf")
        return float(losses.mean())

    def _folds(self, codes: Array) -> list[tuple[Array, Array]]:
        """The rows to fit and to leave out, each class in every fold where it has rows for that."""
        if isinstance(self.cv, (int, np.integer)):
            folds = max(min(int(self.cv), int(np.bincount(codes).min())), 2)
            return list(StratifiedKFold(folds, shuffle=True, random_state=0).split(codes, codes))
        splits = list(check_cv(self.cv, codes, classifier=True).split(codes, codes))
        if (np.bincount(np.concatenate([left_out for _, left_out in splits]), minlength=len(codes)) != 1).any():
            raise InputError("cv= leaves each row out once, such as StratifiedKFold does; this splitter does not.")
        return splits
