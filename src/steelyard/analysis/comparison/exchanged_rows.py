"""Exchanged rows: two test sets of one classifier, whose rows within each true class could have been in either.

An unchanged classifier predicts the rows of a class alike in both, so every way of dealing them out is as likely: the
metrics of such tables show how far they differ by chance, whatever the class sizes of the two and the noise of both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.intervals.binned_scores import binned
from steelyard.analysis.intervals.draws import effective_cells
from steelyard.analysis.intervals.estimand import Estimand
from steelyard.analysis.intervals.folded_tables import class_fold
from steelyard.metrics.call_options import CallOptions
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.confusion import Confusion, merge_labels
from steelyard.statistics.label_kinds import label_texts
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from steelyard._types import Array, Label
    from steelyard.metrics.spec import MetricSpec

_MOST_SCORES = 512  # distinct scores of a class that are dealt out one by one


@dataclass(frozen=True, eq=False)
class LabelExchange:
    """The tables of labels of both test sets, in draws that exchange their rows."""

    before: Confusion
    after: Confusion
    positive: Label

    @classmethod
    def of(cls, before: Confusion, after: Confusion, positive: Label) -> LabelExchange:
        """Both with the same labels."""
        texts = label_texts(before.labels, after.labels)
        tables = [table.renamed(texts) for table in (before, after)]
        labels = merge_labels(tables[0].labels, tables[1].labels)
        named = next((label for label in labels if str(label) == str(positive)), positive)
        before, after = (table.relabelled(labels) for table in tables)
        return cls(before, after, named)

    def estimand(self, spec: MetricSpec, table: Confusion) -> Estimand:
        """The metric on one of the two."""
        options = CallOptions(pos_label=self.positive) if spec.label is None and spec.is_native else CallOptions()
        return Estimand(spec, table, spec.metric.parameters, spec.options(options))

    def observed(self, spec: MetricSpec) -> tuple[float, float]:
        """The values of both."""
        before, after = (float(self.estimand(spec, table).on(table).value) for table in (self.before, self.after))
        return before, after

    @cached_property
    def _worth(self) -> list[tuple[Array, Array]]:
        """The whole rows that each cell of both is worth, and the weight of one."""
        both = (effective_cells(table) for table in (self.before, self.after))
        return [(np.round(rows).astype(np.int64), weight) for rows, weight in both]

    def drawn(self, draws: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Both tables with the rows of each true class dealt out anew, draws on a first axis."""
        (before, _), (after, _) = self._worth
        return self._weighed(*_dealt(before, after, draws, rng))

    def after_drop(
        self, margin: float, runs: int, draws: int, rng: np.random.Generator
    ) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """Both tables of new rows where recall drops by the margin, in several runs; and the draws of each run."""
        before, after = (
            _resampled(rows.sum(1), rates, runs, rng)
            for (rows, _), rates in zip(self._worth, self._rates_after(margin), strict=True)
        )
        dealt = [_dealt(*tables, draws, rng) for tables in zip(before, after, strict=True)]
        exchanged = (np.concatenate(parts) for parts in zip(*dealt, strict=True))
        return self._weighed(before, after), self._weighed(*exchanged)

    def _weighed(self, before: Array, after: Array) -> tuple[Array, Array]:
        (_, weight_before), (_, weight_after) = self._worth
        return before * weight_before, after * weight_after

    def _rates_after(self, margin: float) -> list[Array]:
        """What each class is predicted as, before and after a drop of recall: of the positive class, or of each."""
        pooled = self._worth[0][0] + self._worth[1][0] + 1e-9
        rates = pooled / pooled.sum(1, keepdims=True)
        places = range(len(rates)) if self.positive is None else [self.before.index(self.positive)]
        lower = [_lowered(rate, i, margin) if i in places else rate for i, rate in enumerate(rates)]
        return [rates, np.stack(lower)]

    def values(self, spec: MetricSpec, cells: Array) -> Array:
        """The metric on draws of a table."""
        estimand = self.estimand(spec, self.before)
        place = estimand.positive_place
        fold = None if place is None else class_fold(place, len(self.before.labels))
        return estimand.on_cells(cells if fold is None else fold @ cells @ fold.T)


