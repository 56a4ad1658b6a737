"""Robustness: how far each metric moves when only the classes' shares or names change, on the user's own predictions.

Asawa's two tests: balance the test set, swap the labels. Nguyen's spread over ratios is in `ratio_spread`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypedDict, cast

import numpy as np

from steelyard.analysis.draws import generator
from steelyard.analysis.prevalence import at_prevalence, checked_prevalence
from steelyard.auditing.metric_values import metric_values, named_metrics
from steelyard.auditing.model_tables import (
    counts_of_models,
    counts_of_predictions,
    counts_of_same_models,
    model_confusion,
)
from steelyard.auditing.ratio_spread import ratio_spread
from steelyard.auditing.robustness_result import Robustness
from steelyard.errors import InputError, InputTypeError
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Unpack

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Estimator, Label, Rng, Weights
    from steelyard.auditing.model_tables import Models
    from steelyard.metrics.registry import MetricLike

__all__ = ["Robustness", "ratio_spread", "refit_robustness", "robustness"]
TOLERANCE = 0.02  # any value from 0.006 to 0.069 gives the verdicts that Asawa drew from the printed changes
MOST_DRAWN = 10**9  # rows that a hypergeometric draw takes


def robustness(
    y_true: Models | ArrayLike,
    y_pred: ArrayLike | Mapping[str, ArrayLike] | None = None,
    *,
    metrics: Iterable[MetricLike] | None = None,
    prevalences: float | Sequence[float] = 0.5,
    balanced: Models | None = None,
    swapped: Models | None = None,
    resamples: int = 200,
    tolerance: float = TOLERANCE,
    pos_label: Label = None,
    sample_weight: Weights = None,
    rng: Rng = None,
    predictions: ArrayLike | Mapping[str, ArrayLike] | None = None,
) -> Robustness:
    """How far each metric moves when the test set is balanced and when the labels are swapped (Asawa).

    Give y_true and {model: y_pred}, or {model: Counts}. The test set is balanced exactly, by weights, to each of the
    `prevalences`, and `resamples` times by drawing rows of the larger class without replacement, for the spread that
    chance adds. `balanced` and `swapped` take {model: Counts} of a balanced test set or of models refitted on swapped
    labels (see refit_robustness) in place of what the table implies. The verdict is by the largest change over models.

    >>> from steelyard import Counts
    >>> trees = {"1 split": Counts(244, 266, 43, 4817), "10 splits": Counts(400, 110, 50, 4810)}
    >>> result = robustness(trees, metrics=["accuracy", "recall", "tpnr", "mcc"])
    >>> result.robust, result.symmetric, result.winners
    (['recall', 'tpnr'], ['accuracy', 'tpnr', 'mcc'], ['tpnr'])
    """
    _check(tolerance, resamples)
    chosen = named_metrics(metrics)
    if predictions is not None:
        warnings.warn("robustness(predictions=) is now called y_pred=.", DeprecationWarning, stacklevel=2)
    if (y_pred := predictions if y_pred is None else y_pred) is None:
        tables = counts_of_models(y_true, pos_label)
    else:  # what is no column of labels is refused there
        tables = counts_of_predictions(cast("ArrayLike", y_true), y_pred, pos_label, sample_weight)
    counts = Counts.stack(tables.values())
    even, at = _balanced(tables, balanced, prevalences)
    other = counts.swapped() if swapped is None else counts_of_same_models(swapped, tables, "swapped")
    values = metric_values(chosen, counts)
    draws = undersampled(counts, at, resamples, generator(rng))
    drawn = np.empty((0, *values[:, None].shape)) if draws is None else values[:, None] - metric_values(chosen, draws)
    return Robustness(
        tuple(m.name for m in chosen),
        tuple(tables),
        tuple(map(float, at)),
        values,
        metric_values(chosen, even),
        _summary(drawn, (len(tables), len(at), len(chosen))),
        metric_values(chosen, other),
        tolerance,
        len(drawn),
    )


def _check(tolerance: float, resamples: int) -> None:
    if not (isinstance(tolerance, (int, float)) and tolerance >= 0):
        raise InputError(
            f"tolerance is a change of 0 or more that is still called none, such as 0.02, not {tolerance!r}."
        )
    if not (isinstance(resamples, (int, np.integer)) and resamples >= 0):
        raise InputError(f"resamples is a whole number of draws, 0 for none, not {resamples!r}.")


def _balanced(
    tables: Mapping[str, Counts], balanced: Models | None, prevalences: float | Sequence[float]
) -> tuple[Counts[Array], Array]:
    """The balanced tables by model and prevalence, those handed in or by weights, and their prevalences."""
    at = np.atleast_1d(checked_prevalence(prevalences))
    if balanced is None:
        return at_prevalence(Counts.stack(tables.values()), at), at
    even = counts_of_same_models(balanced, tables, "balanced")[:, None]
    return even, np.atleast_1d(np.mean(even.positives / even.total))


def undersampled(counts: Counts[Array], at: Array, draws: int, rng: np.random.Generator) -> Counts[Array] | None:
    """Draws (first axis) of the tables with rows of the larger class left out until a share `at` is positive.

    Leaving rows out at random is a hypergeometric draw of the cells. None for weighted tables, which have no rows.
    """
    if not draws or np.asarray(counts.tp).dtype.kind != "i":
        return None
    tp, fn, fp, tn = (np.asarray(cell)[:, None] for cell in counts)
    p, n = tp + fn, fp + tn
    if (np.maximum(p, n) >= MOST_DRAWN).any():
        raise InputError(f"Tables of {MOST_DRAWN:,} rows a class and more are not resampled; give resamples=0.")
    keep_n = np.minimum(n, np.rint(p * (1 - at) / at)).astype(np.int64)
    keep_p = np.minimum(p, np.rint(n * at / (1 - at))).astype(np.int64)
    if (keep_n == 0).any() or (keep_p == 0).any():
        raise InputError(
            "A class is too small for the prevalences asked for: too few rows of the other to draw; give resamples=0."
        )
    size = (draws, *keep_n.shape)
    hits, alarms = (rng.hypergeometric(a, b, k, size) for a, b, k in ((tp, fn, keep_p), (fp, tn, keep_n)))
    return Counts.trusted(hits, keep_p - hits, alarms, keep_n - alarms)


def _summary(changes: Array, shape: tuple[int, ...]) -> Array:
    """Mean, standard deviation and the middle 95 % of the changes over the draws where they are defined."""
    defined = ~np.isnan(changes)
    if not defined.any():
        return np.full((4, *shape), np.nan)
    filled = np.where(defined.any(0), changes, 0.0)  # nanmean must not meet a column without a number
    summary = np.stack([np.nanmean(filled, 0), np.nanstd(filled, 0), *np.nanquantile(filled, [0.025, 0.975], 0)])
    return np.where(defined.any(0), summary, np.nan)


# ---------------------------------------------------------------- refitting


class RobustnessOptions(TypedDict, total=False):
    """What robustness takes beside the tables."""

    metrics: Iterable[MetricLike] | None
    prevalences: float | Sequence[float]
    balanced: Models | None
    resamples: int
    tolerance: float


def refit_robustness(
    estimators: Estimator | Mapping[str, Estimator],
    X: ArrayLike,
    y: ArrayLike,
    X_test: ArrayLike,
    y_test: ArrayLike,
    *,
    pos_label: Label = None,
    rng: Rng = None,
    **options: Unpack[RobustnessOptions],
) -> Robustness:
    """The two tests on estimators: each is cloned and fitted twice, on the labels and on the labels swapped.

    `estimators` is one, or {model: estimator}, in scikit-learn's manner. Both fits use the same random state, so what
    is left of a change is the metric's or the learner's own asymmetry. `options` are those of robustness.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=3)
    >>> refit_robustness(tree, X[::2], y[::2], X[1::2], y[1::2], metrics=["tpnr", "f1"], resamples=10).symmetric
    ['tpnr']
    """
    by_model = estimators if isinstance(estimators, Mapping) else {type(estimators).__name__: estimators}
    true, test = np.asarray(y), np.asarray(y_test)
    labels = np.unique(np.concatenate([true, test]))
    if len(labels) != 2:
        raise InputError(f"Swapping the labels needs two classes; y and y_test hold {len(labels)}.")
    positive = model_confusion(test, test, pos_label).positive_label()
    swapped_true, swapped_test = _swapped(true, labels), _swapped(test, labels)
    first, second = {}, {}
    for name, estimator in by_model.items():
        seed = int(generator(rng).integers(2**31 - 1))
        first[str(name)] = _fitted(estimator, X, true, X_test, test, positive, seed)
        second[str(name)] = _fitted(estimator, X, swapped_true, X_test, swapped_test, positive, seed)
    return robustness(first, swapped=second, rng=rng, **options)


def _swapped(y: Array, labels: Array) -> Array:
    return np.asarray(np.where(y == labels[0], labels[1], labels[0]))


def _fitted(
    estimator: Estimator, X: ArrayLike, y: Array, X_test: ArrayLike, y_test: Array, positive: Label, seed: int
) -> Counts:
    """The table of a fresh fit; whatever random state was left open is set."""
    try:
        from sklearn.base import clone
    except ImportError:
        raise InputTypeError(
            "Refitting needs scikit-learn installed; robustness takes predictions without it."
        ) from None
    if not (hasattr(estimator, "fit") and hasattr(estimator, "predict") and hasattr(estimator, "get_params")):
        raise InputTypeError(f"An estimator has fit, predict and get_params; {type(estimator).__name__} lacks one.")
    fresh = clone(estimator)
    open_states = [key for key, value in fresh.get_params().items() if key.endswith("random_state") and value is None]
    fresh = fresh.set_params(**dict.fromkeys(open_states, seed)).fit(X, y)
    return model_confusion(y_test, fresh.predict(X_test), positive).counts()
