"""How often a monitor raises an alarm that is false over 10,000 looks, and how long it takes to find a fall.

At each look one row of the class (rates, costs) or twenty rows (F1, MCC, AC-score) come; the limit holds exactly. A fall
is there from the first look, or after 500 good looks. Beside it MAPIE's monitor at the same level, with the limit given
to it as its threshold, and a binomial test of all rows so far at 5 %, repeated at every look. With a reference of 50
positives the naive way takes its recall for the limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.monitoring.monitor_rule import MonitorRule
from steelyard.analysis.monitoring.reference_limit import reference_limit, reference_share
from steelyard.analysis.monitoring.rule_track import FollowedRule
from steelyard.analysis.monitoring.watched_windows import watched_windows
from steelyard.analysis.sequential.cost_table import NODES, CostTable
from steelyard.analysis.sequential.metric_sequence import MetricSequence
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from steelyard._types import Array
    from steelyard.analysis.monitoring.watched_windows import Windows

LOOKS, SHORT, GOOD = 10_000, 4_000, 500
ALPHA = 0.05
MOST_COST = 200.0
LATER = (0.8, 0.99)  # limits of which a fall after a good time is tried as well
TABLES = ("f1", "mcc", "ac_score")
RATES = ((0.5, 0.4), (0.8, 0.7), (0.9, 0.8), (0.99, 0.97), (0.999, 0.99))  # the limit, and what it falls to


def rows(repeats: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each setting with the median delays, and how often alarms are false."""
    for place, simulate in enumerate(SETTINGS):
        yield simulate(repeats, np.random.default_rng([24, place]))


# ---------------------------------------------------------------- alarms


def first_alarm(rule: FollowedRule, sums: Array) -> int | None:
    """The look of the first alarm, which no later look changes: most are found among the first."""
    for looks in (200, 1000, SHORT, len(sums) - 1):
        part = sums[: looks + 1]
        alarm = rule.verdict(part, windows(len(part) - 1))[1]
        if alarm is not None or len(part) == len(sums):
            return alarm
    return None


@cache
def windows(looks: int) -> Windows:
    """The windows of so many looks."""
    return watched_windows(looks)


def followed(text: str, alpha: float = ALPHA, limit: float | None = None) -> FollowedRule:
    """A rule with all of the error."""
    rule = MonitorRule.of(text)
    sequence = MetricSequence.of(MetricSpec.of(rule.metric))
    return FollowedRule(rule, rule.number if limit is None else limit, alpha, 0.95, sequence)


def from_none(cells: Array) -> Array:
    """The sums up to each look."""
    return np.concatenate([np.zeros((1, cells.shape[1])), np.cumsum(cells, axis=0)])


def median(delays: list[int | None], good: int = 0) -> str:
    """The median delay after the fall; an alarm before it is none, and who never raises one waits longest."""
    late = [np.inf if delay is None or delay < good else delay - good + 1 for delay in delays]
    middle = float(np.median(late))
    return f"> {SHORT:,}" if np.isinf(middle) else f"{middle:,.0f}"


# ---------------------------------------------------------------- rates


def _hits(rng: np.random.Generator, rates: Array) -> Array:
    hits = rng.random(len(rates)) < rates
    return from_none(np.stack([hits, ~hits, np.zeros_like(hits), np.zeros_like(hits)], 1).astype(float))


def _rate_row(
    limit: float, fallen: float, good: int, repeats: int, rng: np.random.Generator
) -> tuple[str, dict[str, Any]]:
    rule = followed(f"recall >= {limit}")
    level = limit + (1 - limit) / 2  # the recall of the good time
    false, naive, delays, slow, tests = [], [], [], [], []
    for run in range(repeats):
        sums = _hits(rng, np.full(LOOKS, limit))
        false.append(first_alarm(rule, sums) is not None)
        naive.append(_repeated_test(sums, limit) is not None)
        sums = _hits(rng, np.repeat([level, fallen], [good, SHORT]))
        delays.append(first_alarm(rule, sums))
        if run % 4 == 0:
            slow.append(_mapie_alarm(np.diff(sums[:, 0]), limit))
        tests.append(_repeated_test(sums, limit))
    when = f"after {good} good looks" if good else "from the start"
    setting = f"rate of {limit:g}, falls to {fallen:g} {when}"
    named = f"{setting} | {median(delays, good)} | {median(slow, good)} | {median(tests, good)}"
    return named, {"false alarms": float(np.mean(false)), "false alarms, repeated test": float(np.mean(naive))}


def _repeated_test(sums: Array, limit: float) -> int | None:
    """The first look at which a binomial test of all rows so far rejects."""
    from scipy.special import bdtr

    hits, trials = sums[1:, 0], sums[1:, :2].sum(axis=1)
    rejected = np.flatnonzero(bdtr(hits, trials.astype(int), limit) < ALPHA)
    return int(rejected[0]) if len(rejected) else None


def _mapie_alarm(hits: Array, limit: float) -> int | None:
    """The first look at which MAPIE's lower bound of the risk is above its threshold; half of its level is the stream's."""
    from mapie.exchangeability_testing import RiskMonitoring

    monitor = RiskMonitoring(risk="recall", test_level=2 * ALPHA, threshold=1 - limit, warn=False)
    monitor.update(np.ones(len(hits), dtype=int), hits.astype(int))
    above = np.flatnonzero(monitor.online_risk_lower_bound_sequence_history > 1 - limit)
    return int(above[0]) if len(above) else None


