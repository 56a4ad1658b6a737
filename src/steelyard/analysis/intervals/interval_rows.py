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
        call = self.call
        if self.of_frame and names_class_columns(self.columns.score):
            columns = ClassColumnRows.of_frame(
                self.y_true,  # type: ignore[arg-type]  # a frame
                self.columns,
                call.frequency,
                self.cluster,
                pos_label=call.pos_label,
                labels=call.labels,
            )
            call = replace(call, pos_label=columns.positive, sample_weight=columns.weight, frequency=columns.frequency)
            return IntervalRows(columns.true, columns.pred, columns.scores, columns.cluster, FrameColumns(), call)
        if self.cluster is None or not self.of_frame or not self.columns.need_rows:
            return self
        rows = self.columns.rows(self.y_true, self.cluster, call.frequency)  # type: ignore[arg-type]  # a frame
        positive = match_label(call.pos_label, label_codes.distinct(rows.truth, "y_true")[1])
        call = replace(call, pos_label=positive, sample_weight=rows.weights, frequency=rows.frequency)
        return IntervalRows(rows.truth, rows.predicted, rows.scores, rows.clusters, FrameColumns(), call)

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
        positive = self.call.pos_label
        if positive is not None:  # as the column of the frame writes it
            positive = match_label(positive, label_codes.distinct(np.asarray(rows.y_true), "y_true")[1])
        call = replace(self.call, pos_label=positive, frequency=rows.frequency)
        return self._replace(y_true=rows.y_true, y_pred=rows.y_pred, columns=FrameColumns(), call=call)

    def counted(self, specs: Sequence[MetricSpec]) -> Iterator[tuple[MetricSpec, MetricTable, CallOptions]]:
        """Each metric with its table, counted once for labels and once for each class of scores, and its options."""
        tables: dict[tuple[bool, bool, Label], MetricTable] = {}
        tally, call = None, self.call
        if self.of_frame:
            tally, call = counted_frame(self.y_true, self.columns, call)  # type: ignore[arg-type]  # a frame
        of_both = len({spec.metric.scores is None for spec in specs}) > 1  # metrics of labels and of scores
        for spec in specs:
            options, metric = checked_options(spec, call), spec.metric
            if tally is not None:
                yield spec, _checked_table(spec, table_for(metric, tally, call), options), options
                continue
            of_columns = options.average != NATIVE or metric.columns is not None
            key = (True, of_columns, options.pos_label) if metric.scores is not None else (False, False, None)
            if key not in tables:
                predicted: ArrayLike | None
                if of_both and self.y_pred is not None and self.y_score is not None:
                    predicted = self.y_pred if metric.scores is None else self.y_score
                else:
                    predicted = application.predictions_or_scores(metric, self.y_pred, self.y_score)
                tables[key] = application.counted_once(metric, self.y_true, predicted, options if key[0] else call)
            yield spec, _checked_table(spec, tables[key], options), options


def label_set_estimands(
    specs: Sequence[MetricSpec], table: MultilabelTable, call: CallOptions, parameters: Mapping[str, Any]
) -> list[Estimand]:
    """Each metric of rows that may have several labels each, with the parameters that were given."""
    estimands = []
    for spec in specs:
        options = checked_options(spec, call)
        checked = check_label_set_metric(replace(spec, average=options.average, label=options.pos_label), table)
        requested = {key: value for key, value in parameters.items() if key in spec.metric.parameters}
        estimands.append(Estimand(checked, table, {**spec.metric.parameters, **requested}, options))
    return estimands


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
    """The options of a call without the parameters of its metrics; an unknown one is refused."""
    call = {key: value for key, value in options.items() if key not in parameters}
    refuse_groups("an interval", by=call.get("by"))
    for key in call:
        if key in ("undefined", "zero_division"):
            raise InputTypeError(f"{key}= has no place here: where a metric is undefined there is no interval.")
        if key not in _CALL_OPTIONS:
            there = f"it takes {', '.join(_CALL_OPTIONS)} and the parameters of the metric"
            raise InputTypeError(f"An interval has no option {key!r}; {there}.{did_you_mean(key, _CALL_OPTIONS)}")
    return CallOptions(**call)
