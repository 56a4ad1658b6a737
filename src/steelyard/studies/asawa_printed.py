"""Asawa's printed Figure 4: the tables recovered from it, and which numbers of positives and negatives can give it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from steelyard.auditing.robustness import robustness
from steelyard.statistics.counts import Counts
from steelyard.studies.claims import published

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard.auditing.robustness import Robustness

ADDED = "balanced_accuracy"  # the per-class accuracy that the paper forgot to try
_WHOLE = 1e-6  # how far from a whole number ten printed digits may lead


def reconstructed() -> Robustness:
    """The paper's own tables, recovered from its Figure 4: unbalanced, and balanced by the paper's draw."""
    plain, even = ({tree: Counts(*pair[i]) for tree, pair in published("asawa")["counts"].items()} for i in range(2))
    metrics = [name for name in next(iter(published("asawa")["figure_4"].values())) if name != "roc_auc"]
    return robustness(plain, metrics=[*metrics, ADDED], balanced=even, resamples=0)


def printed(metric: str) -> list[float]:
    """A row of Figure 4, by tree; NaN where the paper has none."""
    return [tree.get(metric, np.nan) for tree in published("asawa")["figure_4"].values()]


def as_paper(kind: str, metrics: Iterable[str]) -> bool:
    """Whether the metrics, less the one that the paper did not try, are those that it calls "robust" or the like."""
    return set(metrics) - {ADDED} == set(published("asawa")[kind])


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
    whole = np.abs(alarms - np.rint(alarms)) < _WHOLE
    return bool((whole & (np.rint(alarms) >= 0) & (np.rint(alarms) <= negatives)).any())
