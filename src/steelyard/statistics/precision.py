"""Precision of scores: thresholds are read in it, as NumPy and the engines compare them."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

import numpy as np

if TYPE_CHECKING:
    from steelyard._types import Array

DOUBLE = "float64"
PRECISIONS = ("float16", "float32", DOUBLE)


def finest(*precisions: str) -> str:
    """The precision of scores together, which is that of the finest."""
    return max(precisions, key=PRECISIONS.index, default=DOUBLE)


@overload
def as_read(threshold: float, precision: str) -> float: ...
@overload
def as_read(threshold: Array, precision: str) -> Array: ...
def as_read(threshold: float | Array, precision: str) -> float | Array:
    """A threshold, or several, in a precision.

    >>> as_read(0.7, "float64"), as_read(0.7, "float32")
    (0.7, 0.699999988079071)
    """
    with np.errstate(over="ignore"):
        read = np.asarray(threshold, dtype=np.float64).astype(precision).astype(np.float64)
    return read if isinstance(threshold, np.ndarray) else float(read)
