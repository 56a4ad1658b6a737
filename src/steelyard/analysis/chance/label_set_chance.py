"""No-skill baselines of label sets: labels predicted as often as they are, whatever is true of a row.

Of counts they are known from the margins of each label. Of rows, whose labels go together, those of another row are
predicted: the mean over shuffled rows, as many times as makes it known to three digits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.chance.chance import Baselines, rounded_to_zero
from steelyard.errors import InputError
from steelyard.metrics.application import on_table
from steelyard.metrics.call_options import NATIVE, SAMPLES, CallOptions
from steelyard.metrics.count_values import count_values
from steelyard.metrics.multilabel_values import mean_weights
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.statistics.multilabel_table import MultilabelTable

_SHUFFLED_CELLS = 4_000_000  # of all shuffles together, of which there are one to a hundred


@dataclass(frozen=True, eq=False)
class LabelSetBaselines:
    """The no-skill baselines of metrics on one table of label sets; predictions of other rows are shuffled once."""

    table: MultilabelTable
    rng: np.random.Generator

    def value(self, spec: MetricSpec) -> float:
        """What a metric has where truth and prediction are independent, with the same margins."""
        if spec.label is None and spec.average in (NATIVE, SAMPLES):
            return self._of_rows(spec)
        if spec.metric.function is not None:
            return self._of_counts(spec)
        labels = self.table.labels if spec.label is None else [spec.label]
        values = np.array([self._of_scores(spec, place) for place in map(self.table.place, labels)])
        weights = np.asarray(self.table.positives, np.float64) if spec.average == "weighted" else np.ones(len(values))
        return float(np.average(values[weights > 0], weights=weights[weights > 0])) if (weights > 0).any() else nan

    @cached_property
    def _expected(self) -> Counts[Array]:
        """The expected counts of each label."""
        counts = self.table.by_label
        true, predicted = (np.asarray(c, np.float64) for c in (counts.positives, counts.predicted_positives))
        total = np.asarray(counts.tp + counts.fn + counts.fp + counts.tn, np.float64)
        both = true * predicted / total
        return Counts.trusted(both, true - both, predicted - both, total - true - predicted + both)

    def _of_counts(self, spec: MetricSpec) -> float:
        metric, counts = spec.metric, self._expected.sum() if spec.average == "micro" else self._expected
        values = np.atleast_1d(count_values(metric, counts, metric.parameters))
        if spec.label is not None:
            values = values[[self.table.place(spec.label)]]
        elif spec.average != "micro":
            weights = mean_weights(self.table, self.table.by_label, spec.average)
            values = np.array(
                [np.average(values[weights > 0], weights=weights[weights > 0])] if weights.any() else [nan]
            )
        return float(rounded_to_zero(metric, values[0]))

    def _of_scores(self, spec: MetricSpec, place: int) -> float:
        try:
            scores = Baselines(self.table.score_table(self.table.labels[place]))
            return scores.same_margins(MetricSpec(spec.metric), CallOptions())
        except InputError:  # a label that all rows have, or none
            return nan

    def _of_rows(self, spec: MetricSpec) -> float:
        options, parameters = spec.options(CallOptions()), spec.metric.parameters
        return float(np.mean([on_table(spec.metric, each, options, parameters).value for each in self._shuffled]))

    @cached_property
    def _shuffled(self) -> list[MultilabelTable]:
        n = self.table.true.shape[0]
        times = int(np.clip(_SHUFFLED_CELLS // max(1, n * len(self.table.labels)), 1, 100))
        return [self._of_other_rows(self.rng.permutation(n)) for _ in range(times)]

    def _of_other_rows(self, order: Array) -> MultilabelTable:
        columns: dict[str, Any] = {
            name: None if (given := getattr(self.table, name)) is None else given[order]
            for name in ("predicted", "scores")
        }
        return replace(self.table, **columns)
