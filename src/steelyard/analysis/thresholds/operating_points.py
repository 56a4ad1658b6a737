"""Operating points: a menu of thresholds, what each flags, finds and misses, with precision and recall on new rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from steelyard._types import Label
from steelyard.analysis.intervals.draws import generator
from steelyard.analysis.intervals.intervals import interval
from steelyard.analysis.levels import check_level
from steelyard.analysis.prevalence.prevalence import stated_prevalence
from steelyard.analysis.results.denominator import denominator, whole_rows
from steelyard.analysis.results.formatting import percent_interval, percent_text, three_digits
from steelyard.analysis.results.result import Result
from steelyard.analysis.thresholds.asked_sample import asked_sample, between_bins, planned_scores
from steelyard.analysis.thresholds.found_rates import RECALL, FoundRate, found_precision, found_rate, guaranteed_recall
from steelyard.analysis.thresholds.guarantees import Promise, check_confidence, unkept_sentence
from steelyard.analysis.thresholds.limits import read_capacity, read_limits
from steelyard.analysis.thresholds.resampled_threshold import ByAlerts, ByMerit, Fixed, Resampling, flagging
from steelyard.analysis.thresholds.threshold_sample import (
    Criterion,
    costs_by_row,
    read_aim,
    refuse_few_clusters,
    threshold_of,
)
from steelyard.arrays.backend import as_read
from steelyard.exceptions import InputError
from steelyard.metrics.uses import read_use
from steelyard.predictions import Predictions, question, refuse_unused
from steelyard.tables.thresholding import HALF

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Rng
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.analysis.thresholds.limits import CapacityLike
    from steelyard.analysis.thresholds.resampled_threshold import Resamples, Rule
    from steelyard.analysis.thresholds.threshold_sample import CostsLike, ThresholdSample
    from steelyard.metrics.uses import UseLike
    from steelyard.predictions import RowOptions, RowsLike

_DRAWS = 200
_COST = {"cost_fn": 10.0, "cost_fp": 1.0}  # where none is given
_FIRST = {"f1": "best F1", "ac_score": "best AC-score"}  # the point of a use, by its aim
CHOOSE = "Choose the point whose misses and false alarms you can accept, and use its threshold."
EVALUATED, AS_MANY, NOBODY, EVERYBODY = "as evaluated", "as many alerts as positives", "flag nobody", "flag everybody"


@dataclass(frozen=True)
class OperatingPoint:
    """A threshold, what it flags out of so many rows, and its precision and recall with intervals on new rows.

    `flagged`, `found`, `missed` and `false_alarms` are numbers of rows per `per` rows. An interval is None where the
    rate is what it is whatever the rows, as the recall of flagging everybody.
    """

    point: str
    threshold: float
    per: int
    flagged: float
    found: float
    missed: float
    false_alarms: float
    precision: float
    precision_interval: tuple[float, float] | None
    recall: float
    recall_interval: tuple[float, float] | None

    def row(self) -> dict[str, Any]:
        """The point as a row of a table."""
        precision_low, precision_high = self.precision_interval or (None, None)
        recall_low, recall_high = self.recall_interval or (None, None)
        return {
            "point": self.point,
            "threshold": self.threshold,
            "per": self.per,
            "flagged": self.flagged,
            "found": self.found,
            "missed": self.missed,
            "false_alarms": self.false_alarms,
            "precision": self.precision,
            "precision_low": precision_low,
            "precision_high": precision_high,
            "recall": self.recall,
            "recall_low": recall_low,
            "recall_high": recall_high,
        }

    def shown_row(self) -> dict[str, Any]:
        """The point in whole rows, with its intervals in one cell each."""
        found, false_alarms = whole_rows(self.found), whole_rows(self.false_alarms)
        return {
            "point": self.point,
            "threshold": three_digits(self.threshold) if math.isfinite(self.threshold) else "–",
            "flagged": found + false_alarms,
            "found": found,
            "missed": whole_rows(self.found + self.missed) - found,
            "false alarms": false_alarms,
            "precision": percent_interval(self.precision, *(self.precision_interval or (math.nan, math.nan))),
            "recall": percent_interval(self.recall, *(self.recall_interval or (math.nan, math.nan))),
        }


@dataclass(frozen=True, eq=False, repr=False)
class OperatingPoints(Result[OperatingPoint]):
    """A menu of operating points: rows are flagged from each threshold on.

    `per` is the number of rows that counts are out of, `positives` how many of these are positive, and `rows` how many
    rows there are. `prevalence` is None where it is that of the rows.
    """

    points: tuple[OperatingPoint, ...]
    per: int
    positives: float
    rows: float
    prevalence: float | None = None
    positive: Label = None
    level: float = 0.95
    needed: str = ""
    assumed: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[OperatingPoint]:
        return iter(self.points)

    def __getitem__(self, point: str) -> OperatingPoint:
        for each in self.points:
            if each.point == point:
                return each
        names = ", ".join(repr(each.point) for each in self.points)
        raise InputError(f"There is no operating point {point!r}; there are {names}.")

    @property
    def headline(self) -> str:
        """Out of which rows the points are counted."""
        positives = f"{max(whole_rows(self.positives), 1):,}"
        if self.prevalence is not None:
            where = f"per {self.per:,} rows at a prevalence of {percent_text(self.prevalence)}"
            return f"Operating points {where}, {positives} of them positive."
        which = "of these" if self.per == self.rows else "per"
        return f"Operating points {which} {self.per:,} rows, {positives} of them positive."

    @property
    def notes(self) -> Sequence[str]:
        """For what the intervals allow, what is missing, and what was assumed."""
        allow = f"The intervals ({100 * self.level:g} %) allow for thresholds that were found on the same rows."
        return (allow, *([self.needed] if self.needed else []), *self.assumed, CHOOSE)

    def shown_rows(self) -> list[dict[str, Any]]:
        """The points in whole rows."""
        return [point.shown_row() for point in self.points]


class _Named(NamedTuple):
    """A point of the menu: its name, how its threshold is found, and that threshold where it is not the middle."""

    name: str
    rule: Rule
    threshold: float | None = None
    confidence: float | None = None  # with which the recall is guaranteed


@question
def operating_points(
    data: RowsLike = None,
    scored: ArrayLike | None = None,
    /,
    *,
    use: UseLike | None = None,
    cost: CostsLike | None = None,
    capacity: CapacityLike | None = None,
    recall: float = 0.9,
    confidence: float = 0.95,
    prevalence: PrevalenceLike | None = None,
    level: float = 0.95,
    rng: Rng = None,
    **rows: Unpack[RowOptions],
) -> OperatingPoints:
    """A menu of thresholds to choose from: what each flags, finds, misses and raises in false alarms.

    The points are the threshold as evaluated, those of the best F1 and the best AC-score, that which keeps a `recall`
    on new rows with a `confidence`, as many alerts as there are positives, the alerts of a `capacity` such as 200 or
    "200 of 10000" rows, the least `cost` (else where a miss costs 10 false alarms; costs are those of best_threshold),
    flagging nobody and everybody. With `use` the point of that use stands first.

    Precision and recall have intervals that allow for thresholds which were found on the same rows: the thresholds are
    found again on 200 resamples of the rows, all of them on the same ones, and judged on the rows left out. The
    guaranteed recall is at least the lower bound of its own test.

    >>> y_true, y_score = [0] * 8 + [1] * 2, [0.05, 0.1, 0.1, 0.15, 0.2, 0.2, 0.3, 0.6, 0.4, 0.8]
    >>> for point in operating_points(y_true, y_score, rng=0):
    ...     print(point.point, point.threshold, point.found, point.false_alarms)
    as evaluated 0.5 1.0 1.0
    best F1 0.35 2.0 1.0
    best AC-score 0.35 2.0 1.0
    as many alerts as positives 0.5 1.0 1.0
    a miss costs 10 false alarms 0.35 2.0 1.0
    flag nobody inf 0.0 0.0
    flag everybody 0.0 2.0 8.0
    """
    check_level(level)
    check_confidence(confidence)
    aim = None if (stated := read_use(use)) is None else stated.aim
    limits = read_limits(f"recall >= {_share(recall):.10g}")
    p = Predictions.of(data, scored, second_is="y_score", **rows)
    refuse_unused(p, "operating_points", "by")
    if p.are_sets or (p.kind == "class scores" and p.collect().kind == "class scores"):
        raise InputError(
            "Operating points are of one column of scores, and these are of several classes; name the positive class "
            "with pos_label=, or ask best_decision for a threshold of each class."
        )
    threshold, sentences, is_planned = p.threshold, p.assumed, not isinstance(p.design, str)
    if is_planned:
        p, sentences = planned_scores(p, None)
    refuse_unused(p, "operating_points", "design")
    cost = _COST if cost is None else cost
    by_row = costs_by_row(cost)
    sample, cost_aim = asked_sample(p, stated_prevalence(prevalence), cost if by_row else None)
    least = Criterion(cost_aim or read_aim(cost))
    random = generator(rng)
    guaranteed, needed = None, ""
    if is_planned:
        needed = f"{limits[0].text} is not guaranteed here: with rows that a label plan chose, no guarantee was tried."
    else:
        guaranteed, needed = _guaranteed(Promise(limits, float(confidence)), sample, random)
    named = [
        *_evaluated(sample, threshold),
        _best("f1", sample),
        _best("ac_score", sample),
        *(
            []
            if guaranteed is None
            else [_Named(f"recall of {100 * recall:.10g} % guaranteed", Fixed(guaranteed), confidence=confidence)]
        ),
        _Named(AS_MANY, ByAlerts(int(flagging(sample.every.counts, None)))),
        *_capacity(capacity, sample),
        _Named(_cost_name(cost), _by_merit(least, sample, of_costs=True)),
        _Named(NOBODY, Fixed(0)),
        _Named(EVERYBODY, Fixed(sample.every.observed.size - 1)),
    ]
    first = _FIRST.get(aim or "", _cost_name(cost) if stated is not None and stated.name == "probabilities" else "")
    named.sort(key=lambda each: each.name != first)
    drawn = Resampling(sample).resamples([each.rule for each in named], _DRAWS, random)
    shares, total = sample.every.counts, float(sample.every.counts.total[0])
    share = float(shares.positives[0]) / total
    is_of_rows = prevalence is None and not sample.table.weighted
    base = denominator(share, sample.table.n if is_of_rows else None)
    return OperatingPoints(
        tuple(_point(each, sample, of_point, base, level) for each, of_point in zip(named, drawn, strict=True)),
        per=base,
        positives=share * base,
        rows=sample.table.n if is_of_rows else total,
        prevalence=None if prevalence is None else share,
        positive=sample.table.label,
        level=float(level),
        needed=needed,
        assumed=(*sentences, *_assumed(sample, threshold), *(() if is_planned or by_row else between_bins(p))),
    )


def _share(recall: float) -> float:
    if not isinstance(recall, (int, float, np.number)) or isinstance(recall, bool) or not 0 < recall < 1:
        raise InputError(argument="recall", expected="a share above 0 and below 1, such as 0.9", given=recall)
    return float(recall)


def _assumed(sample: ThresholdSample, threshold: object) -> tuple[str, ...]:
    if threshold is None and sample.table.has_probabilities:
        return (f"No threshold was given: {EVALUATED!r} is at {HALF}.",)
    return ()


def _evaluated(sample: ThresholdSample, threshold: Any) -> list[_Named]:
    """The threshold that the predictions have, 0.5 for probabilities; none for other scores without one."""
    if isinstance(threshold, Mapping):
        threshold = next(iter(threshold.values()))
    if threshold is None and sample.table.has_probabilities:
        threshold = HALF
    if threshold is None:
        return []
    at = float(threshold)
    reached = -as_read(at, sample.table.precision)
    index = int(np.searchsorted(-sample.table.thresholds, reached, side="right")) - 1
    return [_Named(EVALUATED, Fixed(index), at)]


def _best(metric: str, sample: ThresholdSample) -> _Named:
    return _Named(_FIRST[metric], _by_merit(Criterion(read_aim(metric)), sample))


def _by_merit(criterion: Criterion, sample: ThresholdSample, *, of_costs: bool = False) -> ByMerit:
    table = sample.merits_of if of_costs else sample.every
    return ByMerit(int(criterion.chosen(criterion.merits(table.counts))), criterion, of_costs=of_costs)


def _capacity(capacity: CapacityLike | None, sample: ThresholdSample) -> list[_Named]:
    limit = read_capacity(capacity, round(float(sample.table.total)))
    if limit is None:
        return []
    index = int(flagging(sample.every.counts, limit.bound))
    return [_Named(f"at most {limit.alerts:,} alerts of {limit.rows:,}", ByAlerts(index, limit.bound))]


def _guaranteed(promise: Promise, sample: ThresholdSample, rng: np.random.Generator) -> tuple[int | None, str]:
    """The highest threshold that guarantees the recall; None where flagging everybody alone does, and why."""
    try:
        if sample.clusters is not None:
            refuse_few_clusters(promise.limits, sample.clusters)
    except InputError as error:
        return None, str(error)
    kept = np.flatnonzero(promise.kept(sample, rng))
    if not len(kept) or kept[0] == sample.every.observed.size - 1:
        return None, unkept_sentence(promise, sample)
    return int(kept[0]), ""


def _cost_name(cost: CostsLike) -> str:
    """What the errors cost, in the words of the menu."""
    miss, alarm = cost.get("cost_fn", 1.0), cost.get("cost_fp", 1.0)
    if set(cost) <= {"cost_fn", "cost_fp"} and isinstance(miss, Real) and isinstance(alarm, Real):
        ratio = float(miss) / float(alarm) if float(alarm) else math.inf
        if math.isfinite(ratio):
            return f"a miss costs {three_digits(ratio).removesuffix('.0')} false alarms"
    return "least cost"


def _point(named: _Named, sample: ThresholdSample, drawn: Resamples | None, base: int, level: float) -> OperatingPoint:
    index = named.rule.best
    here = sample.every.counts[index]
    total = float(here.total) / base
    if isinstance(named.rule, Fixed) and sample.has_equal_rows:
        precision, recall = (_as_evaluated(metric, sample, index, level) for metric in ("precision", "recall"))
    else:
        is_fixed = isinstance(named.rule, Fixed)
        precision = found_precision(sample, index, drawn, level, fixed=is_fixed)
        recall = found_rate(RECALL, sample, index, drawn, level, fixed=is_fixed)
    if named.confidence is not None:
        recall = recall._replace(interval=guaranteed_recall(sample, index, named.confidence))
    return OperatingPoint(
        named.name,
        threshold_of(sample.table, float(sample.every.observed[index])) if named.threshold is None else named.threshold,
        base,
        float(here.predicted_positives) / total,
        float(here.tp) / total,
        float(here.fn) / total,
        float(here.fp) / total,
        precision.value,
        precision.interval,
        recall.value,
        recall.interval,
    )


def _as_evaluated(metric: str, sample: ThresholdSample, index: int, level: float) -> FoundRate:
    """A rate at a threshold that was not found, with the interval that evaluate gives it."""
    if sample.are_trivial(index) and (metric == "recall" or not index):
        return FoundRate(float(index > 0) if metric == "recall" else math.nan)
    found = interval(metric, sample.rows.counts[index], prevalence=sample.prevalence, level=level)
    return FoundRate(float(found.value), (float(found.low), float(found.high)))
