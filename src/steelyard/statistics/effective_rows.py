"""Effective sample size: how many equally weighted rows are worth as much as weighted ones (Kish 1965)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array


def weight_per_row(weight: ArrayLike, squares: ArrayLike) -> Array:
    """The weight of one effective row, the sum of w^2 over the sum of w: a total weight divided by it is in rows.

    Where nothing has weight it is that of all rows together.

    >>> print(10 / weight_per_row(10, 20))  # ten rows' weight in rows of weight 2
    5.0
    """
    total, squared = np.asarray(weight, dtype=np.float64), np.maximum(squares, 1e-300)
    usual = squared.sum() / total.sum()
    return np.asarray(np.divide(squared, total, out=np.full_like(total, usual), where=total > 0))
