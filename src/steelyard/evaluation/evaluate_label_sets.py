"""Evaluate label sets: rows of several labels each in, a MultilabelEvaluation out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.chance.chance import LabelSetBaselines
from steelyard.analysis.distributions import poisson_above
from steelyard.analysis.holm import holm
from steelyard.analysis.intervals.estimand import Estimand
from steelyard.analysis.intervals.inference import ClusteredRows, Inference, cluster_sentences
from steelyard.analysis.intervals.intervals import intervals_of
from steelyard.analysis.results.result import Rows
from steelyard.arrays import checks
from steelyard.arrays.backend import backend_of
from steelyard.evaluation.evaluation import Group, LabelRow, MetricRow, each_interval
from steelyard.evaluation.multilabel_evaluation import LabelPair, MultilabelEvaluation, RowOutcomes
from steelyard.evaluation.verdict.sentences import muted_codes
from steelyard.exceptions import InputError, first_ten
from steelyard.frames.decoding import sorted_groups
from steelyard.frames.groups import group_columns, group_places
from steelyard.metrics.call_options import NATIVE, SAMPLES, CallOptions
from steelyard.metrics.multilabel_values import check_label_set_metric
from steelyard.metrics.registry import get_metrics, list_metrics
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.usual import HEADLINE, ON_REQUEST, PER_CLASS, PER_CLASS_OF_SCORES
from steelyard.tables.label_sets import refuse_of_one_label
from steelyard.tables.multilabel_table import is_sparse, label_counts, meetings
from steelyard.tables.thresholding import ASSUMED_HALF, HALF, TWO_THRESHOLDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard._types import Array, Labels
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.metrics.measure import Metric
    from steelyard.metrics.spec import SpecLike
    from steelyard.predictions import Predictions
    from steelyard.tables.multilabel_table import MultilabelTable


# ---------------------------------------------------------------- label pairs
# Which label is predicted in rows that have another, which is missed there.


_MOST_PAIRS = 20
_MOST_ROWS = 2_000_000  # of which errors are paired


def label_pairs(table: MultilabelTable, level: float) -> Rows[LabelPair]:
    """The pairs that fall together in more rows than chance explains, after Holm's correction, by how many more."""
    if table.predicted is None:
        return Rows()
    n = min(table.true.shape[0], _MOST_ROWS)
    met = _pairs_on_device(table) if backend_of(table.true).is_device else _pairs_on_host(table)
    of_missed, of_false, missed, false, counts = met
    if not len(counts):
        return Rows()
    expected = of_missed[missed] * of_false[false] / n
    tests = int((of_missed > 0).sum() * (of_false > 0).sum())
    p_values = np.array(holm(poisson_above(counts, expected), tests))
    shown = np.flatnonzero(p_values <= 1 - level)
    order = shown[np.argsort(-(counts - expected)[shown], kind="stable")][:_MOST_PAIRS]
    labels = table.labels
    return Rows(
        LabelPair(labels[missed[i]], labels[false[i]], int(counts[i]), float(expected[i]), float(p_values[i]))
        for i in order
    )


def _pairs_on_host(table: MultilabelTable) -> tuple[Array, ...]:
    """How often each label is missed, and falsely predicted; and the pairs of both that meet in a row, how often.

    Of very many rows the first are read.
    """
    from scipy.sparse import csr_array

    true, predicted = (matrix[:_MOST_ROWS] for matrix in (table.true, table.predicted) if matrix is not None)
    missed: Any
    false: Any
    if is_sparse(true):
        both = true.multiply(predicted).tocsr().astype(np.int32)
        missed, false = true.astype(np.int32) - both, predicted.astype(np.int32) - both
    else:
        missed, false = csr_array((true > predicted).astype(np.int32)), csr_array((predicted > true).astype(np.int32))
    missed.eliminate_zeros()
    false.eliminate_zeros()
    together = (missed.T @ false).tocoo()  # a label that a row has falsely it cannot lack: no label meets itself
    of_missed, of_false = (
        np.bincount(errors.indices, minlength=errors.shape[1]).astype(np.float64) for errors in (missed, false)
    )
    return of_missed, of_false, together.row, together.col, together.data.astype(np.int64)


def _pairs_on_device(table: MultilabelTable) -> tuple[Array, ...]:
    """The same of rows on a device."""
    first: Any = table if table.true.shape[0] <= _MOST_ROWS else table.of_rows(slice(0, _MOST_ROWS))
    missed, false = first.true & ~first.predicted, first.predicted & ~first.true
    together = meetings(missed, false)
    rows, columns = np.nonzero(together.T)[::-1]  # label by label of those that are false, as SciPy has them
    of_missed, of_false = (label_counts(errors, errors).true.astype(np.float64) for errors in (missed, false))
    return of_missed, of_false, rows, columns, together[rows, columns]


# ---------------------------------------------------------------- label set rows
# The metrics of a table of label sets, and those of each label.


