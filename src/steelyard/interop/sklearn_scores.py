"""Drop-ins for scikit-learn's functions of scores: areas and curves as views of the ScoreTable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.arrays.checks import check_order
from steelyard.exceptions import SteelyardError
from steelyard.interop.sklearn_inputs import (
    MultiClass,
    ScoreAverage,
    delegate,
    is_choice,
    score_column,
    scored_sets,
    true_codes,
    weight_column,
)
from steelyard.metrics.curves import precision_recall_points, roc_points
from steelyard.metrics.ranking import average_precision, roc_auc
from steelyard.tables.array_tables import single_use_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label, Weights
    from steelyard.metrics.measure import Metric
    from steelyard.tables.multilabel_table import MultilabelTable
    from steelyard.tables.score_table import ScoreTable

    PositiveRule = Callable[[tuple[Any, ...]], int | None]  # the position of the positive one among the labels


def _score_table(
    y_true: ArrayLike, y_score: ArrayLike, sample_weight: Weights, positive: PositiveRule
) -> ScoreTable | None:
    """The table of scores where both classes have weight."""
    check_order(y_true=y_true, y_score=y_score, sample_weight=sample_weight)
    score, truth = score_column(y_score), true_codes(y_true)
    if score is None or truth is None or len(truth[0]) != len(score):
        return None
    codes, labels = truth
    position = positive(labels)
    weight = None if sample_weight is None else weight_column(sample_weight, len(score))
    if position is None or (weight is None) != (sample_weight is None):
        return None
    is_positive = codes if (labels, position) == ((0, 1), 1) else codes == position
    try:
        table = single_use_table(is_positive, score, pos_label=None, labels=None, sample_weight=weight, frequency=None)
    except SteelyardError:  # a score that is not finite
        return None
    return table if table.positive.total and table.negative.total else None


def _greater(labels: tuple[Any, ...]) -> int | None:
    return 1 if len(labels) == 2 else None


def _label(pos_label: Label | None) -> PositiveRule:
    """Finds the label given, or 1 of {0, 1} and {-1, 1} where none is."""

    def rule(labels: tuple[Any, ...]) -> int | None:
        if pos_label is None:
            return 1 if labels in ((0, 1), (-1, 1)) else None
        if not isinstance(pos_label, (str, int, float)) or isinstance(pos_label, str) != isinstance(labels[0], str):
            return None
        return labels.index(pos_label) if pos_label in labels else None

    return rule


def _label_of_two(pos_label: Label | None) -> PositiveRule:
    return lambda labels: _label(pos_label)(labels) if len(labels) == 2 else None


def _is_share(max_fpr: object) -> bool:
    return max_fpr is None or (isinstance(max_fpr, (int, float)) and 0 < max_fpr <= 1)


# ---------------------------------------------------------------- areas


def roc_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    average: ScoreAverage | None = "macro",
    sample_weight: Weights = None,
    max_fpr: float | None = None,
    multi_class: MultiClass = "raise",
    labels: ArrayLike | None = None,
) -> Any:
    """Area under the ROC curve: the chance that a positive scores above a negative, ties counting half."""
    area = None
    usual = is_choice(average, ScoreAverage) and _is_share(max_fpr) and labels is None
    if usual and multi_class is not None and is_choice(multi_class, MultiClass):
        table = _score_table(y_true, y_score, sample_weight, _greater)
        if table is not None:
            area = roc_auc(table, max_fpr=max_fpr)
        elif (sets := _dense_sets(y_true, y_score, sample_weight)) is not None:
            area = _mean_of_sets(sets, roc_auc.fixed(max_fpr=max_fpr), average)
        elif max_fpr is None and multi_class != "raise" and average in ("macro", "weighted"):
            area = _mean_area(y_true, y_score, multi_class, average, sample_weight)
    if area is None:
        options = {"average": average, "sample_weight": sample_weight, "max_fpr": max_fpr}
        return delegate("roc_auc_score", y_true, y_score, **options, multi_class=multi_class, labels=labels)
    return area


def _dense_sets(y_true: ArrayLike, y_score: ArrayLike, sample_weight: Weights) -> MultilabelTable | None:
    """The table of label sets, dense ones: scikit-learn refuses sparse ones here."""
    return None if hasattr(y_true, "tocsr") else scored_sets(y_true, y_score, sample_weight)


def _mean_of_sets(table: MultilabelTable, metric: Metric, average: ScoreAverage | None) -> Any:
    """The area of each label, or a mean over labels or rows; None where one is undefined: scikit-learn warns of it."""
    if average == "weighted" and not table.positives.all():
        return None
    if average == "samples" and not (0 < table.true_labels.min() <= table.true_labels.max() < len(table.labels)):
        return None  # a row without labels, or with all of them, that scikit-learn counts too
    area = metric(table, average=average)  # type: ignore[arg-type]  # None gives an array
    return None if np.isnan(area).any() else area


def _mean_area(
    y_true: ArrayLike, y_score: ArrayLike, multi_class: MultiClass, average: ScoreAverage, sample_weight: Weights
) -> Any:
    """The mean area of three classes or more; None where scikit-learn has to look itself."""
    truth = true_codes(y_true)
    if truth is None or type(y_score) is not np.ndarray or y_score.dtype.kind != "f":
        return None
    codes, labels = truth
    if y_score.shape != (len(codes), len(labels)) or len(labels) < 3 or not np.allclose(1, y_score.sum(axis=1)):
        return None
    weight = None if sample_weight is None else weight_column(sample_weight, len(codes))
    if (weight is None) != (sample_weight is None) or (multi_class == "ovo" and weight is not None):
        return None
    try:
        area = roc_auc(codes, y_score, multi_class=multi_class, average=average, sample_weight=weight)
    except SteelyardError:  # a score that is not finite
        return None
    # scikit-learn's own mean of pairs is of NumPy's type, that against the rest is not.
    return None if np.isnan(area) else np.float64(area) if multi_class == "ovo" else float(area)


def average_precision_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    average: ScoreAverage | None = "macro",
    pos_label: Label = 1,
    sample_weight: Weights = None,
) -> Any:
    """Mean precision at the thresholds where a positive is found, in steps and not interpolated."""
    table = area = None
    if is_choice(average, ScoreAverage) and pos_label is not None:
        table = _score_table(y_true, y_score, sample_weight, _label_of_two(pos_label))
        if table is None and pos_label == 1 and (sets := _dense_sets(y_true, y_score, sample_weight)) is not None:
            area = _mean_of_sets(sets, average_precision, average)
    if area is not None:
        return area
    if table is None:
        options = {"average": average, "pos_label": pos_label, "sample_weight": sample_weight}
        return delegate("average_precision_score", y_true, y_score, **options)
    return average_precision(table)


# ---------------------------------------------------------------- curves


def sklearn_roc_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Label | None = None,
    sample_weight: Weights = None,
    drop_intermediate: bool = True,
) -> Any:
    """False positive rate and recall at falling thresholds, from infinity, which flags nobody."""
    usual = isinstance(drop_intermediate, bool)
    table = _score_table(y_true, y_score, sample_weight, _label(pos_label)) if usual else None
    if table is None:
        options = {"pos_label": pos_label, "sample_weight": sample_weight, "drop_intermediate": drop_intermediate}
        return delegate("roc_curve", y_true, y_score, **options)
    curve = tuple(roc_points(table))
    if not drop_intermediate or len(table.thresholds) <= 3:
        return curve
    bends = (np.diff(table.counts.fp[1:], 2) != 0) | (np.diff(table.counts.tp[1:], 2) != 0)
    return _at(curve, np.concatenate([[True, True], bends, [True]]))


def sklearn_precision_recall_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Label | None = None,
    sample_weight: Weights = None,
    drop_intermediate: bool = False,
) -> Any:
    """Precision and recall at rising thresholds, ended by precision 1 at recall 0."""
    usual = isinstance(drop_intermediate, bool)
    table = _score_table(y_true, y_score, sample_weight, _label(pos_label)) if usual else None
    score = score_column(y_score)
    if table is None or score is None:
        options = {"pos_label": pos_label, "sample_weight": sample_weight, "drop_intermediate": drop_intermediate}
        return delegate("precision_recall_curve", y_true, y_score, **options)
    curve = tuple(precision_recall_points(table))
    if drop_intermediate and len(curve[0]) > 2:
        finds = np.diff(table.counts.tp[1:]) != 0
        curve = _at(curve, np.concatenate([[True], finds[:-1] | finds[1:], [True]]))
    precision, recall, thresholds = (column[::-1] for column in curve)
    return np.append(precision, 1.0), np.append(recall, 0.0), thresholds.astype(score.dtype, copy=False)


def _at(curve: tuple[Array, ...], rows: Array) -> tuple[Array, ...]:
    return tuple(column[rows] for column in curve)
