"""Model intervals: the value of every compared model by every metric, with its own interval."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.intervals.inference import ClusteredRows, Inference
from steelyard.analysis.intervals.interval_ends import IntervalSampler
from steelyard.analysis.results.rows import Rows
from steelyard.metrics.score_values import reads_columns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steelyard._types import Array
    from steelyard.analysis.comparison.paired_difference import ModelTables
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.analysis.intervals.row_mass import RowMass


@dataclass(frozen=True)
class RowDesign:
    """What the tables of models do not keep of their rows: clusters, and class sizes that were chosen."""

    true: Array | None = None
    mass: RowMass | None = None
    labels: Mapping[str, Array] = field(default_factory=dict)
    scores: Mapping[str, Array] = field(default_factory=dict)
    fixed: Mapping[str, bool] = field(default_factory=dict)

    def inference(self, model: str, asked: Inference) -> Inference:
        """How the model's intervals are made; the draws are its own, so that they move no draws of differences."""
        own = Inference(asked.level, draws=asked.draws, design="stratified" if self.fixed.get(model) else "random")
        if self.true is None or self.mass is None or self.mass.clusters is None:
            return own
        labels, scores = self.labels.get(model), self.scores.get(model)
        rows = ClusteredRows(self.true, labels, self.mass.clusters, y_score=scores, sample_weight=self.mass.mass)
        return replace(own, clustered=rows)

    def cluster_tables(self, model: str, k: int) -> Array | None:
        """The table of each cluster, in which the mean row has weight 1; None where rows are not clustered."""
        if self.true is None or self.mass is None or self.mass.clusters is None or model not in self.labels:
            return None
        code = (self.mass.clusters.astype(np.intp) * k + self.true) * k + self.labels[model]
        tables = np.bincount(code, self.mass.mass, minlength=(int(self.mass.clusters.max()) + 1) * k * k)
        tables = tables.reshape(-1, k, k)
        weights, squares = self.mass.weights, self.mass.squares
        row_weight = 1.0 if weights is None or squares is None else squares.sum() / weights.sum()
        return np.asarray(tables[tables.any((1, 2))] / row_weight)


def model_intervals(tables: ModelTables, inference: Inference, design: RowDesign) -> dict[str, Rows[Interval]]:
    """The intervals of each model, by its name, in the order of the metrics."""
    return {
        name: _of_model(tables, name, design.inference(name, inference), design)
        for name in tables.labels or tables.scores or tables.columns or tables.label_sets
    }


def _of_model(tables: ModelTables, name: str, inference: Inference, design: RowDesign) -> Rows[Interval]:
    """Those of labels or of one column of scores by one set of draws, those of a column for each class beside it."""
    k = len(tables.labels[name].labels) if tables.labels else 0
    of_columns = [spec for spec in tables.specs if tables.columns and reads_columns(spec)]
    others = [spec for spec in tables.specs if spec not in of_columns]
    sampler = IntervalSampler(inference, design.cluster_tables(name, k))
    found = dict(zip(others, sampler.intervals([tables.estimand(spec, name) for spec in others]), strict=True))
    beside = IntervalSampler(inference).intervals([tables.estimand(spec, name) for spec in of_columns])
    found |= dict(zip(of_columns, beside, strict=True))
    return Rows(found[spec] for spec in tables.specs)
