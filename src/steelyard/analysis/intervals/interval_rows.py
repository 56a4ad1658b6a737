"""Interval rows: what intervals are asked of, a table, rows or the columns of a frame, counted for each metric."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.analysis.intervals.estimand import Estimand
from steelyard.analysis.intervals.inference import ClusteredRows
from steelyard.exceptions import InputError, InputTypeError, did_you_mean
from steelyard.ingest import label_codes
from steelyard.ingest.frame_columns import CLUSTERS_NEED_ROWS, FrameColumns, refuse_groups, refuse_name
from steelyard.ingest.label_set_input import LabelSetInput
from steelyard.ingest.label_tables import match_label
from steelyard.ingest.probability_columns import ClassColumnRows
from steelyard.ingest.source import names_class_columns
from steelyard.metrics import application
from steelyard.metrics.call_options import NATIVE, CallOptions
from steelyard.metrics.frame_tables import counted_frame, table_for
from steelyard.metrics.multilabel_values import check_label_set_metric
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Frame, Label
    from steelyard.ingest.source import Source
    from steelyard.metrics.metric import Metric
    from steelyard.metrics.spec import MetricSpec
    from steelyard.statistics.multilabel_table import MultilabelTable
    from steelyard.statistics.statistic import MetricTable

_CALL_OPTIONS = ("pos_label", "labels", "average", "sample_weight", "frequency")


class IntervalRows(NamedTuple):
    """What intervals were asked of: a table, rows, or the columns of a frame, and how their call is to be read."""

    y_true: MetricTable | Frame | Source | ArrayLike
    y_pred: ArrayLike | None
    y_score: ArrayLike | None
    cluster: ArrayLike | str | None
    columns: FrameColumns
    call: CallOptions

    @property
    def of_frame(self) -> bool:
        """Whether columns of a frame are named."""
        return self.columns.are_named(y_pred=self.y_pred, y_score=self.y_score, sample_weight=self.call.sample_weight)

    @property
    def label_sets(self) -> LabelSetInput:
        """The same as rows that may have several labels each."""
        call = self.call
        given = (call.labels, call.sample_weight, call.frequency, None, self.cluster)
        return LabelSetInput(self.y_true, self.y_pred, self.y_score, self.columns, *given)

    def counted_label_sets(self) -> tuple[MultilabelTable, IntervalRows]:
        """The table of rows that may have several labels each, and the clusters and options left."""
        given = self.label_sets.read_where_they_are()
        call = CallOptions(pos_label=self.call.pos_label, average=self.call.average, undefined=self.call.undefined)
        return given.data, IntervalRows(given.data, None, None, given.cluster, FrameColumns(), call)

    def brought(self) -> IntervalRows:
        """The same as arrays, where scores or weights of a frame are in clusters."""
        if self.of_frame and names_class_columns(self.columns.score):
            return self._of_class_columns()
        if self.cluster is None or not self.of_frame or not self.columns.need_rows:
            return self
        rows = self.columns.rows(self.y_true, self.cluster, self.call.frequency)  # type: ignore[arg-type]  # a frame
        positive = match_label(self.call.pos_label, label_codes.distinct(rows.truth, "y_true")[1])
        call = replace(self.call, pos_label=positive, sample_weight=rows.weights, frequency=rows.frequency)
        return IntervalRows(rows.truth, rows.predicted, rows.scores, rows.clusters, FrameColumns(), call)

    def _of_class_columns(self) -> IntervalRows:
        """The same as arrays, where scores of a frame are a column for each class."""
        call, frame = self.call, self.y_true
        asked = {"pos_label": call.pos_label, "labels": call.labels}
        rows = ClassColumnRows.of_frame(frame, self.columns, call.frequency, self.cluster, **asked)  # type: ignore[arg-type]  # a frame
        call = replace(call, pos_label=rows.positive, sample_weight=rows.weight, frequency=rows.frequency)
        return IntervalRows(rows.true, rows.pred, rows.scores, rows.cluster, FrameColumns(), call)

    def clustered(self) -> ClusteredRows | None:
        """The rows of each cluster, where clusters are given."""
        if self.cluster is None:
            return None
        if self.of_frame:
            return ClusteredRows(*self.columns.clusters(self.y_true, self.cluster, self.call.frequency))  # type: ignore[arg-type]  # a frame
        refuse_name("cluster", self.cluster)
        if self.y_pred is None and self.y_score is None:
            raise InputTypeError(CLUSTERS_NEED_ROWS)
        weights = {"y_score": self.y_score, "sample_weight": self.call.sample_weight}
        return ClusteredRows(self.y_true, self.y_pred, self.cluster, self.call.frequency, **weights)  # type: ignore[arg-type]  # rows

    def of_clusters(self, rows: ClusteredRows | None) -> IntervalRows:
        """The same as arrays, where they are the clusters of a frame: its distinct rows."""
        if rows is None or self.columns.true is None:
            return self
        call = self.call if self.call.pos_label is None else replace(self.call, pos_label=self._named(rows))
        call = replace(call, frequency=rows.frequency)
        return self._replace(y_true=rows.y_true, y_pred=rows.y_pred, columns=FrameColumns(), call=call)

    def _named(self, rows: ClusteredRows) -> Label:
        """The positive class as the column of a frame writes it."""
        return match_label(self.call.pos_label, label_codes.distinct(np.asarray(rows.y_true), "y_true")[1])

    def _predicted(self, metric: Metric, several: bool) -> ArrayLike | None:
        """The predictions or the scores, whichever the metric reads where several metrics read both."""
        if several and self.y_pred is not None and self.y_score is not None:
            return self.y_pred if metric.scores is None else self.y_score
        return application.predictions_or_scores(metric, self.y_pred, self.y_score)

    def counted(self, specs: Sequence[MetricSpec]) -> Iterator[tuple[MetricSpec, MetricTable, CallOptions]]:
        """Each metric with its table, counted once for labels and once for each class of scores, and its options."""
        tables: dict[tuple[bool, bool, Label], MetricTable] = {}
        tally, call = None, self.call
        if self.of_frame:
            tally, call = counted_frame(self.y_true, self.columns, call)  # type: ignore[arg-type]  # a frame
        for spec in specs:
            own, metric = checked_options(spec, call), spec.metric
            of_columns = own.average != NATIVE or metric.columns is not None
            key = (True, of_columns, own.pos_label) if metric.scores is not None else (False, False, None)
            if tally is not None:
                yield spec, _checked_table(spec, table_for(metric, tally, call), own), own
                continue
            if key not in tables:
                predicted = self._predicted(metric, several=len({spec.metric.scores is None for spec in specs}) > 1)
                tables[key] = application.counted_once(metric, self.y_true, predicted, own if key[0] else call)
            yield spec, _checked_table(spec, tables[key], own), own


def label_set_estimands(
    specs: Sequence[MetricSpec], table: MultilabelTable, call: CallOptions, parameters: Mapping[str, Any]
) -> list[Estimand]:
    """Each metric of rows that may have several labels each, with the parameters that were given."""
    every = []
    for spec in specs:
        own = checked_options(spec, call)
        asked = check_label_set_metric(replace(spec, average=own.average, label=own.pos_label), table)
        given = {key: value for key, value in parameters.items() if key in spec.metric.parameters}
        every.append(Estimand(asked, table, {**spec.metric.parameters, **given}, own))
    return every


def _checked_table(spec: MetricSpec, table: MetricTable, options: CallOptions) -> MetricTable:
    """The table; that of one column of scores has nothing to average."""
    if isinstance(table, ScoreTable) and options.average != NATIVE:
        raise InputError(f"{spec.name} needs one column of scores for each class, and there is one of one class.")
    return table


def checked_options(spec: MetricSpec, call: CallOptions) -> CallOptions:
    """The options of one metric; what contradicts its written form, or has no interval, is refused."""
    if spec.label is not None and call.pos_label not in (None, spec.label):
        raise InputError(f"{spec.name} and pos_label={call.pos_label!r} contradict each other; give one.")
    if spec.average != NATIVE and call.pos_label is not None:
        raise InputError(f"{spec.name} and pos_label={call.pos_label!r} contradict each other; give one.")
    return spec.options(call)


def checked_call(options: dict[str, Any], parameters: Collection[str]) -> CallOptions:
    """The options of a call, less the parameters of its metrics; one that there is not is refused."""
    call = {key: value for key, value in options.items() if key not in parameters}
    refuse_groups("an interval", by=call.get("by"))
    for key in call:
        if key in ("undefined", "zero_division"):
            raise InputTypeError(f"{key}= has no place here: where a metric is undefined there is no interval.")
        if key not in _CALL_OPTIONS:
            there = f"it takes {', '.join(_CALL_OPTIONS)} and the parameters of the metric"
            raise InputTypeError(f"An interval has no option {key!r}; {there}.{did_you_mean(key, _CALL_OPTIONS)}")
    return CallOptions(**call)
