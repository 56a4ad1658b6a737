"""Holm's adjustment of p-values, so that all of them hold together (1979, Scandinavian Journal of Statistics 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable


def holm(p_values: Iterable[float], tests: int | None = None) -> list[float]:
    """P-values adjusted by Holm's method, so that all of them hold together; an undefined one is left out.

    `tests` is how many tests there are in all where the others have a p-value of 1.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03, 0.005])]
    [0.03, 0.06, 0.06, 0.02]
    """
    p = np.asarray(list(p_values), dtype=np.float64)
    order = np.argsort(p)[: np.count_nonzero(~np.isnan(p))]  # NaN sorts last
    adjusted = np.full(len(p), np.nan)
    remaining = (len(order) if tests is None else tests) - np.arange(len(order))
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * remaining), 1)
    return [float(value) for value in adjusted]
