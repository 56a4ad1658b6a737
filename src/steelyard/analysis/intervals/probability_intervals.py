"""Intervals where each class has a column of probabilities: of averaged areas, of mean losses, of shares of rows.

All columns share their rows, so the variance of an average is that of the rows' summed influence. What the interval of
a class knows beyond that, how much wider it is (few rows show too little spread) and how far it leans (an area near 1
can only be lower), enters by its share of the spread, as the higher cumulants of a sum do.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from math import exp, isnan, nan, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from steelyard.analysis.distributions import normal_reach
from steelyard.analysis.intervals.auc_intervals import NEGLIGIBLE
from steelyard.analysis.intervals.lone_clusters import unknown_variation
from steelyard.analysis.intervals.loss_intervals import OtherLosses, mean_loss_ends
from steelyard.analysis.intervals.own_precision import own_share
from steelyard.analysis.intervals.rate_intervals import jeffreys
from steelyard.analysis.intervals.score_influence import score_influence
from steelyard.analysis.intervals.weighted_rows import WeightedRows
from steelyard.errors import InputError
from steelyard.metrics.call_options import NATIVE, CallOptions
from steelyard.metrics.score_values import averaged_columns, row_losses
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard._types import Array
    from steelyard.analysis.intervals.estimand import Estimand
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.statistics.class_scores import ClassScores
    from steelyard.statistics.probability_table import ColumnTable, ProbabilityTable

    IntervalOf: TypeAlias = Callable[[Estimand], Interval]


class ColumnEnds(NamedTuple):
    """The ends of an interval, or of one for each class."""

    low: Any
    high: Any
    why: Any = None


NO_ENDS = ColumnEnds(nan, nan)


def column_method(estimand: Estimand) -> str:
    """How the interval of a metric of a column of scores for each class is made."""
    if estimand.options.average != NATIVE or _is_one_column(estimand):
        return "influence"
    return "jeffreys" if estimand.metric.is_share else "student"


def _is_one_column(estimand: Estimand) -> bool:
    """Whether it is a mean loss of two classes, of which one column says all: one answer for one and for two."""
    return len(estimand.table.labels) == 2 and not estimand.metric.is_share  # type: ignore[union-attr]  # of columns


def probability_ends(
    estimand: Estimand, table: ProbabilityTable, value: Array, inference: Inference, interval_of: IntervalOf
) -> ColumnEnds:
    """The ends of a metric of all classes, or of each of them; `interval_of` gives that of one class."""
    if inference.prevalence is not None:
        raise InputError(
            f"{estimand.spec.name} of a column of scores for each class has no interval at another prevalence; leave "
            "prevalence= out."
        )
    rows, metric, options = WeightedRows.of_table(table, inference), estimand.metric, estimand.options
    if options.average == NATIVE:
        if not np.isfinite(value):
            return NO_ENDS
        if _is_one_column(estimand) and rows.clusters is None:
            return _class_ends(estimand, table.class_tables[1], rows, interval_of)
        losses = row_losses(metric, table, estimand.parameters)
        if metric.is_share:
            return _share_ends(losses, rows)
        return ColumnEnds(*mean_loss_ends(losses, OtherLosses.of(metric, table, estimand.parameters), rows))
    parts = list(averaged_columns(metric, table, options, estimand.parameters))
    if options.average is not None:
        return NO_ENDS if isnan(value) else averaged_ends(estimand, parts, float(value), rows, interval_of)
    each = [_class_ends(estimand, part, rows, interval_of) for part in parts]
    low, high, why = zip(*each, strict=True)
    return ColumnEnds(np.array(low), np.array(high), np.array(why, dtype=object))


def _class_ends(estimand: Estimand, part: ColumnTable, rows: WeightedRows, interval_of: IntervalOf) -> ColumnEnds:
    """The ends of one class: those of its own interval, unless rows are clustered."""
    interval = interval_of(_of_part(estimand, part))
    if rows.clusters is None or isnan(interval.value):
        return ColumnEnds(interval.low, interval.high)
    return averaged_ends(estimand, [part], interval.value, rows, interval_of)


def _of_part(estimand: Estimand, part: ColumnTable) -> Estimand:
    """The metric of one part alone."""
    return replace(estimand, spec=MetricSpec(estimand.metric), table=part.table, options=CallOptions())


# ---------------------------------------------------------------- averages over columns


class Reach(NamedTuple):
    """How far a part of an average may be off: half its interval's width, and what its influence shows."""

    half: float
    shown: float
    lean: float  # by how much the interval lies lower than its value


