"""Chance: what the no-skill baselines score on the same table."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, Any, Generic, Unpack, overload

import numpy as np

from steelyard._names import moved
from steelyard.analysis.chance.baselines import (
    FEWEST_READ,
    BaselineMargins,
    RandomArray,
    RandomClasses,
    RandomCounts,
    RandomOrder,
    SampleRows,
    class_baselines,
    mean_where_defined,
    or_exact,
    percentile_where_defined,
    random_counts,
    random_order,
    rows_against_rest,
)
from steelyard.analysis.intervals.draws import generator
from steelyard.analysis.intervals.inference import Inference
from steelyard.analysis.prevalence.prevalence import table_at
from steelyard.analysis.results.formatting import ROUNDING, value_text
from steelyard.analysis.results.result import Flat
from steelyard.arrays.backend import backend_of
from steelyard.arrays.sorting import chunks
from steelyard.exceptions import InputError, SteelyardError
from steelyard.metrics.application import on_table
from steelyard.metrics.asked_tables import asked_table, assumed_choices
from steelyard.metrics.call_options import (
    NATIVE,
    SAMPLES,
    CallOptions,
)
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
from steelyard.metrics.values import count_values, positive_place
from steelyard.predictions import Predictions, question, refuse_unused
from steelyard.tables.confusion import Confusion
from steelyard.tables.counts import Cell_co, Counts
from steelyard.tables.label_sets import refuse_of_one_label
from steelyard.tables.multilabel_table import is_sparse
from steelyard.tables.probability_table import ProbabilityTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label, Rng
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.metrics.measure import Metric
    from steelyard.metrics.spec import SpecLike
    from steelyard.predictions import RowOptions, RowsLike
    from steelyard.tables.multilabel_table import MultilabelTable
    from steelyard.tables.statistic import MetricTable

    Guesses = Sequence[MetricTable | BaselineMargins | RandomCounts | RandomArray | RandomClasses | RandomOrder]


@dataclass(frozen=True, eq=False, repr=False)
class Chance(Flat, Generic[Cell_co]):
    """The no-skill baselines of one metric: a number each, or an array where the data or the average are one.

    `value` is the mean over random predictions with the same margins, or over random orders of the same scores, as far
    as the metric is defined on them; of probabilities that of one constant score for all rows. One in twenty of these
    reaches `p95`: their 95th percentile, or the 5th where less is better; NaN where too few can be drawn to know it.
    `method` says how the mean is found. The others predict always the commonest class, always the rarest one that
    occurs, and each class equally often at random.
    """

    metric: str
    value: Cell_co
    p95: Cell_co
    method: str
    majority: Cell_co
    minority: Cell_co
    coin: Cell_co
    assumed: tuple[str, ...] = ()

    if not TYPE_CHECKING:  # to which a name that is gone is no name at all

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(moved(f"Chance.{name}") or f"A Chance has no {name!r}.")

    def __repr__(self) -> str:
        try:
            share = MetricSpec.of(self.metric).is_share
        except SteelyardError:  # a custom metric that is in no registry
            share = False
        words = {"always the majority": self.majority, "always the minority": self.minority, "a fair coin": self.coin}
        is_of_labels = not all(np.isnan(value).all() for value in words.values())
        texts = [f", {name} {_digits(value, share=share)}" for name, value in words.items() if is_of_labels]
        p95 = "" if np.isnan(self.p95).all() else f" (95th percentile {_digits(self.p95, share=share)})"
        return f"{self.metric} of a no-skill baseline: {_digits(self.value, share=share)}{p95}{''.join(texts)}"


def _digits(value: Array | float, *, share: bool) -> str:
    if np.ndim(value) == 0:
        return value_text(float(value), share=share)
    return f"[{', '.join(_digits(each, share=share) for each in np.asarray(value))}]"


@overload
def chance(
    metric: SpecLike,
    data: Counts[Array],
    /,
    *,
    prevalence: PrevalenceLike | None = None,
    draws: int | None = None,
    rng: Rng = None,
) -> Chance[Array]: ...
@overload
def chance(
    metric: SpecLike,
    data: RowsLike = None,
    predicted: ArrayLike | None = None,
    /,
    *,
    prevalence: PrevalenceLike | None = None,
    draws: int | None = None,
    rng: Rng = None,
    **rows: Unpack[RowOptions],
) -> Chance[float]: ...
@question
def chance(
    metric: SpecLike,
    data: Any = None,
    predicted: ArrayLike | None = None,
    /,
    *,
    prevalence: PrevalenceLike | None = None,
    draws: int | None = None,
    rng: Rng = None,
    **rows: Unpack[RowOptions],
) -> Chance[Any]:
    """The no-skill baselines of a metric on the same data.

    The first is that of random predictions at the same prediction rate (the same margins), or of a random order of the
    same scores: its mean, and the 95th percentile that one in twenty of them reaches. Of two classes and of average
    precision they are exact, else over `draws` of a fixed seed, and with thousands of rows expected in every cell the
    mean is the metric of the expected table. With weights, and at another `prevalence`, the prediction rate is that of
    the table as it is read; predictions, or the order, are random over the rows that there are, and each of these
    tables is read with the weights or at the prevalence, as the metric is. How much weight random rows have is
    approximate, as a table keeps the sum and the sum of squares.
    Of rows that may have several labels each they are of each label: as often as it is predicted; always the commoner
    answer, which for most is that a row has it not; always the rarer one; half the rows. Parameters and averages stand
    in the metric's written form.

    >>> from steelyard import Counts
    >>> chance("f1", Counts(tp=28, fn=23, fp=72, tn=2680))
    f1 of a no-skill baseline: 0.0241 (95th percentile 0.0530), always the majority 0, always the minority 0.0357, ...
    >>> chance("accuracy", ["a", "a", "b", "c"], ["a", "b", "b", "c"]).value
    0.3125
    """
    spec, p = MetricSpec.of(metric), Predictions.of(data, predicted, **rows)
    Inference(0.95, "auto", draws, rng)  # refuses odd draws
    refuse_unused(p, "chance", "by", "cluster", "design")
    if p.are_sets:
        refuse_of_one_label(pos_label=p.given.pos_label, prevalence=prevalence)
        table = p.multilabel_table(to_host=False)
        return LabelSetBaselines(table, draws, rng).chance(check_label_set_metric(spec, table))
    counted: Any
    assumed: tuple[str, ...] = ()
    if isinstance(p.given.data, Counts) and p.given.data.shape:
        counted, options = p.given.data, spec.options(CallOptions())
    else:
        counted, options = asked_table(spec, p)
        assumed = assumed_choices(p, [(counted, options)])
    baselines = Baselines(table_at(counted, prevalence), draws, rng)
    return replace(baselines.chance(spec, options), assumed=assumed)


def without_skill(metric: Metric) -> str:
    """What a model without skill does, as the metric's no-skill baseline has it."""
    if metric.of_probabilities:
        return "stating the prevalence"
    return "random predictor" if metric.function is not None else "random order"


