"""The band of a ROC curve: the false positive rates at each recall that resampled rows allow, pointwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.draws import binned, generator, rank_draws, tails
from steelyard.metrics.curves import roc_points

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.statistics.score_table import ScoreTable

_RECALLS = 61
_DRAWS, _MOST_ENTRIES = 400, 2_048


@dataclass(frozen=True)
class RocBand:
    """The lowest and the highest false positive rate at each of some recalls."""

    recall: Array
    low: Array
    high: Array


def roc_band(table: ScoreTable, level: float) -> RocBand:
    """The band of a score table's curve.

    At a recall the precision, the gain and the net benefit are rising or falling functions of the false positive
    rate, whatever the prevalence, so this one band serves their curves too.
    """
    small = binned(table, _MOST_ENTRIES)
    drawn = rank_draws(small, _DRAWS, generator(None), level)
    fpr, tpr, _ = roc_points(drawn)
    recalls = np.linspace(0, 1, _RECALLS)
    rates = np.array([np.interp(recalls, t, f) for f, t in zip(fpr, tpr, strict=True)])
    low, high = np.quantile(rates, tails(level), axis=0)
    return RocBand(recalls, low, high)
