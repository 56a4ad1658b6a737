"""Quasi-independence: what errors would look like if the predicted class did not depend on the true one.

Goodman (1968), Journal of the American Statistical Association 63, 1091-1131: off the diagonal each cell is expected to
hold a product of a factor of its true and a factor of its predicted class. The factors follow from how many errors
each class makes and attracts, so that tables of any number of classes are fitted by their margins alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.statistics.sparse_matrix import error_entries, summed_by

if TYPE_CHECKING:
    from steelyard._types import Array

_TURNS, _CLOSE = 500, 1e-10


@dataclass(frozen=True)
class ErrorModel:
    """The errors that each class makes and attracts, and the factors whose products are expected off the diagonal."""

    made: Array
    attracted: Array
    true_factor: Array
    predicted_factor: Array

    @classmethod
    def of(cls, rows: Array) -> ErrorModel:
        """The model fitted to the errors of a table of rows."""
        true, predicted, errors = error_entries(rows)
        made, attracted = (summed_by(place, errors.astype(np.float64), len(rows.sum(1))) for place in (true, predicted))
        return cls(made, attracted, *_fitted(made, attracted))

    @property
    def cells(self) -> int:
        """The pairs that may hold errors: a class that makes any, and another one that attracts any."""
        makes, attracts = self.made > 0, self.attracted > 0
        return int(makes.sum()) * int(attracts.sum()) - int((makes & attracts).sum())

    def expected(self, true: Array, predicted: Array) -> Array:
        """The rows that are expected in these cells."""
        return np.asarray(self.true_factor[true] * self.predicted_factor[predicted])

    def p_values(self, true: Array, predicted: Array, rows: Array) -> Array:
        """The probability of so many rows or more in each cell, of the errors that its true class makes.

        It is binomial, which is wider than the truth, as a class attracts no more errors than it did; and the cell
        itself is among those that the model is fitted to. Both keep the level (see `make coverage`).
        """
        from scipy.stats import binom

        share = np.clip(self.expected(true, predicted) / self.made[true], 0, 1)
        return np.asarray(binom.sf(np.ceil(rows) - 1, np.round(self.made[true]), share))


def _fitted(made: Array, attracted: Array) -> tuple[Array, Array]:
    """The factors whose products off the diagonal add up to both margins, by proportional fitting."""
    true, predicted = made.copy(), attracted / max(attracted.sum(), 1e-300)
    for _ in range(_TURNS):
        before = true
        true = _divided(made, predicted.sum() - predicted)
        predicted = _divided(attracted, true.sum() - true)
        if np.abs(true - before).max(initial=0) <= _CLOSE * max(true.max(initial=0), 1e-300):
            break
    return true, predicted


def _divided(sums: Array, others: Array) -> Array:
    return np.divide(sums, others, out=np.zeros_like(sums), where=(sums > 0) & (others > 0))
