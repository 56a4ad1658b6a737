"""Drop-ins for scikit-learn's functions of scores: areas and curves as views of the ScoreTable."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import SteelyardError
from steelyard.ingest.array_tables import single_use_table
from steelyard.interop.dropin_inputs import coded, delegate, score_column, weight_column
from steelyard.metrics.ranking import average_precision, roc_auc

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard._types import Array
    from steelyard.statistics.score_table import ScoreTable

_AVERAGES = ("micro", "macro", "samples", "weighted")


def _weighed(y_true: Any, y_score: Any, sample_weight: Any, choose: Callable[[Any], Any]) -> ScoreTable | None:
    """The table of scores where both classes have weight; `choose` tells the place of the positive label."""
    score, truth = score_column(y_score), coded(y_true)
    if score is None or truth is None or len(truth[0]) != len(score):
        return None
    codes, labels = truth
    place = choose(labels)
    weight = None if sample_weight is None else weight_column(sample_weight, len(score))
    if place is None or (weight is None) != (sample_weight is None):
        return None
    return _table(codes if (labels, place) == ((0, 1), 1) else codes == place, score, weight)


def _table(positive: Array, score: Array, weight: Array | None) -> ScoreTable | None:
    try:
        table = single_use_table(positive, score, pos_label=None, labels=None, sample_weight=weight, frequency=None)
    except SteelyardError:  # a score that is not finite
        return None
    return table if table.positive.total and table.negative.total else None


def _greater(labels: tuple[Any, ...]) -> int | None:
    return 1 if len(labels) == 2 else None


def _named(pos_label: Any) -> Callable[[tuple[Any, ...]], int | None]:
    """Finds the label named, or 1 of {0, 1} and {-1, 1} where none is."""

    def choose(labels: tuple[Any, ...]) -> int | None:
        if pos_label is None:
            return 1 if labels in ((0, 1), (-1, 1)) else None
        if not isinstance(pos_label, (str, int, float)) or isinstance(pos_label, str) != isinstance(labels[0], str):
            return None
        return labels.index(pos_label) if pos_label in labels else None

    return choose


def _is_average(average: Any) -> bool:
    return average is None or (type(average) is str and average in _AVERAGES)


def _is_share(max_fpr: Any) -> bool:
    return max_fpr is None or (isinstance(max_fpr, (int, float)) and 0 < max_fpr <= 1)


# ---------------------------------------------------------------- areas


def roc_auc_score(
    y_true: Any,
    y_score: Any,
    *,
    average: Any = "macro",
    sample_weight: Any = None,
    max_fpr: Any = None,
    multi_class: Any = "raise",
    labels: Any = None,
) -> Any:
    """Area under the ROC curve: the chance that a positive scores above a negative, ties counting half."""
    found = None
    if _is_average(average) and _is_share(max_fpr) and multi_class in ("raise", "ovr", "ovo") and labels is None:
        table = _weighed(y_true, y_score, sample_weight, _greater)
        if table is not None:
            found = roc_auc(table, max_fpr=max_fpr)
        elif max_fpr is None and multi_class != "raise" and average in ("macro", "weighted"):
            found = _areas(y_true, y_score, multi_class, average == "weighted", sample_weight)
    if found is None:
        options = {"average": average, "sample_weight": sample_weight, "max_fpr": max_fpr}
        return delegate("roc_auc_score", y_true, y_score, **options, multi_class=multi_class, labels=labels)
    return found


def _areas(y_true: Any, y_score: Any, multi_class: str, by_share: bool, sample_weight: Any) -> Any:
    """The mean area of three classes or more; None where scikit-learn has to look itself."""
    truth = coded(y_true)
    if truth is None or type(y_score) is not np.ndarray or y_score.dtype.kind != "f":
        return None
    codes, labels = truth
    if y_score.shape != (len(codes), len(labels)) or len(labels) < 3 or not np.allclose(1, y_score.sum(axis=1)):
        return None
    weight = None if sample_weight is None else weight_column(sample_weight, len(codes))
    if (weight is None) != (sample_weight is None):
        return None
    if multi_class == "ovr":
        return _against_rest(codes, y_score, weight, by_share)
    return _in_pairs(codes, y_score, by_share) if weight is None else None


def _against_rest(codes: Array, scores: Array, weight: Array | None, by_share: bool) -> float | None:
    tables = [_table(codes == k, scores[:, k], weight) for k in range(scores.shape[1])]
    if any(table is None for table in tables):
        return None
    shares = [table.positive.total for table in tables if table is not None] if by_share else None
    return float(np.average([roc_auc(table) for table in tables], weights=shares))


def _in_pairs(codes: Array, scores: Array, by_share: bool) -> Any:
    """Each pair of classes by the mean of its two areas, as Hand and Till do; a pair's share is that of its rows."""
    areas, shares = [], []
    for a, b in combinations(range(scores.shape[1]), 2):
        rows = np.flatnonzero((codes == a) | (codes == b))
        tables = [_table(codes[rows] == k, scores[rows, k], None) for k in (a, b)]
        if any(table is None for table in tables):
            return None
        areas.append(sum(roc_auc(table) for table in tables) / 2)
        shares.append(len(rows) / len(codes))
    return np.average(areas, weights=shares if by_share else None)