@dataclass(frozen=True, eq=False)
class Baselines:
    """The expected tables of the baselines on one table, made once for all metrics."""

    table: MetricTable
    draws: int | None = None
    rng: Rng = None
    _guesses: dict[int | None, tuple[Array, Guesses]] = field(default_factory=dict)

    def chance(self, spec: MetricSpec, call: CallOptions) -> Chance:
        """All baselines of one metric, the first with its 95th percentile."""
        numbers: list[Any] = list(self.values(spec.metric, call))
        p95, method = self._percentile(spec.metric, call)
        numbers += [math.nan] * (4 - len(numbers))
        return Chance(spec.name, numbers[0], p95, method, *numbers[1:])

    def _percentile(self, metric: Metric, call: CallOptions) -> tuple[Any, str]:
        """The 95th percentile over random predictions, and how their mean is found."""
        one_class, (guess, *_) = self._expected(metric, call)
        if isinstance(guess, ProbabilityTable):
            value, method = self._of_shuffled(metric, call), "one constant score for all rows of a class"
        elif isinstance(guess, RandomOrder):
            value, method = guess.percentile(metric), guess.method(metric)
        else:
            value, method = guess.percentile(metric, call), guess.method  # type: ignore[union-attr]  # of tables
        return rounded_to_zero(metric, np.where(one_class, math.nan, value)), method

    def _of_shuffled(self, metric: Metric, call: CallOptions) -> Array | float:
        """The 95th percentile where the rows' scores are those of other rows; of probabilities the value itself."""
        table = self.table
        assert isinstance(table, ProbabilityTable)  # noqa: S101 - of columns of scores
        if metric.of_probabilities:
            options: dict[str, Any] = {"average": call.average, "pos_label": call.pos_label}
            return metric(table.without_skill(), **options)
        times, rng = self.draws or _times(table.probabilities.shape), generator(self.rng)
        if times < FEWEST_READ or table.frequency is not None:
            return math.nan
        orders = (backend_of(table.codes).sent(rng.permutation(len(table.codes))) for _ in range(times))
        shuffled = (replace(table, probabilities=table.probabilities[order]) for order in orders)
        values = [on_table(metric, some, call, metric.parameters).value for some in shuffled]
        return percentile_where_defined(metric, np.array(values))

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
            place = positive_place(metric, table, call)
        if place not in self._guesses:
            rows = None
            if isinstance(table, Confusion) and place is not None:
                rows = rows_against_rest(table, place)
                table = table.one_vs_rest()[place]
            self._guesses[place] = lacks_a_class(table), _guesses(table, rows, self.draws, self.rng)
        return self._guesses[place]


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


