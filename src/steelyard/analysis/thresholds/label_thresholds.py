"""Label thresholds: a threshold for each label of rows that may have several, and its value on new rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard._types import Label  # noqa: TC001 - read back by its type
from steelyard.analysis.intervals.draws import dealt_folds
from steelyard.analysis.intervals.inference import ClusteredRows, Inference
from steelyard.analysis.intervals.intervals import table_intervals
from steelyard.analysis.results.formatting import three_digits
from steelyard.analysis.results.result import Result
from steelyard.analysis.thresholds.threshold_sample import threshold_of
from steelyard.arrays import checks
from steelyard.exceptions import InputError, InputTypeError, first_ten
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.multilabel_values import on_label_sets
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.values import count_values
from steelyard.tables.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from steelyard._types import Array
    from steelyard.predictions import Predictions
    from steelyard.tables.multilabel_table import MultilabelTable
    from steelyard.tables.score_table import ScoreTable


# ---------------------------------------------------------------- label search
# The threshold of each label at which a metric averaged over labels is best.
#
# A macro or weighted average is best where each label is. A micro average is that of the counts of all labels together:
# at the best thresholds each label is best by the metric's slope there, so that slope and thresholds are found in turn.
# For F and every other ratio of sums of counts this ends at the best of all thresholds, where a label is predicted if
# its probability is above F / 2 (Lipton and others 2014); for other metrics where no label alone can be improved.


_MOST_TURNS = 100
BY_LABEL = ("macro", "weighted")


@dataclass(frozen=True, eq=False)
class LabelSearch:
    """The search of thresholds for the labels of one table of scores, by one metric."""

    table: MultilabelTable
    spec: MetricSpec

    @cached_property
    def _tables(self) -> list[ScoreTable]:
        return [self.table.score_table(label) for label in self.table.labels]

    def thresholds(self) -> Array:
        """The best threshold of each label."""
        indices = self._by_label() if self.spec.average in BY_LABEL else self._together()
        pairs = zip(self._tables, indices, strict=True)
        return np.array([threshold_of(table, float(table.thresholds[index])) for table, index in pairs])

    def _by_label(self) -> list[int]:
        """The index of the best threshold of each label alone."""
        values = (count_values(self.spec.metric, table.counts, self.spec.metric.parameters) for table in self._tables)
        return [_best(self.spec.sign * value) for value in values]

    def _together(self) -> list[int]:
        """The thresholds at which the metric of all counts together is best, label by label."""
        indices = self._by_label()
        best = self._merit(indices)
        for _ in range(_MOST_TURNS):
            slope = self._slope(indices)
            moved = [_best(table.counts.tp * slope[0] + table.counts.fp * slope[1]) for table in self._tables]
            merit = self._merit(moved)
            if not merit > best:
                return indices
            indices, best = moved, merit
        return indices

    def _pooled(self, indices: list[int]) -> Counts:
        """The counts of all labels together."""
        cells = [table.counts[index] for table, index in zip(self._tables, indices, strict=True)]
        return Counts.trusted(*(float(sum(column)) for column in zip(*cells, strict=True)))

    def _merit(self, indices: list[int]) -> float:
        metric = self.spec.metric
        value = self.spec.sign * float(count_values(metric, self._pooled(indices), metric.parameters))
        return -math.inf if math.isnan(value) else value

    def _slope(self, indices: list[int]) -> tuple[float, float]:
        """By how much the metric grows with a row rightly, and with one wrongly predicted to have a label."""
        tp, fn, fp, tn = self._pooled(indices)
        size = 1e-4 * max(1.0, tp + fn)
        steps = (size, 0.0, -size)
        rightly = [Counts.trusted(tp + step, fn - step, fp, tn) for step in steps]
        wrongly = [Counts.trusted(tp, fn, fp + step, tn - step) for step in steps]
        return self._rise(rightly), self._rise(wrongly)

    def _rise(self, tables: list[Counts]) -> float:
        """How the metric grows per step over three tables, from the highest step down, by those where it is defined."""
        metric = self.spec.metric
        values = [self.spec.sign * float(count_values(metric, counts, metric.parameters)) for counts in tables]
        defined = [i for i, value in enumerate(values) if not math.isnan(value)]
        first, last = defined[0], defined[-1]
        return 0.0 if first == last else (values[first] - values[last]) / (last - first)


def _best(merits: Array) -> int:
    """The first of the best merits, at which fewest rows are flagged; where none is defined, nobody is."""
    return 0 if np.isnan(merits).all() else int(np.nanargmax(merits))


# ---------------------------------------------------------------- LabelThresholds
# A threshold for each label of rows that may have several, and their value on new rows.


@dataclass(frozen=True)
class LabelThreshold:
    """One label: the rows that have it, its threshold, and the metric of the label at it.

    `out_of_sample` is the metric by thresholds that were chosen without the row; None where that was left out.
    """

    label: Label
    positives: float
    threshold: float
    value: float
    out_of_sample: float | None

    def row(self) -> dict[str, Any]:
        """The label as a row of a table."""
        return dict(vars(self))


@dataclass(frozen=True, eq=False, repr=False)
class LabelThresholds(Result[LabelThreshold]):
    """The best thresholds of each label for a metric averaged over labels; a label is predicted at or above its own.

    `value` is that of the rows by which they were chosen, `out_of_sample` that of rows predicted by thresholds which
    were chosen without them, with its interval, and `optimism` how much the first flatters. `half_value` is that of the
    threshold 0.5 for all labels, where scores are probabilities. An infinite threshold predicts a label for nobody.
    """

    each: tuple[LabelThreshold, ...]
    metric: str
    value: float
    out_of_sample: float | None = None
    out_of_sample_interval: tuple[float, float] | None = None
    optimism: float | None = None
    half_value: float | None = None
    folds: int = 0
    level: float = 0.95

    @property
    def thresholds(self) -> dict[Label, float]:
        """The threshold of each label."""
        return {one.label: one.threshold for one in self.each}

    def predict(self, y_score: ArrayLike) -> Array:
        """Which labels are predicted for rows of scores: 1 where a score is at or above its label's threshold."""
        scores = np.asarray(y_score)
        if scores.ndim != 2 or scores.shape[1] != len(self.each):
            names = first_ten([one.label for one in self.each])
            raise InputError(f"y_score has shape {scores.shape}; these thresholds need a column for each of {names}.")
        return np.asarray(scores >= np.array([one.threshold for one in self.each]), dtype=np.int64)

    def __iter__(self) -> Iterator[LabelThreshold]:
        return iter(self.each)

    @property
    def headline(self) -> str:
        """The metric with these thresholds, on new rows, and with 0.5 for all."""
        text = f"{self.metric} {three_digits(self.value)} with a threshold for each of {len(self.each):,} labels"
        if self.out_of_sample is not None:
            bounds = self.out_of_sample_interval
            between = "" if bounds is None else f" ({three_digits(bounds[0])} to {three_digits(bounds[1])})"
            text += f"; on new rows about {three_digits(self.out_of_sample)}{between}"
        return f"{text}." if self.half_value is None else f"{text}; 0.5 for all gives {three_digits(self.half_value)}."


