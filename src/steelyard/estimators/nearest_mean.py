"""NearestMeanClassifier: the two-class nearest-mean classifier with the best threshold of its axis, for scikit-learn.

Wu and Cannistraci (2025): an axis from the centre of the negatives to that of the positives, the rows projected onto
it, and the threshold at the middle between two neighbouring projections at which a metric is best.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.thresholds.threshold_sample import Criterion, read_aim
from steelyard.estimators.rows import positive_index
from steelyard.exceptions import InputError, needs_sklearn
from steelyard.tables.array_tables import score_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label, Splitter, Weights
    from steelyard.analysis.thresholds.threshold_sample import AimLike


try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.model_selection import check_cv
    from sklearn.utils.multiclass import check_classification_targets, type_of_target
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
except ImportError as missing:
    raise needs_sklearn("NearestMeanClassifier") from missing

CENTROIDS = ("mean", "median")
_ROUNDING = 1e-12  # of the range of the projections: what rounding makes of equal ones


@dataclass(frozen=True)
class Axis:
    """The unit vector between the centres, the threshold of the projections onto it, and the criterion there.

    Projections that differ by no more than the rounding are one.
    """

    centroid: str
    centers: Array
    unit: Array
    threshold: float
    merit: float
    rounding: float


class NearestMeanClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A two-class linear classifier: the axis between the classes' centres, with the threshold where a metric is best.

    `centroid` is "mean", "median" (of each column), or "best" for the one whose threshold is worth more, the mean of
    equal ones. `criterion` names the metric, or is anything that best_threshold takes as one. The thresholds tried are
    the middles between neighbouring distinct projections, those equal but for rounding (1e-12 of their spread) being
    one, and the lowest of equal optima is kept. With `cv` (folds, or a splitter of scikit-learn) the threshold is the
    mean of those that are best on the training part of each fold; the axis is always that of all rows. Without
    `pos_label` the later of the two classes in sorted order is positive. A distance is no probability, so there is a
    `decision_function` and no `predict_proba`.

    Fitted: `classes_`; `centroid_`, the kind chosen; `centers_`, of the negatives and of the positives; `axis_`,
    the unit vector from the first to the second, `threshold_`, the place on it, and `criterion_value_` there;
    `rounding_`, by which projections that count as equal may differ; `coef_` and `intercept_`, of which
    `decision_function` is made: towards `classes_[1]`, as scikit-learn's are.

    >>> X, y = [[0, 0], [1, 0], [0, 1], [4, 3], [5, 4], [2, 2]], [0, 0, 0, 1, 1, 1]
    >>> model = NearestMeanClassifier().fit(X, y)
    >>> model.centroid_, round(model.threshold_, 3), model.predict([[1, 1], [3, 3]]).tolist()
    ('mean', 1.796, [0, 1])
    """

    def __init__(
        self,
        centroid: str = "best",
        criterion: AimLike = "operating_point_score",
        *,
        cv: int | Splitter | None = None,
        pos_label: Label | None = None,
    ) -> None:
        self.centroid = centroid
        self.criterion = criterion
        self.cv = cv
        self.pos_label = pos_label

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: Weights = None) -> NearestMeanClassifier:
        """Find the centres, the axis between them and its best threshold."""
        rows, labels = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        weight = _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
        positive = self._positives(labels, weight > 0)
        kinds = CENTROIDS if self.centroid == "best" else (self.centroid,)
        search = Criterion(read_aim(self.criterion))
        parts: list[slice | Array] = [slice(None)]  # on which a threshold is looked for
        if self.cv is not None:
            parts = [train for train, _ in check_cv(self.cv, labels, classifier=True).split(rows, labels)]
        candidates = [_best_axis(kind, rows, positive, weight, parts, search) for kind in kinds]
        axes = [axis for axis in candidates if axis is not None]
        if not axes:
            raise InputError("The centres of the two classes coincide, so no axis leads from one to the other.")
        slack = search.aim.tie(np.array([axis.merit for axis in axes]))
        best = max(axis.merit for axis in axes)
        chosen = next(axis for axis in axes if axis.merit >= best - slack)  # of equal ones the mean, which is first
        self.centroid_, self.centers_, self.axis_ = chosen.centroid, chosen.centers, chosen.unit
        self.threshold_, self.rounding_ = chosen.threshold, chosen.rounding
        sign = 1 if self._positive_index else -1
        self.coef_, self.intercept_ = sign * chosen.unit[None], np.array([-sign * chosen.threshold])
        self.criterion_value_ = search.aim.sign * chosen.merit
        return self

    def project(self, X: ArrayLike) -> Array:
        """Where each row lies on the axis; the threshold is `threshold_`."""
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, dtype=np.float64, reset=False) @ self.axis_)

    def decision_function(self, X: ArrayLike) -> Array:
        """The distance of each row from the threshold, above 0 towards the later class in sorted order."""
        distance = self._distance(X)
        return distance if self._positive_index else -distance

    def predict(self, X: ArrayLike) -> Array:
        """The class of each row: the positive one from the threshold on."""
        flagged = self._distance(X) >= 0
        positive = self._positive_index
        return np.asarray(self.classes_[np.where(flagged, positive, 1 - positive)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    # ---------------------------------------------------------------- inside

    def _distance(self, X: ArrayLike) -> Array:
        """How far above the threshold each row lies; 0 where only rounding says that it does not lie at it."""
        distance = self.project(X) - self.threshold_
        return np.where(np.abs(distance) <= self.rounding_, 0.0, distance)

    def _positives(self, y: Array, weighted: Array) -> Array:
        """Which rows of positive weight are of the positive class; the parameters are checked on the way."""
        check_classification_targets(y)
        kind = type_of_target(y[weighted], input_name="y", raise_unknown=True)
        self.classes_ = np.unique(y[weighted])
        if kind != "binary":
            # scikit-learn's estimator checks look for its words in this sentence.
            raise InputError(f"Only binary classification is supported. The type of the target is {kind}.")
        if len(self.classes_) < 2:
            raise InputError("y holds rows of one class only; NearestMeanClassifier needs rows of two classes.")
        if self.centroid not in ("best", *CENTROIDS):
            raise InputError(argument="centroid", expected="'best', 'mean' or 'median'", given=self.centroid)
        return np.asarray(y == self.classes_[self._positive_index])

    @property
    def _positive_index(self) -> int:
        return positive_index(self.classes_, self.pos_label)


def _best_axis(
    kind: str, X: Array, positive: Array, weight: Array, parts: Sequence[slice | Array], search: Criterion
) -> Axis | None:
    """The axis of one kind of centre, with the mean of the best thresholds of parts of the rows.

    None where the centres coincide, or no part has a threshold.
    """
    sides = [(X[side], weight[side]) for side in (~positive, positive)]
    if kind == "mean":
        centers = np.stack([np.average(rows, axis=0, weights=weights) for rows, weights in sides])
    else:
        centers = np.stack([_median(rows, weights) for rows, weights in sides])
    direction = centers[1] - centers[0]
    length = float(np.linalg.norm(direction))
    if not length > 0:
        return None
    unit = direction / length
    z, rounding = _projections(X, unit)
    best = [best_middle(z[part], positive[part], weight[part], search) for part in parts]
    middles = [pair for pair in best if pair is not None]
    if not middles:
        return None
    threshold, merit = np.mean(middles, axis=0)
    return Axis(kind, centers, unit, float(threshold), float(merit), rounding)


def best_middle(z: Array, positive: Array, weight: Array, search: Criterion) -> tuple[float, float] | None:
    """The best of the middles between neighbouring distinct projections, the lowest of equals, and its merit.

    None where all projections are equal, one class is missing, or the criterion is undefined at every threshold.
    """
    weighted = weight > 0
    z, positive, weight = z[weighted], positive[weighted], weight[weighted]
    if positive.all() or not positive.any():
        return None
    plain = bool((weight == 1).all())
    table = score_table(positive, z, pos_label=True, labels=[False, True], sample_weight=None if plain else weight)
    # Each distinct projection but the lowest flags what lies above the middle below it; ascending, so that the first
    # of the best is the lowest.
    upper = table.thresholds[1:-1][::-1]
    if not len(upper):
        return None
    lower = table.thresholds[:1:-1][: len(upper)]
    merits = search.merits(table.counts[1:-1])[::-1]
    if np.isnan(merits).all():
        return None
    index = int(search.chosen(merits))
    middle = (lower[index] + upper[index]) / 2
    # Between neighbouring floats there is no middle, and one that rounds down would flag the lower projection.
    return float(middle if middle > lower[index] else upper[index]), float(merits[index])


def _projections(X: Array, unit: Array) -> tuple[Array, float]:
    """The projections of the rows, equal where only rounding separates them, and what counts as rounding.

    That is at least the error of the sums themselves, which exceeds the range of rows far from the origin.
    """
    z = np.asarray(X @ unit)
    error = X.shape[1] * np.finfo(np.float64).eps * float((np.abs(X) @ np.abs(unit)).max())
    rounding = max(_ROUNDING * float(np.ptp(z)), error)
    order = np.argsort(z, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(z[order]) > rounding))
    merged = np.empty_like(z)
    merged[order] = np.repeat(z[order][starts], np.diff(np.append(starts, len(z))))
    return merged, rounding


def _median(X: Array, weight: Array) -> Array:
    """The median of each column, as if a row of weight 2 were there twice."""
    if (weight == weight[0]).all():  # a selection, six times as fast as the order of all rows
        return np.asarray(np.median(X, axis=0))
    order = np.argsort(X, axis=0, kind="stable")
    below = np.cumsum(weight[order], axis=0)
    half = below[-1] / 2
    slack = 1e-12 * below[-1]  # sums of weights miss the half by their rounding
    first, second = ((below < half + shift).sum(0) for shift in (-slack, slack))
    columns = np.arange(X.shape[1])
    values = np.take_along_axis(X, order, axis=0)
    return np.asarray((values[first, columns] + values[np.minimum(second, len(X) - 1), columns]) / 2)
