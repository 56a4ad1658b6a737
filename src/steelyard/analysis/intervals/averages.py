"""Averages: intervals over a column for each class or for each label: averaged areas, mean losses, label sets.

All columns share their rows, so the variance of an average is that of the rows' summed influence. What the interval of
a class knows beyond that, how much wider it is (few rows show too little spread) and how far it leans (an area near 1
can only be lower), enters by its share of the spread, as the higher cumulants of a sum do.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from math import inf, isnan, nan, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from steelyard.analysis.distributions import normal_reach
from steelyard.analysis.intervals.design import WeightedRows, unknown_variation
from steelyard.analysis.intervals.influence import (
    LabelChanges,
    OutcomeChanges,
    by_row_of_cells,
    centred_losses,
    own_variance,
    part_influence,
    row_errors,
    row_of_cells,
    usual_size,
    with_share_influence,
)
from steelyard.analysis.intervals.rate_intervals import NO_ENDS, ColumnEnds, mean_share_ends, share_ends, shown_on_logit
from steelyard.analysis.intervals.score_intervals import NEGLIGIBLE, own_share
from steelyard.analysis.prevalence.prevalence import Prevalence
from steelyard.exceptions import InputError
from steelyard.ingest.score_matrix import needed_probabilities
from steelyard.metrics.call_options import NATIVE, SAMPLES, CallOptions
from steelyard.metrics.multilabel_values import defined_rows, row_values, sample_values
from steelyard.metrics.score_values import averaged_columns, row_losses, share_losses
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.counts import Counts
from steelyard.statistics.placed_values import scattered, taken

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from steelyard._types import Array, Label
    from steelyard.analysis.intervals.estimand import Estimand
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.metrics.metric import Metric
    from steelyard.statistics.multilabel_table import MultilabelTable
    from steelyard.statistics.probability_table import ColumnTable, ProbabilityTable
    from steelyard.statistics.score_table import ScoreTable

    IntervalOf: TypeAlias = Callable[[Estimand], Interval]


# ---------------------------------------------------------------- loss intervals
# The interval of a mean loss, of which a few rows may carry most that were not among those drawn.
#
# Student's t knows the losses that were seen. A classifier that is nearly always right and sure of it has next to none,
# so the upper end is also that of the rows and a tenth of one more, which is of another class than it is.


# Of 3 to 20 classes with 3 to 30 rows in the rarest of 13 to 1,133 (43 settings, 29 of them at random, half of those
# nearly perfect and overconfident, normal and heavy-tailed; 500 runs) both losses are covered in 92 to 100 %, 96.9 on
# average; by the rows alone in 53 to 97 %. Where those cover 93 % it is 1.0 to 1.2 times as wide, and up to 1.65 times
# in 5 of 86 cells that expect hardly an error. Half a row is up to 2.2 times as wide; errors where the classifier
# thinks them likely, by its own probabilities, are narrower and cover 81 % of the log losses with heavy tails.
_OF_ANOTHER_CLASS = 0.1
_MOST_ROWS = 10_000  # of which the losses with other classes are taken


class _Added(NamedTuple):
    """How much of a row is added, and the means of its loss, of the square and of the cube."""

    rows: float = 0.0
    loss: float = 0.0
    square: float = 0.0
    cube: float = 0.0


_NONE = _Added()


class OtherLosses(NamedTuple):
    """The losses that rows would have with every other class, a class on the first axis, and the rows' weights."""

    losses: Array
    weights: Array

    @classmethod
    def of(cls, metric: Metric, table: ProbabilityTable, parameters: Mapping[str, object]) -> OtherLosses:
        """Of all rows, or of every so many of them."""
        assert metric.columns is not None  # noqa: S101 - asked before
        counted = np.flatnonzero(table.weights > 0)
        some = counted[:: max(1, len(counted) // _MOST_ROWS)]
        given, codes = needed_probabilities(table, metric.name)[some], table.codes[some].astype(np.int64)
        k = given.shape[1]
        places = [(codes + i) % k for i in range(1, k)]
        losses = np.stack([metric.columns(given, of, **parameters) for of in places])
        if not metric.is_skill_of_columns:
            return cls(losses, table.weights[some])
        reference = share_losses(metric, table, parameters)
        loss = float(np.average(row_losses(metric, table, parameters), weights=table.weights))
        without_skill = float(np.average(taken(reference, table.codes), weights=table.weights))
        beside = np.stack([taken(reference, of) for of in places])
        with np.errstate(invalid="ignore"):  # an infinite loss, of a class that has no rows an infinite reference
            return cls((losses - loss / without_skill * beside) / without_skill, table.weights[some])

    def added(self, most_infinite: float) -> _Added | None:
        """What is added of such a row; None where its loss would be infinite too often."""
        finite = np.isfinite(self.losses)
        mass = finite * self.weights
        share = float(mass.sum() / (len(self.losses) * self.weights.sum()))
        if 1 - share > most_infinite:
            return None
        losses = np.where(finite, self.losses, 0.0)
        return _Added(_OF_ANOTHER_CLASS, *(float(np.average(losses**power, weights=mass)) for power in (1, 2, 3)))


def mean_loss_ends(losses: Array, others: OtherLosses, rows: WeightedRows) -> tuple[float, float]:
    """The ends of the mean of the rows' losses; infinite where a row of another class often has probability 0."""
    if rows.effective_number() <= 1:
        return nan, nan
    (low, high), added = student_ends(losses, rows), others.added((1 - rows.level) / 2)
    return low, inf if added is None else max(high, student_ends(losses, rows, added)[1])


def student_ends(losses: Array, rows: WeightedRows, added: _Added = _NONE) -> tuple[float, float]:
    """Student's t on the losses, the upper end moved out by their skewness (Johnson 1978)."""
    n, weight = rows.effective_number(), float(rows.weights.sum())
    row_weight = weight / n
    total = weight + added.rows * row_weight
    mean = float(losses @ rows.weights + added.rows * row_weight * added.loss) / total
    influence = (losses - mean) / total
    square = added.square - 2 * mean * added.loss + mean**2
    cube = added.cube - 3 * mean * added.square + 3 * mean**2 * added.loss - mean**3
    variance = rows.moment(influence, 2) + added.rows * (row_weight / total) ** 2 * square
    third = rows.moment(influence, 3) + added.rows * (row_weight / total) ** 3 * cube
    error, t = sqrt(variance * n / (n - 1)), rows.student_reach(n)
    skewness = third / variance**1.5 if error else 0.0
    return mean - t * error, mean + (t + max(skewness, 0.0) * (1 + 2 * t**2) / 6) * error


# ---------------------------------------------------------------- thinned rows
# A part of very many rows, from which how far an average of areas scatters is known.


_ROWS, _POSITIVES = 50_000, 500  # by which it is known to a few percent


def some_rows(table: MultilabelTable) -> MultilabelTable | None:
    """So many rows, drawn at random and brought; None where a label would be rare there, or rows are weighted."""
    rows = None if table.weights is not None else _drawn(table.true.shape[0], np.asarray(table.positives))
    return None if rows is None else table.of_rows(rows).on_host()


def some_rows_of_classes(table: ProbabilityTable) -> ProbabilityTable | None:
    """The same of rows that have one class each, with a column of scores for each."""
    if table.sample_weight is not None or table.frequency is not None:
        return None
    if some_rows_of_classes not in table.remembered:  # the metrics of one table ask for the same
        rows = _drawn(len(table.codes), table.class_rows)
        table.remembered[some_rows_of_classes] = None if rows is None else table.at(rows).brought()
    part: ProbabilityTable | None = table.remembered[some_rows_of_classes]
    return part


def _drawn(n: int, positives: Array) -> Array | None:
    present = positives[positives > 0]
    if n < 2 * _ROWS or not len(present) or present.min() * _ROWS < _POSITIVES * n:
        return None
    return np.sort(np.random.default_rng(0).choice(n, _ROWS, replace=False))


def nearer(ends: ColumnEnds, there: float, value: float, n: int) -> ColumnEnds:
    """The ends around the value of all n rows, by those around that of the part."""
    ratio = sqrt(n / _ROWS)
    return ColumnEnds(value - (there - ends.low) / ratio, value + (ends.high - there) / ratio)


# ---------------------------------------------------------------- probability intervals


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


# ---------------------------------------------------------------- intervals of label sets
# Rows are drawn, never cells, as the labels of one row are not independent of each other.
#
# A label alone is a table of two classes, and has its interval. An average over labels has the error of its rows'
# summed influence, and beyond that what the intervals of its labels know, as an average over classes has. A value of
# all labels' counts together is that of as many independent cells as its rows are worth. A mean of the rows' values is
# a share of as many rows as its variance is worth, or Student's t where it has no bounds.


_LABELS_AT_ONCE = 500  # whose draws are in memory together
_NO_SPREAD = 1e-9  # of the rows, beside that of their labels alone; below it is the rounding


def label_set_method(estimand: Estimand) -> str:
    """How the interval of a metric of label sets is made."""
    if estimand.options.pos_label is not None or estimand.options.average is None:
        return "label"
    return "rows" if estimand.options.average in (NATIVE, SAMPLES) else "influence"


@dataclass
class LabelSetIntervals:
    """The intervals of metrics on one table of label sets, in one pass over its rows for all that are asked."""

    inference: Inference
    table: MultilabelTable
    asked: Sequence[Estimand]
    intervals_of: Callable[[list[Estimand]], list[Interval[Any]]]  # of tables of two classes
    _score_intervals: dict[tuple[str, Label], Interval[Any]] = field(default_factory=dict)

    def ends(self, estimand: Estimand, value: Array) -> ColumnEnds:
        """The ends of a metric of one label, of each, of all or of the rows."""
        if self.inference.prevalence is not None:
            raise InputError("Rows of several labels have no one prevalence; leave prevalence= out.")
        average, label = estimand.options.average, estimand.options.pos_label
        if label is not None:
            return self._of_label(estimand, label)
        if average is None:
            each = [self._of_label(estimand, label) for label in self.table.labels]
            return ColumnEnds(*(np.array([getattr(ends, end) for ends in each]) for end in ("low", "high")))
        if isnan(value):
            return NO_ENDS
        if average in (NATIVE, SAMPLES):
            return self._row_ends(estimand)
        if estimand.metric.function is None:
            return self._score_ends(estimand, float(value))
        return self._pooled_ends(estimand) if average == "micro" else self._average_ends(estimand, float(value))

    @cached_property
    def rows(self) -> WeightedRows:
        """The rows with their weights and clusters."""
        return WeightedRows.of_label_sets(self.table, self.inference)

    @cached_property
    def _row_weight(self) -> float:
        return float(self.rows.squares.sum() / self.rows.weights.sum())

    # ---------------------------------------------------------------- one label

    def _of_label(self, estimand: Estimand, label: Label) -> ColumnEnds:
        """The ends of one label alone."""
        place = self.table.place(label)
        if estimand.metric.function is not None:
            intervals = self._by_label[estimand.metric.name]
            return ColumnEnds(intervals.low[place], intervals.high[place])
        interval = self._of_scores(_alone(estimand, self.table.score_table(label)))
        if self.rows.clusters is None or isnan(interval.value):
            return ColumnEnds(interval.low, interval.high)
        return averaged_ends(estimand, [self.table.column_table(place)], interval.value, self.rows, self._of_scores)

    def _of_scores(self, estimand: Estimand) -> Interval[Any]:
        """The interval of the scores of one label, made once for all averages that read it."""
        key = (estimand.metric.name, estimand.table.label)  # type: ignore[union-attr]  # a ScoreTable
        if key not in self._score_intervals:
            self._score_intervals[key] = self.intervals_of([estimand])[0]
        return self._score_intervals[key]

    @cached_property
    def _by_label(self) -> dict[str, Interval[Any]]:
        """The intervals of each label, by the name of the metric, of all metrics of counts that are asked."""
        asked = {each.metric.name: each for each in self.asked if label_set_method(each) != "rows"}
        of_counts = [each for each in asked.values() if each.metric.function is not None]
        if self.rows.clusters is not None:
            worth = ((each, self._worth(each) / self._row_weight) for each in of_counts)
            return {each.metric.name: self._of_counts([each], part)[0] for each, part in worth}
        intervals = self._of_counts(of_counts, np.full(len(self.table.labels), 1 / self._row_weight))
        return {each.metric.name: interval for each, interval in zip(of_counts, intervals, strict=True)}

    def _of_counts(self, estimands: Sequence[Estimand], worth: Array) -> list[Interval[Any]]:
        """The intervals of each label by its counts, of which one is worth so many rows; some labels at a time."""
        counts, blocks = self.table.by_label, []
        if (worth != 1).any():
            counts = Counts.trusted(*(np.asarray(cell) * worth for cell in counts))
        for start in range(0, len(worth), _LABELS_AT_ONCE):
            part = counts[start : start + _LABELS_AT_ONCE]
            blocks.append(self.intervals_of([_alone(each, part) for each in estimands]))
        return [_joined(parts) for parts in zip(*blocks, strict=True)]

    def _worth(self, estimand: Estimand) -> Array:
        """How many independent rows a row of each label is worth in clusters."""
        if self.rows.clusters is None:
            return np.ones(len(self.table.labels))
        changes, worth = LabelChanges(estimand, self.table, self._row_weight).of_labels(), []
        alone = own_variance(changes, self.table.by_label, self._row_weight)
        for place, variance in enumerate(alone):
            own = OutcomeChanges(*(change[[place]] for change in changes))
            error = row_errors(self.table.of_labels([place]), [own], self.rows)[0] * self._student_ratio
            usual = self.rows.effective_number() / self.rows.independent().effective_number()
            worth.append(variance / error**2 if error and variance else usual)
        return np.minimum(worth, 1.0)

    # ---------------------------------------------------------------- all labels, by their counts

    @cached_property
    def _errors(self) -> dict[MetricSpec, float]:
        """The error of each average of counts, by the influence of the rows."""
        asked = {each.named: each for each in self.asked if self._is_average(each)}
        changes = [LabelChanges(each, self.table, self._row_weight).of_average() for each in asked.values()]
        return dict(zip(asked, row_errors(self.table, changes, self.rows), strict=True))

    def _is_average(self, estimand: Estimand) -> bool:
        return label_set_method(estimand) == "influence" and estimand.metric.function is not None

    def _average_ends(self, estimand: Estimand, value: float) -> ColumnEnds:
        """The error of the rows, and what the intervals of the labels know beyond that."""
        z, changes = normal_reach(self.rows.level), LabelChanges(estimand, self.table, self._row_weight)
        each, shown = self._by_label[estimand.metric.name], z * self._errors[estimand.named] * self._student_ratio
        alone = z * np.sqrt(
            own_variance(changes.of_labels(), self.table.by_label, self._row_weight) / self._worth(estimand)
        )
        low, high, at = (np.asarray(end, np.float64) for end in (each.low, each.high, each.value))
        reaches = [
            Reach(*(float(share * part) for part in parts))
            for share, *parts in zip(changes.shares, (high - low) / 2, alone, (2 * at - low - high) / 2, strict=True)
            if share > 0
        ]
        return added_up(value, reaches, shown, estimand.metric.range)

    @cached_property
    def _student_ratio(self) -> float:
        """By how much Student's t of the clusters, or rows, exceeds the normal reach."""
        return self.rows.student_reach(self.rows.effective_number()) / normal_reach(self.rows.level)

    def _pooled_ends(self, estimand: Estimand) -> ColumnEnds:
        """The ends of all cells together, of as many independent ones as their rows are worth."""
        cells = [float(cell.sum()) / self._row_weight for cell in self.table.by_label]
        changes = LabelChanges(estimand, self.table, self._row_weight).of_all().scaled(self._row_weight)
        alone = float(own_variance(changes, Counts.trusted(*(np.array([cell]) for cell in cells)), 1.0)[0])
        error = self._errors[estimand.named] * self._student_ratio
        effect = error**2 / alone if alone else 0.0
        effect = effect if effect > _NO_SPREAD else usual_size(self.table, self.rows)  # where all rows are alike
        worth = Counts.trusted(*(np.float64(cell / effect) for cell in cells))
        interval = self.intervals_of([_alone(estimand, worth)])[0]
        return ColumnEnds(interval.low, interval.high)

    # ---------------------------------------------------------------- rows and scores

    def _row_ends(self, estimand: Estimand) -> ColumnEnds:
        values, rows = self._row_values(estimand), self.rows
        if not (counted := defined_rows(values, rows.weights)).all():
            values, rows = values[counted], rows.of(counted)
        if not len(values) or rows.effective_number() <= 1:
            return NO_ENDS
        if estimand.metric.range == (0, 1):
            return mean_share_ends(values, rows)
        low, high = student_ends(-values, rows), student_ends(values, rows)
        return ColumnEnds(-low[1], high[1])

    def _row_values(self, estimand: Estimand) -> Array:
        if estimand.options.average == SAMPLES:
            return sample_values(estimand.metric, self.table, estimand.parameters)
        values = row_values(estimand.metric, self.table, estimand.parameters)
        return values.astype(np.float64, copy=False)

    def _score_ends(self, estimand: Estimand, value: float) -> ColumnEnds:
        """The ends of an average of areas; of very many rows those of a part of them, moved nearer."""
        if (part := self._some_rows) is not None:
            there = np.asarray(estimand.on(part.table).value)
            return nearer(part.ends(estimand, there), float(there), value, self.table.true.shape[0])
        if estimand.options.average == "micro":
            return pooled_ends(estimand, self.table.pooled_table(), value, self.rows, self._of_scores)
        places = np.flatnonzero(np.asarray(self.table.positives) > 0).tolist()
        parts = [self.table.column_table(place) for place in places]
        return averaged_ends(estimand, parts, value, self.rows, self._of_scores)

    @cached_property
    def _some_rows(self) -> LabelSetIntervals | None:
        table = some_rows(self.table) if self.inference.clustered is None else None
        return None if table is None else replace(self, table=table, _score_intervals={})


def _alone(estimand: Estimand, table: Counts[Any] | ScoreTable) -> Estimand:
    """The metric of one label alone, or of each of several."""
    return replace(estimand, spec=MetricSpec(estimand.metric), table=table, options=CallOptions())


def _joined(parts: Sequence[Interval[Any]]) -> Interval[Any]:
    ends = (np.concatenate([np.atleast_1d(getattr(part, end)) for part in parts]) for end in ("value", "low", "high"))
    value, low, high = ends
    return replace(parts[0], value=value, low=low, high=high)