# ---------------------------------------------------------------- label thresholds


_FOLDS = 5


def refuse_with_label_sets(**options: object) -> None:
    """Refuse what is of one class against the rest."""
    for name, given in options.items():
        if given is not None:
            raise InputError(f"{name}= is of one column of scores; rows of several labels take a metric alone.")


def best_label_thresholds(
    p: Predictions, metric: Any, *, draws: int, level: float, rng: np.random.Generator
) -> LabelThresholds:
    """The thresholds of each label, and the value of thresholds on rows that did not choose them."""
    table, cluster = p.multilabel_table(), p.collect().given.cluster
    spec = _read_spec(metric, table)
    thresholds = LabelSearch(table, spec).thresholds()
    fitted = _predicted(table, thresholds)
    value, half, scores = _value(spec, fitted), None, table.scores
    if scores is not None and scores.min() >= 0 and scores.max() <= 1:  # they may be probabilities
        half = _value(spec, _predicted(table, np.full(len(table.labels), 0.5)))
    if not draws:
        each = _each(spec, thresholds, fitted, None)
        return LabelThresholds(each, spec.name, value, half_value=half, level=level)
    crossed = _cross_fitted(table, spec, rng, cluster)
    clustered = None if cluster is None else ClusteredRows(np.empty(0), None, checks.column(cluster, "cluster"))
    inference = Inference(level, rng=rng, clustered=clustered)
    unseen = table_intervals([spec], crossed, CallOptions(), inference)[0]
    expected, bounds = float(unseen.value), (float(unseen.low), float(unseen.high))
    optimism, each = spec.sign * (value - expected), _each(spec, thresholds, fitted, crossed)
    return LabelThresholds(each, spec.name, value, expected, bounds, optimism, half, _FOLDS, level)


def _read_spec(metric: Any, table: MultilabelTable) -> MetricSpec:
    """The metric as requested, which has to say how labels are averaged."""
    if isinstance(metric, (list, tuple, dict, np.ndarray)):
        raise InputError("Thresholds of labels are chosen by one metric, such as f1[average=macro].")
    if metric is None:
        raise InputTypeError(
            "Name the metric that the thresholds of all labels are to be best by, such as 'f1[average=macro]'."
        )
    spec = MetricSpec.of(metric)
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
    n, scores = table.true.shape[0], table.scores
    assert scores is not None  # noqa: S101 - checked before
    clusters = np.arange(n) if cluster is None else checks.column(cluster, "cluster")
    checks.check_lengths(y_true=np.empty(n), cluster=clusters)
    units = len(np.unique(clusters))
    if units < _FOLDS:
        raise InputError(f"There are {units} rows or clusters; {_FOLDS} or more are needed, or draws=0.")
    folds = dealt_folds(_rarest(table), clusters, _FOLDS, rng)
    predicted = np.zeros(scores.shape, dtype=np.uint8)
    for fold in range(_FOLDS):
        out = folds == fold
        thresholds = LabelSearch(table.of_rows(np.flatnonzero(~out)), spec).thresholds()
        predicted[out] = scores[out] >= thresholds
    return _with_predictions(table, predicted)


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
    rows = zip(fitted.labels, positives, thresholds.tolist(), values, unseen, strict=True)
    return tuple(LabelThreshold(*row) for row in rows)


def _of_labels(spec: MetricSpec, table: MultilabelTable) -> list[Any]:
    """The metric of each label."""
    return list(np.asarray(count_values(spec.metric, table.by_label, spec.metric.parameters)).tolist())
