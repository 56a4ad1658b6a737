"""Evaluate label sets: rows of several labels each in, a MultilabelEvaluation out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.intervals.inference import ClusteredRows, Inference
from steelyard.analysis.results.result import Rows
from steelyard.evaluation.given_rows import cluster_sentences
from steelyard.evaluation.groups import Group
from steelyard.evaluation.inputs import TWO_THRESHOLDS
from steelyard.evaluation.label_sets.label_pairs import label_pairs
from steelyard.evaluation.label_sets.label_set_rows import (
    evaluated_labels,
    label_set_metric_rows,
    label_set_specs,
    row_outcomes,
)
from steelyard.evaluation.label_sets.multilabel_evaluation import MultilabelEvaluation
from steelyard.evaluation.verdict.sentences import muted_codes
from steelyard.exceptions import InputError, first_ten
from steelyard.ingest import arrays
from steelyard.ingest.array_groups import group_columns, group_places
from steelyard.ingest.label_set_input import refuse_of_one_label
from steelyard.ingest.label_tables import sorted_groups
from steelyard.ingest.threshold_sentences import ASSUMED_HALF, HALF
from steelyard.metrics.call_options import SAMPLES
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.device_array import DeviceArray
from steelyard.statistics.device_indicators import reached_thresholds
from steelyard.statistics.indicators import is_sparse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard._types import Array, Labels
    from steelyard.evaluation.metric_row import MetricRow
    from steelyard.ingest.label_set_input import LabelSetInput
    from steelyard.metrics.spec import SpecLike
    from steelyard.statistics.multilabel_table import MultilabelTable

_GROUP_AVERAGES = ("micro", "macro")  # shown for each group of rows, unless others are named


def evaluate_label_sets(
    given: LabelSetInput,
    *,
    threshold: Any,
    metrics: Iterable[SpecLike] | None,
    inference: Inference,
    mute: Iterable[str] | None,
    columns: dict[str, Any] | None = None,
) -> MultilabelEvaluation:
    """The evaluation of rows of several labels each."""
    refuse_of_one_label(design=None if inference.design == "random" else inference.design)
    named = given.columns.names(frequency=given.frequency, by=given.by, cluster=given.cluster)
    given = given.read_where_they_are()
    table, threshold, assumed = _thresholded(given.data, threshold)
    clustered = None if given.cluster is None else ClusteredRows((), None, given.cluster)
    inference = replace(inference, clustered=clustered)
    specs = label_set_specs(table, None if metrics is None else MetricSpec.all_of(metrics))
    rows, by_label = evaluated_labels(table, specs, inference)
    groups = _groups(table, given.by, specs if metrics is not None else _group_specs(specs), inference)
    return MultilabelEvaluation(
        Rows(row for row in rows if metrics is not None or not _is_unfit(row)),
        by_label,
        label_pairs(table, inference.level),
        row_outcomes(table),
        table.n,
        inference.level,
        threshold,
        (*assumed, *_left_out(table, specs), *cluster_sentences(given.cluster)),
        table.sample_weight is not None,
        0 if inference.rng is None else None,
        metrics is not None,
        groups,
        muted_codes(mute),
        named if columns is None else columns,
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
    cut = _cut(threshold, table.labels)
    table = replace(table, predicted=_flagged(table.true, scores, cut))
    if not isinstance(cut, float):
        return table, None, ("Each label was thresholded at a threshold of its own.",)
    return table, cut, (_HALF_TAKEN,) if threshold is None else ()


def _flagged(true: Any, scores: Array, cut: float | Array) -> Any:
    """The labels whose scores reach the threshold, as the truth has its labels."""
    if isinstance(scores, DeviceArray):
        return reached_thresholds(scores, np.asarray(cut))
    predicted: Any = (scores >= cut).astype(np.uint8)
    return type(true)(predicted) if is_sparse(true) else predicted


def _cut(threshold: Any, labels: Labels) -> float | Array:
    """The threshold of all labels, or that of each: in their order, or by label."""
    if isinstance(threshold, Mapping):
        if {*threshold} != {*labels}:
            raise InputError(f"threshold= names other labels than the data; give one for each of {first_ten(labels)}.")
        threshold = [threshold[label] for label in labels]
    try:
        cut = np.asarray(HALF if threshold is None else threshold, np.float64)
    except (TypeError, ValueError):
        cut = np.array(np.nan)
    if cut.shape not in ((), (len(labels),)) or np.isnan(cut).any():
        raise InputError(f"threshold= is a number, or one for each of {len(labels):,} labels, not {threshold!r:.60}.")
    return cut if cut.shape else float(cut)


_HALF_TAKEN = ASSUMED_HALF.partition(";")[0] + ", those of every label alike."


def _left_out(table: MultilabelTable, specs: Iterable[MetricSpec]) -> tuple[str, ...]:
    """How many rows have nothing to be right about, which means over rows leave out."""
    if table.predicted is None or all(spec.average != SAMPLES or spec.metric.function is None for spec in specs):
        return ()
    unlabelled, silent = table.by_row.positives == 0, table.by_row.predicted_positives == 0
    some = ((unlabelled, "have no labels"), (silent, "none predicted"), (unlabelled & silent, "neither"))
    counted = [(_number(table, rows), what) for rows, what in some]
    parts = [f"{number:,} {what}" for number, what in counted if number]
    about = "Means over rows (samples) leave out those where a metric is undefined"
    return (f"{about}; of {table.n:,} rows {', '.join(parts)}.",) if parts else ()


def _number(table: MultilabelTable, rows: Array) -> int:
    return int((rows if table.frequency is None else table.frequency[rows]).sum())


def _is_unfit(row: MetricRow) -> bool:
    """Whether a parameter that nobody chose, such as k of precision at k, does not fit these labels."""
    return row.spec.is_native and bool(row.spec.metric.parameters) and math.isnan(row.value)


def _group_specs(specs: list[MetricSpec]) -> list[MetricSpec]:
    usual = [spec for spec in specs if spec.average in _GROUP_AVERAGES and spec.metric.kind.is_summary]
    usual = [spec for spec in usual if "headline" in spec.metric.roles]
    return usual or [spec for spec in specs if spec.average in _GROUP_AVERAGES][:4] or specs[:4]


def _groups(table: MultilabelTable, by: Any, specs: list[MetricSpec], inference: Inference) -> Rows[Group]:
    if by is None:
        return Rows()
    columns = group_columns(by)
    for name, column in columns.items():
        if len(column) != table.true.shape[0]:
            raise InputError(f"by= has {len(column):,} values of {name!r} and there are {table.true.shape[0]:,} rows.")
    places: dict[Labels, Array] = group_places(columns)
    return Rows(
        Group(tuple(columns), key, part.n, Rows(label_set_metric_rows(part, specs, _of_group(inference, rows))))
        for key in sorted_groups(key for key in places if key)
        for rows in [places[key]]
        for part in [table.of_rows(rows)]
    )


def _of_group(inference: Inference, rows: Array) -> Inference:
    if inference.clustered is None:
        return inference
    clusters = arrays.column(inference.clustered.clusters, "cluster")[rows]
    return replace(inference, clustered=inference.clustered._replace(clusters=clusters))
