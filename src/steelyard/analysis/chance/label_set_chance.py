"""No-skill baselines of label sets: labels predicted as often as they are, whatever is true of a row.

Of counts the true positives of each label are drawn with its margins (of weighted rows the expected counts stand for
them); of scores the rows of each label are in a random order. Of rows, whose labels go together, those of another row
are predicted: the mean over shuffled rows, as many times as makes it known to three digits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.chance.chance import Baselines, rounded_to_zero
from steelyard.analysis.chance.class_baselines import mean_where_defined, or_exact
from steelyard.exceptions import InputError
from steelyard.metrics.application import on_table
from steelyard.metrics.call_options import NATIVE, SAMPLES, CallOptions
from steelyard.metrics.count_values import count_values
from steelyard.metrics.multilabel_values import (
    check_label_set_options,
    defined_rows,
    mean_weights,
    reads_label_scores,
    row_values,
    sample_values,
)
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.counts import Counts
from steelyard.statistics.device_array import DeviceArray
from steelyard.statistics.indicators import is_sparse
from steelyard.statistics.score_order import chunks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Array
    from steelyard.statistics.multilabel_table import MultilabelTable

_DRAWN_CELLS = 200_000  # of labels, in all draws of their counts together
_SHUFFLED_CELLS = 4_000_000  # of all shuffles together, of which there are one to a hundred


@dataclass(frozen=True, eq=False)
class LabelSetBaselines:
    """The no-skill baselines of metrics on one table of label sets; predictions of other rows are shuffled once."""

    table: MultilabelTable

    def values(self, spec: MetricSpec) -> Iterator[Array | float]:
        """The baseline of the same margins, then each label by its commoner answer, its rarer one, and a fair coin."""
        if spec.label is None and spec.average is None:
            each = [[*self.values(replace(spec, average=NATIVE, label=label))] for label in self.table.labels]
            yield from np.array(each).T
            return
        yield self.value(spec)
        common = np.asarray(self.table.positives, np.float64) > self._total / 2
        for share in (common * 1.0, ~common * 1.0, np.full(len(common), 0.5)):
            yield nan if reads_label_scores(spec.metric) else self._flagged(spec, share)

    def value(self, spec: MetricSpec) -> float:
        """What a metric has where truth and prediction are independent, with the same margins."""
        check_label_set_options(spec.metric, spec.options(CallOptions()))
        if _is_of_rows(spec):
            return self._of_rows(spec)
        if spec.metric.function is not None:
            return self._of_random_counts(spec)
        if spec.label is None and spec.average == "micro":
            return self._of_pooled_scores(spec)
        labels = self.table.labels if spec.label is None else [spec.label]
        values = np.array([self._of_scores(spec, place) for place in map(self.table.place, labels)])
        weights = np.asarray(self.table.positives, np.float64) if spec.average == "weighted" else np.ones(len(values))
        return float(np.average(values[weights > 0], weights=weights[weights > 0])) if (weights > 0).any() else nan

    @property
    def _total(self) -> float:
        return float(self.table.true.shape[0] if self.table.weights is None else self.table.weights.sum())

    @cached_property
    def _same_margins(self) -> Counts[Array]:
        return self._expected(np.asarray(self.table.by_label.predicted_positives, np.float64) / self._total)

    def _expected(self, share: Array) -> Counts[Array]:
        """The expected counts of each label, predicted for such a share of the rows, whatever is true of them."""
        true, predicted = np.asarray(self.table.positives, np.float64), share * self._total
        both = true * share
        return Counts.trusted(both, true - both, predicted - both, self._total - true - predicted + both)

    def _flagged(self, spec: MetricSpec, share: Array) -> float:
        """The value where each label is predicted for such a share of the rows."""
        if not _is_of_rows(spec):
            return self._of_counts(spec, self._expected(share))
        times = 1 if np.isin(share, (0, 1)).all() else self._times
        rng = np.random.default_rng(0)
        return float(np.mean([self._of_guesses(spec, share, rng) for _ in range(times)]))

    def _of_guesses(self, spec: MetricSpec, share: Array, rng: np.random.Generator) -> float:
        """The mean over rows, some at a time, of labels that are predicted at random."""
        size, values = max(1, _SHUFFLED_CELLS // len(share)), []
        of_row = row_values if spec.average == NATIVE else sample_values
        for part in chunks(self.table.true.shape[0], size):
            rows = self.table.of_rows(part).on_host()
            predicted = (rng.random(rows.true.shape) < share).astype(np.uint8)
            true = rows.true.toarray() if is_sparse(rows.true) else rows.true
            values.append(of_row(spec.metric, replace(rows, true=true, predicted=predicted), spec.metric.parameters))
        every = np.concatenate(values)
        weights = np.asarray(self.table.row_weights)
        counted = defined_rows(every, weights)
        return float(np.average(every[counted], weights=weights[counted])) if counted.any() else nan

    def _of_counts(self, spec: MetricSpec, expected: Counts[Array]) -> float:
        metric, counts = spec.metric, expected.sum() if spec.average == "micro" else expected
        values = np.atleast_1d(count_values(metric, counts, metric.parameters))
        if spec.label is not None:
            values = values[[self.table.place(spec.label)]]
        elif spec.average != "micro":
            weights = mean_weights(self.table, expected, spec.average)
            values = np.array(
                [np.average(values[weights > 0], weights=weights[weights > 0])] if weights.any() else [nan]
            )
        return float(rounded_to_zero(metric, values[0]))

    def _of_random_counts(self, spec: MetricSpec) -> float:
        """The mean over drawn counts; what it is on the expected ones of a metric that is linear in them."""
        exact = self._of_counts(spec, self._same_margins)
        if self._drawn_counts is None:
            return exact
        mean = Counts.trusted(*(np.asarray(cell).mean(0) for cell in self._drawn_counts))
        middle, found = self._of_counts(spec, mean), self._mean_of_counts(spec, self._drawn_counts)
        return exact if np.isnan(found) or or_exact(found, middle) == middle else found

    def _mean_of_counts(self, spec: MetricSpec, drawn: Counts[Array]) -> float:
        micro = spec.label is None and spec.average == "micro"
        counts = Counts.trusted(*(np.asarray(cell).sum(-1) for cell in drawn)) if micro else drawn
        means = np.atleast_1d(mean_where_defined(count_values(spec.metric, counts, spec.metric.parameters)))
        if spec.label is not None:
            return float(means[self.table.place(spec.label)])
        if micro:
            return float(means[0])
        weights = mean_weights(self.table, self._same_margins, spec.average)
        return float(np.average(means[weights > 0], weights=weights[weights > 0])) if weights.any() else nan

    @cached_property
    def _drawn_counts(self) -> Counts[Array] | None:
        if self.table.weights is not None:
            return None
        total = self.table.true.shape[0]
        true, flagged = (
            np.asarray(part).astype(np.int64)
            for part in (self.table.positives, self.table.by_label.predicted_positives)
        )
        draws = int(np.clip(_DRAWN_CELLS // max(1, len(true)), 20, 400))
        both = np.random.default_rng(0).hypergeometric(true, total - true, flagged, size=(draws, len(true)))
        return Counts.trusted(both, true - both, flagged - both, total - true - flagged + both)

    def _of_scores(self, spec: MetricSpec, place: int) -> float:
        try:
            scores = Baselines(self.table.score_table(self.table.labels[place]))
            return scores.same_margins(MetricSpec(spec.metric), CallOptions())
        except InputError:  # a label that all rows have, or none
            return nan

    def _of_pooled_scores(self, spec: MetricSpec) -> float:
        """The value of all cells together, each with the share of rows that have its label as its score."""
        shares = np.asarray(self.table.positives, np.float64) / self._total
        level = replace(self.table, scores=_of_all_rows(shares, self.table.true))
        return float(on_table(spec.metric, level, spec.options(CallOptions()), spec.metric.parameters).value)

    def _of_rows(self, spec: MetricSpec) -> float:
        options, parameters = spec.options(CallOptions()), spec.metric.parameters
        return float(np.mean([on_table(spec.metric, each, options, parameters).value for each in self._shuffled]))

    @cached_property
    def _shuffled(self) -> list[MultilabelTable]:
        n = self.table.true.shape[0]
        rng = np.random.default_rng(0)  # of its own: what else is drawn, and in which order, changes nothing
        return [self._of_other_rows(rng.permutation(n)) for _ in range(self._times)]

    @property
    def _times(self) -> int:
        """How often rows are shuffled, or coins thrown."""
        return int(np.clip(_SHUFFLED_CELLS // max(1, np.prod(self.table.true.shape)), 1, 100))

    def _of_other_rows(self, order: Array) -> MultilabelTable:
        true = self.table.true
        places: Any = DeviceArray(true.library, true.library.native(order)) if isinstance(true, DeviceArray) else order
        columns: dict[str, Any] = {
            name: None if (given := getattr(self.table, name)) is None else given[places]
            for name in ("predicted", "scores")
        }
        return replace(self.table, **columns)


def _of_all_rows(shares: Array, true: Any) -> Any:
    """A number of each label in every row, where the rows are."""
    if not isinstance(true, DeviceArray):
        return np.broadcast_to(shares, true.shape)
    library = true.library
    return DeviceArray(library, library.xp.broadcast_to(library.native(shares), true.shape))


def _is_of_rows(spec: MetricSpec) -> bool:
    """Whether it is a mean over rows, whose labels go together."""
    return spec.label is None and spec.average in (NATIVE, SAMPLES)
