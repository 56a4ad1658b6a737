"""Robustness: how far each metric moves when only the classes' shares or names change, on the user's own predictions.

Asawa's two tests: balance the test set, swap the labels. Nguyen's spread over ratios is in `ratio_spread`.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np

from steelyard.analysis.intervals.draws import generator
from steelyard.analysis.prevalence.class_shares import checked_prevalence
from steelyard.analysis.prevalence.prevalence import at_prevalence
from steelyard.auditing.metric_values import chosen_metrics, metric_values
from steelyard.auditing.model_tables import (
    counts_at_half,
    counts_of_models,
    counts_of_predictions,
    counts_of_same_models,
    is_counted,
    scores_of_models,
    stated_positive,
)
from steelyard.auditing.ratio_spread import ratio_spread
from steelyard.auditing.robustness_result import TOLERANCE, Robustness
from steelyard.auditing.score_robustness import score_robustness
from steelyard.exceptions import InputError
from steelyard.ingest.refused_keywords import refuses_other_keywords
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label, Rng, Weights
    from steelyard.auditing.model_tables import Models, Scores
    from steelyard.metrics.metric import Metric
    from steelyard.metrics.registry import MetricLike

__all__ = ["Robustness", "ratio_spread", "robustness"]
MOST_DRAWN = 10**9  # rows that a hypergeometric draw takes


@refuses_other_keywords
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
    y_score: Scores | None = None,
) -> Robustness:
    """How far each metric moves when the test set is balanced and when the labels are swapped (Asawa).

    Give y_true and {model: y_pred}, or {model: Counts}; for metrics of scores, such as roc_auc, also or instead
    `y_score`, {model: scores}, or {model: ScoreTable}: probabilities without predictions are thresholded at 0.5. The
    test set is balanced exactly, by weights, to each of the
    `prevalences`, and `resamples` times by drawing rows of the larger class without replacement, for the spread that
    chance adds. The positive class is named by `pos_label`, or clear, or that of a convention, which `remarks` state.
    `balanced` and `swapped` take {model: Counts} of a balanced test set or of models refitted on swapped
    labels (see refit_robustness) in place of what the table implies. The verdict is by the largest change over models.

    >>> from steelyard import Counts
    >>> trees = {"1 split": Counts(244, 266, 43, 4817), "10 splits": Counts(400, 110, 50, 4810)}
    >>> result = robustness(trees, metrics=["accuracy", "recall", "tpnr", "mcc"])
    >>> result.robust, result.symmetric, result.winners
    (['recall', 'tpnr'], ['accuracy', 'tpnr', 'mcc'], ['tpnr'])
    """
    _check(tolerance, resamples)
    if predictions is not None:
        warnings.warn("robustness(predictions=) is now called y_pred=.", DeprecationWarning, stacklevel=2)
        y_pred = predictions if y_pred is None else y_pred
    of_rows = y_pred is not None or not (y_score is None or is_counted(y_true) or is_counted(y_score))
    rows = cast("ArrayLike", y_true)  # where they are given; what is no column of labels is refused there
    pos_label, remarks = stated_positive(rows, pos_label) if of_rows else (pos_label, ())
    scores = scores_of_models(y_true, y_score, pos_label, sample_weight)
    if y_pred is not None:
        tables = counts_of_predictions(rows, y_pred, pos_label, sample_weight)
    else:
        of_scores_alone = scores and (y_score is None or not is_counted(y_true))
        tables = counts_at_half(scores) if of_scores_alone else counts_of_models(y_true, pos_label)
    of_counts, of_scores = chosen_metrics(metrics, tables, scores)
    at, counted = np.atleast_1d(checked_prevalence(prevalences)), None
    if of_counts:
        even, at = _balanced(tables, balanced, at)
        draws = undersampled(Counts.stack(tables.values()), at, resamples, generator(rng))
        counted = replace(_of_counts(of_counts, tables, swapped, even, at, draws, tolerance), remarks=remarks)
        if not of_scores:
            return counted
    ranked = score_robustness(scores, metrics=of_scores, prevalence=at, tolerance=tolerance)
    return replace(ranked, remarks=remarks) if counted is None else counted.beside(ranked)


def _of_counts(
    chosen: Sequence[Metric],
    tables: Mapping[str, Counts],
    swapped: Models | None,
    even: Counts[Array],
    at: Array,
    draws: Counts[Array] | None,
    tolerance: float,
) -> Robustness:
    """The two tests for metrics of counts."""
    counts = Counts.stack(tables.values())
    other = counts.swapped() if swapped is None else counts_of_same_models(swapped, tables, "swapped")
    values = metric_values(chosen, counts)
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


def _balanced(tables: Mapping[str, Counts], balanced: Models | None, at: Array) -> tuple[Counts[Array], Array]:
    """The balanced tables by model and prevalence, those handed in or by weights, and their prevalences."""
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
