"""Guarantees: the thresholds at which limits hold on new rows with a stated confidence, and their test later.

A rate of one class, such as recall, only falls as the threshold rises, so the exact binomial bound at each threshold
holds for all of them at once (the order statistic of Tong, Feng and Li 2018, Science Advances 4, eaao1659). Precision
and negative predictive value are tested from few rows to many, each only where all before it were shown, which keeps
the level (fixed sequence: Angelopoulos, Bates, Candes, Jordan and Lei 2025, Annals of Applied Statistics 19, 1641).
Other metrics are judged by draws of the table, outwards from the threshold at which they are surest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.distributions import normal_below, normal_reach
from steelyard.analysis.holm import holm
from steelyard.analysis.intervals.draws import effective_cells, generator
from steelyard.analysis.prevalence.prevalence import Prevalence, at_prevalence
from steelyard.analysis.thresholds.bands import ClassCurve, Rates
from steelyard.analysis.thresholds.limits import Capacity, at_least, at_most, rate_limit
from steelyard.analysis.thresholds.threshold_sample import drawn_shares
from steelyard.arrays.sorting import chunks
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steelyard._types import Array, Rng
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.analysis.thresholds.limits import Limit, RateLimit
    from steelyard.analysis.thresholds.threshold_sample import ThresholdSample
    from steelyard.tables.confusion import Confusion
    from steelyard.tables.counts import Counts


# ---------------------------------------------------------------- drawn limits
# The thresholds at which draws of the table break limits on any metrics seldom enough.


_TAIL_DRAWS, _DRAWS = 25, (1_000, 20_000)  # draws that break a limit at the risk allowed, and in all
_THRESHOLDS, _REFINED = 64, 16


def on_draws(limits: list[Limit], met: Array, sample: ThresholdSample, risk: float, rng: np.random.Generator) -> Array:
    """The thresholds around the surest one at which draws of the table break limits on any metrics seldom enough.

    A run of them can be too long only at its two ends, and the threshold that is chosen lies at one of them at most.
    The surest is the best of many by luck too, so it has to break them half as often. A few thresholds show between
    which two of them a run ends, others between those two show where. Trivial thresholds are judged by themselves.
    """
    draws = int(np.clip(2 * _TAIL_DRAWS / risk, *_DRAWS))

    def broken(indices: Array) -> Array:
        shares = broken_shares(limits, sample, sample.rates_at(indices), draws, rng)
        return np.where(met[indices], shares, 1.0)

    kept = np.zeros(met.size, dtype=bool)
    some = sample.some_indices(_THRESHOLDS)
    shares, trivial = broken(some), sample.are_trivial(some)
    kept[some[trivial & (shares <= risk / 2)]] = True
    surest = np.where(trivial, 1.0, shares)
    run = run_around(int(surest.argmin()), shares <= risk)
    if surest.min() > risk / 2:
        return kept
    first, last = int(some[run.start]), int(some[run.stop - 1])
    before = -1 if run.start == 0 else int(some[run.start - 1])
    after = met.size if run.stop == len(some) else int(some[run.stop])
    first, last = _furthest(first, before, broken, risk), _furthest(last, after, broken, risk)
    kept[first : last + 1] = True
    return kept


def _furthest(end: int, stop: int, broken: Callable[[Array], Array], allowed: float) -> int:
    """The last index of a run of good ones that begins at `end`; the one at `stop` is not good."""
    step = 1 if stop > end else -1
    while abs(stop - end) > 1:
        count = min(abs(stop - end) - 1, _REFINED)
        indices = np.unique(np.linspace(end + step, stop - step, count).astype(np.int64))[::step]
        bad = np.flatnonzero(broken(indices) > allowed)
        if not len(bad):
            end = int(indices[-1])
            continue
        stop = int(indices[bad[0]])
        if bad[0]:
            end = int(indices[bad[0] - 1])
    return end


def broken_shares(
    limits: Sequence[Limit], sample: ThresholdSample, rates: Rates, draws: int, rng: np.random.Generator
) -> Array:
    """How often draws of the table break one of the limits at each threshold, with both rates at their worst."""
    shares = []
    with np.errstate(divide="ignore", invalid="ignore"):
        for table in sample.tables(rates, draws, rng):
            risks = [limit.broken(table) for limit in limits]
            shares.append(np.max(risks, axis=0).mean(0))
    return np.asarray(np.max(shares, axis=0))


def run_around(index: int, good: Array) -> slice:
    """The run of good indices around one of them; empty where it is not good itself."""
    bad = np.flatnonzero(~good)
    after = int(np.searchsorted(bad, index))
    if after < len(bad) and bad[after] == index:
        return slice(0, 0)
    start = int(bad[after - 1]) + 1 if after else 0
    stop = int(bad[after]) if after < len(bad) else len(good)
    return slice(start, stop)


# ---------------------------------------------------------------- promised limits


# Where a sequence begins: with rows that would hold this share of their class if the rate were at its bound, and the
# part of the risk that each start has.
_ROUNDING = 1e-9
SEQUENCE_STARTS = ((0.15, 0.25), (0.3, 0.5), (0.6, 0.25))


def check_confidence(confidence: float | None) -> None:
    """Refuse what is not a confidence."""
    if confidence is not None and not (isinstance(confidence, (int, float, np.number)) and 0 < confidence < 1):
        raise InputError(
            argument="confidence", expected="a probability above 0 and below 1, such as 0.95", given=confidence
        )


@dataclass(frozen=True)
class Promise:
    """Limits that are to hold all together on new rows, with this confidence."""

    limits: tuple[Limit, ...]
    confidence: float

    def kept(self, sample: ThresholdSample, rng: np.random.Generator, met: Array | None = None) -> Array:
        """Which thresholds of the sample keep the promise; `met` is which meet all limits."""
        exact, drawn, risk = self._divided(sample)
        kept = np.ones(sample.rows.observed.shape, dtype=bool)
        for rate in exact:
            bounded = _ordered if rate.part.order == "fixed" else _in_sequence
            kept &= bounded(rate, sample, risk)
        if not drawn:
            return kept
        if met is None or exact:
            met = np.logical_and.reduce([limit.is_met(sample.every.counts) for limit in drawn])
        return kept & on_draws(drawn, np.asarray(met), sample, risk, rng)

    def _divided(self, sample: ThresholdSample) -> tuple[list[RateLimit], list[Limit], float]:
        """The limits with an exact bound, those without, and the risk that each kind of them may take.

        Binomial bounds hold for rates of one class, by its effective rows; for other rates if all rows count alike.
        """
        alike = sample.has_equal_rows and sample.prevalence is None
        exact: list[RateLimit] = []
        drawn: list[Limit] = []
        kinds = set()
        for limit in self.limits:
            rate = rate_limit(limit)
            if rate is None:
                drawn.append(limit)
            elif rate.part.is_of_class or (alike and (rate.part.order == "fixed" or rate.wants_high)):
                exact.append(rate)
                # Limits on the same rate are one kind, but every capacity is a day of its own.
                kinds.add((rate.part, rate.wants_high, limit.text if isinstance(limit, Capacity) else ""))
            else:
                drawn.append(limit)
        return exact, drawn, (1 - self.confidence) / (len(kinds) + bool(drawn))

    def least_rows(self, sample: ThresholdSample) -> list[tuple[str, int | None, int]]:
        """Of each limit on one class: the class, the rows that a promise takes at least, and the rows there are.

        None stands for a limit that no number of rows is enough for.
        """
        exact, _, risk = self._divided(sample)
        least: list[tuple[str, int | None, int]] = []
        for rate in exact:
            if not rate.part.is_of_class:
                continue
            of_positives = rate.part.hits == ("tp",)
            side = sample.table.positive if of_positives else sample.table.negative
            effective_size = sample.effective_sizes[0 if of_positives else 1]
            allowed_errors, rows = 1 - rate.bound if rate.wants_high else rate.bound, None
            if allowed_errors > _ROUNDING:  # so many rows without a single error keep the promise
                without_error = np.ceil(np.log(risk) / np.log1p(-allowed_errors))
                rows = math.ceil(int(without_error) * side.n / effective_size)
            least.append(("positives" if of_positives else "negatives", rows, side.n))
        return least


def _ordered(rate: RateLimit, sample: ThresholdSample, risk: float) -> Array:
    """The thresholds at which a rate out of the same rows is promised: on one side of an order statistic."""
    if not sample.has_equal_rows:
        return _ordered_by_weight(rate, sample, risk)
    hits, trials = rate.part.trials(sample.rows.counts)
    rows = float(trials[0])
    rising = hits if hits[0] <= hits[-1] else hits[::-1]
    low, high = 0, len(rising)
    while low < high:  # the first that keeps the promise, or the first that does not, is no further than this
        half = (low + high) // 2
        here = float(rising[half])
        if isinstance(rate.limit, Capacity):
            risk_here = rate.limit.exceeded_after(here, rows)
        else:
            risk_here = float(rate.broken_chance(np.asarray(here), np.asarray(rows)))
        if (risk_here <= risk) == rate.wants_high:
            high = half
        else:
            low = half + 1
    kept = np.arange(len(rising)) >= low if rate.wants_high else np.arange(len(rising)) < low
    if hits[0] > hits[-1]:
        kept = kept[::-1]
    # All rows on one side of the threshold are there whatever the rows will be.
    kept[[0, -1]] |= np.isclose(hits[[0, -1]], rows if rate.wants_high else 0, rtol=1e-12, atol=0)
    return np.asarray(kept)


def _ordered_by_weight(rate: RateLimit, sample: ThresholdSample, risk: float) -> Array:
    """The same of rows that count differently: the run of thresholds that are shown, from the safest one on."""
    curve = sample.curve(0 if rate.part.hits == ("tp",) else 1)
    hits, trials = rate.part.trials(sample.rows.counts)
    share, rows = hits / trials, curve.known
    step = 1 if (share[0] > share[-1]) == rate.wants_high else -1
    sure = np.isclose(share, 1.0 if rate.wants_high else 0.0, rtol=1e-12, atol=1e-12)[[0, -1]]
    kept = np.zeros(len(share), dtype=bool)
    kept[: _shown_run(rate, (share * rows)[::step], rows[::step], risk)] = True
    kept[[0, -1]] |= sure[::step]
    return kept[::step]


def _in_sequence(rate: RateLimit, sample: ThresholdSample, risk: float) -> Array:
    """The thresholds at which a share of the flagged rows, or of the others, is shown one after another.

    A part of the risk is there for each start; it goes on from one threshold to the next as long as each is shown
    (Wiens 2003, Pharmaceutical Statistics 2, 211), so that a few bad rows on top do not end it all.
    """
    counts = sample.rows.counts
    hits, trials = rate.part.trials(counts)
    step = 1 if rate.part.order == "rising" else -1
    hits, trials = hits[::step], trials[::step]
    of_class = float((counts.positives if rate.part.order == "rising" else counts.negatives)[0])
    starts = [int(np.searchsorted(trials, share * of_class / max(rate.bound, 1e-9))) for share, _ in SEQUENCE_STARTS]
    kept, available = np.zeros(len(hits), dtype=bool), 0.0
    for start, end, (_, part) in zip(starts, [*starts[1:], len(hits)], SEQUENCE_STARTS, strict=True):
        available += part * risk
        run = _shown_run(rate, hits[start:end], trials[start:end], available)
        kept[start : start + run] = True
        if start + run < end:  # a run that ends has used its risk up; else the next start inherits it
            available = 0.0
    return kept[::step]


def _shown_run(rate: RateLimit, hits: Array, trials: Array, allowed: float) -> int:
    """How many thresholds from the first on are shown; the exact tail is taken where Chernoff's bound is too large."""
    from scipy.special import rel_entr

    for part in chunks(len(hits), 2**14):  # the run may end among the first
        k, n = hits[part], trials[part]
        with np.errstate(divide="ignore", invalid="ignore"):
            share = k / n
            chernoff = np.exp(-n * (rel_entr(share, rate.bound) + rel_entr(1 - share, 1 - rate.bound)))
        is_shown = ((share > rate.bound) == rate.wants_high) & (chernoff < (1 - _ROUNDING) * allowed)
        unsure = np.flatnonzero(~is_shown)
        broken = unsure[rate.broken_chance(k[unsure], n[unsure]) > allowed]
        if len(broken):
            return int(part.start + broken[0])
    return len(hits)


