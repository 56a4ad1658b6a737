"""Unseen loss: the log loss of recalibrated probabilities on rows that did not fit them, and what is gained."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Self

import numpy as np

from steelyard.analysis.distributions import student_reach
from steelyard.analysis.intervals.intervals import interval
from steelyard.analysis.levels import check_level
from steelyard.analysis.results.formatting import interval_text
from steelyard.analysis.results.rows import Flat

if TYPE_CHECKING:
    from steelyard._types import Array


def log_losses(columns: Array, codes: Array) -> Array:
    """The log loss of each row."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(columns[np.arange(len(codes)), codes]))


@dataclass(frozen=True, eq=False, repr=False)
class UnseenLoss(Flat):
    """The log loss on unseen rows with its interval, and how much lower it is than that of the probabilities before.

    The gain is of the same rows, so its interval is that of their differences, by Student's t; the folds share the rows
    that they fit, for which its variance is corrected (Nadeau and Bengio 2003, Machine Learning 52, 239-281).
    """

    rows: int
    log_loss: float
    low: float
    high: float
    before: float
    gain: float
    gain_low: float
    gain_high: float
    level: float = 0.95

    @classmethod
    def of(cls, codes: Array, before: Array, after: Array, *, level: float, shared: float) -> Self:
        """Of the classes of the rows, and of their probabilities before and after.

        `shared` is the sum over the folds of the rows left out over those fitted. In 120 runs each of 300 and 1,500
        rows, logistic and isotonic, with and without a gain, the interval held it in .95 to 1.00; without the
        correction in .83 to .93.
        """
        check_level(level)
        truth = codes == 1 if after.shape[1] == 2 else codes
        found = interval("log_loss", truth, y_score=after[:, 1] if after.shape[1] == 2 else after, level=level)
        losses = log_losses(before, codes)
        differences = losses - log_losses(after, codes)
        gained = float(differences.mean())
        spread = float(differences.std(ddof=1)) if np.isfinite(gained) else np.nan
        error = spread * sqrt((1 + shared) / len(codes))
        reach = student_reach(level, len(codes) - 1) * error
        ends = (float(found.value), float(found.low), float(found.high), float(losses.mean()))
        return cls(len(codes), *ends, gained, gained - reach, gained + reach, level)

    def __repr__(self) -> str:
        loss = interval_text(self.log_loss, self.low, self.high, share=False)
        gain = interval_text(self.gain, self.gain_low, self.gain_high, share=False)
        return f"log loss {loss} on {self.rows:,} unseen rows, a gain of {gain} over before ({100 * self.level:g} %)"