def averaged_ends(
    estimand: Estimand, parts: list[ColumnTable], value: float, rows: WeightedRows, interval_of: IntervalOf
) -> ColumnEnds:
    """The ends of an average: the influence of its rows, and what the intervals of its parts know beyond that."""
    if (reason := _unknown_variation(parts, rows)) is not None:
        return NO_ENDS._replace(why=reason)
    by_share, total = estimand.options.average == "weighted", sum(part.share for part in parts)
    z, every, too_high, each = normal_reach(rows.level), np.zeros(len(rows.weights)), 0.0, []
    for _, of_class in groupby(sorted(parts, key=_rarer), _rarer):  # one class at a time: each holds all rows
        influence, reaches = np.zeros(len(rows.weights)), []
        for part in of_class:
            interval = interval_of(_of_part(estimand, part))
            influences = score_influence(estimand.metric, part.table, estimand.parameters)
            if influences is None:
                return NO_ENDS
            share = part.share / total if by_share else 1 / len(parts)
            members, own = np.concatenate(part.rows), share * _by_row(part, influences) * _student_ratio(part, rows)
            influence[members] += own
            too_high += share * own_share(estimand.metric, part.table)
            reaches.append(_reach(interval, share, part, rows, rows.of(members), own))
            if by_share:  # the classes' shares are a sample's as well
                influence[np.concatenate(part.sharing)] += (interval.value - value) / total
        each.append(_together(reaches, z * rows.error(influence)))
        every += influence
    shown = z * rows.error(every)
    ends = added_up(value, each, shown, estimand.metric.range)
    # What each part is too high by adds up, where their errors even out.
    return ends._replace(low=min(float(ends.low), value - too_high - shown)) if too_high else ends


def _rarer(part: ColumnTable) -> int:
    return part.rarer


def _unknown_variation(parts: list[ColumnTable], rows: WeightedRows) -> str | None:
    """Why an average has no interval: all rows of a class that it reads are of one cluster."""
    if rows.clusters is None:
        return None
    sides = ((part, members) for part in parts for members in part.rows)
    lone = [part.name for part, members in sides if len(np.unique(rows.clusters[members])) == 1]
    return unknown_variation([f"class {name} or its rest" for name in dict.fromkeys(lone)]) if lone else None


def _together(reaches: list[Reach], shown: float) -> Reach:
    """The reach of the parts that share a rare class, as far as their influence shows that they go wrong together."""
    half, apart, lean = (sum(column) for column in zip(*reaches, strict=True))
    alike = min(shown / apart, 1.0) if apart > NEGLIGIBLE else 1.0
    return Reach(alike * half, alike * apart, alike * lean)


def _reach(
    interval: Interval, share: float, part: ColumnTable, rows: WeightedRows, own: WeightedRows, influence: Array
) -> Reach:
    """How far one part may be off; the interval is of independent rows, so clusters widen it as they do the error."""
    z, error = normal_reach(rows.level), own.error(influence)
    if rows.clusters is not None:
        alone = own.independent().error(influence)
        apart = own.independent().effective_number() / own.effective_number()
        share *= error / alone * _student_ratio(part, rows) if alone > NEGLIGIBLE else apart
    lean = (2 * interval.value - interval.low - interval.high) / 2
    return Reach(share * (interval.high - interval.low) / 2, z * error, share * lean)


