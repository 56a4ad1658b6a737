"""Threshold limits: bounds that a threshold has to meet, such as recall >= 0.9 or at most 200 alerts in 10,000 rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from steelyard.analysis.requirements import Requirement, Terms, read_requirements
from steelyard.analysis.results.capacity import AlertCapacity
from steelyard.exceptions import InputError, InputTypeError
from steelyard.metrics.registry import get_metric
from steelyard.metrics.values import count_values
from steelyard.tables.counts import CELLS, Counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.metrics.measure import Metric

    LimitsLike: TypeAlias = str | Sequence[str]  # such as "specificity >= 0.99", one or several
    CapacityLike: TypeAlias = "int | str | Capacity"

LIMIT_OF_A_THRESHOLD = Terms(
    "A threshold",
    "limit",
    ("recall >= 0.9", "alerts <= 200 of 10000"),
    end="confidence= makes its limits hold on new rows",
    is_directed=False,
)
SLACK = 1e-12  # what rounding makes of a bound met exactly, such as 99 of 100 rows of weight 0.1 each


@dataclass(frozen=True)
class Limit:
    """A bound that a threshold has to meet, such as specificity >= 0.99."""

    metric: Metric
    sign: str
    bound: float
    text: str

    def values(self, counts: Counts[Array]) -> Array:
        """The metric on each table."""
        return np.asarray(count_values(self.metric, counts, self.metric.parameters))

    def shown(self, value: float) -> str:
        """A value that misses the bound, with enough digits to differ from it."""
        for text in (f"{value:.3g}", f"{value:.6g}"):
            if float(text) != self.bound:
                return text
        return repr(value)

    def gaps(self, counts: Counts[Array]) -> Array:
        """How much each table lacks; NaN where the metric is undefined."""
        values = self.values(counts)
        return np.asarray(self.bound - values if self.sign[0] == ">" else values - self.bound)

    def met(self, gaps: Array) -> Array:
        """Which tables meet the bound, given what they lack."""
        slack = SLACK * max(1.0, abs(self.bound))
        return np.asarray(gaps <= slack if self.sign[1:] else gaps < -slack)

    def is_met(self, counts: Counts[Array]) -> Array:
        """Which tables meet the bound."""
        return self.met(self.gaps(counts))

    def broken(self, counts: Counts[Array]) -> Array:
        """The chance that each table breaks the bound, which is 0 or 1."""
        return np.asarray(1.0 - self.is_met(counts))


@dataclass(frozen=True)
class Capacity(Limit):
    """At most so many alerts in a day of so many rows: the share flagged is to be no larger."""

    alerts: int = 0
    rows: int = 1

    def shown(self, value: float) -> str:
        """The alerts that this share of a day's rows is, with digits that differ from the limit where it is missed."""
        alerts = value * self.rows
        text = f"{alerts:,.0f}" if alerts >= 100 else f"{alerts:.3g}"
        return text if text != f"{self.alerts:,}" or self.met(np.asarray(value - self.bound)) else f"{alerts:,.6g}"

    def exceeded(self, share: Array | float) -> Array:
        """The chance that a day has more alerts, where this share of all rows is flagged."""
        from scipy.special import bdtrc

        return np.asarray(bdtrc(self.alerts, self.rows, share))

    def broken(self, counts: Counts[Array]) -> Array:
        """The chance that a day of rows like each table has more alerts."""
        return self.exceeded(self.values(counts))

    def exceeded_after(self, flagged: float, rows: float) -> float:
        """The chance that a day has more alerts, where so many of some rows were flagged and the threshold is theirs.

        The share above the next score that is not flagged has a beta distribution, so a day has a beta-binomial number
        of alerts.
        """
        from scipy.special import betaln, gammaln

        a, b, n = flagged + 1, max(rows - flagged, 1e-9), self.rows
        k = np.arange(min(self.alerts, n) + 1)
        log_choices = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
        terms = betaln(k + a, n - k + b) - betaln(a, b) + log_choices
        return max(0.0, 1 - float(np.exp(terms).sum()))


def read_limits(where: LimitsLike | None, *, any_bound: bool = False) -> tuple[Limit, ...]:
    """The bounds as a user writes them, one string or a list of them; any bound is one outside the range as well."""
    if not isinstance(where, (str, list, tuple, type(None))):
        raise InputTypeError(
            argument="where", expected="text such as 'specificity >= 0.99', or a list of it", given=where
        )
    return tuple(
        map(_limit, read_requirements([] if where is None else where, LIMIT_OF_A_THRESHOLD, any_number=any_bound))
    )


def read_capacity(given: CapacityLike | None, rows: int) -> Capacity | None:
    """So many alerts of the rows at hand, 200, or of as many rows like them, "200 of 10000"; None where none is given.

    >>> read_capacity(200, 24_000).text, read_capacity("200 of 10000", 24_000).text
    ('alerts <= 200 of 24,000 rows', 'alerts <= 200 of 10,000 rows')
    """
    if given is None or isinstance(given, Capacity):
        return given
    alerts, of = AlertCapacity.read(given).of(rows)
    return Capacity(
        get_metric("predicted_prevalence"), "<=", alerts / of, f"alerts <= {alerts:,} of {of:,} rows", alerts, of
    )


def _limit(requirement: Requirement) -> Limit:
    metric, sign, bound, text = requirement.spec.metric, requirement.sign, requirement.number, requirement.text
    if not requirement.spec.is_native:
        raise InputError(f"{requirement.metric} is of all classes, and a threshold has two; limit {metric.name}.")
    if metric.function is None:
        raise InputTypeError(f"{metric.name} judges {what_is_judged(metric)}, so it cannot constrain a threshold.")
    if requirement.alerts is not None:
        return Capacity(metric, sign, bound, text, *requirement.alerts)
    return Limit(metric, sign, bound, text)


