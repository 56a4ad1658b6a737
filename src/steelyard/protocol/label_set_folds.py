"""Label set folds: rows of several labels each dealt so that every fold has its share of each label.

Iterative stratification (Sechidis, Tsoumakas and Vlahavas 2011): the rarest label that is left is dealt first, each of
its rows to the fold that lacks most of it, and the rows without labels last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array

_ROUNDING = 1e-9


def dealt_label_sets(indicators: Array, shares: Sequence[float], rng: np.random.Generator) -> Array:
    """The fold of each row, of folds that have such shares of all rows and, as nearly as they can, of each label.

    >>> rows = np.repeat([[1, 0], [0, 1]], [3, 9], axis=0)
    >>> folds = dealt_label_sets(rows, [1 / 3] * 3, np.random.default_rng(0))
    >>> [np.bincount(folds[part]).tolist() for part in (slice(3), slice(3, None))]
    [[1, 1, 1], [3, 3, 3]]
    """
    true, part = indicators != 0, np.asarray(shares, np.float64)
    lacking_rows, lacking = part * len(true), part[:, None] * true.sum(0)
    folds, left = np.full(len(true), -1), true.sum(0)
    while (left > 0).any():
        label = int(np.where(left > 0, left, len(true) + 1).argmin())
        for row in rng.permutation(np.flatnonzero(true[:, label] & (folds < 0))):
            fold = _most_lacking(lacking[:, label], lacking_rows, rng)
            folds[row] = fold
            lacking[fold] -= true[row]
            lacking_rows[fold] -= 1
            left = left - true[row]
    for row in rng.permutation(np.flatnonzero(folds < 0)):
        folds[row] = fold = _most_lacking(lacking_rows, lacking_rows, rng)
        lacking_rows[fold] -= 1
    return folds


def _most_lacking(of_label: Array, of_rows: Array, rng: np.random.Generator) -> int:
    """The fold with room that lacks most rows of a label; of equal ones that which lacks most rows, or one of these."""
    of_label = np.where(of_rows > _ROUNDING, of_label, -np.inf)
    best = np.flatnonzero(of_label >= of_label.max() - _ROUNDING)
    best = best[of_rows[best] >= of_rows[best].max() - _ROUNDING]
    return int(best[0] if len(best) == 1 else rng.choice(best))
