"""Label search: the threshold of each label at which a metric averaged over labels is best.

A macro or weighted average is best where each label is. A micro average is that of the counts of all labels together:
at the best thresholds each label is best by the metric's slope there, so that slope and thresholds are found in turn.
Of F and every other ratio of sums of counts that ends at the best of all thresholds, where a label is predicted whose
probability is above F / 2 (Lipton and others 2014); of other metrics at thresholds that no label alone can mend.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.thresholds.threshold_gap import threshold_of
from steelyard.metrics.count_values import count_values
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.metrics.spec import MetricSpec
    from steelyard.statistics.multilabel_table import MultilabelTable
    from steelyard.statistics.score_table import ScoreTable

_MOST_TURNS = 100
BY_LABEL = ("macro", "weighted")


@dataclass(frozen=True, eq=False)
class LabelSearch:
    """The search of thresholds for the labels of one table of scores, by one metric."""

    table: MultilabelTable
    spec: MetricSpec

    @cached_property
    def _tables(self) -> list[ScoreTable]:
        return [self.table.score_table(label) for label in self.table.labels]

    def thresholds(self) -> Array:
        """The best threshold of each label."""
        places = self._by_label() if self.spec.average in BY_LABEL else self._together()
        pairs = zip(self._tables, places, strict=True)
        return np.array([threshold_of(table, float(table.thresholds[place])) for table, place in pairs])

    def _by_label(self) -> list[int]:
        """The place of the best threshold of each label alone."""
        values = (count_values(self.spec.metric, table.counts, self.spec.metric.parameters) for table in self._tables)
        return [_best(self.spec.sign * value) for value in values]

    def _together(self) -> list[int]:
        """The places of the thresholds of which the metric of all counts together is best."""
        places = self._by_label()
        best = self._merit(places)
        for _ in range(_MOST_TURNS):
            slope = self._slope(places)
            moved = [_best(table.counts.tp * slope[0] + table.counts.fp * slope[1]) for table in self._tables]
            merit = self._merit(moved)
            if not merit > best:
                return places
            places, best = moved, merit
        return places

    def _pooled(self, places: list[int]) -> Counts:
        """The counts of all labels together."""
        cells = [table.counts[place] for table, place in zip(self._tables, places, strict=True)]
        return Counts.trusted(*(float(sum(column)) for column in zip(*cells, strict=True)))

    def _merit(self, places: list[int]) -> float:
        metric = self.spec.metric
        value = self.spec.sign * float(count_values(metric, self._pooled(places), metric.parameters))
        return -math.inf if math.isnan(value) else value

    def _slope(self, places: list[int]) -> tuple[float, float]:
        """By how much the metric grows with a row rightly, and with one wrongly predicted to have a label."""
        tp, fn, fp, tn = self._pooled(places)
        step = 1e-4 * max(1.0, tp + fn)
        ways = (step, 0.0, -step)
        rightly = [Counts.trusted(tp + way, fn - way, fp, tn) for way in ways]
        wrongly = [Counts.trusted(tp, fn, fp + way, tn - way) for way in ways]
        return self._rise(rightly), self._rise(wrongly)

    def _rise(self, along: list[Counts]) -> float:
        """How the metric grows along three tables, by those at which it is defined."""
        metric = self.spec.metric
        values = [self.spec.sign * float(count_values(metric, counts, metric.parameters)) for counts in along]
        defined = [(-place, value) for place, value in enumerate(values) if not math.isnan(value)]
        (last, high), (first, low) = defined[0], defined[-1]
        return 0.0 if last == first else (high - low) / (last - first)


def _best(merits: Array) -> int:
    """The first of the best merits, at which fewest rows are flagged; where none is defined, nobody is."""
    return 0 if np.isnan(merits).all() else int(np.nanargmax(merits))
