"""Promise test: whether new rows show that the limits of a chosen threshold are broken, all of them together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.distributions import normal_below, normal_reach
from steelyard.analysis.holm import holm
from steelyard.analysis.intervals.draws import effective_cells, generator
from steelyard.analysis.prevalence.prevalence import at_prevalence
from steelyard.analysis.thresholds.class_curves import ClassCurve, Rates
from steelyard.analysis.thresholds.limit_parts import at_least, at_most, rate_limit
from steelyard.analysis.thresholds.threshold_sample import drawn_shares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Rng
    from steelyard.analysis.prevalence.estimated_prevalence import PrevalenceLike
    from steelyard.analysis.thresholds.limit_parts import RateLimit
    from steelyard.analysis.thresholds.threshold_limits import Limit
    from steelyard.statistics.confusion import Confusion
    from steelyard.statistics.counts import Counts

_DRAWS = 9_999


@dataclass(frozen=True)
class LimitTest:
    """A limit on new rows: the p-value that it is kept, adjusted by Holm, and what these rows could have shown.

    `p_value` is NaN where the metric is undefined. `can_decide` says whether the worst outcome on so many rows would
    have shown the limit to be broken; `power` how often it shows that where the rate lies beyond its bound by the
    margin, which is None where the limit is not on one rate.
    """

    limit: Limit
    value: float
    p_value: float
    alpha: float
    can_decide: bool = True
    power: float | None = None

    @property
    def is_broken(self) -> bool:
        """Whether the rows show that the limit is broken."""
        return self.p_value <= self.alpha

    @property
    def verdict(self) -> str:
        """What the rows say: undefined, broken, kept, or too few rows to decide."""
        if math.isnan(self.value):
            return "undefined"
        if self.is_broken:
            return "broken"
        is_met = bool(self.limit.met(np.asarray(self._gap)))
        return "kept" if is_met and self.can_decide else "too few rows to decide"

    @property
    def _gap(self) -> float:
        return self.limit.bound - self.value if self.limit.sign[0] == ">" else self.value - self.limit.bound


def promise_test(
    limits: Sequence[Limit],
    table: Confusion,
    confidence: float,
    *,
    margin: float = 0.05,
    prevalence: PrevalenceLike | None = None,
    rng: Rng = None,
) -> list[LimitTest]:
    """Each limit on a table of two classes; where all are kept, one is found broken in 1 - confidence of runs at most.

    A limit on a rate of rows that count alike is tested by the exact binomial tail at its bound, any other, and one
    read at a prevalence, by draws with both rates as good as the rows allow. At 40 settings drawn at random (20 to 500
    positives, prevalence .02 to .5, 2,000 runs each), with each metric exactly at its bound, tests at 5 % found rates
    broken in 1.8 to 5.6 % of runs and one of three limits in 2.9 to 5.0 %; at 20 more (400 runs each) F1, F2, MCC,
    kappa, balanced accuracy and precision at another prevalence in 2.3 to 6.8 %, 4.4 % on average.
    A recall 10 points below its bound was found in 35 % of runs with 20 to 60 positives, in 70 % with up to 200 and in
    98 % with up to 500.
    """
    seen: Counts[Any] = table.counts(table.positive)
    counts = seen if prevalence is None else at_prevalence(seen, prevalence)
    rates = [_exact(limit, table, prevalence) for limit in limits]
    others = [limit for limit, rate in zip(limits, rates, strict=True) if rate is None]
    shares = dict(zip(others, _kept_shares(others, table, prevalence, rng), strict=True))
    each = (1 - confidence) / len(limits)
    tested = [
        _by_draws(limit, counts, shares[limit]) if rate is None else _by_tail(rate, seen, each, margin)
        for limit, rate in zip(limits, rates, strict=True)
    ]
    adjusted = holm(p for p, _, _ in tested)
    return [
        LimitTest(limit, float(limit.values(counts)), p, 1 - confidence, can_decide, power)
        for limit, p, (_, can_decide, power) in zip(limits, adjusted, tested, strict=True)
    ]


def interval_promise_test(
    limits: Sequence[Limit], intervals: Sequence[tuple[float, float, float]], level: float, confidence: float
) -> list[LimitTest]:
    """Each limit by the interval of its metric (value, low, high), which allows for clusters as the tails do not."""
    tested = []
    for limit, (value, low, high) in zip(limits, intervals, strict=True):
        reach, beyond = (
            (high - value, limit.bound - value) if limit.sign[0] == ">" else (value - low, value - limit.bound)
        )
        error = reach / normal_reach(level)
        tested.append(float(normal_below(-beyond / error)) if error > 0 else math.nan)
    return [
        LimitTest(limit, value, p, 1 - confidence, can_decide=not math.isnan(p))
        for limit, (value, _, _), p in zip(limits, intervals, holm(tested), strict=True)
    ]


def _exact(limit: Limit, table: Confusion, prevalence: PrevalenceLike | None) -> RateLimit | None:
    """The limit as one on a rate, where the binomial tail holds for it."""
    rate = None if table.weighted else rate_limit(limit)
    is_of_class = rate is not None and rate.part.is_of_class
    return rate if prevalence is None or is_of_class else None


def _by_tail(rate: RateLimit, counts: Counts[Any], alpha: float, margin: float) -> tuple[float, bool, float | None]:
    """The p-value of a limit on a rate, whether any outcome of so many rows is at most alpha, and the power."""
    hits, trials = (int(part) for part in rate.part.trials(counts))
    if not trials:
        return math.nan, False, 0.0
    return (float(rate.kept_chance(hits, trials)), *_could_show(rate, trials, alpha, margin))


def _by_draws(limit: Limit, counts: Counts[Any], share: float) -> tuple[float, bool, float | None]:
    """The p-value of a limit by the share of the draws that keep it."""
    return (math.nan, False, None) if np.isnan(limit.values(counts)) else (share, True, None)


def _kept_shares(limits: list[Limit], table: Confusion, prevalence: PrevalenceLike | None, rng: Rng) -> list[float]:
    """The share of the draws that keep each limit, with both rates as good for it as the rows allow.

    A draw in which the metric is undefined does not break its limit.
    """
    if not limits:
        return []
    rows, _ = effective_cells(table)
    step, random = 1 if table.labels[0] == table.positive else -1, generator(rng)
    (hits, p), (alarms, n) = ((float(cells[0]), float(cells.sum())) for cells in rows[::step, ::step])
    shares = ((hits / p if p else 0.0, p), (alarms / n if n else 0.0, n))
    rates = Rates(*(ClassCurve.of_equal(np.array([share]), of) for share, of in shares))
    counts: Counts[Any] = table.counts(table.positive)
    share = drawn_shares(prevalence, float(counts.positives / counts.total), p + n, _DRAWS, random)
    kept = [
        [int(limit.met(np.nan_to_num(limit.gaps(drawn), nan=-np.inf)).sum()) for limit in limits]
        for drawn in rates.tables(share, float(counts.total), _DRAWS, random)
    ]
    return [(1 + most) / (1 + _DRAWS) for most in np.max(kept, axis=0)]


def _could_show(rate: RateLimit, trials: int, alpha: float, margin: float) -> tuple[bool, float]:
    """Whether any outcome of so many rows shows the limit broken, and how often one does at a rate beyond the bound."""
    if rate.kept_chance(0 if rate.wants_high else trials, trials) > alpha:
        return False, 0.0
    low, high = 0, trials  # how far from the worst outcome the last lies that shows it
    while low < high:
        half = (low + high + 1) // 2
        shows = bool(rate.kept_chance(half if rate.wants_high else trials - half, trials) <= alpha)
        low, high = (half, high) if shows else (low, half - 1)
    if rate.wants_high:
        return True, float(at_most(low, trials, max(rate.bound - margin, 0.0)))
    return True, float(at_least(trials - low, trials, min(rate.bound + margin, 1.0)))
