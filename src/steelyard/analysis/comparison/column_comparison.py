"""Column comparison: how far models lie apart by metrics of a column of scores for each class, on the same rows.

Of equal models (3 to 6 classes, 8 to 10 rows in the rarest of 80 to 200, alone and in 30 clusters; 300 runs) log loss,
Brier score and D2 are rejected at 5 % in 4.3 to 6.7 %, averaged areas in 1.0 to 5.0 %, top-k accuracy in 1.3 to 5.0 %.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.comparison.paired_draws import by_influence, not_judged
from steelyard.analysis.intervals.column_influence import column_influence, part_influence
from steelyard.analysis.intervals.influence_spread import ClassInfluence, RowInfluences, StudentSpread, class_spread
from steelyard.analysis.intervals.lone_clusters import unknown_variation
from steelyard.metrics.call_options import NATIVE, CallOptions
from steelyard.metrics.registry import list_metrics, metrics_with_role
from steelyard.metrics.score_values import reads_columns
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from steelyard._types import Array
    from steelyard.analysis.comparison.judged_difference import JudgedDifference
    from steelyard.analysis.comparison.paired_difference import ModelTables
    from steelyard.analysis.intervals.row_mass import RowMass
    from steelyard.statistics.probability_table import ProbabilityTable

_FEWEST = 2  # rows of a class, of which one shows no spread


def usual_column_specs(tables: Mapping[str, ProbabilityTable]) -> tuple[MetricSpec, ...]:
    """The metrics of columns that are compared unless others are named: averaged areas, then the mean losses.

    A skill is left out: it differs as the loss does of which it is the part that is removed.
    """
    proper = all(table.first_improper is None for table in tables.values())
    areas = [m for m in metrics_with_role("averaged over columns") if "compared" in m.roles]
    request = metrics_with_role("on request")
    losses = [m for m in list_metrics() if m.columns is not None and not m.is_skill_of_columns and m not in request]
    fitting = [m for m in losses if proper or not m.of_probabilities]
    return (*(MetricSpec(m, "macro") for m in areas), *map(MetricSpec, fitting))


@dataclass(frozen=True)
class ColumnRows:
    """The rows that models gave a column of scores for each class, and what each row counts for."""

    tables: Mapping[str, ProbabilityTable]
    mass: RowMass
    _influences: dict[tuple[MetricSpec, str], Array | None] = field(default_factory=dict)

    @property
    def codes(self) -> Array:
        """The place of each row's class."""
        return next(iter(self.tables.values())).codes

    def influence(self, spec: MetricSpec, model: str) -> Array | None:
        """How much each row moves the value of one model."""
        if (spec, model) not in self._influences:
            self._influences[spec, model] = _influence(spec, self.tables[model])
        return self._influences[spec, model]

    def spread(self, spec: MetricSpec, moved: Array) -> StudentSpread:
        """How far a difference scatters that the rows move so."""
        is_mean = spec.average == NATIVE and spec.label is None
        weights = np.ones(len(moved)) if self.mass.weights is None else self.mass.weights
        if self.mass.clusters is not None:
            rows = RowInfluences(moved, self._rarest, self.mass.weights, self.mass.clusters)
            return rows.spread() if is_mean else rows.cautious_spread()
        squares = weights**2 if self.mass.squares is None else self.mass.squares
        classes = [np.ones(len(moved), dtype=bool)] if is_mean else [self.codes == c for c in np.unique(self.codes)]
        return class_spread(*(ClassInfluence(moved[of], weights[of], squares[of]) for of in classes))

    @property
    def _rarest(self) -> Array:
        """Which rows are of the rarest class that has rows enough to show a spread."""
        counts = np.bincount(self.codes)
        return np.asarray(self.codes == np.argmin(np.where(counts >= _FEWEST, counts, len(self.codes) + 1)))

    def unknown_variation(self, spec: MetricSpec) -> str | None:
        """Why a difference is not judged: a class that the metric reads has one row, or is in one cluster alone."""
        if spec.average == NATIVE and spec.label is None:
            return None
        labels = next(iter(self.tables.values())).labels
        present = [place for place in range(len(labels)) if (self.codes == place).any()]
        single = [labels[place] for place in present if (self.codes == place).sum() < _FEWEST]
        if single:
            return f"class {single[0]!r} has one row, which shows no spread"
        clusters = self.mass.clusters
        if clusters is None:
            return None
        lone = [labels[place] for place in present if len(np.unique(clusters[self.codes == place])) == 1]
        return unknown_variation([f"class {label}" for label in lone]) if lone else None


def _influence(spec: MetricSpec, table: ProbabilityTable) -> Array | None:
    metric, parameters = spec.metric, spec.metric.parameters
    if spec.label is None:
        return column_influence(metric, table, spec.options(CallOptions()), parameters)
    part = table.class_tables[table.labels.index(spec.label)]
    own = part_influence(metric, part, parameters)
    if own is None:
        return None
    influence = np.zeros(len(table.codes))
    influence[np.concatenate(part.rows)] = own
    return influence


def column_differences(rows: ColumnRows, tables: ModelTables) -> Iterator[JudgedDifference]:
    """The differences of every pair of models by every metric of a column of scores for each class, tested."""
    method = "influence" if rows.mass.clusters is None else "cluster"
    for a, b in combinations(rows.tables, 2):
        for spec in (spec for spec in tables.specs if reads_columns(spec)):
            row = tables.difference(spec, a, b)
            if not np.isfinite(row.difference):
                yield not_judged(row, "a value is infinite", method)
                continue
            moved = [rows.influence(spec, model) for model in (a, b)]
            reason = rows.unknown_variation(spec)
            if reason is not None or moved[0] is None or moved[1] is None:
                yield not_judged(row, reason or f"the influence of rows on {spec.name} is not known", method)
            else:
                yield by_influence(row, rows.spread(spec, moved[0] - moved[1]), method)
