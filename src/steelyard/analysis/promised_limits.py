"""Promised limits: the thresholds at which limits hold on new rows with a stated confidence.

A rate of one class, such as recall, only falls as the threshold rises, so the exact binomial bound at each threshold
holds for all of them at once (the order statistic of Tong, Feng and Li 2018, Science Advances 4, eaao1659). Precision
and negative predictive value are tested from few rows to many, each only where all before it were shown, which keeps
the level (fixed sequence: Angelopoulos, Bates, Candes, Jordan and Lei 2025, Annals of Applied Statistics 19, 1641).
Other metrics are judged by draws of the table, outwards from the threshold at which they are surest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.coarse_thresholds import places_among
from steelyard.analysis.limit_parts import rate_limit
from steelyard.analysis.threshold_limits import Capacity
from steelyard.errors import InputError

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.limit_parts import RateLimit
    from steelyard.analysis.threshold_limits import Limit
    from steelyard.analysis.threshold_sample import ThresholdSample
    from steelyard.statistics.counts import Counts

# Where a sequence begins: with rows that would hold this share of their class if the rate were at its bound, and the
# part of the risk that each start has.
_STARTS = ((0.15, 0.25), (0.3, 0.5), (0.6, 0.25))


def check_confidence(confidence: float | None) -> None:
    """Refuse what is no confidence."""
    if confidence is not None and not (isinstance(confidence, (int, float, np.number)) and 0 < confidence < 1):
        raise InputError(f"confidence is a probability above 0 and below 1, such as 0.95, not {confidence!r}.")


@dataclass(frozen=True)
class Promise:
    """Limits that are to hold all together on new rows, with this confidence."""

    limits: tuple[Limit, ...]
    confidence: float

    @cached_property
    def _rates(self) -> tuple[RateLimit | None, ...]:
        return tuple(rate_limit(limit) for limit in self.limits)

    def kept(self, sample: ThresholdSample, rng: np.random.Generator, **size: int) -> Array:
        """Which thresholds keep the promise, in the shape of all thresholds of the sample."""
        exact, drawn, risk = self._divided(sample)
        sides = sample.rows.observed.shape[0]
        kept = np.ones(sample.rows.observed.shape, dtype=bool)
        for rate in exact:
            bounded = _ordered if rate.part.order == "fixed" else _in_sequence
            kept &= np.stack([bounded(rate, sample.rows.counts[side], risk / sides) for side in range(sides)])
        return kept & _on_draws(drawn, sample, risk, rng, **size) if drawn else kept

    def _divided(self, sample: ThresholdSample) -> tuple[list[RateLimit], list[Limit], float]:
        """The limits with an exact bound, those without, and the risk that each kind of them may take."""
        pairs = [*zip(self.limits, self._rates, strict=True)]
        exact = [rate for _, rate in pairs if rate is not None and _has_exact_bound(rate, sample)]
        drawn = [limit for limit, rate in pairs if rate not in exact]
        kinds = len({(rate.part, rate.wants_high) for rate in exact}) + bool(drawn)
        return exact, drawn, (1 - self.confidence) / kinds

    def least_rows(self, sample: ThresholdSample) -> list[tuple[str, int, int]]:
        """The class of each limit on one class, the rows without which nothing is promised, and those there are."""
        exact, _, risk = self._divided(sample)
        least = []
        for rate in exact:
            if rate.part.order == "fixed" and len(rate.part.hits) == 1 and 0 < rate.bound < 1:
                of_each = risk / sample.rows.observed.shape[0]
                rows = int(np.ceil(np.log(of_each) / np.log(rate.bound if rate.wants_high else 1 - rate.bound)))
                if rate.part.hits == ("tp",):
                    least.append(("positives", rows, sample.table.positive.n))
                else:
                    least.append(("negatives", rows, sample.table.negative.n))
        return least


def _has_exact_bound(rate: RateLimit, sample: ThresholdSample) -> bool:
    """Whether binomial bounds hold: for rows that count alike, and rates that the prevalence does not change."""
    if not sample.has_equal_rows:
        return False
    of_one_class = rate.part.order == "fixed" and len(rate.part.hits) == 1
    return of_one_class or (sample.prevalence is None and (rate.part.order == "fixed" or rate.wants_high))


def _ordered(rate: RateLimit, counts: Counts[Array], risk: float) -> Array:
    """The thresholds at which a rate out of the same rows is promised: on one side of an order statistic."""
    hits, trials = rate.part.trials(counts)
    rows = float(trials[0])
    rising = hits if hits[0] <= hits[-1] else hits[::-1]
    low, high = 0, len(rising)
    while low < high:  # the first that keeps the promise, or the first that does not, is no further than this
        half = (low + high) // 2
        keeps = _risk_of(rate, float(rising[half]), rows) <= risk
        low, high = (low, half) if keeps == rate.wants_high else (half + 1, high)
    kept = np.arange(len(rising)) >= low if rate.wants_high else np.arange(len(rising)) < low
    kept = kept if rising is hits else kept[::-1]
    # All rows on one side of the threshold are there whatever the rows will be.
    kept[[0, -1]] |= hits[[0, -1]] == (rows if rate.wants_high else 0)
    return np.asarray(kept)


def _risk_of(rate: RateLimit, hits: float, rows: float) -> float:
    if isinstance(rate.limit, Capacity):
        return rate.limit.exceeded_after(hits, rows)
    return float(rate.broken_chance(np.asarray(hits), np.asarray(rows)))


def _in_sequence(rate: RateLimit, counts: Counts[Array], risk: float) -> Array:
    """The thresholds at which a share of the flagged rows, or of the others, is shown one after another.

    A part of the risk is there for each start; it goes on from one threshold to the next as long as each is shown
    (Wiens 2003, Pharmaceutical Statistics 2, 211), so that a few bad rows on top do not end it all.
    """
    hits, trials = rate.part.trials(counts)
    step = 1 if rate.part.order == "rising" else -1
    hits, trials = hits[::step], trials[::step]
    of_class = float((counts.positives if rate.part.order == "rising" else counts.negatives)[0])
    tails = rate.broken_chance(hits, trials)
    starts = [int(np.searchsorted(trials, share * of_class / max(rate.bound, 1e-9))) for share, _ in _STARTS]
    kept, passed = np.zeros(len(hits), dtype=bool), 0.0
    for start, end, (_, part) in zip(starts, [*starts[1:], len(hits)], _STARTS, strict=True):
        passed += part * risk
        shown = tails[start:end] <= passed
        run = len(shown) if shown.all() else int(shown.argmin())
        kept[start : start + run] = True
        passed = passed if run == len(shown) else 0.0
    return kept[::step]


def _on_draws(
    limits: list[Limit], sample: ThresholdSample, risk: float, rng: np.random.Generator, **size: int
) -> Array:
    """The thresholds around the surest one at which draws of the table break limits on any metrics seldom enough.

    Only where a run of them ends can it reach too far, and it has two ends, so each may take half of the risk.
    """
    drawn = sample.drawn(rng, **size)
    places = places_among(drawn, sample.every).reshape(drawn.observed.shape)
    gaps = [(limit, limit.gaps(drawn.counts)) for limit in limits]
    broken = np.logical_or.reduce([~limit.met(gap) for limit, gap in gaps]).mean(0)
    met = np.logical_and.reduce([limit.is_met(sample.every.counts) for limit in limits])
    broken = np.where(met.reshape(-1)[places], broken, 1.0)
    kept = np.zeros(met.size, dtype=bool)
    for at, share in zip(places, broken, strict=True):
        kept[at[_run_around(int(share.argmin()), share <= risk / (2 * len(broken)))]] = True
    return kept.reshape(met.shape)


def _run_around(place: int, good: Array) -> slice:
    """The run of good places around one of them; empty where it is not good itself."""
    bad = np.flatnonzero(~good)
    after = int(np.searchsorted(bad, place))
    if after < len(bad) and bad[after] == place:
        return slice(0, 0)
    return slice(int(bad[after - 1]) + 1 if after else 0, int(bad[after]) if after < len(bad) else len(good))
