"""LabelImbalance: how unequally often the labels occur, and how many of them rows have (Charte and others 2015)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.statistics.backend import backend_of
from steelyard.statistics.indicators import is_sparse

if TYPE_CHECKING:
    from steelyard._types import Array, Labels
    from steelyard.statistics.indicators import Indicators


@dataclass(frozen=True, eq=False)
class LabelImbalance:
    """The imbalance of labels; what weights rows have is counted.

    `ratios` is the imbalance ratio of each label (IRLbl): the commonest label's rows over its own, infinite where no
    row has it; `mean_ratio` (MeanIR) and their coefficient of variation, `variation` (CVIR), are over the labels that
    occur. `cardinality` is the mean number of labels of a row, `density` that over all labels, `distinct_sets` the
    number of different sets of labels.

    >>> from steelyard.tables import multilabel
    >>> imbalance = multilabel([[1, 0], [1, 1], [1, 0]], [[1, 0], [1, 0], [1, 0]]).imbalance
    >>> imbalance.ratios.tolist(), imbalance.mean_ratio, imbalance.distinct_sets
    ([1.0, 3.0], 2.0, 2)
    """

    labels: Labels
    ratios: Array
    mean_ratio: float
    variation: float
    cardinality: float
    density: float
    distinct_sets: int


def label_imbalance(labels: Labels, true: Indicators, positives: Array, total: float) -> LabelImbalance:
    """The imbalance of the labels of rows, by the weight of the rows that have each and of all."""
    weight = np.asarray(positives, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(weight > 0, weight.max(initial=0) / weight, math.inf)
    finite = ratios[np.isfinite(ratios)]
    mean = float(finite.mean()) if len(finite) else math.nan
    spread = float(finite.std(ddof=1)) / mean if len(finite) > 1 else math.nan
    cardinality = float(weight.sum() / total) if total else math.nan
    return LabelImbalance(labels, ratios, mean, spread, cardinality, cardinality / len(labels), distinct_sets(true))


def distinct_sets(true: Indicators) -> int:
    """How many different sets of labels the rows have.

    A sum of random 64-bit numbers of the labels stands for a set: two sets share one with probability 2^-64.
    """
    keys = np.random.default_rng(0).integers(-(2**63), 2**63, true.shape[1])
    if is_sparse(true):
        running = np.append(0, np.cumsum(keys[true.indices]))
        return len(np.unique(running[true.indptr[1:]] - running[true.indptr[:-1]]))
    there, matrix = backend_of(true), backend_of(true).native(true)
    xp, own = there.xp, there.native(keys)
    none = xp.zeros_like(own)
    sums = [xp.sum(xp.where(there.booleans(matrix[part, :]), own, none), axis=1) for part in there.parts(*true.shape)]
    return int(there.unique_counts(xp.concat(sums))[0].shape[0])
