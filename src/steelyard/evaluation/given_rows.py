"""Given rows: those of a frame whose columns are named, of groups and of clusters, as evaluate is given them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.intervals.inference import ClusteredRows
from steelyard.evaluation.inputs import TWO_THRESHOLDS, RowOptions
from steelyard.exceptions import InputError, InputTypeError
from steelyard.ingest import arrays, label_codes
from steelyard.ingest.array_groups import group_columns, group_places, grouped_tally
from steelyard.ingest.frame_columns import CLUSTERS_NEED_ROWS, FrameColumns, refuse_name
from steelyard.ingest.label_tables import match_label
from steelyard.ingest.probability_columns import ClassColumnRows
from steelyard.ingest.source import named_columns, names_class_columns
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.counts import Counts
from steelyard.statistics.precision import as_read
from steelyard.statistics.score_table import ScoreTable
from steelyard.statistics.tally import Tally

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Frame
    from steelyard.evaluation.inputs import CountedInputs
    from steelyard.ingest.array_groups import By
    from steelyard.ingest.source import Source
    from steelyard.statistics.statistic import Statistic


class GivenRows(NamedTuple):
    """What evaluate is given: a table, rows, or a frame and the names of its columns."""

    data: Statistic | Tally | Source | Frame | ArrayLike
    y_pred: ArrayLike | None
    y_score: ArrayLike | None
    options: RowOptions
    columns: FrameColumns
    by: By | None
    cluster: ArrayLike | str | None

    @property
    def are_grouped(self) -> bool:
        """Whether the rows are in groups or in clusters."""
        return self.by is not None or self.cluster is not None

    def of_class_columns(self) -> GivenRows:
        """The same as arrays, where scores of a frame are a column for each class."""
        if not names_class_columns(self.columns.score):
            return self
        self.columns.are_named(y_pred=self.y_pred, y_score=self.y_score, sample_weight=self.options.sample_weight)
        columns = ClassColumnRows.of_frame(
            self.data,  # type: ignore[arg-type]  # a frame
            self.columns,
            self.options.frequency,
            self.cluster,
            named_columns("by", self.by),  # type: ignore[arg-type]  # refused there where it is a column
            pos_label=self.options.pos_label,
            labels=self.options.labels,
        )
        options = RowOptions(columns.positive, self.options.labels, columns.weight, columns.frequency)
        by = columns.groups or None
        return GivenRows(columns.true, columns.pred, columns.scores, options, FrameColumns(), by, columns.cluster)

    def as_arrays(self) -> GivenRows:
        """The same as arrays, where scores or weights of a frame are in clusters."""
        if self.cluster is None or not self.columns.need_rows:
            return self
        columns = self.columns.rows(self.data, self.cluster, self.options.frequency, self.by)  # type: ignore[arg-type]  # a frame
        positive = match_label(self.options.pos_label, label_codes.distinct(columns.truth, "y_true")[1])
        options = RowOptions(positive, self.options.labels, columns.weights, columns.frequency)
        by = columns.groups or None
        return GivenRows(
            columns.truth, columns.predicted, columns.scores, options, FrameColumns(), by, columns.clusters
        )

    def counted(self, *, threshold: float | None, exact: bool | None) -> Statistic | Tally | ArrayLike:
        """The frame whose columns are named, or the arrays of groups, counted; anything else as it is."""
        data, y_pred, y_score, options, columns, by, _ = self
        if columns.are_named(y_pred=y_pred, y_score=y_score, sample_weight=options.sample_weight):
            return columns.tally(
                data,  # type: ignore[arg-type]  # a frame
                pos_label=options.pos_label,
                labels=options.labels,
                frequency=options.frequency,
                by=by,  # type: ignore[arg-type]  # columns of it
                threshold=threshold,
                exact=exact,
            )
        if exact is not None:
            raise InputTypeError("exact= is about the scores of a frame; name its columns with true= and score=.")
        refuse_name("frequency", options.frequency)
        if by is None:
            return data  # type: ignore[return-value]  # no frame without names of columns
        refuse_name("by", by)
        if isinstance(data, (Counts, Confusion, ScoreTable, Tally)) or (y_pred is None and y_score is None):
            raise InputTypeError("by= names the group of each row, so give the rows: y_true with y_pred or y_score=.")
        if y_pred is not None and threshold is not None:
            raise InputError(TWO_THRESHOLDS)
        if y_score is not None:
            arrays.check_one_column(y_score)
        return grouped_tally(data, y_pred, y_score, by, **options._asdict())  # type: ignore[arg-type]  # rows

    def clustered(self) -> ClusteredRows | None:
        """The rows of each cluster, where clusters are given."""
        data, y_pred, y_score, options, columns, by, cluster = self
        if cluster is None:
            return None
        if columns.true is not None:
            return ClusteredRows(*columns.clusters(data, cluster, options.frequency, by))  # type: ignore[arg-type]  # a frame
        refuse_name("cluster", cluster)
        if y_pred is None and y_score is None:
            raise InputError(CLUSTERS_NEED_ROWS)
        groups = {}
        if by is not None:
            named = group_columns(by)
            arrays.check_lengths(y_true=arrays.column(data, "y_true"), **named)  # type: ignore[arg-type]  # rows
            groups = group_places(named)
        return ClusteredRows(data, y_pred, cluster, options.frequency, groups, y_score, options.sample_weight)  # type: ignore[arg-type]  # rows


def cluster_sentences(cluster: ArrayLike | str | None) -> tuple[str, ...]:
    """What the result states of clusters."""
    if cluster is None:
        return ()
    name = cluster if isinstance(cluster, str) else getattr(cluster, "name", None)
    return (f"The rows are clustered{f' by {name}' if name else ''}; the intervals resample whole clusters.",)


def predicted_at_threshold(
    rows: ClusteredRows | None, inputs: CountedInputs, given: ArrayLike | None
) -> ClusteredRows | None:
    """The rows with the labels that the threshold makes of their scores, where none are predicted.

    Beside labels that are taken of the `given` scores of all classes those scores stay.
    """
    scores, threshold = inputs.scores, inputs.threshold
    if rows is not None and rows.y_pred is not None and rows.y_score is None:
        return rows._replace(y_score=given)
    if rows is None or rows.y_pred is not None or inputs.table is None or scores is None or threshold is None:
        return rows
    others = [label for label in inputs.table.labels if label != scores.label]
    labels = np.array([*others[:1], scores.label, None], dtype=object)[:-1]
    codes, present = label_codes.distinct(arrays.column(rows.y_true, "y_true"), "y_true")
    positive = np.array([label == scores.label for label in present])[codes]
    flagged = arrays.finite_scores(rows.y_score) >= as_read(threshold, scores.precision)  # type: ignore[arg-type]  # they were thresholded
    return rows._replace(y_true=labels[positive.astype(np.intp)], y_pred=labels[flagged.astype(np.intp)])