def what_is_judged(metric: Metric) -> str:
    """What a metric judges that is not one of counts."""
    return "all probabilities at once" if metric.of_probabilities else "the order of all scores"


def in_range(limit: Limit) -> Limit:
    """The limit, refused where its bound lies outside the metric's range, so that all thresholds meet it, or none."""
    Requirement(limit.metric.name, limit.sign, limit.bound, written=limit.text).check_number(limit.metric.range)
    return limit


# ---------------------------------------------------------------- limit parts
# The rows out of which a bounded metric is a share, so that exact binomial bounds hold for it.


_TABLES = np.random.default_rng(0).integers(1, 60, (len(CELLS), 32)).astype(np.float64)
_HALVINGS = 60
_EACH = 1_000.0  # rows of a part in a table that has a given rate


@dataclass(frozen=True)
class RatePart:
    """Hits out of trials: the cells of the hits, and those of the other trials.

    `order` says how the trials of one threshold are among those of another: "fixed" where they are the same rows at
    every threshold, "rising" where more of them as more rows are flagged, "falling" where fewer.
    """

    hits: tuple[str, ...]
    others: tuple[str, ...]
    order: Literal["fixed", "rising", "falling"]

    @property
    def is_of_class(self) -> bool:
        """Whether the trials are the rows of one class, so that the rate is the same at every prevalence."""
        return self.order == "fixed" and len(self.hits) == 1

    def trials(self, counts: Counts[Array]) -> tuple[Array, Array]:
        """The hits and the trials of each table."""
        hits, others = (sum(np.asarray(getattr(counts, cell)) for cell in cells) for cells in (self.hits, self.others))
        return np.asarray(hits), np.asarray(hits + others)

    def at_rate(self, rate: Array | float) -> Counts[Array]:
        """Tables with this rate; their other cells do not matter."""
        share = np.asarray(rate, dtype=np.float64)
        cells = {name: np.full_like(share, _EACH if len(self.hits) == 1 else 0.0) for name in CELLS}
        cells[self.hits[0]], cells[self.others[0]] = _EACH * share, _EACH * (1 - share)
        return Counts.trusted(*(cells[name] for name in CELLS))


_PARTS = (
    RatePart(("tp",), ("fn",), "fixed"),
    RatePart(("tn",), ("fp",), "fixed"),
    RatePart(("tp", "fp"), ("fn", "tn"), "fixed"),
    RatePart(("tp",), ("fp",), "rising"),
    RatePart(("tn",), ("fn",), "falling"),
)


@dataclass(frozen=True)
class RateLimit:
    """A limit on a metric that is a function of one rate: the rate is to be high enough, or low enough."""

    limit: Limit
    part: RatePart

    @cached_property
    def wants_high(self) -> bool:
        """Whether the limit asks for a high rate, and not for a low one."""
        return bool(self._holds_at(1.0))

    @property
    def divides(self) -> bool:
        """Whether some rates meet the limit and others do not."""
        return bool(self._holds_at(1.0)) != bool(self._holds_at(0.0))

    @cached_property
    def bound(self) -> float:
        """The rate from which on, or up to which, the limit is met."""
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            half = (low + high) / 2
            if bool(self._holds_at(half)) == self.wants_high:
                high = half
            else:
                low = half
        return high if self.wants_high else low

    def _holds_at(self, rate: float) -> Array:
        with np.errstate(all="ignore"):
            return self.limit.is_met(self.part.at_rate(rate))

    def broken_chance(self, hits: Array, trials: Array) -> Array:
        """The largest chance of as many hits, or as few, at any rate that breaks the limit: the exact binomial tail."""
        return at_least(hits, trials, self.bound) if self.wants_high else at_most(hits, trials, self.bound)

    def kept_chance(self, hits: Array | int, trials: Array | int) -> Array:
        """The largest chance of hits as far on the wrong side at any rate that keeps the limit: the other tail."""
        return at_most(hits, trials, self.bound) if self.wants_high else at_least(hits, trials, self.bound)


def at_least(hits: Array | int, trials: Array | int, rate: float) -> Array:
    """The chance of that many hits or more at a rate, for numbers of rows that need not be whole."""
    from scipy.special import betainc

    hits, trials = np.asarray(hits, np.float64), np.asarray(trials, np.float64)
    with np.errstate(invalid="ignore"):
        return np.where(hits > 0, betainc(np.maximum(hits, 1e-9), np.maximum(trials - hits + 1, 1e-9), rate), 1.0)


def at_most(hits: Array | int, trials: Array | int, rate: float) -> Array:
    """The chance of that many hits or fewer at a rate: that of the other rows at the other rate."""
    return at_least(np.asarray(trials, np.float64) - hits, trials, 1 - rate)


@lru_cache(maxsize=64)
def rate_limit(limit: Limit) -> RateLimit | None:
    """The limit as one on a rate; None where its metric is not a function of one rate alone."""
    tables = Counts.trusted(*_TABLES)
    with np.errstate(all="ignore"):
        values = limit.values(tables)
        for part in _PARTS:
            hits, trials = part.trials(tables)
            if np.allclose(values, limit.values(part.at_rate(hits / trials)), rtol=1e-9, atol=1e-12, equal_nan=True):
                rate = RateLimit(limit, part)
                return rate if rate.divides else None
    return None
