"""Page bands: the simultaneous bounds of both rates, from which the page's script draws the band of every curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.intervals.inference import STRATIFIED
from steelyard.analysis.thresholds.bands import RateBand, band_prevalences, rate_band
from steelyard.metrics.registry import get_metric

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.tables.score_table import ScoreTable

_NEAREST = 1e-9  # to a rate of 0 or 1


def page_bands(evaluation: Evaluation, scores: ScoreTable, places: Array) -> dict[str, Any]:
    """The band of both rates, and where the prevalence is uncertain that of what depends on it, with where it lies."""
    of, chosen = get_metric("precision"), STRATIFIED in evaluation.assumed
    known = band_prevalences(of, scores, evaluation.level, evaluation.prevalence, stratified=chosen)
    uncertain = {"shares": known.shares, "band": _band(rate_band(scores, known.level, places))}
    band = _band(rate_band(scores, evaluation.level, places))
    return {"band": band, "uncertain": uncertain if len(known.shares) > 1 else None}


def _band(band: RateBand) -> dict[str, list[int]]:
    """The steps of each rate's log odds in hundredths, a third of the room; rounded outwards, so the band holds."""
    ends = {name: np.clip(rates, _NEAREST, 1 - _NEAREST) for name, rates in vars(band).items()}
    odds = {name: 100 * np.log(rates / (1 - rates)) for name, rates in ends.items()}
    return {
        name: np.diff(np.floor(each) if name.endswith("low") else np.ceil(each), prepend=0).astype(int).tolist()
        for name, each in odds.items()
    }
