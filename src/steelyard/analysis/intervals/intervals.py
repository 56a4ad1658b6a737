"""Intervals: confidence intervals of metrics, at a cost that the number of rows does not change."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy as np

from steelyard.analysis.intervals.cluster_tables import cluster_tables
from steelyard.analysis.intervals.estimand import Estimand
from steelyard.analysis.intervals.inference import ClusteredRows, Inference
from steelyard.analysis.intervals.interval_ends import IntervalSampler
from steelyard.analysis.intervals.interval_rows import IntervalRows, checked_call, label_set_estimands
from steelyard.analysis.intervals.large_tables import COUNT_DRAWS
from steelyard.analysis.intervals.planned_calls import planned_estimands
from steelyard.analysis.results.rows import Rows
from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputTypeError
from steelyard.ingest.frame_columns import FrameColumns
from steelyard.ingest.label_set_input import refuse_of_one_label
from steelyard.metrics.application import checked_parameters
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame, Rng
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.analysis.intervals.planned_rows import SamplingDesign
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.ingest.source import Source
    from steelyard.metrics.call_options import CallOptions, MetricParameters, ReadingOptions
    from steelyard.metrics.spec import SpecLike
    from steelyard.statistics.score_table import ScoreTable
    from steelyard.statistics.statistic import AnyTable, Statistic

_MOST_AT_ONCE = 20_000_000  # draws of a table at a time: four cells of 8 bytes each


@overload
def interval(
    metric: SpecLike,
    y_true: Counts | Confusion | ScoreTable | Frame | Source | ArrayLike,
    y_pred: ArrayLike | None = None,
    *,
    y_score: ArrayLike | None = None,
    level: float = 0.95,
    method: str = "auto",
    draws: int | None = None,
    rng: Rng = None,
    prevalence: PrevalenceLike | None = None,
    cluster: ArrayLike | str | None = None,
    design: str | SamplingDesign = "random",
    true: str | None = None,
    pred: str | None = None,
    score: str | Sequence[str] | None = None,
    weight: str | None = None,
    groups: ArrayLike | None = None,
    **options: Unpack[ReadingOptions],
) -> Interval: ...
@overload
def interval(
    metric: SpecLike,
    y_true: Counts[Array],
    *,
    level: float = 0.95,
    method: str = "auto",
    draws: int | None = None,
    rng: Rng = None,
    prevalence: PrevalenceLike | None = None,
    design: str | SamplingDesign = "random",
    **options: Unpack[MetricParameters],
) -> Interval[Array]: ...
@names_wrong_arguments
def interval(
    metric: SpecLike,
    y_true: Statistic | Frame | Source | ArrayLike,
    y_pred: ArrayLike | None = None,
    *,
    y_score: ArrayLike | None = None,
    level: float = 0.95,
    method: str = "auto",
    draws: int | None = None,
    rng: Rng = None,
    prevalence: PrevalenceLike | None = None,
    cluster: ArrayLike | str | None = None,
    design: str | SamplingDesign = "random",
    true: str | None = None,
    pred: str | None = None,
    score: str | Sequence[str] | None = None,
    weight: str | None = None,
    groups: ArrayLike | None = None,
    **options: Unpack[ReadingOptions],
) -> Interval[Any]:
    """The confidence interval of a metric on counts, a table, or labels and predictions or scores.

    The default draws tables from the posterior (1/2 row added to each cell of 2 x 2; of more classes a prior learnt
    from them) and holds those draws re-centred at the value too, which covers where the percentile bootstrap
    collapses; a kinked metric takes the range over the likely draws, roc_auc a score interval, other metrics of scores
    the influence of each row, and a Bayesian bootstrap where that is not known. `prevalence` reads the metric where
    that share of the rows is positive. `design` is "stratified" where so many rows of each class were chosen, or a plan
    of `label_plan`. Rows of one `cluster`, such as the patient, are not independent: give one value per row. Of a frame
    name the columns: true, pred or score, weight, cluster. The options are those of calling the metric: pos_label,
    labels, average, sample_weight, frequency, and its parameters. Rows that may have several labels each (a matrix with
    a column for each label, lists of labels, or multilabel) are drawn whole. `groups` is the former name of `cluster`.

    >>> from steelyard import Counts
    >>> interval("recall", Counts(tp=28, fn=23, fp=72, tn=2680))
    recall 54.9 % (41.4 to 68.1), 95 % posterior
    """
    return intervals(
        [metric],
        y_true,
        y_pred,
        y_score=y_score,
        level=level,
        method=method,
        draws=draws,
        rng=rng,
        prevalence=prevalence,
        cluster=_renamed_groups(cluster, groups),
        design=design,
        true=true,
        pred=pred,
        score=score,
        weight=weight,
        **options,
    )[0]


@names_wrong_arguments
def intervals(
    metrics: Iterable[SpecLike],
    y_true: Statistic | Frame | Source | ArrayLike,
    y_pred: ArrayLike | None = None,
    *,
    y_score: ArrayLike | None = None,
    level: float = 0.95,
    method: str = "auto",
    draws: int | None = None,
    rng: Rng = None,
    prevalence: PrevalenceLike | None = None,
    cluster: ArrayLike | str | None = None,
    design: str | SamplingDesign = "random",
    true: str | None = None,
    pred: str | None = None,
    score: str | Sequence[str] | None = None,
    weight: str | None = None,
    groups: ArrayLike | None = None,
    **options: Unpack[ReadingOptions],
) -> Rows[Interval]:
    """The intervals of many metrics, which share one set of draws; the arguments are those of interval.

    >>> from steelyard import Counts
    >>> intervals(["recall", "precision"], Counts(tp=28, fn=23, fp=72, tn=2680), draws=1000)[1].value
    0.28
    """
    if isinstance(metrics, str):
        raise InputTypeError(f"intervals takes a list of metrics; write [{metrics!r}], or use interval for one.")
    specs, columns = [MetricSpec.of(metric) for metric in metrics], FrameColumns(true, pred, score, weight)  # type: ignore[arg-type]  # several scores are brought
    call = checked_call({**options}, {key for spec in specs for key in spec.metric.parameters})
    for metric in (spec.metric for spec in specs):
        checked_parameters(metric, {key: value for key, value in options.items() if key in metric.parameters})
    rows = IntervalRows(y_true, y_pred, y_score, _renamed_groups(cluster, groups), columns, call)
    if not isinstance(design, str):
        plain = Inference(level, method, draws, rng, prevalence)
        return intervals_of(*planned_estimands(design, specs, rows, options, plain))
    if rows.label_sets.are_sets:
        sets, rows = rows.counted_label_sets()
        clusters = None if rows.cluster is None else ClusteredRows((), None, rows.cluster)
        inference = Inference(level, method, draws, rng, prevalence, clusters, design)
        refuse_of_one_label(design=None if design == "random" else design)
        return intervals_of(label_set_estimands(specs, sets, rows.call, {**options}), inference)
    rows = rows.brought()
    clustered = rows.clustered()
    inference = Inference(level, method, draws, rng, prevalence, clustered, design)
    every = []
    for spec, table, own in rows.of_clusters(clustered).counted(specs):
        given = {key: value for key, value in options.items() if key in spec.metric.parameters}
        every.append(Estimand(spec, table, {**spec.metric.parameters, **given}, own))
    return intervals_of(every, inference)


def _renamed_groups(cluster: ArrayLike | str | None, groups: ArrayLike | None) -> ArrayLike | str | None:
    """The clusters, under their former name as well."""
    if groups is None:
        return cluster
    warnings.warn("groups= of interval and intervals is now called cluster=.", DeprecationWarning, stacklevel=3)
    return groups


def table_intervals(
    specs: Sequence[MetricSpec], table: AnyTable, options: CallOptions, inference: Inference
) -> Rows[Interval]:
    """The intervals of metrics on one table that is counted already."""
    every = [Estimand(spec, table, spec.metric.parameters, spec.options(options)) for spec in specs]
    return intervals_of(every, inference)


def intervals_of(estimands: Sequence[Estimand], inference: Inference) -> Rows[Interval]:
    """The intervals of metrics, each on its table, by one set of draws."""
    if not estimands:
        return Rows()
    first = estimands[0].table
    draws = inference.draws or COUNT_DRAWS
    if isinstance(first, Counts) and first.shape and np.prod(first.shape) * draws > _MOST_AT_ONCE:
        return _by_blocks(estimands, first, replace(inference, draws=draws))
    clusters = None if inference.clustered is None else _cluster_tables(estimands, inference.clustered)
    return Rows(IntervalSampler(inference, clusters).intervals(estimands))


def _cluster_tables(estimands: Sequence[Estimand], rows: ClusteredRows) -> Array | None:
    """The tables of the clusters, where metrics of labels are asked for."""
    of_labels = next((each for each in estimands if isinstance(each.table, (Counts, Confusion))), None)
    if of_labels is None:
        return None
    table, options = of_labels.label_table, of_labels.options
    options = replace(options, labels=table.labels) if isinstance(table, Confusion) else options
    return cluster_tables(rows, options)


def _by_blocks(estimands: Sequence[Estimand], counts: Counts, inference: Inference) -> Rows[Interval]:
    """The intervals of very many tables, some at a time, so that their draws fit into memory."""
    flat = Counts.trusted(*(np.ravel(cell) for cell in counts))
    size = max(1, _MOST_AT_ONCE // (inference.draws or COUNT_DRAWS))
    starts = range(0, len(flat.tp), size)
    parts = [
        intervals_of(
            [replace(estimand, table=flat[start : start + size]) for estimand in estimands],
            inference.in_role("block", start) if start else inference,
        )
        for start in starts
    ]
    return Rows(_joined([part[i] for part in parts], counts.shape) for i in range(len(estimands)))


def _joined(parts: list[Interval[Any]], shape: tuple[int, ...]) -> Interval[Any]:
    value, low, high, why = (
        np.concatenate([getattr(part, key) for part in parts]).reshape(shape) for key in ("value", "low", "high", "why")
    )
    share = float(np.average([part.undefined_share for part in parts], weights=[len(part.value) for part in parts]))
    return replace(parts[0], value=value, low=low, high=high, why=why, undefined_share=share)
