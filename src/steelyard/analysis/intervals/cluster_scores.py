"""Cluster scores: rows with scores in clusters, such as a patient's, and the design effects of their metrics.

The areas of clustered rows: Obuchowski (1997), Biometrics 53, 567-578.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.intervals.design import RowInfluences, RowMass, StudentSpread, score_reason
from steelyard.analysis.intervals.influence import score_influence
from steelyard.analysis.intervals.score_draws import ClassRanks, binned_rows, score_deviations
from steelyard.arrays import checks, label_codes
from steelyard.arrays.backend import backend_of, one_each, scattered, taken
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from steelyard._types import Array
    from steelyard.analysis.intervals.estimand import Estimand
    from steelyard.analysis.intervals.inference import ClusteredRows, Inference
    from steelyard.metrics.measure import Metric
    from steelyard.tables.score_table import ScoreTable


@dataclass
class ClusterScores:
    """The rows of a table of scores: which are positive, their scores, weights and clusters."""

    table: ScoreTable
    positive: Array
    scores: Array
    mass: RowMass
    _effects: dict[str, tuple[float, float]] = field(default_factory=dict)
    _changes: dict[str, Array] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: ClusteredRows, table: ScoreTable, inference: Inference) -> ClusterScores:
        """The rows behind the table, without those of no weight."""
        if inference.prevalence is not None:
            raise InputError(
                "prevalence= and cluster= cannot be given together; take the clusters at their own prevalence."
            )
        if backend_of(rows.y_score).is_device:
            return cls._on_device(rows, table)
        codes, labels = label_codes.distinct(checks.column(rows.y_true, "y_true"), "y_true")
        positive = np.array([bool(label == table.label) for label in labels])[codes]
        raw: Any = rows.y_pred if rows.y_score is None else rows.y_score  # one of them is given
        if np.ndim(raw) == 2:
            raise InputError(
                "The scores of one class of several columns have no interval by clusters; give its column alone and "
                "pos_label=."
            )
        scores = checks.finite_scores(raw)
        times = checks.weights(rows.frequency, "frequency", whole=True)
        weights = checks.weights(rows.sample_weight, "sample_weight")
        members = checks.column(rows.clusters, "cluster")
        checks.check_lengths(y_true=positive, y_score=scores, cluster=members, sample_weight=weights, frequency=times)
        if times is not None and weights is None:
            weights = np.ones(len(times))
        mass = RowMass.of_rows(times, weights, members)
        counted = np.ones(len(scores), dtype=bool) if mass.weights is None else mass.weights > 0
        return cls(table, positive[counted], scores[counted], mass.at(counted))

    @classmethod
    def _on_device(cls, rows: ClusteredRows, table: ScoreTable) -> ClusterScores:
        """The same of rows on a device, which are columns there, with codes of their clusters."""
        columns: Any = rows
        positive, weights = columns.y_true == table.label, columns.sample_weight
        if columns.frequency is not None and weights is None:
            weights = one_each(columns.y_score).astype(np.float64)
        mass = RowMass.of_codes(columns.frequency, weights, columns.clusters)
        if mass.weights is None or bool((mass.weights > 0).all()):
            return cls(table, positive, columns.y_score, mass)
        counted = mass.weights > 0
        return cls(table, positive[counted], columns.y_score[counted], mass.at(counted))

    def by_row(self, of_classes: Iterable[Array]) -> Array:
        """One column of all rows, given that of the positives and that of the negatives."""
        by_row: Array = np.zeros(())
        for rows, values in zip((self.positive, ~self.positive), of_classes, strict=True):
            by_row = by_row + scattered(values, np.flatnonzero(rows), len(self.scores))
        return by_row

    @cached_property
    def _entries(self) -> tuple[ScoreTable, list[Array]]:
        return binned_rows(self.table, ClassRanks.of(self.scores, self.positive))

    def unknown_variation(self, metric: Metric, parameters: Mapping[str, Any], *, fixed_shares: bool) -> str | None:
        """Why clusters give no interval of the metric: the positives or the negatives are of a single one."""
        return score_reason(metric, parameters, self.mass.clusters, self.positive, fixed_shares=fixed_shares)

    def widened(self, metric: Metric, parameters: Mapping[str, Any], spread: StudentSpread) -> StudentSpread:
        """The variance of independent rows times the design effect of the clusters, with their degrees of freedom."""
        key = f"{metric.name} {sorted(parameters.items())}"
        if key not in self._effects:
            self._effects[key] = self._design_effect(metric, parameters)
        effect, degrees = self._effects[key]
        return StudentSpread(spread.variance * effect, degrees)

    def _design_effect(self, metric: Metric, parameters: Mapping[str, Any]) -> tuple[float, float]:
        """The variance by clusters divided by that of independent rows, and the degrees of freedom of the clusters.

        Where rows show no variation at all, those of a cluster are taken for copies of one.
        """
        table, indices = self._entries
        influence, mass = score_influence(metric, table, parameters), self.mass
        if influence is None:
            influence, indices = (np.zeros(1), np.zeros(1)), [0 * entries for entries in indices]
        by_row = self.by_row(taken(values, entries) for values, entries in zip(influence, indices, strict=True))
        independent = RowInfluences(by_row, self.positive, mass.weights, squares=mass.squares).spread()
        clustered = RowInfluences(by_row, self.positive, mass.weights, mass.clusters).spread()
        if 0 < independent.variance < np.inf and 0 < clustered.variance < np.inf:
            return clustered.variance / independent.variance, clustered.degrees
        return self.rows_each, max(len(self.scores) / self.rows_each - 1, 1.0)

    @cached_property
    def rows_each(self) -> float:
        """The rows of a cluster: all rows divided by Kish's effective number of clusters."""
        sizes = np.bincount(self.mass.clusters, self.mass.weights)  # type: ignore[arg-type]  # clusters are given
        return len(self.scores) / float(sizes.sum() ** 2 / (sizes**2).sum())

    def drawn_values(self, estimand: Estimand, value: float, beside: Sequence[Estimand], inference: Inference) -> Array:
        """A metric without influence under random weights of whole clusters, drawn once for those asked beside it."""
        name = estimand.named.metric.name
        if name not in self._changes:
            metrics = {each.named.metric.name: each.named.metric for each in (estimand, *beside)}
            models = {"": self.scores}
            self._changes |= score_deviations([*metrics.values()], models, self.positive, self.mass, inference)[""]
        return value + self._changes[name]
