"""Intervals where each class has a column of probabilities: of averaged areas, of mean losses, of shares of rows.

All columns share their rows, so the variance of an average is that of the rows' summed influence. What the interval of
a class knows beyond that, how much wider it is (few rows show too little spread) and how far it leans (an area near 1
can only be lower), enters by its share of the spread, as the higher cumulants of a sum do.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from math import isnan, sqrt
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from steelyard.analysis.distributions import normal_reach
from steelyard.analysis.intervals.auc_intervals import NEGLIGIBLE
from steelyard.analysis.intervals.column_ends import NO_ENDS, ColumnEnds, share_ends, shown_on_logit
from steelyard.analysis.intervals.column_influence import (
    by_row_of_cells,
    centred_losses,
    part_influence,
    row_of_cells,
    with_share_influence,
)
from steelyard.analysis.intervals.lone_clusters import unknown_variation
from steelyard.analysis.intervals.loss_intervals import OtherLosses, mean_loss_ends
from steelyard.analysis.intervals.own_precision import own_share
from steelyard.analysis.intervals.thinned_rows import nearer, some_rows_of_classes
from steelyard.analysis.intervals.weighted_rows import WeightedRows
from steelyard.analysis.prevalence.prevalence import Prevalence
from steelyard.exceptions import InputError
from steelyard.metrics.call_options import NATIVE, CallOptions
from steelyard.metrics.score_values import averaged_columns, row_losses
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.placed_values import scattered

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard._types import Array
    from steelyard.analysis.intervals.estimand import Estimand
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.statistics.probability_table import ColumnTable, ProbabilityTable

    IntervalOf: TypeAlias = Callable[[Estimand], Interval]


def column_method(estimand: Estimand) -> str:
    """How the interval of a metric of a column of scores for each class is made."""
    if estimand.options.average != NATIVE or _is_one_column(estimand):
        return "influence"
    return "jeffreys" if estimand.metric.is_share else "student"


def _is_one_column(estimand: Estimand) -> bool:
    """Whether it is a mean loss of two classes, of which one column says all: one answer for one and for two."""
    return len(estimand.table.labels) == 2 and not estimand.metric.is_share  # type: ignore[union-attr]  # of columns


def probability_ends(estimand: Estimand, value: Array, inference: Inference, interval_of: IntervalOf) -> ColumnEnds:
    """The ends of a metric of all classes, or of each of them; `interval_of` gives that of one class."""
    if isinstance(inference.prevalence, Prevalence):
        raise InputError(
            f"{estimand.spec.name} of a column of scores for each class has no interval at a prevalence that is itself "
            "estimated; give the shares of the classes as numbers."
        )
    table: ProbabilityTable = estimand.table  # type: ignore[assignment]  # of columns
    rows, metric, options = WeightedRows.of_table(table, inference), estimand.metric, estimand.options
    if options.average == NATIVE:
        if not np.isfinite(value):
            return NO_ENDS
        if _is_one_column(estimand) and rows.clusters is None:
            return _class_ends(estimand, table.class_tables[1], rows, interval_of)
        if metric.is_share:
            return share_ends(row_losses(metric, table, estimand.parameters), rows)
        return _loss_ends(estimand, table, float(value), rows)
    if options.average not in (None, "micro") and (part := _thinned(table, inference)) is not None:
        return _ends_by_part(estimand, part, float(value), inference, interval_of)
    parts = list(averaged_columns(metric, table, options, estimand.parameters))
    if options.average == "micro":
        return NO_ENDS if isnan(value) else pooled_ends(estimand, parts[0], float(value), rows, interval_of)
    if options.average is not None:
        return NO_ENDS if isnan(value) else averaged_ends(estimand, parts, float(value), rows, interval_of)
    each = [_class_ends(estimand, part, rows, interval_of) for part in parts]
    low, high, why = zip(*each, strict=True)
    return ColumnEnds(np.array(low), np.array(high), np.array(why, dtype=object))


def _thinned(table: ProbabilityTable, inference: Inference) -> ProbabilityTable | None:
    """A part of very many independent rows, whose averages scatter by as much more as they are fewer."""
    is_plain = inference.clustered is None and inference.prevalence is None
    return some_rows_of_classes(table) if is_plain else None


def _ends_by_part(
    estimand: Estimand, part: ProbabilityTable, value: float, inference: Inference, interval_of: IntervalOf
) -> ColumnEnds:
    """The ends of an average over very many rows, by those of a part of them."""
    there = np.asarray(estimand.on(part).value)
    ends = probability_ends(replace(estimand, table=part), there, inference, interval_of)
    return NO_ENDS if isnan(value) else nearer(ends, float(there), value, len(estimand.table.codes))  # type: ignore[union-attr]  # of columns


def _class_ends(estimand: Estimand, part: ColumnTable, rows: WeightedRows, interval_of: IntervalOf) -> ColumnEnds:
    """The ends of one class: those of its own interval, unless rows are clustered."""
    interval = interval_of(_of_part(estimand, part))
    if rows.clusters is None or isnan(interval.value):
        return ColumnEnds(interval.low, interval.high)
    return averaged_ends(estimand, [part], interval.value, rows, interval_of)


def _of_part(estimand: Estimand, part: ColumnTable) -> Estimand:
    """The metric of one part alone."""
    return replace(estimand, spec=MetricSpec(estimand.metric), table=part.table, options=CallOptions())


def _loss_ends(estimand: Estimand, table: ProbabilityTable, value: float, rows: WeightedRows) -> ColumnEnds:
    """The ends of a mean loss; of a skill, those of what the rows' losses beside the shares' add to it."""
    metric, parameters = estimand.metric, estimand.parameters
    losses, others = centred_losses(metric, table, parameters), OtherLosses.of(metric, table, parameters)
    if not metric.is_skill_of_columns:
        return ColumnEnds(*mean_loss_ends(losses, others, rows))
    low, high = mean_loss_ends(-losses, others, rows)
    return ColumnEnds(value - high, value - low)


# ---------------------------------------------------------------- averages over columns


_NOTHING = np.zeros(())  # the influence of no part


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
    z, n, every, too_high, each = normal_reach(rows.level), len(rows.weights), _NOTHING, 0.0, []
    for _, of_class in groupby(sorted(parts, key=_rarer), _rarer):  # one class at a time: each holds all rows
        influence, reaches = _NOTHING, []
        for part in of_class:
            interval = interval_of(_of_part(estimand, part))
            by_row = part_influence(estimand.metric, part, estimand.parameters)
            if by_row is None:
                return NO_ENDS
            share = part.share / total if by_share else 1 / len(parts)
            members, own = np.concatenate(part.rows), share * by_row * _student_ratio(part, rows)
            moved = own if not by_share else with_share_influence(own, part, (interval.value - value) / total)
            influence = influence + scattered(moved, members, n)
            too_high += share * own_share(estimand.metric, part.table)
            reaches.append(_reach(interval, share, part, rows, rows.of(members), own))
        each.append(_together(reaches, z * rows.error(influence)))
        every = every + influence
    shown = z * rows.error(every)
    ends = added_up(value, each, shown, estimand.metric.range)
    # What each part is too high by adds up, where their errors even out.
    return ends._replace(low=min(float(ends.low), value - too_high - shown)) if too_high else ends


def _rarer(part: ColumnTable) -> int:
    return part.rarer


def pooled_ends(
    estimand: Estimand, part: ColumnTable, value: float, rows: WeightedRows, interval_of: IntervalOf
) -> ColumnEnds:
    """The ends of all columns pooled, a row's columns moving together: rows are drawn, not cells."""
    by_cell = part_influence(estimand.metric, part, estimand.parameters)
    if by_cell is None:
        return NO_ENDS
    n = len(rows.weights)
    by_row, cells = by_row_of_cells(part, by_cell, n), row_of_cells(part, n)
    z = normal_reach(rows.level) if rows.clusters is None else rows.student_reach(rows.effective_number())
    shown, alone = z * rows.error(by_row), normal_reach(rows.level) * sqrt(float(rows.squares[cells] @ by_cell**2))
    interval, apart = interval_of(_of_part(estimand, part)), shown / alone if alone > NEGLIGIBLE else 1.0
    lean = (2 * interval.value - interval.low - interval.high) / 2
    reach = Reach(apart * (interval.high - interval.low) / 2, shown, apart * lean)
    ends = added_up(value, [reach], shown, estimand.metric.range)
    too_high = own_share(estimand.metric, part.table)
    return ends._replace(low=min(float(ends.low), value - too_high - shown)) if too_high else ends


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


def _student_ratio(part: ColumnTable, rows: WeightedRows) -> float:
    """By how much Student's t of the clusters that have rows of both classes exceeds the normal reach."""
    if rows.clusters is None:
        return 1.0
    n = min(rows.of(members).effective_number() for members in part.rows)
    return rows.student_reach(n) / normal_reach(rows.level)
