"""Given rows: those of a frame whose columns are named, of groups and of clusters, as evaluate is given them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.inference import ClusteredRows
from steelyard.errors import InputError, InputTypeError
from steelyard.evaluation.inputs import TWO_THRESHOLDS, RowOptions
from steelyard.ingest import arrays
from steelyard.ingest.array_groups import group_columns, group_places, grouped_tally
from steelyard.ingest.frame_columns import CLUSTERS_NEED_LABELS, refuse_name
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.counts import Counts
from steelyard.statistics.score_table import ScoreTable
from steelyard.statistics.tally import Tally

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Frame
    from steelyard.ingest.array_groups import By
    from steelyard.ingest.frame_columns import FrameColumns
    from steelyard.ingest.source import Source
    from steelyard.statistics.statistic import Statistic


def counted_rows(
    data: Statistic | Tally | Source | Frame | ArrayLike,
    y_pred: ArrayLike | None,
    y_score: ArrayLike | None,
    rows: RowOptions,
    columns: FrameColumns,
    by: By | None,
    *,
    threshold: float | None,
    exact: bool | None,
) -> Statistic | Tally | ArrayLike:
    """The frame whose columns are named, or the arrays of groups, counted; anything else as it is."""
    if columns.are_named(y_pred=y_pred, y_score=y_score, sample_weight=rows.sample_weight):
        options = {"pos_label": rows.pos_label, "labels": rows.labels, "frequency": rows.frequency}
        return columns.tally(data, **options, by=by, threshold=threshold, exact=exact)  # type: ignore[arg-type]  # a frame
    if exact is not None:
        raise InputTypeError("exact= is about the scores of a frame; name its columns with true= and score=.")
    refuse_name("frequency", rows.frequency)
    if by is None:
        return data  # type: ignore[return-value]  # no frame without names of columns
    refuse_name("by", by)
    if isinstance(data, (Counts, Confusion, ScoreTable, Tally)) or (y_pred is None and y_score is None):
        raise InputTypeError("by= names the group of each row, so give the rows: y_true with y_pred or y_score=.")
    if y_pred is not None and threshold is not None:
        raise InputError(TWO_THRESHOLDS)
    if y_score is not None:
        arrays.check_one_column(y_score)
    return grouped_tally(data, y_pred, y_score, by, **rows._asdict())  # type: ignore[arg-type]  # rows


def clustered_rows(
    data: Statistic | Tally | Source | Frame | ArrayLike,
    y_pred: ArrayLike | None,
    y_score: ArrayLike | None,
    rows: RowOptions,
    columns: FrameColumns,
    cluster: ArrayLike | str | None,
    by: By | None,
) -> tuple[ClusteredRows | None, tuple[str, ...]]:
    """The rows of each cluster, where clusters are given, and the sentence that says so."""
    if cluster is None:
        return None, ()
    name = cluster if isinstance(cluster, str) else getattr(cluster, "name", None)
    sentence = f"The rows are clustered{f' by {name}' if name else ''}; the intervals resample whole clusters."
    if columns.true is not None:
        return ClusteredRows(*columns.clusters(data, cluster, rows.frequency, by)), (sentence,)  # type: ignore[arg-type]  # a frame
    refuse_name("cluster", cluster)
    if y_pred is None:
        raise InputError(CLUSTERS_NEED_LABELS)
    if y_score is not None or rows.sample_weight is not None:
        raise InputError("cluster= is for unweighted predicted labels here; leave y_score= and sample_weight= out.")
    groups = {}
    if by is not None:
        named = group_columns(by)
        arrays.check_lengths(y_true=arrays.column(data, "y_true"), **named)  # type: ignore[arg-type]  # rows
        groups = group_places(named)
    return ClusteredRows(data, y_pred, cluster, rows.frequency, groups), (sentence,)  # type: ignore[arg-type]  # rows
