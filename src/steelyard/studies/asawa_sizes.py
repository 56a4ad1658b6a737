"""Asawa's test set, found again: which numbers of positives and negatives can give the printed Figure 4."""

from __future__ import annotations

from functools import cache

import numpy as np

from steelyard.studies.published_values import published

WHOLE = 1e-6  # how far from a whole number ten printed digits may lead


@cache
def pulsar_divisions() -> tuple[tuple[int, int], ...]:
    """The positives and negatives, of as many rows as 30 % of HTRU2, that give the specificities of all four trees.

    Specificity changes by FP' / P - FP / N, since the balanced set has as many negatives as positives. The metric is
    a ratio, so twice as many of each would give the same: the number of rows has to be known.

    >>> pulsar_divisions()
    ((510, 4860),)
    """
    changes = [tree["specificity"] for tree in published("asawa")["figure_4"].values()]
    rows = published("asawa")["positives"] + published("asawa")["negatives"]
    return tuple(
        (p, rows - p) for p in range(1, rows // 2 + 1) if all(_fits(change, p, rows - p) for change in changes)
    )


def _fits(change: float, positives: int, negatives: int) -> bool:
    """Whether whole numbers of false alarms give the change."""
    alarms = (np.arange(positives + 1) / positives - change) * negatives
    whole = np.abs(alarms - np.rint(alarms)) < WHOLE
    return bool((whole & (np.rint(alarms) >= 0) & (np.rint(alarms) <= negatives)).any())
