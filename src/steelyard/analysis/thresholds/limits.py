"""Threshold limits: bounds that a threshold has to meet, such as recall >= 0.9 or at most 200 alerts in 10,000 rows."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from steelyard.exceptions import InputError, InputTypeError
from steelyard.metrics import application
from steelyard.metrics.registry import get_metric
from steelyard.statistics.counts import CELLS, Counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.metrics.measure import Metric

    LimitsLike: TypeAlias = str | Sequence[str]  # such as "specificity >= 0.99", one or several
    CapacityLike: TypeAlias = "int | str | Capacity"  # alerts that can be looked at: 200, or "200 of 10000"

SLACK = 1e-12  # what rounding makes of a bound met exactly, such as 99 of 100 rows of weight 0.1 each
_AND = re.compile(r"(?<=\s)and(?=\s)", re.IGNORECASE)  # without the blanks, of which a long run would be tried at each
_ALERTS = re.compile(r"alerts\s*<=\s*([\d_,]+)\s+(?:of|in|out of)\s+([\d_,]+)(?:\s+rows)?", re.IGNORECASE)


@dataclass(frozen=True)
class Limit:
    """A bound that a threshold has to meet, such as specificity >= 0.99."""

    metric: Metric
    sign: str
    bound: float
    text: str

    def values(self, counts: Counts[Array]) -> Array:
        """The metric on each table."""
        return np.asarray(application.count_values(self.metric, counts, self.metric.parameters))

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
    written = [] if where is None else [where] if isinstance(where, str) else where
    if not isinstance(written, (list, tuple)):
        raise InputTypeError(
            argument="where", expected="text such as 'specificity >= 0.99', or a list of it", given=where
        )
    parts = (_AND.split(text) if isinstance(text, str) else [text] for text in written)
    limits = tuple(_limit(text) for several in parts for text in several)
    return limits if any_bound else tuple(in_range(limit) for limit in limits)


def read_capacity(given: CapacityLike | None, rows: int) -> Capacity | None:
    """So many alerts of the rows at hand, 200, or of as many rows like them, "200 of 10000"; None where none is given.

    >>> read_capacity(200, 24_000).text, read_capacity("200 of 10000", 24_000).text
    ('alerts <= 200 of 24,000 rows', 'alerts <= 200 of 10,000 rows')
    """
    if given is None or isinstance(given, Capacity):
        return given
    is_whole = isinstance(given, (int, np.integer)) and not isinstance(given, bool)
    text = f"{given} of {rows}" if is_whole or (isinstance(given, str) and given.strip().isdigit()) else given
    if not isinstance(text, str) or not (parts := _ALERTS.fullmatch(f"alerts <= {text.strip()}")):
        do = "write 200, or '200 of 10000'"
        raise InputTypeError(argument="capacity", expected="how many alerts can be looked at", given=given, do=do)
    limit = _limit(parts[0])
    if not isinstance(limit, Capacity) or not limit.alerts:
        raise InputError(argument="capacity", expected="1 alert or more", given=given)
    return limit


def _limit(text: str) -> Limit:
    if isinstance(text, str):
        text = text.replace("≥", ">=").replace("≤", "<=").strip()
        if capacity := _ALERTS.fullmatch(text):
            alerts, rows = (int(re.sub(r"[_,]", "", number)) for number in capacity.groups())
            if not rows > 0 or alerts > rows:
                raise InputError(
                    f"alerts are some of the rows of a day, and so at most as many, not {alerts:,} of {rows:,}."
                )
            share, written = get_metric("predicted_prevalence"), f"alerts <= {alerts:,} of {rows:,} rows"
            return Capacity(share, "<=", alerts / rows, written, alerts, rows)
        _refuse_several(text)
    parts = re.fullmatch(r"(.*?[^=<>!\s])\s*(>=|<=|>|<)\s*([-+.\w]+)\s*(%?)", text) if isinstance(text, str) else None
    try:
        bound = float(parts[3]) / (100 if parts[4] else 1) if parts else math.nan
    except ValueError:
        bound = math.nan
    if parts is None or not math.isfinite(bound):
        raise InputError(
            f"{text!r} is no bound: write a metric, one of >= <= > <, and a number: 'recall >= 0.9', or "
            "'alerts <= 200 of 10000'."
        )
    if parts[1].lower() == "alerts":
        raise InputError(
            f"{text!r} lacks the rows of a day: write 'alerts <= 200 of 10000', or of a share of all rows "
            "'predicted_prevalence <= 2 %'."
        )
    metric = get_metric(parts[1])
    if metric.function is None:
        raise InputTypeError(f"{metric.name} judges {what_is_judged(metric)}, so it cannot constrain a threshold.")
    return Limit(metric, parts[2], bound, f"{metric.name} {parts[2]} {parts[3]}{parts[4] and ' %'}")


def what_is_judged(metric: Metric) -> str:
    """What a metric judges that is not one of counts."""
    return "all probabilities at once" if metric.of_probabilities else "the order of all scores"


def _refuse_several(text: str) -> None:
    """Refuse several bounds that are not joined by "and"."""
    if len(re.findall(r"[<>]=?", text)) < 2:
        return
    if re.search(r"\bor\b|\|", text, re.IGNORECASE):
        raise InputError(
            f"{text!r} asks for one limit or another, and limits are kept all together; join them by 'and', or look "
            "for a threshold with each of them in turn."
        )
    raise InputError(
        f"{text!r} holds several limits that are not joined by 'and'; write 'recall >= 0.9 and precision >= 0.2', or a "
        "list of limits."
    )


def in_range(limit: Limit) -> Limit:
    """The limit, refused where its bound lies outside the metric's range, so that all thresholds meet it, or none."""
    check_bound(limit.metric.name, limit.metric.range, limit.bound, limit.text)
    return limit


def check_bound(what: str, allowed: tuple[float, float], bound: float, text: str) -> None:
    """Refuse a bound outside the range of what it is a bound of; one that is written in percent is named."""
    if allowed[0] <= bound <= allowed[1]:
        return
    do = percent_hint(allowed, bound, text) or "give a bound in that range."
    raise InputError(f"{what} lies {range_words(allowed)}, and the bound of {text!r} does not; {do}")


def range_words(allowed: tuple[float, float]) -> str:
    """A range in words."""
    low, high = allowed
    if math.isfinite(low) and math.isfinite(high):
        return f"between {low:g} and {high:g}"
    return f"at {low:g} or above" if math.isfinite(low) else f"at {high:g} or below"


def percent_hint(allowed: tuple[float, float], bound: float, text: str) -> str:
    """The share that a number was perhaps meant to be as percent, if that share lies in the range; else nothing."""
    is_percent = "%" not in text and (abs(bound) == 1 or 2 <= abs(bound) <= 100)
    is_share = all(map(math.isfinite, allowed)) and is_percent and allowed[0] <= bound / 100 <= allowed[1]
    return f"did you mean {bound / 100:g} or {bound:g} %?" if is_share else ""


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