# ---------------------------------------------------------------- why no threshold keeps a promise


def unkept_sentence(promise: Promise, sample: ThresholdSample) -> str:
    """What is missing: rows, where the limits take more of them at the very least, or else better scores."""
    texts = " and ".join(limit.text for limit in promise.limits)
    sure = f"with {100 * promise.confidence:g} % confidence"
    least = promise.least_rows(sample)
    if any(rows is None for _, rows, _ in least):
        return f"No number of rows shows {texts} {sure}: the limit leaves no room for a single error."
    short = [(name, rows, there) for name, rows, there in least if rows is not None and rows > there]
    if short:
        like = "" if sample.has_equal_rows else " like these"
        rows_needed = " and ".join(f"at least {rows:,} {name}{like}" for name, rows, _ in short)
        here = " and ".join(f"{there:,}" for _, _, there in short)
        are = "is" if here == "1" else "are"
        return f"{texts} {sure} needs {rows_needed}; here {are} {here}."
    why = f"the scores meet {texts} by too little, or not at all; more rows like these or better scores may show it"
    if isinstance(sample.prevalence, Prevalence):
        at = sample.prevalence.text(promise.confidence)
        why += f", and so may a prevalence estimated from more rows than {at}"
    return f"These rows would be enough for such a limit, but {why}."


