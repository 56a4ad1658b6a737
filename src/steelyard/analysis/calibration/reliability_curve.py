"""Reliability curve: the share of positives observed at each predicted probability, with its consistency band."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.calibration.calibration_result import CalibrationPoint
from steelyard.analysis.calibration.consistency_band import BAND_DRAWS, consistency_band
from steelyard.analysis.intervals.information_bins import ScoreBins
from steelyard.analysis.prevalence.class_shares import positive_share_draws, positive_shares
from steelyard.analysis.results.rows import Rows
from steelyard.exceptions import InputError
from steelyard.metrics.calibration import isotonic_curve
from steelyard.metrics.isotonic_curve import isotonic_shares

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.statistics.score_table import ScoreTable

_STRATEGIES = ("isotonic", "uniform", "quantile")


@dataclass(frozen=True)
class CurveView:
    """How the curve is read: isotonic, or in so many bins of equal width or of equal mass."""

    strategy: str = "isotonic"
    bins: int = 10

    def __post_init__(self) -> None:
        if self.strategy not in _STRATEGIES:
            raise InputError(f"strategy is one of {', '.join(_STRATEGIES)}, not {self.strategy!r}.")
        if not isinstance(self.bins, (int, np.integer)) or self.bins < 1:
            raise InputError(f"bins is a whole number of 1 or more, not {self.bins!r}.")

    def starts(self, table: ScoreTable) -> Array:
        """The places of the first distinct score of each bin that holds any."""
        curve = isotonic_curve(table)
        scores, below = curve.scores, curve.weights
        place = scores if self.strategy == "uniform" else (below[1:] + below[:-1]) / 2 / below[-1]
        bins = np.minimum((place * self.bins).astype(np.int64), self.bins - 1)
        return np.append(0, np.flatnonzero(np.diff(bins)) + 1)


def reliability_curve(table: ScoreTable, view: CurveView, inference: Inference) -> Rows[CalibrationPoint]:
    """The points of the curve; isotonic, the most alike of many distinct probabilities are read as one."""
    prevalence = None if inference.prevalence is None else float(positive_shares(table, inference.prevalence))
    isotonic = view.strategy == "isotonic"
    bins = ScoreBins.of(table) if isotonic else ScoreBins.of_starts(table, view.starts(table))
    up, down = bins.class_weights(prevalence)
    positives, weights = bins.positives * up, bins.positives * up + (bins.weights - bins.positives) * down
    observed = isotonic_shares(positives, weights) if isotonic else positives / weights
    if inference.clustered is None:
        rng = inference.generator
        possible = positive_share_draws(table, inference.prevalence, BAND_DRAWS, rng)
        ends = consistency_band(bins, inference.level, rng, prevalence=prevalence, possible=possible, isotonic=isotonic)
    else:  # rows that are not independent have no such draws
        ends = np.full(len(observed), np.nan), np.full(len(observed), np.nan)
    return Rows(
        CalibrationPoint(*map(float, cells)) for cells in zip(bins.scores, observed, *ends, weights, strict=True)
    )
