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
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.distributions import normal_below, normal_quantile, normal_reach
from steelyard.analysis.holm import holm
from steelyard.analysis.intervals.draws import effective_cells, generator
from steelyard.analysis.prevalence.prevalence import Prevalence, at_prevalence
from steelyard.analysis.thresholds.bands import ClassCurve, Rates
from steelyard.analysis.thresholds.limits import Capacity, at_least, at_most, rate_limit
from steelyard.analysis.thresholds.threshold_sample import drawn_shares
from steelyard.exceptions import InputError
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.score_order import chunks
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steelyard._types import Array, Rng
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.analysis.thresholds.limits import Limit, RateLimit
    from steelyard.analysis.thresholds.threshold_sample import ThresholdSample
    from steelyard.statistics.confusion import Confusion
    from steelyard.statistics.counts import Counts


# ---------------------------------------------------------------- drawn limits
# The thresholds at which draws of the table break limits on any metrics seldom enough.


_TAIL_DRAWS, _DRAWS = 25, (1_000, 20_000)  # draws that break a limit at the risk allowed, and in all
_THRESHOLDS, _REFINED, _QUICK_THRESHOLDS = 64, 16, 64


def on_draws(
    limits: list[Limit], met: Array, sample: ThresholdSample, risk: float, rng: np.random.Generator, *, quick: bool
) -> Array:
    """The thresholds around the surest one at which draws of the table break limits on any metrics seldom enough.

    Only where a run of them ends can it reach too far, and the threshold that is chosen lies at one end at most. The
    surest is the best of many by luck too, so it is to break them half as often. A few thresholds show between which
    two of them a run ends, others between those two show where. Those that flag nobody, or everybody, are judged apart.
    """
    allowed, size = risk / len(met), met.shape[-1]
    draws = int(np.clip(2 * _TAIL_DRAWS / allowed, *((200, 200) if quick else _DRAWS)))

    def broken(places: Array) -> Array:
        shares = broken_shares(limits, sample, sample.rates_at(places), draws, rng)
        return np.where(met.reshape(-1)[places], shares, 1.0)

    kept = np.zeros(met.size, dtype=bool)
    for side, of_side in enumerate(np.split(sample.some_places(_QUICK_THRESHOLDS if quick else _THRESHOLDS), len(met))):
        shares = broken(of_side)
        trivial = sample.are_trivial(of_side)
        kept[of_side[trivial & (shares <= allowed / 2)]] = True
        surest = np.where(trivial, 1.0, shares)
        run = run_around(int(surest.argmin()), shares <= allowed)
        if surest.min() > allowed / 2:
            continue
        first, last = int(of_side[run.start]), int(of_side[run.stop - 1])
        if not quick:
            before = side * size - 1 if run.start == 0 else int(of_side[run.start - 1])
            after = (side + 1) * size if run.stop == len(of_side) else int(of_side[run.stop])
            first, last = (_furthest(end, stop, broken, allowed) for end, stop in ((first, before), (last, after)))
        kept[first : last + 1] = True
    return kept.reshape(met.shape)


def _furthest(end: int, stop: int, broken: Callable[[Array], Array], allowed: float) -> int:
    """How far a run of good places goes on from its end, short of a place that is not good."""
    step = 1 if stop > end else -1
    while abs(stop - end) > 1:
        count = min(abs(stop - end) - 1, _REFINED)
        places = np.unique(np.linspace(end + step, stop - step, count).astype(np.int64))[::step]
        bad = np.flatnonzero(broken(places) > allowed)
        end, stop = (
            (int(places[-1]), stop)
            if not len(bad)
            else (int(places[bad[0] - 1]) if bad[0] else end, int(places[bad[0]]))
        )
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


def run_around(place: int, good: Array) -> slice:
    """The run of good places around one of them; empty where it is not good itself."""
    bad = np.flatnonzero(~good)
    after = int(np.searchsorted(bad, place))
    if after < len(bad) and bad[after] == place:
        return slice(0, 0)
    return slice(int(bad[after - 1]) + 1 if after else 0, int(bad[after]) if after < len(bad) else len(good))


# ---------------------------------------------------------------- promised limits


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


# ---------------------------------------------------------------- needed rows
# How many rows would let a threshold be promised that these rows cannot.


ENOUGH = 0.8  # of the samples of that size have such a threshold
_SAMPLES, _MORE, _DOUBLINGS = 10, 30, 8
_NO_MOST = "how many at most, these rows do not show"
_RANGE = 1.2816  # standard errors to either side that hold the needed rows in 80 % of samples


