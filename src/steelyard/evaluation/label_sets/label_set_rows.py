"""Label set rows: the metrics of a table of label sets, what each label is worth, and which are confused."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.chance.chance import LabelSetBaselines
from steelyard.analysis.intervals.estimand import Estimand
from steelyard.analysis.intervals.intervals import intervals_of
from steelyard.analysis.results.result import Rows
from steelyard.evaluation.label_sets.label_row import LabelRow, RowOutcomes
from steelyard.evaluation.metric_row import MetricRow
from steelyard.metrics.call_options import NATIVE, SAMPLES, CallOptions
from steelyard.metrics.multilabel_values import check_label_set_metric
from steelyard.metrics.registry import list_metrics, metrics_with_role
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.indicators import label_counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard._types import Array
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.metrics.metric import Metric
    from steelyard.statistics.multilabel_table import MultilabelTable

_COUNT_AVERAGES = ("micro", "macro", "weighted", SAMPLES)
_SCORE_AVERAGES = ("macro", "weighted")
_MOST_SCORES = 20_000_000  # of all labels, of which the curve of each label is taken unasked


def label_set_specs(table: MultilabelTable, named: Iterable[MetricSpec] | None) -> list[MetricSpec]:
    """The metrics that were named, each of which the data must allow, or the usual ones."""
    if named is not None:
        return [check_label_set_metric(spec, table) for spec in named]
    own = [MetricSpec(metric) for metric in list_metrics() if metric.label_sets is not None and _fits(metric, table)]
    own = [spec for spec in own if not {*metrics_with_role("on request")} & {spec.metric}]
    return [*own, *_averages(table)]


def _averages(table: MultilabelTable) -> list[MetricSpec]:
    of_counts = [metric for metric in metrics_with_role("per class") if metric.function is not None]
    specs = [MetricSpec(metric, average) for average in _COUNT_AVERAGES for metric in of_counts]
    specs = [] if table.predicted is None else specs
    if table.scores is None or table.scores.size > _MOST_SCORES:
        return specs
    of_scores = [each for each in metrics_with_role("averaged over columns") if each.function is None]
    return specs + [MetricSpec(metric, average) for metric in of_scores for average in _SCORE_AVERAGES]


def _fits(metric: Metric, table: MultilabelTable) -> bool:
    """Whether the rows have what the metric's own form reads."""
    given = table.scores if metric.ranks_labels or metric.scores is not None else table.predicted
    return given is not None and not metric.is_fixed


def label_set_metric_rows(table: MultilabelTable, specs: Sequence[MetricSpec], inference: Inference) -> list[MetricRow]:
    """The rows of metrics, each beside its no-skill baseline."""
    return evaluated_labels(table, specs, inference, of_labels=False)[0]


def evaluated_labels(
    table: MultilabelTable, specs: Sequence[MetricSpec], inference: Inference, *, of_labels: bool = True
) -> tuple[list[MetricRow], Rows[LabelRow]]:
    """The rows of metrics, and each label, whose intervals the averages read as well: one set of draws for both."""
    options, each = CallOptions(), _label_specs(table) if of_labels else []
    estimands = [Estimand(spec, table, spec.metric.parameters, spec.options(options)) for spec in specs]
    estimands += [Estimand(spec, table, spec.metric.parameters, CallOptions(average=None)) for spec in each]
    intervals = intervals_of(estimands, inference)
    baselines = LabelSetBaselines(table)
    pairs = zip(specs, intervals[: len(specs)], strict=True)
    rows = [_row(spec, interval, baselines.value(spec)) for spec, interval in pairs]
    return rows, _label_rows(table, intervals[len(specs) :]) if of_labels else Rows()


def _row(spec: MetricSpec, interval: Interval[Any], baseline: float) -> MetricRow:
    undefined = None if math.isfinite(interval.value) else interval.why
    ends = (interval.value, interval.low, interval.high)
    row = MetricRow(spec, *ends, baseline, undefined, interval.undefined_share, interval.method)
    no_interval = undefined is None and math.isnan(interval.low)
    return replace(row, no_interval=interval.why or "no interval") if no_interval else row


# ---------------------------------------------------------------- labels and rows


def _label_rows(table: MultilabelTable, intervals: Sequence[Interval[Any]]) -> Rows[LabelRow]:
    """Each label: how common it is, and its metrics."""
    rows = label_counts(table.true, table.true, table.frequency).true
    predicted = (
        None if table.predicted is None else label_counts(table.predicted, table.predicted, table.frequency).true
    )
    weights, total = np.asarray(table.positives, np.float64), _total(table)
    most = float(weights.max(initial=0))
    return Rows(
        LabelRow(
            label,
            int(rows[place]),
            None if predicted is None else int(predicted[place]),
            float(weights[place] / total),
            most / float(weights[place]) if weights[place] else math.inf,
            {interval.spec.metric.name: _of_label(interval, place) for interval in intervals},
        )
        for place, label in enumerate(table.labels)
    )


def _label_specs(table: MultilabelTable) -> list[MetricSpec]:
    """The metrics of each label: of its counts, or where there are none of its scores."""
    role = "per class" if table.predicted is not None else "averaged over columns"
    has_counts = table.predicted is not None
    return [MetricSpec(metric) for metric in metrics_with_role(role) if (metric.function is not None) == has_counts]


def _of_label(interval: Interval[Any], place: int) -> Interval[Any]:
    value, low, high = (float(np.asarray(end)[place]) for end in (interval.value, interval.low, interval.high))
    why = None if interval.why is None else np.asarray(interval.why, dtype=object)[place]
    spec = MetricSpec(interval.spec.metric, NATIVE)
    return replace(interval, spec=spec, value=value, low=low, high=high, bin_error=None, why=why)


def _total(table: MultilabelTable) -> float:
    return float(table.true.shape[0] if table.weights is None else table.weights.sum())


def row_outcomes(table: MultilabelTable) -> RowOutcomes | None:
    """What happens to whole rows; None where no labels are predicted."""
    if table.predicted is None:
        return None
    counts, weights = table.by_row, table.row_weights

    def mean(values: Array) -> float:
        return float(np.average(values, weights=weights))

    wrong = (counts.fn == 0) & (counts.fp == 0), counts.fn > 0, counts.fp > 0
    return RowOutcomes(*map(mean, (*wrong, counts.positives, counts.predicted_positives)))
