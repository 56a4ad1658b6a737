"""Joint evidence: that a metric of several rates, such as MCC, is beyond a limit, by bets on its gradient.

At every table of shares where the metric is at the limit, a row pays what it takes from the metric there: the gradient,
less its mean. If those shares are the true ones the bet is fair, and if the metric is on the right side of the limit by
a better first rate, it is less than fair; so the wealth is evidence (Waudby-Smith and Ramdas 2024). A part of the stake
is on each rate by itself, by beta mixtures, which refutes shares that are far off, where a gradient says nothing. The
least wealth over all shares at the limit is evidence against all of them. It looks along the one direction that
matters, where a box of bounds needs each rate to be known apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.intervals.rate_intervals import score_ends
from steelyard.analysis.sequential.beta_mixture import highest_rate, log_evidence_below, lowest_rate
from steelyard.analysis.sequential.linear_ratio import log_returns, mean_wealth
from steelyard.statistics.counts import CELLS, Counts
from steelyard.statistics.score_order import chunks

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.sequential.rate_region import RateRegion

_STAKE = 0.7  # of the bets on the gradient; the rates share the rest
_FAR = 1e-12  # rates outside intervals with this error are refuted by their own part of the stake
_HALVINGS = 30
_ROUNDING = 1e-9
_STEP = 1e-5  # of the logarithm of a cell, for its derivative
_POINTS, _ZOOMS = (13, 7), 8  # of the first grid along each rate, of the finer ones, and how many there are
_LEAST = 0.25  # of a row: what a cell has at least where a gradient is taken
_FARTHEST = 1.5  # of the logarithm of a cell, in a step along a gradient
_TABLES = 64  # tables whose grids are in memory at once


@dataclass(frozen=True, eq=False)
class JointEvidence:
    """A metric as a function of rates, of which the one at `solved` is where the metric meets the limit."""

    region: RateRegion
    solved: int
    sign: int  # 1 where evidence is that the metric is below the limit, -1 above
    limit: float

    @classmethod
    def of(cls, region: RateRegion, limit: float, sign: int) -> JointEvidence | None:
        """None where the metric does not follow any of its rates, so that no rate is solved for."""
        solved = next((place for place, direction in enumerate(region.directions) if direction), None)
        return None if solved is None else cls(region, solved, sign, limit)

    @property
    def _side(self) -> int:
        """Whether the solved rate is refuted as too high (1) or too low (-1)."""
        return self.sign * self.region.directions[self.solved]

    @property
    def _free(self) -> list[int]:
        return [place for place in range(len(self.region.rates)) if place != self.solved]

    def stays_below(self, cells: Array, bound: float) -> Array:
        """Whether the evidence surely is below a bound, by a score interval of the solved rate in closed form.

        Evidence is at most the greatest likelihood ratio at any table at the limit. Its logarithm is the sum of those
        of the rates, and that of a rate p at most n (p - hits / n)**2 / (p (1 - p)), so that it suffices to look at the
        p that reaches what the other rates leave of the bound. Rates that share rows, as recall and precision do, do
        not add up so.
        """
        if len({part for rate in self.region.rates for part in rate}) < 2 * len(self.region.rates):
            return np.zeros(cells.shape[:-1], dtype=bool)
        wrong = self.sign * np.asarray(self.region.metric(Counts.trusted(*np.moveaxis(cells, -1, 0))))
        result = ~(wrong < self.sign * self.limit)  # on the right side there is none to speak of
        for free_rates in (self._seen, self._nearest):
            asked = np.flatnonzero(~result)
            result[asked] = self._reaches(cells[asked], free_rates(cells[asked]), bound)
        return result

    def _reaches(self, cells: Array, free: Array, bound: float) -> Array:
        """Whether a table at the limit with these free rates has a likelihood ratio below the bound."""
        ratios = [_log_ratio(*self._trials(cells, place), free[..., at]) for at, place in enumerate(self._free)]
        left = bound - np.sum(ratios, axis=0)
        hits, misses = self._trials(cells, self.solved)
        with np.errstate(invalid="ignore"):
            low, high = score_ends(hits / (hits + misses), hits + misses, np.sqrt(np.maximum(left, 0.0)))
        end = np.where(hits + misses > 0, high if self._side > 0 else low, 0.5)
        return np.asarray((left > 0) & ((hits + misses == 0) | self._right(free, end)))

    def _seen(self, cells: Array) -> Array:
        return np.stack([_share(*self._trials(cells, place)) for place in self._free], -1)

    def _nearest(self, cells: Array) -> Array:
        """The free rates of the table at the limit that is about the likeliest: a step along the gradient."""
        shares = np.maximum(cells, _LEAST) / np.maximum(cells, _LEAST).sum(-1, keepdims=True)
        slopes, mean = self._slopes(shares)
        slopes = slopes - mean
        spread = (shares * slopes**2).sum(-1)
        value = np.asarray(self.region.metric(Counts.trusted(*np.moveaxis(shares, -1, 0))))
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.nan_to_num((self.limit - value) / spread, posinf=0.0, neginf=0.0)
        moved = shares * np.exp(np.clip(step[..., None] * slopes, -_FARTHEST, _FARTHEST))
        return self._seen(moved)

    def most(self, cells: Array) -> Array:
        """The logarithm of the least wealth at two tables at the limit, likely ones: near the least, not below it."""
        free = np.stack([self._nearest(cells), self._seen(cells)], axis=-2)
        return np.asarray(self._log_wealth(cells[:, None], free).min(axis=-1))

    def least(self, cells: Array) -> Array:
        """The logarithm of the evidence of each table: the least wealth over all rates at the limit."""
        parts = [self._least(cells[part]) for part in chunks(len(cells), _TABLES)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _least(self, cells: Array) -> Array:
        trials = [self._trials(cells, place) for place in self._free]
        low = np.stack([lowest_rate(*pair, _FAR) for pair in trials], -1)
        high = np.stack([highest_rate(*pair, _FAR) for pair in trials], -1)
        beyond = np.log((1 - _STAKE) / len(self.region.rates)) - np.log(_FAR)
        best = np.minimum(self.most(cells), beyond)
        for points in (_POINTS[0], *[_POINTS[1]] * (_ZOOMS - 1)):
            steps = np.array(list(product(np.linspace(0, 1, points), repeat=len(trials))))
            at = low[:, None] + steps * (high - low)[:, None]
            wealth = self._log_wealth(cells[:, None], at)
            place = wealth.argmin(axis=1)[:, None]
            best = np.minimum(best, np.take_along_axis(wealth, place, 1)[:, 0])
            centre = np.take_along_axis(at, place[..., None], 1)[:, 0]
            reach = 1.5 * (high - low) / (points - 1)
            low, high = np.maximum(low, centre - reach), np.minimum(high, centre + reach)
        return np.asarray(best)

    def _trials(self, cells: Array, place: int) -> tuple[Array, Array]:
        """The hits and the misses of a rate."""
        hit, miss = (
            cells[..., [CELLS.index(name) for name in part.split()]].sum(-1) for part in self.region.rates[place]
        )
        return hit, miss

    def _log_wealth(self, cells: Array, free: Array) -> Array:
        """The logarithm of the wealth of tables at free rates; infinite where no table at the limit has them."""
        rates, exists = self._at_limit(free)
        parts = [np.log(_STAKE) + mean_wealth(_summed(cells, log_returns(self._payoffs(rates))))]
        each = np.log((1 - _STAKE) / len(self.region.rates))
        for place in range(len(self.region.rates)):
            hits, misses = self._trials(cells, place)
            parts.append(each + self._rate_evidence(hits, misses, rates[..., place], place))
        return np.where(exists, np.logaddexp.reduce(np.broadcast_arrays(*parts), axis=0), np.inf)

    def _rate_evidence(self, hits: Array, misses: Array, rate: Array, place: int) -> Array:
        """Of the solved rate on its side, of any other on both."""
        below, above = log_evidence_below(hits, misses, rate), log_evidence_below(misses, hits, 1 - rate)
        if place == self.solved:
            return below if self._side > 0 else above
        return np.asarray(np.logaddexp(below, above) - np.log(2))

    def _at_limit(self, free: Array) -> tuple[Array, Array]:
        """All rates where the metric is at the limit, and whether any table on the right side has the free ones.

        Where every value of the solved rate is on the right side, it is the worst one.
        """
        worst, best = (0.0, 1.0) if self._side > 0 else (1.0, 0.0)
        bad, good = np.full(free.shape[:-1], worst), np.full(free.shape[:-1], best)
        exists = self._right(free, good)
        for _ in range(_HALVINGS):
            middle = (bad + good) / 2
            right = self._right(free, middle)
            good, bad = np.where(right, middle, good), np.where(right, bad, middle)
        return self._rates(free, good), exists

    def _right(self, free: Array, solved: Array) -> Array:
        """Whether the metric is on the right side of the limit; where it is undefined it may be."""
        values = self.sign * self.region.values(self._rates(free, solved))
        return np.asarray(~(values < self.sign * self.limit))

    def _rates(self, free: Array, solved: Array) -> Array:
        return np.insert(free, self.solved, solved, axis=-1)

    def _payoffs(self, rates: Array) -> Array:
        """What each kind of row pays at these rates: on average nothing."""
        shares = np.stack([*self.region.shares(rates)], -1)
        slopes, mean = self._slopes(shares)
        payoffs = -self.sign * (slopes - mean)
        better = np.full(rates.shape[:-1], 1.0 if self._side > 0 else 0.0)
        path = np.stack([*self.region.shares(self._rates(rates[..., self._free], better))], -1) - shares
        payoffs = np.where((payoffs * path).sum(-1, keepdims=True) <= _ROUNDING, payoffs, 0.0)  # never in its favour
        return np.asarray(payoffs / np.maximum(np.abs(payoffs).max(-1, keepdims=True), 1e-300))

    def _slopes(self, shares: Array) -> tuple[Array, Array]:
        """The gradient at shares, and its mean; no slope where it has no finite one."""
        slopes = np.stack([self._slope(shares, place) for place in range(len(CELLS))], -1)
        slopes = np.where(np.isfinite(slopes).all(-1, keepdims=True), slopes, 0.0)
        return slopes, (shares * slopes).sum(-1, keepdims=True) / shares.sum(-1, keepdims=True)

    def _slope(self, shares: Array, place: int) -> Array:
        """The derivative by one cell, by a small step of its logarithm; 0 of a cell that has nothing."""
        ends = []
        for step in (_STEP, -_STEP):
            moved = shares.copy()
            moved[..., place] *= np.exp(step)
            ends.append(np.asarray(self.region.metric(Counts.trusted(*np.moveaxis(moved, -1, 0)))))
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = (ends[0] - ends[1]) / (2 * _STEP * shares[..., place])
        return np.where(shares[..., place] > 0, slope, 0.0)


def _share(hits: Array, misses: Array) -> Array:
    """The rate that was seen; one half where there were no trials."""
    trials = hits + misses
    return np.where(trials > 0, hits / np.where(trials > 0, trials, 1.0), 0.5)


def _log_ratio(hits: Array, misses: Array, rate: Array) -> Array:
    """The logarithm of the likelihood of the rate that was seen over that of another one."""
    from scipy.special import xlog1py, xlogy

    seen = _share(hits, misses)
    return np.asarray(xlogy(hits, seen) + xlog1py(misses, -seen) - xlogy(hits, rate) - xlog1py(misses, -rate))


def _summed(cells: Array, returns: Array) -> Array:
    """The logarithm of each gambler's wealth."""
    return np.asarray((cells[..., None, :] * returns).sum(axis=-1))
