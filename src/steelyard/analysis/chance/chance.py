"""Chance: what the no-skill baselines score on the same table."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, Any, Generic, Unpack

import numpy as np

from steelyard.analysis.chance.baselines import (
    BaselineMargins,
    RandomArray,
    RandomClasses,
    RandomCounts,
    RandomOrder,
    SampleRows,
    class_baselines,
    mean_where_defined,
    or_exact,
    random_counts,
    random_order,
    rows_against_rest,
)
from steelyard.analysis.intervals.interval_rows import IntervalRows
from steelyard.analysis.results.formatting import ROUNDING, value_text
from steelyard.analysis.results.result import Flat
from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputError, SteelyardError
from steelyard.ingest.frame_columns import FrameColumns, refuse_groups
from steelyard.metrics import application
from steelyard.metrics.application import on_table
from steelyard.metrics.call_options import (
    NATIVE,
    OPTION_NAMES,
    SAMPLES,
    CallOptions,
    MetricOptions,
    undefined_or_zero_division,
)
from steelyard.metrics.count_values import count_values
from steelyard.metrics.frame_tables import counted_frame, table_for
from steelyard.metrics.multilabel_values import (
    check_label_set_metric,
    check_label_set_options,
    defined_rows,
    mean_weights,
    reads_label_scores,
    row_values,
    sample_values,
)
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.backend import backend_of
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.counts import Cell_co, Counts
from steelyard.statistics.indicators import is_sparse
from steelyard.statistics.probability_table import ProbabilityTable
from steelyard.statistics.score_order import chunks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame, Label
    from steelyard.ingest.source import Source
    from steelyard.metrics.metric import Metric
    from steelyard.metrics.spec import SpecLike
    from steelyard.statistics.multilabel_table import MultilabelTable
    from steelyard.statistics.statistic import MetricTable

    Guesses = Sequence[MetricTable | BaselineMargins | RandomCounts | RandomArray | RandomClasses | RandomOrder]


@dataclass(frozen=True, eq=False, repr=False)
class Chance(Flat, Generic[Cell_co]):
    """The no-skill baselines of one metric: a number each, or an array where the data or the average are one.

    `same_margins` is the mean over random predictions with the same margins, as far as the metric is defined on them;
    of scores over random orders of them, and of probabilities the value of one constant score for all rows.
    """

    metric: str
    same_margins: Cell_co
    majority: Cell_co
    minority: Cell_co
    coin: Cell_co

    def __repr__(self) -> str:
        values = [("same margins", self.same_margins), ("always the majority", self.majority)]
        values += [("always the minority", self.minority), ("a fair coin", self.coin)]
        try:
            share = MetricSpec.of(self.metric).is_share
        except SteelyardError:  # a custom metric that is in no registry
            share = False
        texts = [f"{words} {_digits(value, share=share)}" for words, value in values]
        return f"{self.metric} of a no-skill baseline: {', '.join(texts)}"


def _digits(value: Array | float, *, share: bool) -> str:
    if np.ndim(value) == 0:
        return value_text(float(value), share=share)
    return f"[{', '.join(_digits(each, share=share) for each in np.asarray(value))}]"


@names_wrong_arguments
def chance(
    metric: SpecLike,
    y_true: MetricTable | Frame | Source | ArrayLike,
    y_pred: ArrayLike | None = None,
    *,
    y_score: ArrayLike | None = None,
    true: str | None = None,
    pred: str | None = None,
    score: str | Sequence[str] | None = None,
    weight: str | None = None,
    **options: Unpack[MetricOptions],
) -> Chance:
    """The no-skill baselines of a metric on the same data; all else as in calling the metric.

    They are random predictions at the same prediction rate (the same margins); always the commonest class; always the
    rarest class that occurs; random predictions of each class equally often. The random ones are means of the metric:
    of two classes and of average precision exact, else over draws of a fixed seed, and with thousands of rows expected
    in every cell the metric of the expected table. With weights, and at another prevalence, the prediction rate is that
    of the table as it is read; predictions, or the order, are random over the rows that there are, and each of these
    tables is read with the weights or at the prevalence, as the metric is. How much weight random rows have is
    approximate, as a table keeps the sum and the sum of squares.
    Of rows that may have several labels each they are of each label: as often as it is predicted; always the commoner
    answer, which for most is that a row has it not; always the rarer one; half the rows. Of a frame name the columns:
    true, pred or score, weight.

    >>> from steelyard import Counts
    >>> chance("f1", Counts(tp=28, fn=23, fp=72, tn=2680))
    f1 of a no-skill baseline: same margins 0.0241, always the majority 0, always the minority 0.0357, ...
    >>> chance("accuracy", ["a", "a", "b", "c"], ["a", "b", "b", "c"])
    accuracy of a no-skill baseline: same margins 31.2 %, always the majority 50.0 %, always the minority ...
    """
    refuse_groups("chance", **options)
    spec, call = spec_and_options(metric, {**options})
    columns = FrameColumns(true, pred, score, weight)  # type: ignore[arg-type]  # or several
    rows = IntervalRows(y_true, y_pred, y_score, None, columns, call)
    numbers: list[Any]
    if rows.label_sets.are_sets:
        label_sets, rows = rows.counted_label_sets()
        spec = replace(spec, average=rows.call.average, label=rows.call.pos_label)
        numbers = list(LabelSetBaselines(label_sets).values(check_label_set_metric(spec, label_sets)))
        return Chance(spec.name, *numbers)
    rows = rows.brought()
    y_true, call = rows.y_true, rows.call
    if rows.of_frame:
        tally, call = counted_frame(y_true, columns, call)  # type: ignore[arg-type]  # a frame
        y_true = table_for(spec.metric, tally, call)
    predicted = application.predictions_or_scores(spec.metric, rows.y_pred, rows.y_score)
    table = application.counted_once(spec.metric, y_true, predicted, call)
    numbers = list(Baselines(table).values(spec.metric, call))
    return Chance(spec.name, *numbers, *[math.nan] * (4 - len(numbers)))


@dataclass(frozen=True, eq=False)
class Baselines:
    """The expected tables of the baselines on one table, made once for all metrics."""

    table: MetricTable
    _guesses: dict[int | None, tuple[Array, Guesses]] = field(default_factory=dict)

    def same_margins(self, spec: MetricSpec, options: CallOptions) -> float:
        """The value of the baseline of the same margins."""
        call, native = spec.options(options), {"average": NATIVE}
        return float(next(self.values(spec.metric, replace(call, **native) if call.average is None else call)))

    def values(self, metric: Metric, call: CallOptions) -> Iterator[Array | float]:
        """The metric on the expected table of each baseline."""
        one_class, guesses = self._expected(metric, call)
        # The options about rows are used up by now, and the positive class of a two-class table is settled.
        options: dict[str, Any] = {"undefined": call.undefined}
        if isinstance(guesses[0], (RandomClasses, ProbabilityTable)):
            options |= {"average": call.average, "pos_label": call.pos_label}
        for guess in guesses:
            if isinstance(guess, (BaselineMargins, RandomCounts, RandomArray, RandomClasses)):
                value = guess.value(metric, call)
            elif isinstance(guess, RandomOrder):
                of_orders = one_class.ndim == 0 and metric.scores
                value = guess.value(metric) if of_orders else metric(guess.constant, **options)
                value = call.replacement if np.ndim(value) == 0 and math.isnan(value) else value
            else:
                value = metric(guess, **options)
            yield rounded_to_zero(metric, np.where(one_class, math.nan, value))

    def _expected(self, metric: Metric, call: CallOptions) -> tuple[Array, Guesses]:
        """Which tables lack a class, and the expected tables of the class that the call is about."""
        table, place = self.table, None
        if isinstance(table, Confusion) and call.average == NATIVE:
            # An unclear class is refused with the numbers of the rows.
            place = application.positive_place(metric, table, call)
        if place not in self._guesses:
            rows = None
            if isinstance(table, Confusion) and place is not None:
                rows = rows_against_rest(table, place)
                table = table.one_vs_rest()[place]
            self._guesses[place] = lacks_a_class(table), _guesses(table, rows)
        return self._guesses[place]


def spec_and_options(metric: SpecLike, options: dict[str, Any]) -> tuple[MetricSpec, CallOptions]:
    """The metric with the parameters among the options, which leave them, and the options of its call."""
    spec = MetricSpec.of(metric)
    parameters = {key: options.pop(key) for key in list(options) if key not in OPTION_NAMES}
    undefined, zero_division = options.pop("undefined", math.nan), parameters.pop("zero_division", None)
    options["undefined"] = undefined_or_zero_division(undefined, zero_division)
    spec = replace(spec, metric=spec.metric.fixed(**parameters)) if parameters else spec
    return spec, spec.options(CallOptions(**options))


def collapsed(table: Confusion, pos_label: Label) -> Counts | Confusion:
    """The table of the named class against the rest, if one was named."""
    return table if pos_label is None and table.positive is None else table.counts(pos_label)


def rounded_to_zero(metric: Metric, value: Array) -> Array | float:
    """The value of a baseline, 0 where only rounding keeps it from that."""
    # Where a metric can be negative, the guess of the same margins is 0 by a difference, which floats miss by 1e-17.
    value = np.where(np.abs(value) < ROUNDING, 0.0, value) if metric.range[0] < 0 else value
    return value if value.ndim else value.item()


def lacks_a_class(table: MetricTable) -> Array:
    """Which tables of an array hold one true class or no rows; a single one is refused."""
    match table:
        case Counts():
            classes = np.stack([table.positives, table.negatives], -1)
        case Confusion():
            classes = table.matrix.sum(1)
        case ProbabilityTable():
            classes = table.class_shares
        case _:
            classes = np.stack([table.positive.total, table.negative.total], -1)
    lacking = (classes > 0).sum(-1) < 2
    if lacking.ndim == 0 and lacking:
        what = "rows of one true class only" if classes.any() else "no rows"
        raise InputError(f"The table holds {what}; a no-skill baseline needs rows of at least two classes.")
    return np.asarray(lacking)


def _guesses(table: MetricTable, rows: SampleRows | None) -> Guesses:
    """The tables of the baselines: same margins, always the majority, always the minority, a coin."""
    match table:
        case Counts():
            p, n = (np.asarray(margin, dtype=np.float64) for margin in (table.positives, table.negatives))
            common = p > n  # of equal classes the negative is called the majority
            always = (
                Counts.trusted(p * share, p * (1 - share), n * share, n * (1 - share))
                for share in (common * 1.0, ~common * 1.0)
            )
            return (random_counts(table, rows), *always, random_counts(table, rows, 0.5))
        case Confusion():
            return class_baselines(table)
        case ProbabilityTable():
            return (table.without_skill(),)
        case _:
            return (random_order(table),)


# ---------------------------------------------------------------- no-skill baselines of label sets
# Labels predicted as often as they are, whatever is true of a row.
#
# For metrics of counts the true positives of each label are drawn with its margins (for weighted rows the expected
# counts stand for them); for metrics of scores the rows of each label are in a random order. Metrics of rows, whose
# labels go together, predict the labels of another row: the mean over shuffled rows, often enough for three digits.


_DRAWN_CELLS = 200_000  # of labels, in all draws of their counts together
_SHUFFLED_CELLS = 4_000_000  # of all shuffles together, of which there are one to a hundred


@dataclass(frozen=True, eq=False)
class LabelSetBaselines:
    """The no-skill baselines of metrics on one table of label sets; predictions of other rows are shuffled once."""

    table: MultilabelTable

    def values(self, spec: MetricSpec) -> Iterator[Array | float]:
        """The baseline of the same margins, then each label by its commoner answer, its rarer one, and a fair coin."""
        if spec.label is None and spec.average is None:
            each = [[*self.values(replace(spec, average=NATIVE, label=label))] for label in self.table.labels]
            yield from np.array(each).T
            return
        yield self.value(spec)
        common = np.asarray(self.table.positives, np.float64) > self._total / 2
        for share in (common * 1.0, ~common * 1.0, np.full(len(common), 0.5)):
            yield nan if reads_label_scores(spec.metric) else self._flagged(spec, share)

    def value(self, spec: MetricSpec) -> float:
        """What a metric has where truth and prediction are independent, with the same margins."""
        options = spec.options(CallOptions())
        check_label_set_options(spec.metric, options)
        if _is_of_rows(spec):
            values = [on_table(spec.metric, table, options, spec.metric.parameters).value for table in self._shuffled]
            return float(np.mean(values))
        if spec.metric.function is not None:
            return self._of_random_counts(spec)
        if spec.label is None and spec.average == "micro":
            return self._of_pooled_scores(spec)
        labels = self.table.labels if spec.label is None else [spec.label]
        by_label = np.array([self._of_scores(spec, label) for label in labels])
        is_weighted = spec.average == "weighted"
        return _mean(by_label, np.asarray(self.table.positives, np.float64) if is_weighted else np.ones(len(by_label)))

    @property
    def _total(self) -> float:
        return float(self.table.true.shape[0] if self.table.weights is None else self.table.weights.sum())

    @cached_property
    def _same_margins(self) -> Counts[Array]:
        return self._expected(np.asarray(self.table.by_label.predicted_positives, np.float64) / self._total)

    def _expected(self, share: Array) -> Counts[Array]:
        """The expected counts of each label, predicted for such a share of the rows, whatever is true of them."""
        true, predicted = np.asarray(self.table.positives, np.float64), share * self._total
        both = true * share
        return Counts.trusted(both, true - both, predicted - both, self._total - true - predicted + both)

    def _flagged(self, spec: MetricSpec, share: Array) -> float:
        """The value where each label is predicted for such a share of the rows."""
        if not _is_of_rows(spec):
            return self._of_counts(spec, self._expected(share))
        row_weights, rng = np.asarray(self.table.row_weights), np.random.default_rng(0)
        of_row = row_values if spec.average == NATIVE else sample_values
        means = []
        for _ in range(1 if np.isin(share, (0, 1)).all() else self._times):
            parts = []
            for some in chunks(self.table.true.shape[0], max(1, _SHUFFLED_CELLS // len(share))):
                rows = self.table.of_rows(some).on_host()
                predicted = (rng.random(rows.true.shape) < share).astype(np.uint8)
                true = rows.true.toarray() if is_sparse(rows.true) else rows.true
                drawn = replace(rows, true=true, predicted=predicted)
                parts.append(of_row(spec.metric, drawn, spec.metric.parameters))
            values = np.concatenate(parts)
            means.append(_mean(values, np.where(defined_rows(values, row_weights), row_weights, 0.0)))
        return float(np.mean(means))

    def _of_counts(self, spec: MetricSpec, expected: Counts[Array]) -> float:
        """The value on the expected counts of each label."""
        counts = expected.sum() if spec.average == "micro" else expected
        values = np.atleast_1d(count_values(spec.metric, counts, spec.metric.parameters))
        return float(rounded_to_zero(spec.metric, np.asarray(self._averaged(spec, values, expected))))

    def _of_random_counts(self, spec: MetricSpec) -> float:
        """The mean over drawn counts; the value on the expected ones for a metric that is linear in them."""
        exact, drawn = self._of_counts(spec, self._same_margins), self._drawn_counts
        if drawn is None:
            return exact
        on_mean = self._of_counts(spec, Counts.trusted(*(np.asarray(cell).mean(0) for cell in drawn)))
        pooled = spec.label is None and spec.average == "micro"
        counts = Counts.trusted(*(np.asarray(cell).sum(-1) for cell in drawn)) if pooled else drawn
        means = np.atleast_1d(mean_where_defined(count_values(spec.metric, counts, spec.metric.parameters)))
        mean = self._averaged(spec, means, self._same_margins)
        return exact if np.isnan(mean) or or_exact(mean, on_mean) == on_mean else mean

    def _averaged(self, spec: MetricSpec, values: Array, counts: Counts[Array]) -> float:
        """The value of one label, of all labels' counts together, or the average over labels with these counts."""
        if spec.label is not None:
            return float(values[self.table.place(spec.label)])
        if spec.average == "micro":
            return float(values[0])
        return _mean(values, mean_weights(self.table, counts, spec.average))

    @cached_property
    def _drawn_counts(self) -> Counts[Array] | None:
        if self.table.weights is not None:
            return None
        total = self.table.true.shape[0]
        true, flagged = (
            np.asarray(part).astype(np.int64)
            for part in (self.table.positives, self.table.by_label.predicted_positives)
        )
        draws = int(np.clip(_DRAWN_CELLS // max(1, len(true)), 20, 400))
        both = np.random.default_rng(0).hypergeometric(true, total - true, flagged, size=(draws, len(true)))
        return Counts.trusted(both, true - both, flagged - both, total - true - flagged + both)

    def _of_scores(self, spec: MetricSpec, label: Label) -> float:
        try:
            return Baselines(self.table.score_table(label)).same_margins(MetricSpec(spec.metric), CallOptions())
        except InputError:  # a label that all rows have, or none
            return nan

    def _of_pooled_scores(self, spec: MetricSpec) -> float:
        """The value of all cells together, each with the share of rows that have its label as its score."""
        shares, true = np.asarray(self.table.positives, np.float64) / self._total, self.table.true
        there = backend_of(true)
        scores = there.column(there.xp.broadcast_to(there.native(shares), true.shape))
        constant = replace(self.table, scores=scores)
        return float(on_table(spec.metric, constant, spec.options(CallOptions()), spec.metric.parameters).value)

    @cached_property
    def _shuffled(self) -> list[MultilabelTable]:
        """The table with the predictions of other rows, as often as makes the mean over them known."""
        true, predicted, scores = self.table.true, self.table.predicted, self.table.scores
        rng, tables = np.random.default_rng(0), []  # its own generator: no other draw moves these
        for _ in range(self._times):
            order = backend_of(true).sent(rng.permutation(true.shape[0]))
            tables.append(
                replace(
                    self.table,
                    predicted=None if predicted is None else predicted[order],
                    scores=None if scores is None else scores[order],
                )
            )
        return tables

    @property
    def _times(self) -> int:
        """How often rows are shuffled, or coins thrown."""
        return int(np.clip(_SHUFFLED_CELLS // max(1, np.prod(self.table.true.shape)), 1, 100))


def _mean(values: Array, weights: Array) -> float:
    """The mean of the values that have weight; NaN where none has."""
    some = weights > 0
    return float(np.average(values[some], weights=weights[some])) if some.any() else nan


def _is_of_rows(spec: MetricSpec) -> bool:
    """Whether it is a mean over rows, whose labels go together."""
    return spec.label is None and spec.average in (NATIVE, SAMPLES)