# ---------------------------------------------------------------- promise test
# Whether new rows show that the limits of a chosen threshold are broken, all of them together.


_TEST_DRAWS = 9_999


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


def limit_test(
    limits: Sequence[Limit],
    table: Confusion,
    confidence: float,
    *,
    margin: float = 0.05,
    prevalence: PrevalenceLike | None = None,
    rng: Rng = None,
) -> list[LimitTest]:
    """Each limit on a table of two classes; where all are kept, one is found broken in 1 - confidence of runs at most.

    A limit on a rate of rows that count alike is tested by the exact binomial tail at its bound. Any other limit, and
    one read at a prevalence, is tested by draws with both rates as good as the rows allow. At 40 settings drawn at
    random (20 to 500 positives, prevalence .02 to .5, 2,000 runs each), with each metric exactly at its bound, tests at
    5 % found rates broken in 1.8 to 5.6 % of runs and one of three limits in 2.9 to 5.0 %; at 20 more (400 runs each)
    F1, F2, MCC, kappa, balanced accuracy and precision at another prevalence in 2.3 to 6.8 %, 4.4 % on average. A
    recall 10 points below its bound was found in 35 % of runs with 20 to 60 positives, in 70 % with up to 200 and in
    98 % with up to 500.
    """
    seen: Counts[Any] = table.counts(table.positive)
    counts = seen if prevalence is None else at_prevalence(seen, prevalence)
    rates = []
    for limit in limits:
        rate = None if table.weighted else rate_limit(limit)
        if rate is not None and prevalence is not None and not rate.part.is_of_class:
            rate = None  # the binomial tail does not hold for it
        rates.append(rate)
    others = [limit for limit, rate in zip(limits, rates, strict=True) if rate is None]
    kept_shares = iter(_kept_shares(others, table, prevalence, rng))
    tested: list[tuple[float, bool, float | None]] = []  # p-value, whether these rows can decide, power
    for limit, rate in zip(limits, rates, strict=True):
        if rate is not None:
            tested.append(_tail_test(rate, seen, (1 - confidence) / len(limits), margin))
            continue
        kept_share = next(kept_shares)
        is_undefined = bool(np.isnan(limit.values(counts)))
        tested.append((math.nan, False, None) if is_undefined else (kept_share, True, None))
    adjusted = holm(p for p, _, _ in tested)
    return [
        LimitTest(limit, float(limit.values(counts)), p, 1 - confidence, can_decide, power)
        for limit, p, (_, can_decide, power) in zip(limits, adjusted, tested, strict=True)
    ]