def average_precision_score(
    y_true: Any, y_score: Any, *, average: Any = "macro", pos_label: Any = 1, sample_weight: Any = None
) -> Any:
    """Mean precision at the cuts where a positive is found, in steps and not interpolated."""
    table = None
    if _is_average(average) and pos_label is not None:
        named = _named(pos_label)
        choose = lambda labels: named(labels) if len(labels) == 2 else None  # noqa: E731 - used in the next line alone
        table = _weighed(y_true, y_score, sample_weight, choose)
    if table is None:
        options = {"average": average, "pos_label": pos_label, "sample_weight": sample_weight}
        return delegate("average_precision_score", y_true, y_score, **options)
    return average_precision(table)


# ---------------------------------------------------------------- curves


def roc_curve(
    y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None, drop_intermediate: Any = True
) -> Any:
    """False positive rate and recall at falling thresholds, from infinity, which flags nobody."""
    usual = isinstance(drop_intermediate, bool)
    table = _weighed(y_true, y_score, sample_weight, _named(pos_label)) if usual else None
    if table is None:
        options = {"pos_label": pos_label, "sample_weight": sample_weight, "drop_intermediate": drop_intermediate}
        return delegate("roc_curve", y_true, y_score, **options)
    fps, tps, thresholds = table.counts.fp, table.counts.tp, table.thresholds
    if drop_intermediate and len(fps) > 3:
        bends = (np.diff(fps[1:], 2) != 0) | (np.diff(tps[1:], 2) != 0)
        kept = np.concatenate([[True, True], bends, [True]])
        fps, tps, thresholds = fps[kept], tps[kept], thresholds[kept]
    return fps / fps[-1], tps / tps[-1], thresholds


def precision_recall_curve(
    y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None, drop_intermediate: Any = False
) -> Any:
    """Precision and recall at rising thresholds, ended by precision 1 at recall 0."""
    usual = isinstance(drop_intermediate, bool)
    table = _weighed(y_true, y_score, sample_weight, _named(pos_label)) if usual else None
    score = score_column(y_score)
    if table is None or score is None:
        options = {"pos_label": pos_label, "sample_weight": sample_weight, "drop_intermediate": drop_intermediate}
        return delegate("precision_recall_curve", y_true, y_score, **options)
    fps, tps, thresholds = table.counts.fp[1:], table.counts.tp[1:], table.thresholds[1:]
    if drop_intermediate and len(tps) > 2:
        found = np.diff(tps) != 0
        kept = np.concatenate([[True], found[:-1] | found[1:], [True]])
        fps, tps, thresholds = fps[kept], tps[kept], thresholds[kept]
    precision, recall = np.append((tps / (tps + fps))[::-1], 1.0), np.append((tps / tps[-1])[::-1], 0.0)
    return precision, recall, thresholds[::-1].astype(score.dtype, copy=False)
