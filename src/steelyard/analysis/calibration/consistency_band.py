"""Consistency band: where the whole reliability curve of a calibrated model with these scores lies, at the level.

Outcomes are drawn by the probabilities and the curve is read anew (Bröcker and Smith 2007, Weather and Forecasting 22,
651-661; Dimitriadis, Gneiting and Jordan 2021). The band is simultaneous: it holds the whole curve of that share of the
draws.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.metrics.isotonic_curve import isotonic_shares

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.intervals.information_bins import ScoreBins

# At 95 % the curve of a calibrated model left the band in 5, 4 and 8 % of 100, 100 and 50 test sets of 20, 200 and
# 1,600 positives; benchmarks/coverage_calibration.py simulates more.
BAND_DRAWS, _OUTER = 2_000, 0.005


def consistency_band(
    bins: ScoreBins,
    level: float,
    rng: np.random.Generator,
    *,
    prevalence: float | None = None,
    possible: Array | None = None,
    isotonic: bool = True,
) -> tuple[Array, Array]:
    """The ends of the band in each bin, of the isotonic curve or of the share in each bin, at a prevalence.

    `possible` are the prevalences, one for each of the `BAND_DRAWS`, that an estimated one may be.
    """
    weights = bins.class_weights(prevalence)
    true = weights if possible is None else bins.class_weights(possible[:, None])
    odds = bins.scores * true[1], (1 - bins.scores) * true[0]
    rows, positives = bins.drawn(odds[0] / (odds[0] + odds[1]), BAND_DRAWS, rng, fixed=True)
    found, missed = positives * weights[0], (rows - positives) * weights[1]
    curves = isotonic_shares(found, found + missed) if isotonic else found / (found + missed)
    return _simultaneous(curves, level)


def _simultaneous(curves: Array, level: float) -> tuple[Array, Array]:
    """The outer quantiles of half of the draws, stretched to hold that share of the other half as whole curves."""
    ordered, others = np.sort(curves[::2], axis=0), curves[1::2]
    out = round(_OUTER * len(ordered))
    middle = np.median(ordered, axis=0)
    reaches = middle - ordered[out], ordered[-1 - out] - middle
    widest = middle - ordered[0], ordered[-1] - middle  # where the outer quantile is the middle itself
    down, up = (
        np.maximum(np.where(reach > 0, reach, most), 1e-12) for reach, most in zip(reaches, widest, strict=True)
    )
    further = np.maximum((middle - others) / down, (others - middle) / up).max(axis=1)
    stretch = float(np.quantile(further, level))
    return np.clip(middle - stretch * down, 0, 1), np.clip(middle + stretch * up, 0, 1)
