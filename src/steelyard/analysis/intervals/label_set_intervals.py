"""Intervals of label sets: rows are drawn, never cells, as the labels of one row are not independent of each other.

A label alone is a table of two classes, and has its interval. An average over labels has the error of its rows' summed
influence, and beyond that what the intervals of its labels know, as an average over classes has. A value of all labels'
counts together is that of as many independent cells as its rows are worth. A mean of the rows' values is a share of as
many rows as its variance is worth, or Student's t where it has no bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.distributions import normal_reach
from steelyard.analysis.intervals.column_ends import NO_ENDS, ColumnEnds, mean_share_ends
from steelyard.analysis.intervals.label_influence import (
    LabelChanges,
    OutcomeChanges,
    own_variance,
    row_errors,
    usual_size,
)
from steelyard.analysis.intervals.loss_intervals import student_ends
from steelyard.analysis.intervals.probability_intervals import Reach, added_up, averaged_ends, pooled_ends
from steelyard.analysis.intervals.thinned_rows import nearer, some_rows
from steelyard.analysis.intervals.weighted_rows import WeightedRows
from steelyard.exceptions import InputError
from steelyard.metrics.call_options import NATIVE, SAMPLES, CallOptions
from steelyard.metrics.multilabel_values import defined_rows, row_values, sample_values
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steelyard._types import Array, Label
    from steelyard.analysis.intervals.estimand import Estimand
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.statistics.multilabel_table import MultilabelTable
    from steelyard.statistics.score_table import ScoreTable

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