def _reference_row(repeats: int, rng: np.random.Generator) -> tuple[str, dict[str, Any]]:
    text = "recall >= reference"
    false, fixed, delays = [], [], []
    for _ in range(repeats):
        tp = int(rng.binomial(50, 0.8))
        table = np.array([tp, 50 - tp, 30.0, 920.0])
        part = reference_share(table)
        rule, metric = MonitorRule.of(text), MetricSpec.of("recall").metric
        ours = followed(text, (1 - part) * ALPHA, reference_limit(rule, metric, table, part * ALPHA))
        sums = _hits(rng, np.full(LOOKS, 0.8))
        false.append(first_alarm(ours, sums) is not None)
        fixed.append(tp < 50 and first_alarm(followed(f"recall >= {tp / 50}"), sums) is not None)
        delays.append(first_alarm(ours, _hits(rng, np.full(SHORT, 0.5))))
    named = f"recall of 0.8 in a reference of 50 positives, falls to 0.5 from the start | {median(delays)} | – | –"
    return named, {"false alarms": float(np.mean(false)), "false alarms, repeated test": float(np.mean(fixed))}


# ---------------------------------------------------------------- costs and tables


@dataclass(frozen=True)
class Costs:
    """Heavy-tailed costs that some rows have: Pareto's with a mean that has no limit, cut off at the most."""

    share: float

    def drawn(self, rng: np.random.Generator, rows: int, scale: float = 1.0) -> Array:
        """The cost of each row."""
        amounts = np.minimum(4 * scale * rng.pareto(1.3, rows), MOST_COST)
        return np.where(rng.random(rows) < self.share, amounts, 0.0)

    @property
    def mean(self) -> float:
        """The mean of min(4 P, most) for Pareto's P + 1 with the exponent 1.3, times the share."""
        a, top = 1.3, MOST_COST / 4
        return self.share * 4 * (1 - (1 + top) ** (1 - a)) / (a - 1)

    def sums(self, amounts: Array) -> Array:
        """The weights of the nodes up to each look."""
        nodes = CostTable(0.0, MOST_COST).nodes
        place = np.clip(np.searchsorted(nodes, amounts, side="right") - 1, 0, NODES - 2)
        upper = (amounts - nodes[place]) / (nodes[place + 1] - nodes[place])
        weights = np.zeros((len(amounts), NODES))
        weights[np.arange(len(amounts)), place] = 1 - upper
        weights[np.arange(len(amounts)), place + 1] = upper
        return from_none(weights)


def _cost_row(share: float, repeats: int, rng: np.random.Generator) -> tuple[str, dict[str, Any]]:
    costs, repeats = Costs(share), max(repeats // 4, 25)
    rule = FollowedRule(
        MonitorRule.of(f"cost <= {costs.mean}"), costs.mean, ALPHA, 0.95, costs=CostTable(0.0, MOST_COST).ratio
    )
    false, delays = [], []
    for _ in range(repeats):
        false.append(first_alarm(rule, costs.sums(costs.drawn(rng, LOOKS))) is not None)
        delays.append(first_alarm(rule, Costs(2 * share).sums(Costs(2 * share).drawn(rng, SHORT))))
    named = f"costs in [0, 200], heavy-tailed, of {100 * share:g} % of the rows, then twice as many | {median(delays)} | – | –"
    return named, {"false alarms": float(np.mean(false))}


def _table_row(
    name: str, prevalence: float, recalls: tuple[float, float], repeats: int, rng: np.random.Generator
) -> tuple[str, dict[str, Any]]:
    metric = MetricSpec.of(name).metric
    shares = [
        np.array([prevalence * r, prevalence * (1 - r), (1 - prevalence) * 0.03, (1 - prevalence) * 0.97])
        for r in recalls
    ]
    limit = float(MetricSequence.of(MetricSpec(metric)).value(shares[0]))
    rule = followed(f"{name} >= 0.5", limit=limit)
    false, delays = [], []
    for _ in range(repeats):
        false.append(first_alarm(rule, from_none(rng.multinomial(20, shares[0], LOOKS).astype(float))) is not None)
        delays.append(first_alarm(rule, from_none(rng.multinomial(20, shares[1], SHORT).astype(float))))
    named = f"{name} at prevalence {prevalence:g}, recall falls from {recalls[0]:g} to {recalls[1]:g} | {median(delays)} | – | –"
    return named, {"false alarms": float(np.mean(false))}


def _settings() -> Iterator[Callable[[int, np.random.Generator], tuple[str, dict[str, Any]]]]:
    for limit, fallen in RATES:
        for good in (0, GOOD) if limit in LATER else (0,):
            yield partial(_rate_row, limit, fallen, good)
    for share in (0.02, 0.2):
        yield partial(_cost_row, share)
    for name in TABLES:
        for prevalence in (0.01, 0.1, 0.5):
            yield partial(_table_row, name, prevalence, (0.8, 0.6))
    yield _reference_row


SETTINGS = tuple(_settings())
