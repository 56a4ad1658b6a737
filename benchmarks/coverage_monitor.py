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

from benchmarks import unlabelled_data
from steelyard.analysis.intervals.metric_sequence import MetricSequence
from steelyard.analysis.monitoring.alarms import (
    FollowedRule,
    Windows,
    read_rules,
    reference_limit,
    reference_share,
    watched_windows,
)
from steelyard.analysis.monitoring.batches import BatchRows
from steelyard.analysis.monitoring.pending_labels import LabelDelay
from steelyard.analysis.sequential.anytime import NODES, CostTable
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from steelyard._types import Array

LOOKS, SHORT, GOOD = 10_000, 4_000, 500
ALPHA = 0.05
MOST_COST = 200.0
SLOW = 15  # runs of MAPIE's monitor, which takes seconds for each
LATER = (0.8, 0.99)  # limits of which a fall after a good time is tried as well
TABLES = ("f1", "mcc", "ac_score")
RATES = ((0.5, 0.4), (0.8, 0.7), (0.9, 0.8), (0.99, 0.97), (0.999, 0.99))  # the limit, and what it falls to


def rows(repeats: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each setting with the median delays, and how often alarms are false."""
    for place, simulate in enumerate(_settings()):
        yield simulate(repeats, np.random.default_rng([24, place]))


# ---------------------------------------------------------------- alarms


def first_alarm(rule: FollowedRule, sums: Array) -> int | None:
    """The look of the first alarm, which no later look changes: most are found among the first."""
    if rule.sequence is not None and rule.sequence.method == "mixture":
        return _first_of_rate(rule, sums)
    for looks in (200, 1000, SHORT, len(sums) - 1):
        part = sums[: looks + 1]
        alarm = rule.verdict(part, windows(len(part) - 1))[1]
        if alarm is not None or len(part) == len(sums):
            return alarm
    return None


def _first_of_rate(rule: FollowedRule, sums: Array) -> int | None:
    """The same of a rate that must be at least its limit, looked for where the greatest likelihood ratio allows it.

    Evidence is a mean of likelihood ratios, and the weights of the windows of a look add up to 1 at most: where no
    window's greatest ratio reaches 1 / alpha, there is no alarm.
    """
    from scipy.special import xlog1py, xlogy

    every, needed = windows(len(sums) - 1), -np.log(rule.alpha)
    hits, misses = (sums[every.look, cell] - sums[every.start, cell] for cell in (0, 1))
    rate = hits / np.maximum(hits + misses, 1)
    ratio = xlogy(hits, rate / rule.limit) + xlog1py(misses, -rate) - xlog1py(misses, -rule.limit)
    looks = np.unique(every.look[(ratio >= needed) & (rate < rule.limit)])
    for part in np.split(looks, range(50, len(looks), 50)):
        here = np.isin(every.look, part)
        few = Windows(every.look[here], every.start[here], every.log_weight[here])
        evidence = rule.log_evidence(sums[few.look] - sums[few.start])
        total = np.full(len(sums), -np.inf)
        np.logaddexp.at(total, few.look, evidence + few.log_weight)
        crossed = part[total[part] >= needed - 1e-12]
        if len(crossed):
            return int(crossed[0]) - 1
    return None


@cache
def windows(looks: int) -> Windows:
    """The windows of so many looks."""
    return watched_windows(looks)


def followed(text: str, alpha: float = ALPHA, limit: float | None = None) -> FollowedRule:
    """A rule with all of the error."""
    (rule,) = read_rules(text)
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
        if run < SLOW:
            slow.append(_mapie_alarm(np.diff(sums[:, 0]), limit))
        tests.append(_repeated_test(sums, limit))
    when = f"after {good} good looks" if good else "from the start"
    setting = f"rate of {limit:g}, falls to {fallen:g} {when}"
    named = f"{setting} | {median(delays, good)} | {median(slow, good)} | {median(tests, good)} | {repeats}"
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
        (rule,), metric = read_rules(text), MetricSpec.of("recall").metric
        ours = followed(text, (1 - part) * ALPHA, reference_limit(rule, metric, table, part * ALPHA))
        sums = _hits(rng, np.full(LOOKS, 0.8))
        false.append(first_alarm(ours, sums) is not None)
        fixed.append(tp < 50 and first_alarm(followed(f"recall >= {tp / 50}"), sums) is not None)
        delays.append(first_alarm(ours, _hits(rng, np.full(SHORT, 0.5))))
    named = f"recall of 0.8 in a reference of 50 positives, falls to 0.5 from the start | {median(delays)} | – | – | {repeats}"
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
        read_rules(f"cost <= {costs.mean}")[0], costs.mean, ALPHA, 0.95, costs=CostTable(0.0, MOST_COST).ratio
    )
    false, delays = [], []
    for _ in range(repeats):
        false.append(first_alarm(rule, costs.sums(costs.drawn(rng, LOOKS))) is not None)
        delays.append(first_alarm(rule, Costs(2 * share).sums(Costs(2 * share).drawn(rng, SHORT))))
    named = f"costs in [0, 200], heavy-tailed, of {100 * share:g} % of the rows, then twice as many | {median(delays)} | – | – | {repeats}"
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
    named = f"{name} at prevalence {prevalence:g}, recall falls from {recalls[0]:g} to {recalls[1]:g}"
    return _cells_row(named, rule, shares, runs_of(name, repeats), rng)


def runs_of(name: str, repeats: int) -> int:
    """The runs of a metric: fewer of those that are searched for over several rates."""
    return max(repeats // (2 if name == "f1" else 10), 20)


def _cells_row(
    named: str, rule: FollowedRule, shares: list[Array], repeats: int, rng: np.random.Generator
) -> tuple[str, dict[str, Any]]:
    """Twenty rows at each look, by the shares of the cells before and after the fall."""
    false, delays = [], []
    for _ in range(repeats):
        false.append(first_alarm(rule, from_none(rng.multinomial(20, shares[0], LOOKS).astype(float))) is not None)
        delays.append(first_alarm(rule, from_none(rng.multinomial(20, shares[1], SHORT).astype(float))))
    return f"{named} | {median(delays)} | – | – | {repeats}", {"false alarms": float(np.mean(false))}


def _real_row(place: int, name: str, repeats: int, rng: np.random.Generator) -> tuple[str, dict[str, Any]]:
    """Rows of a real set drawn again; then a third of its positives have scores of negatives."""
    title, truth, scores = populations()[place]
    flagged = scores >= np.median(scores[truth == 1])  # half of the positives
    found, false = flagged[truth == 1].mean(), flagged[truth == 0].mean()
    positive = truth.mean()
    shares = [
        np.array([positive * r, positive * (1 - r), (1 - positive) * false, (1 - positive) * (1 - false)])
        for r in (found, found * 2 / 3 + false / 3)
    ]
    limit = float(MetricSequence.of(MetricSpec.of(name)).value(shares[0]))
    named = f"{title}, {name} ({100 * positive:.0f} % positive), a third of the positives score as negatives do"
    return _cells_row(named, followed(f"{name} >= 0.5", limit=limit), shares, runs_of(name, repeats), rng)


@cache
def populations() -> list[tuple[str, Array, Array]]:
    """The real sets that are there."""
    return list(unlabelled_data.populations())


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
    for place in range(len(populations())):
        for name in ("f1", "ac_score"):
            yield partial(_real_row, place, name)


# ---------------------------------------------------------------- delays


def delay_rows(repeats: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """How often late labels are called different: where they are not, and where positives are the later ones."""
    for prevalence in (0.02, 0.2):
        for later in (1.0, 1.5, 2.0):
            rng = np.random.default_rng([25, int(1000 * prevalence), int(10 * later)])
            warned = float(np.mean([_warned(prevalence, later, rng) for _ in range(repeats)]))
            name = "false warnings" if later == 1 else "warned"
            yield f"{prevalence:g} | {later:g}", {name: warned}


def _warned(prevalence: float, later: float, rng: np.random.Generator, rows: int = 500, cohorts: int = 30) -> bool:
    """Whether a warning is ever given over 30 cohorts of 500 rows, of which 30 % of the negatives are late."""
    delay = LabelDelay()
    for _ in range(cohorts):
        truth, predicted = rng.random(rows) < prevalence, rng.random(rows) < 0.1
        late = rng.random(rows) < np.where(truth, 0.3 * later, 0.3)
        cells = [BatchRows(truth[part], predicted[part]).cells() for part in (~late, late)]
        delay.add_cohort(cells)
        if delay.warnings:
            return True
    return False
