"""Bounds of binned scores: how far an area may lie from the value of the table that the bins leave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.metrics.ranking import average_precision, roc_auc

if TYPE_CHECKING:
    from steelyard.tables.score_table import ScoreTable


def binned_bounds(table: ScoreTable) -> dict[str, tuple[float, float]]:
    """The lowest and the highest value that roc_auc and average_precision may have, whatever the order inside bins.

    >>> from steelyard import score_table
    >>> binned_bounds(score_table([0, 1], [0.2, 0.9]))["roc_auc"]
    (1.0, 1.0)
    """
    worst, best = table.extremes()
    return {
        roc_auc.name: (float(roc_auc(worst)), float(roc_auc(best))),
        average_precision.name: (_lowest_precision(worst, table), float(average_precision(best))),
    }


def _lowest_precision(worst: ScoreTable, table: ScoreTable) -> float:
    """Average precision where the positives of a bin come after its negatives, one by one and not as one step.

    With F negatives above and T positives, each further positive scores T / (T + F) at that point; a step counts all m
    of them at its end. The integral over m, m - F log((T + m + F) / (T + F)), is below any division into rows.
    """
    thresholds, counts = worst.thresholds[1:], worst.counts
    tp, fp = (np.asarray(cell, dtype=np.float64) for cell in (counts.tp, counts.fp))
    gained, above = np.diff(tp), fp[1:]
    blurred = np.isin(thresholds, table.bins[:, 0]) & (gained > 0) & (above > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        step = gained * tp[1:] / (tp[1:] + above)
        lowest = gained - above * np.log1p(gained / (tp[:-1] + above))
    return float(np.where(blurred, lowest, np.where(gained > 0, step, 0)).sum() / tp[-1]) if tp[-1] else float("nan")
