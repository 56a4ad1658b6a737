"""Label thresholds: a threshold for each label of rows that may have several, and its value on new rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.intervals.inference import ClusteredRows, Inference
from steelyard.analysis.intervals.intervals import table_intervals
from steelyard.analysis.thresholds.label_search import BY_LABEL, LabelSearch
from steelyard.analysis.thresholds.label_thresholds_result import LabelThreshold, LabelThresholds
from steelyard.exceptions import InputError
from steelyard.ingest import arrays
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.count_values import count_values
from steelyard.metrics.multilabel_values import on_label_sets
from steelyard.metrics.registry import default_metric
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.statistics.multilabel_table import MultilabelTable

_FOLDS = 5


def refuse_with_label_sets(**options: object) -> None:
    """Refuse what is of one class against the rest."""
    for name, given in options.items():
        if given is not None:
            raise InputError(f"{name}= is of one column of scores; rows of several labels take a metric alone.")


def best_label_thresholds(
    table: MultilabelTable,
    metric: Any,
    parameters: dict[str, Any],
    *,
    resamples: int,
    level: float,
    rng: np.random.Generator,
    cluster: ArrayLike | None,
) -> LabelThresholds:
    """The thresholds of each label, and what such thresholds are worth on rows by which they were not chosen."""
    spec = _read_spec(metric, parameters, table)
    thresholds = LabelSearch(table, spec).thresholds()
    fitted = _predicted(table, thresholds)
    value, half = _value(spec, fitted), None
    if _are_probabilities(table.scores):
        half = _value(spec, _predicted(table, np.full(len(table.labels), 0.5)))
    if not resamples:
        each = _each(spec, thresholds, fitted, None)
        return LabelThresholds(each, spec.name, value, half_value=half, level=level)
    crossed = _cross_fitted(table, spec, rng, cluster)
    unseen = _interval(spec, crossed, level, rng, cluster)
    expected, ends = float(unseen.value), (float(unseen.low), float(unseen.high))
    optimism, each = spec.sign * (value - expected), _each(spec, thresholds, fitted, crossed)
    return LabelThresholds(each, spec.name, value, expected, ends, optimism, half, _FOLDS, level)


def _interval(
    spec: MetricSpec, table: MultilabelTable, level: float, rng: np.random.Generator, cluster: ArrayLike | None
) -> Interval[Any]:
    """The interval of the metric over the rows."""
    clustered = None if cluster is None else ClusteredRows(np.empty(0), None, arrays.column(cluster, "cluster"))
    return table_intervals([spec], table, CallOptions(), Inference(level, rng=rng, clustered=clustered))[0]


def _are_probabilities(scores: Array | None) -> bool:
    return scores is not None and bool(scores.min() >= 0 and scores.max() <= 1)


def _read_spec(metric: Any, parameters: dict[str, Any], table: MultilabelTable) -> MetricSpec:
    """The metric as asked, which has to say how labels are averaged."""
    if isinstance(metric, (list, tuple, dict, np.ndarray)):
        raise InputError("Thresholds of labels are chosen by one metric, such as f1[average=macro].")
    spec = MetricSpec(default_metric(), "macro") if metric is None else MetricSpec.of(metric)
    spec = replace(spec, metric=spec.metric.fixed(**parameters)) if parameters else spec
    name = spec.metric.name
    if table.scores is None:
        raise InputError("These rows have predicted labels and no scores; give y_score, a column for each label.")
    if spec.metric.function is None or not spec.sign:
        raise InputError(f"{name} is not of predicted labels of which more or fewer are better; name another metric.")
    if spec.average not in (*BY_LABEL, "micro"):
        raise InputError(
            f"Thresholds of labels are chosen by an average over labels: {name}[average=macro], "
            f"{name}[average=weighted] or {name}[average=micro]."
        )
    return spec


def _predicted(table: MultilabelTable, thresholds: Array) -> MultilabelTable:
    """The rows with the labels predicted whose scores are at or above their thresholds."""
    return _with_predictions(table, np.asarray(table.scores >= thresholds, dtype=np.uint8))


def _with_predictions(table: MultilabelTable, predicted: Array) -> MultilabelTable:
    if isinstance(table.true, np.ndarray):
        return replace(table, predicted=predicted, scores=None)
    from scipy.sparse import csr_array

    return replace(table, predicted=csr_array(predicted), scores=None)


def _cross_fitted(
    table: MultilabelTable, spec: MetricSpec, rng: np.random.Generator, cluster: ArrayLike | None
) -> MultilabelTable:
    """The rows, each predicted by thresholds that were chosen on the other folds."""
    folds, scores = _dealt(table, rng, cluster), table.scores
    assert scores is not None  # noqa: S101 - asked before
    predicted = np.zeros(scores.shape, dtype=np.uint8)
    for fold in range(_FOLDS):
        out = folds == fold
        thresholds = LabelSearch(table.of_rows(np.flatnonzero(~out)), spec).thresholds()
        predicted[out] = scores[out] >= thresholds
    return _with_predictions(table, predicted)


def _dealt(table: MultilabelTable, rng: np.random.Generator, cluster: ArrayLike | None) -> Array:
    """The fold of each row: rows of one rarest label are dealt in turn, those of one cluster together."""
    n = table.true.shape[0]
    clusters = np.arange(n) if cluster is None else arrays.column(cluster, "cluster")
    arrays.check_lengths(y_true=np.empty(n), cluster=clusters)
    _, first, of_row = np.unique(clusters, return_index=True, return_inverse=True)
    if len(first) < _FOLDS:
        raise InputError(f"There are {len(first)} rows or clusters; {_FOLDS} or more are needed, or resamples=0.")
    rarest = _rarest(table)[first]
    order = rng.permutation(len(first))
    order = order[np.argsort(rarest[order], kind="stable")]
    dealt = np.empty(len(first), dtype=np.int64)
    dealt[order] = np.arange(len(first)) % _FOLDS
    return np.asarray(dealt[of_row])


def _rarest(table: MultilabelTable) -> Array:
    """The rarest label of each row, one past the last where it has none."""
    by_rarity = np.argsort(table.positives, kind="stable")
    rank = np.argsort(by_rarity, kind="stable")
    row, column = table.true.nonzero()
    rarest = np.full(table.true.shape[0], len(rank))
    np.minimum.at(rarest, row, rank[column])
    return rarest


def _value(spec: MetricSpec, table: MultilabelTable) -> float:
    return float(on_label_sets(spec.metric, table, spec.options(CallOptions()), spec.metric.parameters).value)


def _each(
    spec: MetricSpec, thresholds: Array, fitted: MultilabelTable, crossed: MultilabelTable | None
) -> tuple[LabelThreshold, ...]:
    """A row for each label."""
    positives, values = np.asarray(fitted.positives).tolist(), _of_labels(spec, fitted)
    unseen = [None] * len(values) if crossed is None else _of_labels(spec, crossed)
    columns = zip(fitted.labels, positives, thresholds.tolist(), values, unseen, strict=True)
    return tuple(LabelThreshold(*column) for column in columns)


def _of_labels(spec: MetricSpec, table: MultilabelTable) -> list[Any]:
    """The metric of each label."""
    return list(np.asarray(count_values(spec.metric, table.by_label, spec.metric.parameters)).tolist())