def _dealt(before: Array, after: Array, draws: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """The rows of each true class of both tables, dealt out anew between them."""
    pooled = before + after
    pairs = zip(pooled, after.sum(1), strict=True)
    dealt = np.stack([rng.multivariate_hypergeometric(cells, n, size=draws) for cells, n in pairs], axis=1)
    return pooled - dealt, dealt


def _resampled(sizes: Array, rates: Array, draws: int, rng: np.random.Generator) -> Array:
    return np.stack([rng.multinomial(n, rate, size=draws) for n, rate in zip(sizes, rates, strict=True)], axis=1)


def _lowered(rates: Array, place: int, margin: float) -> Array:
    """The predictions of a class with fewer that are right, the others in their shares."""
    right, others = rates[place], np.delete(rates, place)
    lower = max(right - margin, 0.0)
    others = others / others.sum() if others.sum() else np.full(len(others), 1 / len(others))
    return np.insert(others * (1 - lower), place, lower)


@dataclass(frozen=True, eq=False)
class ScoreExchange:
    """The tables of scores of both test sets, in draws that exchange their rows."""

    before: ScoreTable
    after: ScoreTable

    def observed(self, spec: MetricSpec) -> tuple[float, float]:
        """The values of both."""
        options, parameters = CallOptions(), spec.metric.parameters
        both = (Estimand(spec, table, parameters, options).on(table).value for table in (self.before, self.after))
        before, after = map(float, both)
        return before, after

    def drawn(self, draws: int, rng: np.random.Generator) -> tuple[ScoreTable, ScoreTable]:
        """Both tables with the rows of each class dealt out anew, draws on a first axis of the weights."""
        pooled = binned(_even(self.before) + _even(self.after), _MOST_SCORES)
        scores = np.union1d(pooled.positive.scores, pooled.negative.scores)
        sides = []
        for side, before, after in zip(pooled.classes, self.before.classes, self.after.classes, strict=True):
            rows, weight = _entry_rows(side)
            share = after.n / max(before.n + after.n, 1)
            dealt = rng.multivariate_hypergeometric(rows, round(share * rows.sum()), size=draws)
            at = np.searchsorted(scores, side.scores)
            parts = ((rows - dealt, before.total), (dealt, after.total))
            sides.append([_placed(part * weight, total, at, scores) for part, total in parts])
        tables = [ScoreTable(sides[0][i], sides[1][i], self.before.label) for i in (0, 1)]
        return tables[0], tables[1]

    def values(self, spec: MetricSpec, table: ScoreTable) -> Array:
        """The metric on draws of a table."""
        return Estimand(spec, table, spec.metric.parameters, CallOptions()).on_scores(table)


def _even(table: ScoreTable) -> ScoreTable:
    """The table with weights that are 1 on average in each class, so that two of other units can be exchanged."""
    if not table.weighted:
        return table
    scales = [side.n / side.total if side.total else 1.0 for side in table.classes]
    positive, negative = (
        ClassScores(side.scores, side.rows, side.weights * by, side.squares * by**2)
        for side, by in zip(table.classes, scales, strict=True)
    )
    return replace(table, positive=positive, negative=negative)


def _entry_rows(side: ClassScores) -> tuple[Array, Array]:
    """The rows of equal weight that those of each entry are worth, one at least, and the weight of one."""
    rows = np.maximum(np.round(side.weights**2 / side.squares), 1).astype(np.int64)
    return rows, side.weights / rows


def _placed(dealt: Array, total: float, at: Array, scores: Array) -> ClassScores:
    """What was dealt out to a class, with the weight that it has in its test set."""
    weights = np.zeros((len(dealt), len(scores)))
    sums = dealt.sum(1, keepdims=True)
    weights[:, at] = dealt * (total / np.where(sums > 0, sums, 1))
    return ClassScores(scores, weights, weights, weights)