def interval_limit_test(
    limits: Sequence[Limit], intervals: Sequence[tuple[float, float, float]], level: float, confidence: float
) -> list[LimitTest]:
    """Each limit by the interval of its metric (value, low, high), which allows for clusters as the tails do not."""
    tested = []
    for limit, (value, low, high) in zip(limits, intervals, strict=True):
        if limit.sign[0] == ">":
            half_width, beyond = high - value, limit.bound - value
        else:
            half_width, beyond = value - low, value - limit.bound
        standard_error = half_width / normal_reach(level)
        tested.append(float(normal_below(-beyond / standard_error)) if standard_error > 0 else math.nan)
    return [
        LimitTest(limit, value, p, 1 - confidence, can_decide=not math.isnan(p))
        for limit, (value, _, _), p in zip(limits, intervals, holm(tested), strict=True)
    ]


def _tail_test(rate: RateLimit, counts: Counts[Any], alpha: float, margin: float) -> tuple[float, bool, float]:
    """The exact test of a limit on a rate: p-value, whether any outcome has at most alpha, and power at the margin."""
    hits, trials = (int(part) for part in rate.part.trials(counts))
    if not trials:
        return math.nan, False, 0.0
    p_value = float(rate.kept_chance(hits, trials))
    if rate.kept_chance(0 if rate.wants_high else trials, trials) > alpha:
        return p_value, False, 0.0
    low, high = 0, trials  # how far from the worst outcome the last lies that shows the limit broken
    while low < high:
        half = (low + high + 1) // 2
        if rate.kept_chance(half if rate.wants_high else trials - half, trials) <= alpha:
            low = half
        else:
            high = half - 1
    if rate.wants_high:
        power = at_most(low, trials, max(rate.bound - margin, 0.0))
    else:
        power = at_least(trials - low, trials, min(rate.bound + margin, 1.0))
    return p_value, True, float(power)