def _guesses(table: MetricTable, rows: SampleRows | None, draws: int | None, rng: Rng) -> Guesses:
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
            return class_baselines(table, draws, rng)
        case ProbabilityTable():
            return (table.without_skill(),)
        case _:
            return (random_order(table, draws, rng),)


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
    draws: int | None = None
    rng: Rng = None

    def chance(self, spec: MetricSpec) -> Chance:
        """All baselines of one metric, the first with its 95th percentile over predictions of other rows."""
        numbers: list[Any] = list(self.values(spec))
        options = spec.options(CallOptions())
        p95 = np.array(math.nan)
        if len(self._shuffled) >= FEWEST_READ:
            values = [on_table(spec.metric, table, options, spec.metric.parameters).value for table in self._shuffled]
            p95 = percentile_where_defined(spec.metric, np.array(values))
        of_rows = f"the predictions of other rows, {len(self._shuffled):,} times"
        method = of_rows if _is_of_rows(spec) else "random predictions or orders of each label"
        return Chance(spec.name, numbers[0], p95 if p95.ndim else p95.item(), method, *numbers[1:])

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
        draws = self.draws or int(np.clip(_DRAWN_CELLS // max(1, len(true)), 20, 400))
        both = generator(self.rng).hypergeometric(true, total - true, flagged, size=(draws, len(true)))
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
        rng, tables = generator(self.rng), []  # its own generator: no other draw moves these
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
        return self.draws or _times(self.table.true.shape)


def _times(shape: Sequence[Any]) -> int:
    """How often rows of so many columns are shuffled: where they are few as often as makes a mean known."""
    return int(np.clip(_SHUFFLED_CELLS // max(1, int(np.prod(shape))), 1, 100))


def _mean(values: Array, weights: Array) -> float:
    """The mean of the values that have weight; NaN where none has."""
    some = weights > 0
    return float(np.average(values[some], weights=weights[some])) if some.any() else nan


def _is_of_rows(spec: MetricSpec) -> bool:
    """Whether it is a mean over rows, whose labels go together."""
    return spec.label is None and spec.average in (NATIVE, SAMPLES)
