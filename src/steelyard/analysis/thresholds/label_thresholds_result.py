"""LabelThresholds: a threshold for each label of rows that may have several, and what they are worth on new rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard._types import Label  # noqa: TC001 - read back by its type
from steelyard.analysis.results.formatting import three_digits
from steelyard.analysis.results.result import Result
from steelyard.exceptions import InputError, first_ten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from steelyard._types import Array


@dataclass(frozen=True)
class LabelThreshold:
    """One label: the rows that have it, its threshold, and the metric of the label at it.

    `out_of_sample` is the metric by thresholds that were chosen without the row; None where that was left out.
    """

    label: Label
    positives: float
    threshold: float
    value: float
    out_of_sample: float | None

    def row(self) -> dict[str, Any]:
        """The label as a row of a table."""
        return dict(vars(self))


@dataclass(frozen=True, eq=False, repr=False)
class LabelThresholds(Result[LabelThreshold]):
    """The best thresholds of each label for a metric averaged over labels; a label is predicted at or above its own.

    `value` is that of the rows by which they were chosen, `out_of_sample` that of rows predicted by thresholds which
    were chosen without them, with its interval, and `optimism` how much the first flatters. `half_value` is that of the
    threshold 0.5 for all labels, where scores are probabilities. An infinite threshold predicts a label for nobody.
    """

    each: tuple[LabelThreshold, ...]
    metric: str
    value: float
    out_of_sample: float | None = None
    out_of_sample_interval: tuple[float, float] | None = None
    optimism: float | None = None
    half_value: float | None = None
    folds: int = 0
    level: float = 0.95

    @property
    def thresholds(self) -> dict[Label, float]:
        """The threshold of each label."""
        return {one.label: one.threshold for one in self.each}

    def predict(self, y_score: ArrayLike) -> Array:
        """Which labels are predicted for rows of scores: 1 where a score is at or above its label's threshold."""
        scores = np.asarray(y_score)
        if scores.ndim != 2 or scores.shape[1] != len(self.each):
            names = first_ten([one.label for one in self.each])
            raise InputError(f"y_score has shape {scores.shape}; these thresholds need a column for each of {names}.")
        return np.asarray(scores >= np.array([one.threshold for one in self.each]), dtype=np.int64)

    def __iter__(self) -> Iterator[LabelThreshold]:
        return iter(self.each)

    def __repr__(self) -> str:
        text = f"{self.metric} {three_digits(self.value)} with a threshold for each of {len(self.each):,} labels"
        if self.out_of_sample is not None:
            ends = self.out_of_sample_interval
            between = "" if ends is None else f" ({three_digits(ends[0])} to {three_digits(ends[1])})"
            text += f"; on new rows about {three_digits(self.out_of_sample)}{between}"
        return text if self.half_value is None else f"{text}; 0.5 for all gives {three_digits(self.half_value)}"