_COUNT_AVERAGES = ("micro", "macro", "weighted", SAMPLES)
_SCORE_AVERAGES = ("macro", "weighted")
_MOST_SCORES = 20_000_000  # of all labels, of which the curve of each label is taken unasked


def label_set_specs(table: MultilabelTable, named: Iterable[MetricSpec] | None) -> list[MetricSpec]:
    """The metrics that were named, each of which the data must allow, or the usual ones."""
    if named is not None:
        return [check_label_set_metric(spec, table) for spec in named]
    of_rows = [metric for metric in list_metrics() if metric.label_sets is not None and _fits(metric, table)]
    return [*(MetricSpec(metric) for metric in of_rows if metric.name not in ON_REQUEST), *_averages(table)]


def _averages(table: MultilabelTable) -> list[MetricSpec]:
    specs = [MetricSpec(metric, average) for average in _COUNT_AVERAGES for metric in get_metrics(PER_CLASS)]
    specs = [] if table.predicted is None else specs
    if table.scores is None or table.scores.size > _MOST_SCORES:
        return specs
    of_scores = get_metrics(PER_CLASS_OF_SCORES)
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
    rows = []
    for spec, interval in zip(specs, intervals[: len(specs)], strict=True):
        undefined = None if math.isfinite(interval.value) else interval.why
        bounds = (interval.value, interval.low, interval.high)
        row = MetricRow(spec, *bounds, baselines.value(spec), undefined, interval.undefined_share, interval.method)
        if undefined is None and math.isnan(interval.low):
            row = replace(row, no_interval=interval.why or "no interval")
        rows.append(row)
    return rows, _label_rows(table, intervals[len(specs) :]) if of_labels else Rows()


# ---------------------------------------------------------------- labels and rows


def _label_rows(table: MultilabelTable, intervals: Sequence[Interval[Any]]) -> Rows[LabelRow]:
    """Each label: how common it is, and its metrics."""
    rows = label_counts(table.true, table.true, table.frequency).true
    predicted = (
        None if table.predicted is None else label_counts(table.predicted, table.predicted, table.frequency).true
    )
    weights = np.asarray(table.positives, np.float64)
    total = float(table.true.shape[0] if table.weights is None else table.weights.sum())
    largest = float(weights.max(initial=0))
    by_metric = {}
    for interval in intervals:
        spec = MetricSpec(interval.spec.metric, NATIVE)
        by_metric[spec.metric.name] = each_interval(replace(interval, spec=spec))
    return Rows(
        LabelRow(
            label,
            int(rows[i]),
            None if predicted is None else int(predicted[i]),
            float(weights[i] / total),
            largest / float(weights[i]) if weights[i] else math.inf,
            {name: of_labels[i] for name, of_labels in by_metric.items()},
        )
        for i, label in enumerate(table.labels)
    )


def _label_specs(table: MultilabelTable) -> list[MetricSpec]:
    """The metrics of each label: of its counts, or where there are none of its scores."""
    names = PER_CLASS if table.predicted is not None else PER_CLASS_OF_SCORES
    return [MetricSpec(metric) for metric in get_metrics(names)]


def row_outcomes(table: MultilabelTable) -> RowOutcomes | None:
    """What happens to whole rows; None where no labels are predicted."""
    if table.predicted is None:
        return None
    counts, weights = table.by_row, table.row_weights

    def mean(values: Array) -> float:
        return float(np.average(values, weights=weights))

    return RowOutcomes(
        all_right=mean((counts.fn == 0) & (counts.fp == 0)),
        missed=mean(counts.fn > 0),
        false=mean(counts.fp > 0),
        labels_true=mean(counts.positives),
        labels_predicted=mean(counts.predicted_positives),
        labels_found=mean(counts.tp),
        without_labels=mean(counts.positives == 0),
    )


# ---------------------------------------------------------------- evaluate label sets


_GROUP_AVERAGES = ("micro", "macro")  # shown for each group of rows, unless others are named


def evaluate_label_sets(
    p: Predictions,
    *,
    metrics: Iterable[SpecLike] | None,
    inference: Inference,
    mute: Iterable[str] | None,
) -> MultilabelEvaluation:
    """The evaluation of rows of several labels each."""
    refuse_of_one_label(design=None if inference.design == "random" else inference.design)
    given = p.collect().given
    grouped = given.by is not None or given.cluster is not None
    table, threshold, assumed = _thresholded(p.collect().multilabel_table(to_host=grouped), p.given.threshold)
    clustered = None if given.cluster is None else ClusteredRows((), None, given.cluster)
    inference = replace(inference, clustered=clustered)
    specs = label_set_specs(table, None if metrics is None else MetricSpec.all_of(metrics))
    rows, by_label = evaluated_labels(table, specs, inference)
    groups = _groups(table, given.by, specs if metrics is not None else _group_specs(specs), inference)
    if metrics is None:  # a parameter that nobody chose, such as k of precision at k, may not fit these labels
        rows = [r for r in rows if not (r.spec.is_native and r.spec.metric.parameters and math.isnan(r.value))]
        rows.sort(key=lambda row: row.spec.average == NATIVE)  # rows that are right as a whole lead nowhere
    return MultilabelEvaluation(
        metrics=Rows(rows),
        per_label=by_label,
        pairs=label_pairs(table, inference.level),
        outcomes=row_outcomes(table),
        rows=table.n,
        level=inference.level,
        threshold=threshold,
        assumed=(*assumed, *_left_out(table, specs), *cluster_sentences(p)),
        weighted=table.sample_weight is not None,
        seed=0 if inference.rng is None else None,
        metrics_named=metrics is not None,
        groups=groups,
        muted=muted_codes(mute),
        columns=p.given.uses(),
    )


