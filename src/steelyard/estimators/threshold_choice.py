"""Threshold choices: the best threshold of rows that did not train, or that of each group of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.thresholds.best_threshold import best_threshold
from steelyard.estimators.row_details import groups_of
from steelyard.exceptions import InputError, SteelyardError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label
    from steelyard.analysis.prevalence.estimated_prevalence import PrevalenceLike
    from steelyard.analysis.thresholds.best_threshold_result import BestThreshold
    from steelyard.analysis.thresholds.threshold_criterion import AimLike
    from steelyard.analysis.thresholds.threshold_limits import LimitsLike
    from steelyard.estimators.row_details import RowDetails

_RESAMPLES = 200  # by which limits that nothing promises are judged


@dataclass(frozen=True, eq=False)
class ThresholdChoice:
    """What the threshold is to be best by, the limits it keeps, and the column that groups the rows."""

    metric: AimLike | None
    where: LimitsLike | None
    confidence: float | None
    prevalence: PrevalenceLike | None
    by: str | int | None

    def of(self, rows: RowDetails, label: Label, scores: Array) -> dict[Label, BestThreshold]:
        """The best threshold of each group, or of all rows under None, where a label is positive."""
        if rows.groups is None:
            return {None: self._best(rows, label, scores)}
        places = groups_of(rows.groups)
        return {group: self._of_group(group, rows.take(at), label, scores[at]) for group, at in places.items()}

    def _of_group(self, group: Label, rows: RowDetails, label: Label, scores: Array) -> BestThreshold:
        try:
            return self._best(rows, label, scores)
        except SteelyardError as error:
            raise type(error)(f"Group {group!r} of {self.by!r}: {error}") from None

    def _best(self, rows: RowDetails, label: Label, scores: Array) -> BestThreshold:
        best = best_threshold(
            rows.y == label,
            scores,
            self.metric,
            where=self.where,
            confidence=self.confidence,
            cost=rows.costs,
            prevalence=self.prevalence,
            resamples=_RESAMPLES if self.where is not None and self.confidence is None else 0,
            sample_weight=rows.weight,
            pos_label=True,
            labels=[False, True],
        )
        return replace(best, positive=label.item() if isinstance(label, np.generic) else label)


def thresholds_by_group(thresholds: Mapping[Label, float], values: Array, scores: Array, by: str | int | None) -> Array:
    """The threshold of each row by its group, in the precision of the scores."""
    every = np.empty_like(scores)
    for group, places in groups_of(values).items():
        if group not in thresholds:
            raise InputError(
                f"Group {group!r} of {by!r} was not among the rows of fit, so it has no threshold; fit with rows of "
                "it, or without by= for one threshold of all rows."
            )
        every[places] = thresholds[group]
    return every


def one_label_each(labels: ArrayLike) -> ArrayLike:
    """The labels of rows that have one each; a matrix of several is refused."""
    if len(shape := np.shape(labels)) == 2 and shape[1] > 1:
        raise InputError(
            f"y has shape {shape}, a column for each of several labels; OneVsRestClassifier(ThresholdClassifier(...)) "
            "finds a threshold for each label, and best_threshold does so for scores."
        )
    return labels
