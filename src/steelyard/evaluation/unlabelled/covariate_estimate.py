"""Covariate estimate: metrics of unlabelled rows if every score still means what it meant in the reference.

This is what estimates from confidences take for granted, such as NannyML's CBPE: the share of each class in a range of
scores stays, and only how many rows are in the range has changed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.analysis.intervals.draw_ends import quantiles
from steelyard.analysis.intervals.draws import class_fold
from steelyard.analysis.intervals.estimand import Estimand
from steelyard.evaluation.unlabelled.unlabelled_rows import UnlabelledMetric
from steelyard.metrics.call_options import CallOptions

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.analysis.prevalence.label_shift import ScoreCells
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.evaluation.metric_row import MetricRow
    from steelyard.evaluation.unlabelled.reference import LabelledReference

_DRAWS = 2_000


class CovariateEstimate(NamedTuple):
    """The tables that covariate shift makes likely: as expected, and draws of them."""

    known: LabelledReference
    expected: Array
    drawn: Array
    inference: Inference

    @classmethod
    def of(cls, known: LabelledReference, cells: ScoreCells, counts: Array, inference: Inference) -> CovariateEstimate:
        """Those of so many unlabelled rows in each range."""
        return cls(known, _expected(cells, counts), _drawn(cells, counts, inference.generator), inference)

    @property
    def share_ends(self) -> Array:
        """The share of each class and the ends of its interval, a row each."""
        seen, drawn = (cells.sum(-1) / cells.sum((-1, -2))[..., None] for cells in (self.expected, self.drawn))
        low, high = np.quantile(drawn, self.inference.tails, axis=0)
        return np.stack([seen, np.minimum(low, seen), np.maximum(high, seen)], -1)

    def row(self, row: MetricRow, there: Evaluation, here: Evaluation) -> UnlabelledMetric:
        """A metric with all its values."""
        first = there.metrics_named or row in there.shown()
        reference = here[row.name].value if row.name in here else math.nan
        return UnlabelledMetric(
            row.spec, reference, row.value, row.low, row.high, *self._ends(row), undefined=row.undefined, is_first=first
        )

    def _ends(self, row: MetricRow) -> tuple[float, float, float]:
        """The value and its interval under covariate shift; none of a metric of scores or one that cannot vary."""
        if self.known.table is None or row.spec.metric.function is None or row.spec.reads_scores(self.known.scores):
            return math.nan, math.nan, math.nan
        options: dict[str, Any] = {} if self.known.positive is None else {"pos_label": self.known.positive}
        call = row.spec.options(CallOptions(**options))
        estimand = Estimand(row.spec, self.known.table, row.spec.metric.parameters, call)
        tables = [self.expected[None], self.drawn]
        if self.known.positive is None and (place := estimand.positive_place) is not None:
            fold = class_fold(place, len(self.expected))
            tables = [fold @ cells @ fold.T for cells in tables]
        value, drawn = (estimand.on_cells(cells) for cells in tables)
        low, high = (float(end) for end in quantiles(drawn, self.inference.tails))
        if low == high or math.isnan(value[0]):  # no row is predicted as some class: the draws vary nothing
            return math.nan, math.nan, math.nan
        limits = row.spec.metric.range
        return float(value[0]), max(min(low, float(value[0])), limits[0]), min(max(high, float(value[0])), limits[1])


def _expected(cells: ScoreCells, unlabelled: Array) -> Array:
    """The rows of each class, first axis, that are expected to be predicted as each class."""
    shares = cells.rows / np.maximum(cells.rows.sum(0), 1e-300)
    return _by_decision(shares * unlabelled, cells)


def _drawn(cells: ScoreCells, unlabelled: Array, rng: np.random.Generator, draws: int = _DRAWS) -> Array:
    """Draws of the same, on a first axis, with the noise of both samples: a row of prior in all in each range."""
    prior = cells.rows.sum(1, keepdims=True) / cells.rows.sum()
    mass = rng.standard_gamma(cells.rows + prior, (draws, *cells.rows.shape))
    shares = mass / np.maximum(mass.sum(1, keepdims=True), 1e-300)
    rows = rng.standard_gamma(np.maximum(unlabelled, 1e-9), (draws, len(unlabelled)))
    return _by_decision(shares * rows[:, None], cells)


def _by_decision(rows: Array, cells: ScoreCells) -> Array:
    predicted = cells.decisions[:, None] == np.arange(len(cells.rows))
    return np.asarray(rows @ predicted.astype(np.float64))