def _thresholded(table: MultilabelTable, threshold: Any) -> tuple[MultilabelTable, float | None, tuple[str, ...]]:
    """The table with predicted labels where scores can be thresholded, the threshold, and what was assumed."""
    if table.predicted is not None:
        if threshold is not None:
            raise InputError(TWO_THRESHOLDS)
        return table, None, ()
    scores = table.scores
    assert scores is not None  # noqa: S101 - a table has one or the other
    if threshold is None and not (scores.min() >= 0 and scores.max() <= 1):
        return table, None, ("The scores are no probabilities: metrics of predicted labels need a threshold.",)
    at = _threshold_of_labels(threshold, table.labels)
    predicted: Any = backend_of(scores).reached(scores, np.asarray(at))
    predicted = type(table.true)(predicted) if is_sparse(table.true) else predicted
    table = replace(table, predicted=predicted)
    if not isinstance(at, float):
        return table, None, ("Each label was thresholded at a threshold of its own.",)
    return table, at, (_HALF_TAKEN,) if threshold is None else ()


def _threshold_of_labels(threshold: Any, labels: Labels) -> float | Array:
    """The threshold of all labels, or that of each: in their order, or by label."""
    if isinstance(threshold, Mapping):
        if {*threshold} != {*labels}:
            raise InputError(f"threshold= names other labels than the data; give one for each of {first_ten(labels)}.")
        threshold = [threshold[label] for label in labels]
    try:
        at = np.asarray(HALF if threshold is None else threshold, np.float64)
    except (TypeError, ValueError):
        at = np.array(np.nan)
    if at.shape not in ((), (len(labels),)) or np.isnan(at).any():
        raise InputError(
            argument="threshold", expected=f"a number, or one for each of {len(labels):,} labels", given=threshold
        )
    return at if at.shape else float(at)


_HALF_TAKEN = ASSUMED_HALF.partition(";")[0] + ", those of every label alike."


def _left_out(table: MultilabelTable, specs: Iterable[MetricSpec]) -> tuple[str, ...]:
    """How many rows have nothing to be right about, which means over rows leave out."""
    if table.predicted is None or all(spec.average != SAMPLES or spec.metric.function is None for spec in specs):
        return ()
    unlabelled, silent = table.by_row.positives == 0, table.by_row.predicted_positives == 0
    parts = []
    for rows, what in (
        (unlabelled, "have no labels"),
        (silent, "none predicted"),
        (unlabelled & silent, "neither"),
    ):
        number = int((rows if table.frequency is None else table.frequency[rows]).sum())
        if number:
            parts.append(f"{number:,} {what}")
    about = "Means over rows (samples) leave out those where a metric is undefined"
    return (f"{about}; of {table.n:,} rows {', '.join(parts)}.",) if parts else ()


def _group_specs(specs: list[MetricSpec]) -> list[MetricSpec]:
    usual = [spec for spec in specs if spec.average in _GROUP_AVERAGES and spec.metric.kind.is_summary]
    usual = [spec for spec in usual if spec.metric.name in HEADLINE]
    return usual or [spec for spec in specs if spec.average in _GROUP_AVERAGES][:4] or specs[:4]


def _groups(table: MultilabelTable, by: Any, specs: list[MetricSpec], inference: Inference) -> Rows[Group]:
    if by is None:
        return Rows()
    columns = group_columns(by)
    for name, column in columns.items():
        if len(column) != table.true.shape[0]:
            raise InputError(f"by= has {len(column):,} values of {name!r} and there are {table.true.shape[0]:,} rows.")
    indices: dict[Labels, Array] = group_places(columns)
    groups = Rows[Group]()
    for key in sorted_groups(key for key in indices if key):
        part, of_group = table.of_rows(indices[key]), inference
        if inference.clustered is not None:
            clusters = checks.column(inference.clustered.clusters, "cluster")[indices[key]]
            of_group = replace(inference, clustered=inference.clustered._replace(clusters=clusters))
        groups.append(Group(tuple(columns), key, part.n, Rows(label_set_metric_rows(part, specs, of_group))))
    return groups
