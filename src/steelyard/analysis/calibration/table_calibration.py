"""Table calibration: the calibration of one table of probabilities, and that of a column of them for each class."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.calibration.calibration_result import Calibration
from steelyard.analysis.calibration.calibration_test import calibration_test
from steelyard.analysis.calibration.reliability_curve import CurveView, reliability_curve
from steelyard.analysis.intervals.cluster_scores import ClusterScores
from steelyard.analysis.intervals.inference import ClusteredRows
from steelyard.analysis.intervals.intervals import table_intervals
from steelyard.analysis.prevalence.class_shares import positive_share_draws, positive_shares
from steelyard.analysis.prevalence.prevalence import at_prevalence
from steelyard.analysis.results.rows import Rows
from steelyard.exceptions import InputError
from steelyard.ingest import arrays
from steelyard.ingest.array_tables import score_table
from steelyard.ingest.score_matrix import counted_where_they_are, probability_table
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.ranking import check_probabilities, missing
from steelyard.metrics.registry import list_metrics
from steelyard.metrics.score_values import class_of_columns
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.placed_values import one_each, taken
from steelyard.statistics.probability_table import SUM_OFF

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.statistics.probability_table import ProbabilityTable
    from steelyard.statistics.score_table import ScoreTable

_DRAWS = 4_000  # of an estimated prevalence
_CELLS = "the probabilities of one row go wrong together, and how far that moves a calibration error is not known"


def table_calibration(table: ScoreTable, inference: Inference, view: CurveView) -> Calibration:
    """The calibration of a table of both classes."""
    check_probabilities("calibration", table)
    if len(table.bins):
        raise InputError(
            "These scores were counted in bins, and calibration needs each of them; count with exact=True."
        )
    specs = [MetricSpec.of(metric) for metric in list_metrics() if "calibration" in metric.roles]
    shifted = None if inference.prevalence is None else at_prevalence(table, inference.prevalence)
    rows = inference.clustered
    clusters = None if rows is None else ClusterScores.of(rows, table, inference)
    return Calibration(
        table_intervals(specs, table, CallOptions(), inference),
        reliability_curve(table, view, inference),
        *calibration_test(table, shifted, clusters, _logit_variance(table, inference)),
        table.n,
        table.positive.n,
        table.label,
        inference.level,
        view.strategy,
        None if inference.prevalence is None else float(positive_shares(table, inference.prevalence)),
    )


def _logit_variance(table: ScoreTable, inference: Inference) -> float:
    """Of a prevalence that is an estimate."""
    drawn = positive_share_draws(table, inference.prevalence, _DRAWS, inference.generator)
    return 0.0 if drawn is None else float(np.var(np.log(drawn) - np.log1p(-drawn)))


def columns_calibration(
    y_true: ArrayLike,
    y_score: ArrayLike,
    call: CallOptions,
    cluster: ArrayLike | None,
    inference: Inference,
    view: CurveView,
) -> Calibration:
    """One class by its column; or of several all columns together, the cells of a row clustered, and each class.

    All together is what a temperature would change; classes without a row of their own are left out of the groups.
    """
    rows = {"sample_weight": call.sample_weight, "frequency": call.frequency}
    counted = counted_where_they_are if cluster is None else probability_table
    table = counted(y_true, y_score, labels=call.labels, **rows)
    if call.pos_label is not None or len(table.labels) == 2:
        if cluster is not None:
            raise InputError("cluster= takes the probabilities of one class; give its column alone and pos_label=.")
        return table_calibration(class_of_columns(table, call.pos_label), inference, view)
    if inference.prevalence is not None:
        raise InputError("prevalence= is about one class, and there is a column for each; give pos_label=.")
    cells = _cells(table, None if cluster is None else arrays.column(cluster, "cluster"))
    together = score_table(cells.y_true, cells.y_score, sample_weight=cells.sample_weight, frequency=cells.frequency)  # type: ignore[arg-type]  # there are scores
    parts = {f"class = {part.name}": part.table for part in table.class_tables if missing(part.table) is None}
    groups = {name: table_calibration(part, inference, view) for name, part in parts.items()}
    whole = table_calibration(together, replace(inference, clustered=cells), view)
    metrics, n, k = _of_cells(whole, table), table.n, len(table.labels)
    return replace(whole, metrics=metrics, rows=n, positives=n, positive=None, groups=groups, classes=k)


def _cells(table: ProbabilityTable, cluster: Array | None) -> ClusteredRows:
    """Every column of every row as a row of its own; those of a row, or of its cluster, go together."""
    scores, k = table.probabilities.ravel(), len(table.labels)
    truth = (np.arange(k) == table.codes.reshape(-1, 1)).ravel()
    each = (np.cumsum(one_each(scores)) - 1) // k
    weight, times = (None if part is None else taken(part, each) for part in (table.sample_weight, table.frequency))
    members = each if cluster is None else taken(cluster, each)
    return ClusteredRows(truth, None, members, times, y_score=scores, sample_weight=weight)


def _of_cells(whole: Calibration, table: ProbabilityTable) -> Rows[Interval]:
    """The metrics that say something of all columns together; where an interval is missing, with the reason why."""
    summed = bool((np.abs(table.probabilities.sum(1) - 1) <= SUM_OFF).all())
    kept = (row for row in whole.metrics if not (summed and "in the large" in row.spec.metric.roles))
    return Rows(replace(row, why=_CELLS) if np.isnan(row.low) and not np.isnan(row.value) else row for row in kept)
