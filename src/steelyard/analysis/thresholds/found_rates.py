"""Found rates: precision and recall at a threshold found on the same rows, with intervals that allow for it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.analysis.distributions import normal_reach
from steelyard.analysis.intervals.rate_intervals import exact, score_ends
from steelyard.analysis.prevalence.prevalence import Prevalence
from steelyard.analysis.thresholds.limits import RatePart
from steelyard.tables.counts import Counts

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.thresholds.resampled_threshold import Resamples
    from steelyard.analysis.thresholds.threshold_sample import ThresholdSample

RECALL = RatePart(("tp",), ("fn",), "fixed")
_ALARMS = RatePart(("fp",), ("tn",), "fixed")
_PRECISION = RatePart(("tp",), ("fp",), "rising")


class FoundRate(NamedTuple):
    """A rate at a threshold, and its interval on new rows; None where it is what it is whatever the rows."""

    value: float
    interval: tuple[float, float] | None = None

    @property
    def ends(self) -> tuple[float, float]:
        """The bounds, which are the value itself where there is no interval."""
        return self.interval or (self.value, self.value)


def found_rate(
    part: RatePart,
    sample: ThresholdSample,
    index: int,
    drawn: Resamples | None = None,
    level: float = 0.95,
    *,
    fixed: bool = False,
) -> FoundRate:
    """A rate at a threshold of the sample, and its interval where resamples have found that threshold again.

    The rows that chose the threshold flatter the rate by about as much as those of a resample flatter it at its own
    threshold, beside the rows that it leaves out. The rate without that has Wilson's interval by as many rows as the
    rates of resamples at their own thresholds vary around those of all rows there, at most those that it is a share
    of, and reaches as far as that of the rate itself: some thresholds are flattered by nothing. Where all rows are
    hits, or none is, no resample varies and Clopper and Pearson's bounds hold. A threshold that was `fixed` before
    flatters nothing.
    """
    hits, trials = (float(rows) for rows in part.trials(sample.rows.counts[index]))
    value = hits / trials if trials else math.nan
    is_certain = part.is_of_class and bool(sample.are_trivial(index))
    if drawn is None or is_certain or math.isnan(value):
        return FoundRate(value)
    rows = trials * sum(sample.effective_sizes) / float(sample.table.total)
    reach, centre = normal_reach(level), value
    errors = _rate(part, drawn.taken) - _rate(part, sample.every.counts[drawn.indices])
    variance = float(np.nanvar(errors)) if np.isfinite(errors).any() else 0.0
    if not fixed:
        flattered = float(_rate(part, _summed(drawn.taken)) - _rate(part, drawn.left))
        centre = min(max(value - (0.0 if math.isnan(flattered) else flattered), 0.0), 1.0)
    if variance > 0 and 0 < centre < 1:
        rows = min(rows, max(centre * (1 - centre) / variance, 1.0))
    low, high = score_ends(np.array([centre, value]), rows, reach)
    low, high = low.min(), high.max()
    if not 0 < hits < trials:
        alike = trials * sum(sample.effective_sizes) / float(sample.table.total)
        low_exact, high_exact = exact(np.asarray(value * alike), np.asarray(alike), level)
        low, high = min(low, low_exact), max(high, high_exact)
    return FoundRate(value, (min(float(low), value), max(float(high), value)))


def found_precision(
    sample: ThresholdSample, index: int, drawn: Resamples | None = None, level: float = 0.95, *, fixed: bool = False
) -> FoundRate:
    """The precision at a threshold of the sample, at the prevalence where one is given, and its interval.

    At another prevalence its odds are those of the prevalence times recall over false positive rate, whose intervals
    are joined on the logarithm (Donner and Zou 2012), with that of a prevalence which was estimated.
    """
    if sample.prevalence is None:
        return found_rate(_PRECISION, sample, index, drawn, level, fixed=fixed)
    recall, alarms = (found_rate(part, sample, index, drawn, level, fixed=fixed) for part in (RECALL, _ALARMS))
    share = float(sample.every.counts.positives[0] / sample.every.counts.total[0])

    def precision(of_all: float, found: float, flagged: float) -> float:
        both = of_all * found + (1 - of_all) * flagged
        return of_all * found / both if both else math.nan

    value = precision(share, recall.value, alarms.value)
    of_prevalence = sample.prevalence
    shares = of_prevalence.interval(level) if isinstance(of_prevalence, Prevalence) else (share, share)
    if drawn is None or math.isnan(value) or (recall.interval is None and shares[0] == shares[1]):
        return FoundRate(value)
    if not (recall.value and alarms.value):  # a logarithm is infinite: the corners of the rates
        low = precision(shares[0], recall.ends[0], alarms.ends[1])
        high = precision(shares[1], recall.ends[1], alarms.ends[0])
        return FoundRate(value, (min(low, value), max(0.0 if math.isnan(high) else high, value)))
    down = [(recall.ends[0], recall.value), (alarms.value, alarms.ends[1]), (_odds(shares[0]), _odds(share))]
    up = [(recall.value, recall.ends[1]), (alarms.ends[0], alarms.value), (_odds(share), _odds(shares[1]))]
    odds = _odds(share) * recall.value / alarms.value
    low, high = odds * math.exp(-_length(down)), odds * math.exp(min(_length(up), 700.0))
    return FoundRate(value, (low / (1 + low), high / (1 + high)))


def _odds(share: float) -> float:
    return share / (1 - share)


def _length(steps: list[tuple[float, float]]) -> float:
    """The length of independent steps on the logarithm, each from a lower to a higher value."""
    return math.hypot(*(math.log(max(high, 1e-300) / max(low, 1e-300)) for low, high in steps))


def _rate(part: RatePart, counts: Counts[Any]) -> Array:
    hits, trials = part.trials(counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(hits / trials)


def _summed(counts: Counts[Array]) -> Counts[Any]:
    return Counts.trusted(*(np.asarray(cell).sum() for cell in counts))


def guaranteed_recall(sample: ThresholdSample, index: int, confidence: float) -> tuple[float, float]:
    """The recalls that the test of a guarantee does not reject: from Clopper and Pearson's bound of one side on."""
    rows = float(sample.curve(0).known[index])
    at = sample.rows.counts[index]
    low, _ = exact(np.asarray(at.tp / at.positives * rows), np.asarray(rows), 2 * confidence - 1)
    return float(low), 1.0
