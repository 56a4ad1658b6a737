"""Promised limits: the thresholds at which limits hold on new rows with a stated confidence.

A rate of one class, such as recall, only falls as the threshold rises, so the exact binomial bound at each threshold
holds for all of them at once (the order statistic of Tong, Feng and Li 2018, Science Advances 4, eaao1659). Precision
and negative predictive value are tested from few rows to many, each only where all before it were shown, which keeps
the level (fixed sequence: Angelopoulos, Bates, Candes, Jordan and Lei 2025, Annals of Applied Statistics 19, 1641).
Other metrics are judged by draws of the table, outwards from the threshold at which they are surest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.thresholds.drawn_limits import on_draws
from steelyard.analysis.thresholds.limit_parts import rate_limit
from steelyard.analysis.thresholds.threshold_limits import Capacity
from steelyard.exceptions import InputError
from steelyard.statistics.score_order import chunks

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.thresholds.limit_parts import RateLimit
    from steelyard.analysis.thresholds.threshold_limits import Limit
    from steelyard.analysis.thresholds.threshold_sample import ThresholdSample

# Where a sequence begins: with rows that would hold this share of their class if the rate were at its bound, and the
# part of the risk that each start has.
_ROUNDING = 1e-9
SEQUENCE_STARTS = ((0.15, 0.25), (0.3, 0.5), (0.6, 0.25))


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

    def kept(
        self, sample: ThresholdSample, rng: np.random.Generator, met: Array | None = None, *, quick: bool = False
    ) -> Array:
        """Which thresholds keep the promise, in the shape of all of the sample; `met` is which meet all limits."""
        exact, drawn, risk = self._divided(sample)
        sides = sample.rows.observed.shape[0]
        kept = np.ones(sample.rows.observed.shape, dtype=bool)
        for rate in exact:
            bounded = _ordered if rate.part.order == "fixed" else _in_sequence
            kept &= np.stack([bounded(rate, sample, side, risk / sides) for side in range(sides)])
        if drawn and (met is None or exact):
            met = np.logical_and.reduce([limit.is_met(sample.every.counts) for limit in drawn])
        return kept & on_draws(drawn, met, sample, risk, rng, quick=quick) if drawn and met is not None else kept

    def _divided(self, sample: ThresholdSample) -> tuple[list[RateLimit], list[Limit], float]:
        """The limits with an exact bound, those without, and the risk that each kind of them may take."""
        pairs = [*zip(self.limits, self._rates, strict=True)]
        exact = [rate for _, rate in pairs if rate is not None and _has_exact_bound(rate, sample)]
        drawn = [limit for limit, rate in pairs if rate not in exact]
        kinds = len({(rate.part, rate.wants_high, _own(rate.limit)) for rate in exact}) + bool(drawn)
        return exact, drawn, (1 - self.confidence) / kinds

    def least_rows(self, sample: ThresholdSample) -> list[tuple[str, int | None, int]]:
        """The class of each limit on one class, the rows without which nothing is promised, and those there are.

        None where no number of rows is enough.
        """
        exact, _, risk = self._divided(sample)
        least: list[tuple[str, int | None, int]] = []
        for rate in exact:
            if rate.part.is_of_class:
                of_positives = rate.part.hits == ("tp",)
                place = 0 if of_positives else 1
                side, worth = sample.table.classes[place], sample.worth[place]
                rows = _least(rate, risk / sample.rows.observed.shape[0])
                rows = None if rows is None else math.ceil(rows * side.n / worth)
                least.append(("positives" if of_positives else "negatives", rows, side.n))
        return least


def _least(rate: RateLimit, risk: float) -> int | None:
    """The rows of which all hits, or none, keep the promise."""
    never = 1 - rate.bound if rate.wants_high else rate.bound
    return int(np.ceil(np.log(risk) / np.log1p(-never))) if never > _ROUNDING else None


def _own(limit: Limit) -> str:
    """What sets a limit apart from others on the same rate: every capacity is a day of its own."""
    return limit.text if isinstance(limit, Capacity) else ""


def _has_exact_bound(rate: RateLimit, sample: ThresholdSample) -> bool:
    """Whether binomial bounds hold: of one class always, by what its rows are worth; else where all rows are alike."""
    if rate.part.is_of_class:
        return True
    return sample.has_equal_rows and sample.prevalence is None and (rate.part.order == "fixed" or rate.wants_high)


def _ordered(rate: RateLimit, sample: ThresholdSample, side: int, risk: float) -> Array:
    """The thresholds at which a rate out of the same rows is promised: on one side of an order statistic."""
    if not sample.has_equal_rows:
        return _ordered_by_worth(rate, sample, side, risk)
    hits, trials = rate.part.trials(sample.rows.counts[side])
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
    kept[[0, -1]] |= np.isclose(hits[[0, -1]], rows if rate.wants_high else 0, rtol=1e-12, atol=0)
    return np.asarray(kept)


def _ordered_by_worth(rate: RateLimit, sample: ThresholdSample, side: int, risk: float) -> Array:
    """The same of rows that count differently: all from the safest threshold on up to the first that is not shown."""
    curve = sample.curve(0 if rate.part.hits == ("tp",) else 1)
    hits, trials = rate.part.trials(sample.rows.counts[side])
    share = hits / trials
    rows = np.split(curve.known, len(sample.rows.observed))[side]
    step = 1 if (share[0] > share[-1]) == rate.wants_high else -1
    sure = np.isclose(share, 1.0 if rate.wants_high else 0.0, rtol=1e-12, atol=1e-12)[[0, -1]]
    kept = np.zeros(len(share), dtype=bool)
    kept[: _shown_run(rate, (share * rows)[::step], rows[::step], risk)] = True
    kept[[0, -1]] |= sure[::step]
    return kept[::step]


def _risk_of(rate: RateLimit, hits: float, rows: float) -> float:
    if isinstance(rate.limit, Capacity):
        return rate.limit.exceeded_after(hits, rows)
    return float(rate.broken_chance(np.asarray(hits), np.asarray(rows)))


def _in_sequence(rate: RateLimit, sample: ThresholdSample, side: int, risk: float) -> Array:
    """The thresholds at which a share of the flagged rows, or of the others, is shown one after another.

    A part of the risk is there for each start; it goes on from one threshold to the next as long as each is shown
    (Wiens 2003, Pharmaceutical Statistics 2, 211), so that a few bad rows on top do not end it all.
    """
    counts = sample.rows.counts[side]
    hits, trials = rate.part.trials(counts)
    step = 1 if rate.part.order == "rising" else -1
    hits, trials = hits[::step], trials[::step]
    of_class = float((counts.positives if rate.part.order == "rising" else counts.negatives)[0])
    starts = [int(np.searchsorted(trials, share * of_class / max(rate.bound, 1e-9))) for share, _ in SEQUENCE_STARTS]
    kept, passed = np.zeros(len(hits), dtype=bool), 0.0
    for start, end, (_, part) in zip(starts, [*starts[1:], len(hits)], SEQUENCE_STARTS, strict=True):
        passed += part * risk
        run = _shown_run(rate, hits[start:end], trials[start:end], passed)
        kept[start : start + run] = True
        passed = passed if start + run >= end else 0.0
    return kept[::step]


def _shown_run(rate: RateLimit, hits: Array, trials: Array, allowed: float) -> int:
    """How many thresholds from the first on are shown; the exact tail is taken where Chernoff's bound is too large."""
    from scipy.special import rel_entr

    for part in chunks(len(hits), 2**14):  # the run may end among the first
        some, of = hits[part], trials[part]
        with np.errstate(divide="ignore", invalid="ignore"):
            share = some / of
            most = np.exp(-of * (rel_entr(share, rate.bound) + rel_entr(1 - share, 1 - rate.bound)))
        unsure = np.flatnonzero(~(((share > rate.bound) == rate.wants_high) & (most < (1 - _ROUNDING) * allowed)))
        broken = unsure[rate.broken_chance(some[unsure], of[unsure]) > allowed]
        if len(broken):
            return int(part.start + broken[0])
    return len(hits)
