"""Weighted rows: the rows of a table one by one, what a sum over them scatters by, and how many they are worth."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.distributions import student_quantile
from steelyard.exceptions import TooFewRowsError
from steelyard.ingest import arrays, label_codes
from steelyard.statistics.placed_values import sent_beside, taken

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.intervals.inference import ClusteredRows, Inference
    from steelyard.statistics.multilabel_table import MultilabelTable
    from steelyard.statistics.probability_table import ProbabilityTable


class WeightedRows(NamedTuple):
    """The rows of a table, their weights, and the cluster of each where rows are clustered."""

    weights: Array
    squares: Array
    clusters: Array | None
    level: float
    strata: Array | None = None  # the class of each row where the shares of the classes are fixed, and do not scatter

    @classmethod
    def of_table(cls, table: ProbabilityTable, inference: Inference) -> WeightedRows:
        """All rows of a table."""
        clusters = None if inference.clustered is None else _cluster_codes(inference.clustered, table.codes)
        fixed = inference.keeps_class_sizes() or inference.prevalence is not None
        return cls(table.weights, table.squares, clusters, inference.level, table.codes if fixed else None)

    @classmethod
    def of_label_sets(cls, table: MultilabelTable, inference: Inference) -> WeightedRows:
        """All rows of a table of label sets."""
        weights = table.row_weights
        squares = weights if table.sample_weight is None else weights * table.sample_weight
        clusters = None if inference.clustered is None else _cluster_codes(inference.clustered, weights)
        return cls(weights, squares, clusters, inference.level)

    def of(self, members: Array) -> WeightedRows:
        """Some of the rows."""
        clusters, strata = (None if codes is None else codes[members] for codes in (self.clusters, self.strata))
        return WeightedRows(self.weights[members], self.squares[members], clusters, self.level, strata)

    def independent(self) -> WeightedRows:
        """The same rows, of no cluster."""
        return self._replace(clusters=None)

    def moment(self, influence: Array, power: int) -> float:
        """The sum over rows, or clusters, of a power of the weight times the influence."""
        if self.strata is not None:
            sums, mass = (np.bincount(self.strata, column) for column in (self.weights * influence, self.weights))
            influence = influence - taken(sums / np.where(mass > 0, mass, 1.0), self.strata)
        if self.clusters is not None:
            return float((np.bincount(self.clusters, self.weights * influence) ** power).sum())
        if power == 2:
            return float(self.squares @ (influence * influence))
        row_weight = self.squares / np.where(self.weights > 0, self.weights, 1.0)  # of one of a frequency's rows
        return float((self.squares * row_weight ** (power - 2)) @ influence**power)

    def error(self, influence: Array) -> float:
        """The standard error of what has this influence."""
        n = self.effective_number()
        return sqrt(self.moment(influence, 2) * (n / (n - 1) if self.clusters is not None and n > 1 else 1.0))

    def effective_number(self) -> float:
        """How many rows, or clusters, of one weight are worth as much as these (Kish)."""
        if self.clusters is None:
            return float(self.weights.sum() ** 2 / self.squares.sum())
        sums = np.bincount(self.clusters, self.weights)
        return float(sums.sum() ** 2 / (sums @ sums))

    def student_reach(self, n: float) -> float:
        """How many standard errors around a mean of n hold the level; of fewer than two as if of two."""
        return float(student_quantile((1 + self.level) / 2, max(n - 1, 1.0)))


def _cluster_codes(rows: ClusteredRows, classes: Array) -> Array:
    """The cluster of each row as a number from 0 on."""
    member = arrays.column(rows.clusters, "cluster")
    arrays.check_lengths(y_true=classes, cluster=member)
    codes, clusters = label_codes.encode(member, None, "cluster")
    if len(clusters) < 2:
        raise TooFewRowsError(
            "cluster= names one cluster only; with no second one the variation between clusters is unknown."
        )
    return sent_beside(codes.astype(np.int64), classes)
