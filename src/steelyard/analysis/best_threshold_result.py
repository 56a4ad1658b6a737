"""BestThreshold: the threshold at which a metric is best, in a sentence, a row and JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from steelyard._types import Label
from steelyard.analysis.formatting import three_digits
from steelyard.analysis.rows import Flat
from steelyard.statistics.counts import Counts


@dataclass(frozen=True, eq=False, repr=False)
class BestThreshold(Flat):
    """The best threshold of a metric: rows are predicted positive where score >= threshold, or <= in direction -1.

    `observed` is the lowest flagged score (the highest in direction -1); the threshold lies half-way between it and the
    next score, which is not flagged. `plateau` is the lowest and the highest threshold next to it that is about as
    good, `interval` where the best one of resampled rows lay, `optimism` how much the value flatters it,
    `out_of_sample` the value without that.
    """

    threshold: float
    value: float
    counts: Counts
    plateau: tuple[float, float]
    metric: str
    direction: int = 1
    interval: tuple[float, float] | None = None
    out_of_sample: float | None = None
    optimism: float | None = None
    level: float = 0.95
    positive: Label = None
    assumed: tuple[str, ...] = ()
    observed: float = math.nan

    def __post_init__(self) -> None:
        if math.isnan(self.observed):  # as saved by a version whose thresholds were observed scores
            object.__setattr__(self, "observed", self.threshold)

    def __repr__(self) -> str:
        text = f"{self.metric} {three_digits(self.value)} {self._rule()}"
        low, high = map(self._end, self.plateau)
        text += f", about as good from {low} to {high}" if low != high else ""
        stated = (f"; {sentence[0].lower()}{sentence[1:-1]}" for sentence in self.assumed)
        return "".join([text, self._expected(), *stated])

    def _expected(self) -> str:
        """What the resamples say, in words."""
        if self.interval is None or self.out_of_sample is None:
            return ""
        low, high = map(self._end, self.interval)
        resampled = f"; {100 * self.level:g} % of resamples take {low} to {high}"
        return f"{resampled}; on new rows about {three_digits(self.out_of_sample)}"

    def _end(self, threshold: float) -> str:
        """A threshold in a sentence: an infinite one flags nobody, or everybody."""
        if math.isfinite(threshold):
            return three_digits(threshold)
        return "nobody" if threshold * self.direction > 0 else "everybody"

    def _rule(self) -> str:
        if not self.counts.predicted_positives:
            return "with nobody flagged"
        if not self.counts.predicted_negatives:
            return "with everybody flagged"
        return f"where score {'>=' if self.direction > 0 else '<='} {three_digits(self.threshold)}"

    def row(self) -> dict[str, Any]:
        """The result as a row of a table."""
        low, high = self.interval or (None, None)
        return {
            "metric": self.metric,
            "value": self.value,
            "threshold": self.threshold,
            "observed": self.observed,
            "direction": self.direction,
            "plateau_low": self.plateau[0],
            "plateau_high": self.plateau[1],
            "low": low,
            "high": high,
            "out_of_sample": self.out_of_sample,
            "optimism": self.optimism,
            **self.counts.to_dict(),
            "positive": self.positive,
        }