def needed_rows_sentence(promise: Promise, sample: ThresholdSample, rng: np.random.Generator) -> str:
    """How many rows would do, found by resampling these rows to larger samples; or that no number would."""
    texts = " and ".join(limit.text for limit in promise.limits)
    least = promise.least_rows(sample)
    sure = f"with {100 * promise.confidence:g} % confidence"
    if any(rows is None for _, rows, _ in least):
        return f"No number of rows shows {texts} {sure}: the limit leaves no room for a single error."
    short = [(name, rows, there) for name, rows, there in least if rows is not None and rows > there]
    if short and len(promise.limits) == 1:
        ((name, rows, there),) = short
        like = "" if sample.has_equal_rows else " like these"
        return f"{texts} {sure} needs at least {rows:,} {name}{like}; {_here(there)}."
    times = _times_needed(promise, sample, max([2.0, *(rows / there for _, rows, there in short)]), rng)
    if times is None:
        return f"Many more rows like these would not be enough either: {_why_none(promise, sample, texts)}."
    positives, n = sample.table.positive.n, sample.table.n
    low, middle, high = (f"{_two_digits(part * n):,}" if math.isfinite(part) else "" for part in times)
    between = f"{low} to {high} rows, as far as these rows show" if high else f"{low} rows at least; {_NO_MOST}"
    clusters = 0 if sample.clusters is None else len(sample.clusters.sizes)
    more, those = (f" in {_two_digits(times[1] * clusters):,} clusters", f" in {clusters:,}") if clusters else ("", "")
    return (
        f"About {_two_digits(times[1] * positives):,} positives among {middle} rows{more} would let a threshold be "
        f"promised in {100 * ENOUGH:g} % of such samples ({between}); {_here(positives)} "
        f"among {n:,}{those}."
    )


def _why_none(promise: Promise, sample: ThresholdSample, texts: str) -> str:
    scores = f"the scores do not reach {texts} by enough"
    if not isinstance(sample.prevalence, Prevalence):
        return scores
    at = sample.prevalence.text(promise.confidence)
    return f"{scores}, or the prevalence, {at}, is not known well enough, and is to be estimated from more rows"


def _here(rows: int) -> str:
    return f"here {'is' if rows == 1 else 'are'} {rows:,}"


def _two_digits(number: float) -> int:
    return int(float(f"{number:.2g}"))


def _times_needed(
    promise: Promise, sample: ThresholdSample, first: float, rng: np.random.Generator
) -> tuple[float, float, float] | None:
    """How many times the rows would do, with the ends of its range; None where many times as many do not.

    How far the limit is exceeded, in standard errors of all rows, grows with their root: one number, by which larger
    samples keep the promise as often as they do. These rows show it to one standard error, so the range is wide: at
    four settings (precision, F1, MCC, two rates; 120 to 400 rows) it held the truth, itself known to a factor of
    1.4, for 65 of 79 samples; the median sample gave 0.3 to 0.9 times it, as the surest threshold flatters a sample.
    """
    sizes, kept = [], []
    for step in range(_DOUBLINGS):
        sizes.append(first * 2.0**step)
        kept.append(_share_kept(promise, sample, sizes[-1], _SAMPLES, rng))
        if kept[-1] >= ENOUGH:
            break
    else:
        return None
    allowed, more = float(normal_quantile(promise.confidence)), float(normal_quantile(ENOUGH))
    excess = _excess(sizes, kept, [_SAMPLES] * len(sizes), allowed)
    sizes.append(((allowed + more) / excess) ** 2)
    kept.append(_share_kept(promise, sample, sizes[-1], _MORE, rng))
    excess = _excess(sizes, kept, [*[_SAMPLES] * (len(sizes) - 1), _MORE], allowed)
    low, middle, high = (max(((allowed + more) / max(excess + far, 1e-9)) ** 2, 1.0) for far in (_RANGE, 0, -_RANGE))
    return low, middle, high if excess > 1.5 * _RANGE else math.inf  # nearly endless


def _excess(sizes: list[float], kept: list[float], samples: list[int], allowed: float) -> float:
    """The number of standard errors by which such shares of samples of these sizes keep the promise most likely."""
    some = np.linspace(0.02, 6, 600)
    chance = np.clip(normal_below(some[:, None] * np.sqrt(sizes) - allowed), 1e-4, 1 - 1e-4)
    hits, n = np.asarray(kept) * samples, np.asarray(samples)
    return float(some[(hits * np.log(chance) + (n - hits) * np.log(1 - chance)).sum(1).argmax()])


def _share_kept(
    promise: Promise, sample: ThresholdSample, times: float, samples: int, rng: np.random.Generator
) -> float:
    """In how many samples of so many times the rows a threshold between everybody and nobody keeps the promise."""
    kept = 0
    for _ in range(samples):
        larger = _resampled(sample.table, times, rng)
        if not all(side.n for side in larger.classes):
            continue
        kept += bool(promise.kept(sample.larger(larger), rng, quick=True)[:, 1:-1].any())
    return kept / samples


def _resampled(table: ScoreTable, times: float, rng: np.random.Generator) -> ScoreTable:
    """So many times the rows, drawn from those of a table."""
    sides = []
    for side in (side.compact() for side in table.classes):
        rows = rng.poisson(times * side.rows)
        drawn = rows > 0
        sums = (side.given_weights, side.given_squares)
        weights, squares = (None if some is None else (some * rows / np.maximum(side.rows, 1))[drawn] for some in sums)
        sides.append(ClassScores(side.scores[drawn], rows[drawn], weights, squares))
    return ScoreTable(sides[0], sides[1], table.label, table.bins, table.precision)


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
    share = drawn_shares(prevalence, float(counts.positives / counts.total), p + n, _TEST_DRAWS, random)
    kept = [
        [int(limit.met(np.nan_to_num(limit.gaps(drawn), nan=-np.inf)).sum()) for limit in limits]
        for drawn in rates.tables(share, float(counts.total), _TEST_DRAWS, random)
    ]
    return [(1 + most) / (1 + _TEST_DRAWS) for most in np.max(kept, axis=0)]


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