def _kept_shares(limits: list[Limit], table: Confusion, prevalence: PrevalenceLike | None, rng: Rng) -> list[float]:
    """The share of the draws that keep each limit, with both rates as good for it as the rows allow.

    A draw in which the metric is undefined does not break its limit.
    """
    if not limits:
        return []
    rows, _ = effective_cells(table)
    step, random = 1 if table.labels[0] == table.positive else -1, generator(rng)
    (hits, p), (alarms, n) = ((float(cells[0]), float(cells.sum())) for cells in rows[::step, ::step])
    recall, fpr = hits / p if p else 0.0, alarms / n if n else 0.0
    rates = Rates(ClassCurve.of_equal(np.array([recall]), p), ClassCurve.of_equal(np.array([fpr]), n))
    counts: Counts[Any] = table.counts(table.positive)
    share = drawn_shares(prevalence, float(counts.positives / counts.total), p + n, _TEST_DRAWS, random)
    kept = [
        [int(limit.met(np.nan_to_num(limit.gaps(drawn), nan=-np.inf)).sum()) for limit in limits]
        for drawn in rates.tables(share, float(counts.total), _TEST_DRAWS, random)
    ]
    return [(1 + most) / (1 + _TEST_DRAWS) for most in np.max(kept, axis=0)]