def added_up(value: float, reaches: list[Reach], shown: float, limits: tuple[float, float]) -> ColumnEnds:
    """The parts' excesses and leans count by their share of the spread, as the higher cumulants of a sum shrink.

    Neither end is nearer than the influence shows, on the logit upwards. Over 22 settings at random (3 to 10 classes, 5
    to 30 rows in the rarest, 400 runs) macro AUC is covered in 94.5 to 100 %; by the logit alone in 0 to 96 %, and by
    Zou and Donner's sum of squares, 1.3 times as wide, in 93 to 99.8 % with all misses on one side.
    """
    halves = sum(reach.half**2 for reach in reaches)
    if not halves:
        return ColumnEnds(value - shown, value + shown)
    apart = sum(reach.shown**2 for reach in reaches)
    alike = max(shown**2 / apart, 1.0) if apart > NEGLIGIBLE**2 else 1.0  # of parts that go wrong together
    spread = shown**2 + alike * sum(reach.half**2 * (reach.half**2 - reach.shown**2) for reach in reaches) / halves
    lean = sum(reach.half**2 * reach.lean for reach in reaches) / max(halves, spread)
    half = sqrt(max(spread, 0.0))
    upwards = shown if limits != (0, 1) else shown_on_logit(value, shown)
    return ColumnEnds(value - max(half + lean, shown), value + max(half - lean, upwards))


def shown_on_logit(value: float, reach: float) -> float:
    """How far above a value between 0 and 1 so long a reach leads on the scale of the logit."""
    slope = value * (1 - value)
    return value / (value + (1 - value) * exp(-min(reach / slope, 700.0))) - value if slope > 0 else 0.0


def _by_row(part: ColumnTable, influences: tuple[Array, Array]) -> Array:
    """The influence of each row of the part, the positives first."""
    sides = zip(part.rows, part.table.classes, influences, strict=True)
    return np.concatenate([_at_scores(part.scores[members], side, by_score) for members, side, by_score in sides])


def _at_scores(scores: Array, side: ClassScores, by_score: Array) -> Array:
    order = np.argsort(scores)  # looked up in order, they are near to each other in memory
    places = np.searchsorted(side.distinct[0], scores[order])
    found = np.empty(len(scores))
    found[order] = by_score[np.minimum(places, len(by_score) - 1)]  # a row of no weight may lie beyond
    return found


def _student_ratio(part: ColumnTable, rows: WeightedRows) -> float:
    """By how much Student's t of the clusters that have rows of both classes exceeds the normal reach."""
    if rows.clusters is None:
        return 1.0
    n = min(rows.of(members).effective_number() for members in part.rows)
    return rows.student_reach(n) / normal_reach(rows.level)


# ---------------------------------------------------------------- shares of rows


def _share_ends(hits: Array, rows: WeightedRows) -> ColumnEnds:
    """Jeffreys' interval of a share of rows, of as many as they are worth (Korn and Graubard 1998)."""
    if rows.clusters is not None:
        return mean_share_ends(hits, rows)
    return _jeffreys_ends(float(np.average(hits, weights=rows.weights)), rows.effective_number(), rows.level)


def mean_share_ends(values: Array, rows: WeightedRows) -> ColumnEnds:
    """The same of the mean of values between 0 and 1: a share of as many rows as have its variance."""
    mean, n = float(np.average(values, weights=rows.weights)), rows.effective_number()
    reach = normal_reach(rows.level) / rows.student_reach(n)
    error = rows.error((values - mean) / rows.weights.sum())
    return _jeffreys_ends(mean, (mean * (1 - mean) / error**2 if error else n) * reach**2, rows.level)


def _jeffreys_ends(share: float, n: float, level: float) -> ColumnEnds:
    low, high = jeffreys(np.asarray(share * n), np.asarray(n), level)
    return ColumnEnds(float(low), float(high))
