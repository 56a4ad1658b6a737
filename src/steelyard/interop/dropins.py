"""Drop-ins for scikit-learn's functions of labels: the same names, options, values, types and warnings."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.interop.dropin_inputs import Tally, column, delegate, tally, weight_column
from steelyard.interop.dropin_rates import PARTS, Asked, divided, mean, per_class, prfs
from steelyard.statistics.score_order import chunks

if TYPE_CHECKING:
    from collections.abc import Collection

    from steelyard._types import Array


def _prfs(y_true: Any, y_pred: Any, asked: Asked, beta: Any, warn_for: Collection[str]) -> Any:
    if not asked.is_usual() or not isinstance(beta, (int, float)) or not beta >= 0:
        return None
    cells = per_class(y_true, y_pred, asked)
    return None if cells is None else prfs(cells, beta, asked.average, warn_for, asked.zero_division)


def precision_recall_fscore_support(
    y_true: Any,
    y_pred: Any,
    *,
    beta: Any = 1.0,
    labels: Any = None,
    pos_label: Any = 1,
    average: Any = None,
    warn_for: Any = PARTS,
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> Any:
    """Precision, recall, F-score and support of each class, or their average."""
    asked = Asked(labels, pos_label, average, sample_weight, zero_division)
    found = _prfs(y_true, y_pred, asked, beta, warn_for) if isinstance(warn_for, (list, tuple, set)) else None
    if found is None:
        more = {"beta": beta, "warn_for": warn_for}
        return delegate("precision_recall_fscore_support", y_true, y_pred, **more, **asked._asdict())
    return found


def precision_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: Any = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> Any:
    """Share of the rows predicted as a class that are of it."""
    asked = Asked(labels, pos_label, average, sample_weight, zero_division)
    found = _prfs(y_true, y_pred, asked, 1.0, ("precision",))
    return delegate("precision_score", y_true, y_pred, **asked._asdict()) if found is None else found[0]


def recall_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: Any = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> Any:
    """Share of the rows of a class that were predicted as it."""
    asked = Asked(labels, pos_label, average, sample_weight, zero_division)
    found = _prfs(y_true, y_pred, asked, 1.0, ("recall",))
    return delegate("recall_score", y_true, y_pred, **asked._asdict()) if found is None else found[1]


def f1_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: Any = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> Any:
    """Harmonic mean of precision and recall."""
    asked = Asked(labels, pos_label, average, sample_weight, zero_division)
    found = _prfs(y_true, y_pred, asked, 1.0, ("f-score",))
    return delegate("f1_score", y_true, y_pred, **asked._asdict()) if found is None else found[2]


def fbeta_score(
    y_true: Any,
    y_pred: Any,
    *,
    beta: Any,
    labels: Any = None,
    pos_label: Any = 1,
    average: Any = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> Any:
    """Harmonic mean of precision and recall, recall weighing beta squared times as much."""
    asked = Asked(labels, pos_label, average, sample_weight, zero_division)
    found = _prfs(y_true, y_pred, asked, beta, ("f-score",))
    return delegate("fbeta_score", y_true, y_pred, beta=beta, **asked._asdict()) if found is None else found[2]


def jaccard_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: Any = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> Any:
    """Rows of a class rightly predicted over the rows that are of it or predicted as it."""
    asked = Asked(labels, pos_label, average, sample_weight, zero_division)
    cells = per_class(y_true, y_pred, asked) if asked.is_usual(nan=False) else None
    if cells is None:
        return delegate("jaccard_score", y_true, y_pred, **asked._asdict())
    tp, pred, true = cells.pooled() if average == "micro" else cells
    values = divided(tp, true + pred - tp, "jaccard", "true or predicted", ("jaccard",), zero_division)
    return values if average is None else mean(values, true if average == "weighted" else None)


def confusion_matrix(
    y_true: Any, y_pred: Any, *, labels: Any = None, sample_weight: Any = None, normalize: Any = None
) -> Any:
    """How often each true class (row) was predicted as each class (column)."""
    usual = normalize is None or (type(normalize) is str and normalize in ("true", "pred", "all"))
    table = tally(y_true, y_pred, sample_weight) if usual else None
    matrix = None if table is None else _asked_matrix(table, labels)
    if table is None or matrix is None:
        options = {"labels": labels, "sample_weight": sample_weight, "normalize": normalize}
        return delegate("confusion_matrix", y_true, y_pred, **options)
    if normalize is None:
        return matrix.astype(np.int64, copy=False) if table.whole else matrix
    axis = {"true": 1, "pred": 0, "all": None}[normalize]
    with np.errstate(all="ignore"):
        return np.nan_to_num(matrix / matrix.sum(axis=axis, keepdims=True))


def _asked_matrix(table: Tally, labels: Any) -> Array | None:
    """The matrix of all labels or of those asked for, some of them true ones, as scikit-learn demands."""
    if labels is None:
        return table.matrix
    places = table.places(labels)
    if places is None or len(places) < 2:
        return None
    true = [place for place in places if place < len(table.labels)]
    return table.part(places) if table.matrix[true].any() else None


def accuracy_score(y_true: Any, y_pred: Any, *, normalize: Any = True, sample_weight: Any = None) -> Any:
    """Share, or number, of the rows that are predicted rightly."""
    usual = isinstance(normalize, bool)
    found = (_compared(y_true, y_pred, sample_weight) or _traced(y_true, y_pred, sample_weight)) if usual else None
    if found is None:
        return delegate("accuracy_score", y_true, y_pred, normalize=normalize, sample_weight=sample_weight)
    return float(found[0] / found[1]) if normalize else float(found[0])


def _compared(y_true: Any, y_pred: Any, sample_weight: Any) -> tuple[Any, Any] | None:
    """The weight of the rows whose labels agree, and of all, without knowing the labels; for integers and text."""
    true, pred = column(y_true), column(y_pred)
    if true is None or pred is None or len(true) != len(pred):
        return None
    if not {true.dtype.kind, pred.dtype.kind} <= set("biu") and not true.dtype.kind == pred.dtype.kind == "U":
        return None
    parts = chunks(len(true))
    if sample_weight is None:
        return sum(int(np.count_nonzero(true[part] == pred[part])) for part in parts), len(true)
    weight = weight_column(sample_weight, len(true))
    if weight is None:
        return None
    right = sum(weight[part][true[part] == pred[part]].sum(dtype=np.float64) for part in parts)
    return right, weight.sum(dtype=np.float64)


def _traced(y_true: Any, y_pred: Any, sample_weight: Any) -> tuple[Any, Any] | None:
    table = tally(y_true, y_pred, sample_weight)
    return None if table is None else (np.trace(table.matrix), table.matrix.sum())


def balanced_accuracy_score(y_true: Any, y_pred: Any, *, sample_weight: Any = None, adjusted: Any = False) -> Any:
    """Mean of the recalls of the true classes; adjusted, scaled so that guessing is 0."""
    table = tally(y_true, y_pred, sample_weight) if isinstance(adjusted, bool) else None
    true = None if table is None else table.matrix.sum(1)
    if table is None or true is None or np.count_nonzero(true) < 2:
        return delegate("balanced_accuracy_score", y_true, y_pred, sample_weight=sample_weight, adjusted=adjusted)
    held = true > 0
    if not held.all():
        warnings.warn("y_pred contains classes not in y_true", UserWarning, stacklevel=2)
    recalls = np.diagonal(table.matrix)[held] / true[held]
    chance = 1 / len(recalls) if adjusted else 0.0
    return float((recalls.mean() - chance) / (1 - chance))


def matthews_corrcoef(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> Any:
    """Correlation of truth and prediction; 0 where one of them holds a single class."""
    table = tally(y_true, y_pred, sample_weight)
    if table is None:
        return delegate("matthews_corrcoef", y_true, y_pred, sample_weight=sample_weight)
    shares = table.matrix / table.matrix.sum()
    true, pred = shares.sum(1), shares.sum(0)
    if np.count_nonzero(true) < 2 or np.count_nonzero(pred) < 2:
        return 0.0
    spread = (true * (1 - true)).sum() * (pred * (1 - pred)).sum()
    return float((np.trace(shares) - true @ pred) / np.sqrt(spread))


def cohen_kappa_score(
    y1: Any,
    y2: Any,
    *,
    labels: Any = None,
    weights: Any = None,
    sample_weight: Any = None,
    replace_undefined_by: Any = np.nan,
) -> Any:
    """Agreement of two raters beyond what chance gives, near misses weighed linearly, by squares or not at all."""
    usual = weights is None or (type(weights) is str and weights in ("linear", "quadratic"))
    usual = usual and type(replace_undefined_by) is float and np.isnan(replace_undefined_by)
    table = tally(y1, y2, sample_weight) if usual else None
    matrix = None if table is None else _asked_matrix(table, labels)
    value = None if matrix is None else _kappa(matrix.astype(np.float64), weights)
    if value is None:
        more = {"labels": labels, "weights": weights, "replace_undefined_by": replace_undefined_by}
        return delegate("cohen_kappa_score", y1, y2, sample_weight=sample_weight, **more)
    return value


def _kappa(matrix: Array, weights: str | None) -> float | None:
    """Kappa of a matrix; None where it is undefined."""
    place = np.arange(len(matrix))
    apart = np.abs(place[:, None] - place) ** (2 if weights == "quadratic" else 1)
    if weights is None:
        apart = apart > 0
    total = matrix.sum()
    chance = (apart * np.outer(matrix.sum(1), matrix.sum(0))).sum()
    return None if total == 0 or chance == 0 else float(1 - total * (apart * matrix).sum() / chance)
