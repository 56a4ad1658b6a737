"""Threshold rows: the input of a search for a threshold, read into the sample that is searched."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.intervals.cluster_scores import ClusterScores
from steelyard.analysis.intervals.inference import ClusteredRows, Inference
from steelyard.analysis.prevalence.prevalence import checked_prevalence
from steelyard.analysis.thresholds.threshold_sample import ClusterRows, ThresholdSample, cost_table
from steelyard.exceptions import InputError, InputTypeError
from steelyard.ingest import arrays, label_codes
from steelyard.ingest.array_tables import score_table
from steelyard.ingest.frame_columns import CLUSTERS_NEED_ROWS, FrameColumns, column_name, refuse_name
from steelyard.ingest.frame_tally import tally
from steelyard.ingest.rows import count_keys
from steelyard.ingest.source import Source
from steelyard.metrics.frame_tables import given_scores
from steelyard.statistics import score_bins
from steelyard.statistics.positive_class import CONVENTION, RARER, choice_sentences
from steelyard.statistics.score_table import ScoreTable
from steelyard.statistics.tally import Tally

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Frame, Label
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.analysis.thresholds.threshold_sample import CostAim, CostsLike, ErrorCost
    from steelyard.metrics.call_options import CallOptions

COSTS_AND_WEIGHTS = (
    "Costs by row and weights cannot be given together; give every cost as a column, a number too (cost_fp= is 1 where "
    "it is not given), each times the row's weight over the mean weight, and no weights: limits are then of rows that "
    "count alike."
)

_COSTS_AND_CLUSTERS = (
    "With cluster= a column of costs cannot be named, as its rows are fetched one by one; give y_true, y_score, "
    "cluster= and the costs as arrays."
)


@dataclass(frozen=True)
class ThresholdRows:
    """A table of scores, rows, or a frame and its columns, with the cluster of each row where there are clusters."""

    data: ScoreTable | Tally | Frame | Source | ArrayLike
    y_score: ArrayLike | None
    options: CallOptions
    columns: FrameColumns
    cluster: ArrayLike | str | None = None
    prevalence: PrevalenceLike | None = None
    stated: tuple[str, ...] = ()  # of rows that a plan chose

    def as_arrays(self) -> ThresholdRows:
        """The same with the columns of a frame as arrays, where clusters need every row."""
        if self.cluster is None:
            return self
        if isinstance(self.data, (ScoreTable, Tally)):
            raise InputTypeError(CLUSTERS_NEED_ROWS)
        if not self.columns.are_named(y_score=self.y_score, sample_weight=self.options.sample_weight):
            refuse_name("cluster", self.cluster)
            return self
        rows = self.columns.rows(self.data, self.cluster, self.options.frequency)  # type: ignore[arg-type]  # a frame
        options = replace(self.options, sample_weight=rows.weights, frequency=rows.frequency)
        return ThresholdRows(rows.truth, rows.scores, options, FrameColumns(), rows.clusters, self.prevalence)

    def table(self, *, weight: ErrorCost | None = None) -> ScoreTable:
        """The scores; with `weight` they are weighted by the costs of errors."""
        options, columns = self.options, self.columns
        if options.pos_label is None:
            options = replace(options, pos_label=CONVENTION)
        if isinstance(self.data, Tally):
            return given_scores(_table_of(self.data, weight), self.y_score, options, columns)
        if weight is not None and isinstance(self.data, ScoreTable):
            raise InputTypeError("A ScoreTable holds no costs; give the rows, or a tally that counted cost= with them.")
        if isinstance(weight, str):
            if columns.true is None:
                raise InputTypeError(f"{weight!r} names a column of costs; beside arrays give the costs, one a row.")
            counted = tally(  # with a column of costs, which may be 0 for a whole class
                self.data,  # type: ignore[arg-type]  # a frame
                true=columns.true,
                score=columns.score,
                frequency=column_name("frequency", options.frequency),
                pos_label=options.pos_label,
                labels=options.labels,
                cost=weight,
            )
            return _table_of(counted, weight)
        if weight is not None:
            if columns.true is not None:
                raise InputTypeError("Costs by row of a frame are the name of a column, not its values.")
            # Costs may be 0 for a whole class, such as amounts that only fraud has.
            rows = {name: getattr(options, name) for name in ("pos_label", "labels", "frequency")}
            return score_table(self.data, self.y_score, sample_weight=weight, **rows)  # type: ignore[arg-type]  # rows
        return given_scores(self.data, self.y_score, options, columns, single_use=weight is None)

    def sample(self, both: bool, costs: CostsLike | None) -> tuple[ThresholdSample, CostAim | None]:
        """The sample to search, and with costs by row the aim that reads them."""
        if self.prevalence is not None and np.ndim(checked_prevalence(self.prevalence)):
            raise InputError("A threshold is chosen at one prevalence; give one share of positives.")
        if costs is None:
            table = self.table()
            return ThresholdSample(table, both, self.prevalence, None, self._clusters(table)), None
        if self.cluster is not None and any(isinstance(cost, str) for cost in costs.values()):
            raise InputError(_COSTS_AND_CLUSTERS)
        if self.columns.weight is not None or self.options.sample_weight is not None:
            raise InputError(COSTS_AND_WEIGHTS)
        table = self.table()
        if table.weighted:
            raise InputError(COSTS_AND_WEIGHTS)
        weighted, aim = cost_table(costs, table, lambda column: self.table(weight=column), self.prevalence)
        return ThresholdSample(table, both, self.prevalence, weighted, self._clusters(table)), aim

    def _clusters(self, table: ScoreTable) -> ClusterRows | None:
        if self.cluster is None:
            return None
        options = self.options
        clustered = ClusteredRows(
            self.data,  # type: ignore[arg-type]  # rows, as a table is refused
            None,
            self.cluster,
            options.frequency,
            y_score=self.y_score,
            sample_weight=options.sample_weight,
        )
        rows = ClusterScores.of(clustered, table, Inference())
        mass = rows.mass.mass
        weights = np.ones(len(rows.scores)) if mass is None else np.asarray(mass, dtype=np.float64)
        clusters = np.asarray(rows.mass.clusters, dtype=np.int64)
        _, first, codes = np.unique(clusters, return_index=True, return_inverse=True)
        # Numbered as they appear, so that draws do not depend on what they are called.
        return ClusterRows(rows.positive, rows.scores, weights, np.argsort(np.argsort(first))[codes])

    def assumed(self, positive: Label) -> tuple[str, ...]:
        """Who chose the positive class, where no label named it."""
        pos_label, true = self.options.pos_label, self.columns.true
        is_assumed = pos_label is RARER or (pos_label is None and positive not in (1, True))
        if isinstance(self.data, (ScoreTable, Tally)) or not is_assumed:
            return self.stated
        # With the name of a column it is a frame.
        if true is None:
            column = arrays.column(self.data, "y_true")  # type: ignore[arg-type]  # rows
        else:
            column = count_keys(Source.of(self.data, counts=True), true=true).labels[0]  # type: ignore[arg-type]  # a frame
        return choice_sentences(pos_label, positive, label_codes.encode(column)[1])


def _table_of(counted: Tally, costs: ErrorCost | None) -> ScoreTable:
    """The scores of a tally, weighted by a column of costs where one is named."""
    if counted.scores is None:
        raise InputError("A threshold needs scores, and this tally has none; name their column with score=.")
    if costs is None:
        return counted.scores
    if not isinstance(costs, str) or costs not in counted.costs:
        there = f"it has those of {', '.join(counted.costs)}" if counted.costs else "it has none"
        raise InputError(f"The tally has no costs {costs!r}: {there}. Count them too, with tally(cost={costs!r}).")
    positive, negative = (score_bins.lowered(side, counted.scores.bins) for side in counted.costs[costs].classes)
    return replace(counted.scores, positive=positive, negative=negative)
