"""Class baselines: the expected tables of a no-skill predictor on a table of classes, of very many by margins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.metrics.application import ClassCells, class_values
from steelyard.metrics.class_values import NO_MATRIX
from steelyard.metrics.metric_value import MetricValue
from steelyard.statistics.confusion import Confusion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.metrics.call_options import CallOptions
    from steelyard.metrics.metric import Metric


@dataclass(frozen=True)
class BaselineMargins:
    """The expected cells of every class against the rest where predictions have these shares, whatever the truth."""

    truth: Array
    shares: Array

    def value(self, metric: Metric, call: CallOptions) -> float | Array:
        """The metric of these cells, over all classes."""
        rest, left = self.truth.sum() - self.truth, 1 - self.shares
        cells = (self.truth * self.shares, self.truth * left, rest * self.shares, rest * left)
        values = class_values(metric, ClassCells(*cells, NO_MATRIX), call, metric.parameters)
        averaged = call.average not in ("native", "micro")
        return MetricValue(values, lambda: "a class is never predicted", averaged=averaged).finished(metric, call)


def class_baselines(table: Confusion) -> Sequence[Confusion | BaselineMargins]:
    """The baselines: same margins, always the majority, always the minority, a coin."""
    truth, predicted = (table.matrix.sum(axis).astype(np.float64) for axis in (1, 0))
    k, present = len(truth), np.flatnonzero(truth)
    # The last of the rarest classes, so that equal classes have a majority and a minority that differ.
    rarest = present[::-1][truth[present][::-1].argmin()]
    shares = (_one(truth.argmax(), k), _one(rarest, k), np.full(k, 1 / k))
    if table.is_sparse:
        return tuple(BaselineMargins(truth, share) for share in (predicted / truth.sum(), *shares))
    matrices = [independent(table.matrix), *(np.outer(truth, share) for share in shares)]
    return tuple(_expected(table, matrix) for matrix in matrices)


def _one(place: int, size: int) -> Array:
    share = np.zeros(size)
    share[place] = 1.0
    return share


def independent(matrix: Array) -> Array:
    """The expected table of a random predictor with the same margins."""
    truth, predicted = (matrix.sum(axis).astype(np.float64) for axis in (1, 0))
    return np.outer(truth, predicted / truth.sum())


def _expected(table: Confusion, matrix: Array) -> Confusion:
    # The rows only show which cells are empty, lest what rounding leaves of a sum of weights be taken for one.
    return Confusion(table.labels, (matrix > 0).astype(np.int64), matrix, matrix, table.positive)
