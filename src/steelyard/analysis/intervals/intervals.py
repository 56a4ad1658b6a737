"""Intervals: confidence intervals of metrics, at a cost that the number of rows does not change."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy as np

from steelyard.analysis.intervals import draw_ends
from steelyard.analysis.intervals.cluster_tables import cluster_tables
from steelyard.analysis.intervals.column_intervals import LabelSetIntervals, probability_bounds
from steelyard.analysis.intervals.draw_ends import (
    ALWAYS,
    HALF_WAY,
    deviance_limit,
    near_kink,
    quantiles,
    recentred,
    unbiased,
    undefined_share,
)
from steelyard.analysis.intervals.draws import COUNT_DRAWS, DrawnValues, as_counts, draw_count
from steelyard.analysis.intervals.estimand import Estimand
from steelyard.analysis.intervals.inference import (
    RANK_METHODS,
    RATE_METHODS,
    REFERENCE_METHODS,
    ClusteredRows,
    Inference,
    chosen_method,
    clustered_rows,
    predicted_at_threshold,
)
from steelyard.analysis.intervals.interval import Interval
from steelyard.analysis.intervals.isotonic import (
    IsotonicIntervals,
    beside_reference,
    is_calibration_error,
    is_isotonic,
    is_searched,
    searched_bounds,
    why_no_interval,
)
from steelyard.analysis.intervals.metric_sequence import MetricSequence, anytime_bounds
from steelyard.analysis.intervals.operating_point import is_of_highest, widened
from steelyard.analysis.intervals.plan_draws import PlannedIntervals
from steelyard.analysis.intervals.planned_calls import planned_estimands
from steelyard.analysis.intervals.rate_intervals import Bounds, rate_interval
from steelyard.analysis.intervals.sampler import RankSampler, TableSampler
from steelyard.analysis.intervals.score_intervals import ScoreIntervals
from steelyard.analysis.prevalence.prevalence import table_at
from steelyard.analysis.results.formatting import ROUNDING
from steelyard.analysis.results.result import Rows
from steelyard.arrays.labels import choice_sentences
from steelyard.exceptions import InputError, InputTypeError
from steelyard.metrics.asked_tables import asked_table, assumed_choices
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.multilabel_values import check_label_set_metric
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.values import plain
from steelyard.predictions import Predictions, question, refuse_unused
from steelyard.tables.confusion import Confusion
from steelyard.tables.counts import Cells, Counts
from steelyard.tables.label_sets import refuse_of_one_label
from steelyard.tables.multilabel_table import MultilabelTable
from steelyard.tables.probability_table import ProbabilityTable
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Rng
    from steelyard.analysis.intervals.draws import TableDraws
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.metrics.spec import SpecLike
    from steelyard.metrics.values import MetricValue
    from steelyard.predictions import RowOptions, RowsLike
    from steelyard.tables.statistic import AnyTable


# ---------------------------------------------------------------- the bounds of intervals
# One set of draws of a table, and from it the interval of any metric.


_CLUSTERED_CALIBRATION = (
    "no interval: rows of one cluster go wrong together, and how far that moves a calibration error is not known"
)


@dataclass
class IntervalSampler:
    """One set of draws for all metrics of one call; `cluster_tables` has the table of each cluster."""

    inference: Inference
    cluster_tables: Array | None = None
    ranks: RankSampler = field(init=False)
    scores: ScoreIntervals = field(init=False)
    isotonic: IsotonicIntervals = field(init=False)
    tables: TableSampler = field(init=False)
    planned: PlannedIntervals | None = field(init=False)
    label_sets: dict[int, LabelSetIntervals] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ranks = RankSampler(self.inference)
        self.scores = ScoreIntervals(self.inference)
        self.isotonic = IsotonicIntervals(self.inference)
        self.tables = TableSampler(self.inference, self.cluster_tables)
        self.planned = PlannedIntervals.of(self.inference)

    def intervals(self, estimands: Sequence[Estimand]) -> list[Interval]:
        """The intervals of all estimands; all values come first, as draws are not kept for a next one."""
        methods = [chosen_method(estimand, self.inference) for estimand in estimands]
        self.tables.requested = list(zip(estimands, methods, strict=True))
        self.scores.requested = estimands
        self.ranks.estimands = [estimand for estimand, method in self.tables.requested if method in RANK_METHODS]
        if self.planned is None:
            self.ranks.begin(estimands)
        values = [estimand.on(self._table_at_prevalence(estimand.table)) for estimand in estimands]
        parts = list(zip(estimands, values, methods, strict=True))
        order = sorted(range(len(parts)), key=lambda i: self.ranks.is_begun(estimands[i]))  # last what is still drawn
        by_index = {i: self._interval(*parts[i]) for i in order}
        return [by_index[i] for i in range(len(parts))]

    def _table_at_prevalence(self, table: AnyTable) -> AnyTable:
        return table if isinstance(table, MultilabelTable) else table_at(table, self.inference.prevalence)

    def _interval(self, estimand: Estimand, computed: MetricValue, method: str) -> Interval[Any]:
        """The interval of one metric on one table, around the value it has there."""
        if method in REFERENCE_METHODS:
            small = self.scores.tables(estimand.score_table)[0]
            return beside_reference(estimand, small, computed, self.inference.level, self.inference.generator)
        value, bounds = computed.value, self._bounds(estimand, method, computed.value)
        low, high = bounds.around(value, estimand.named.metric.range)
        why = computed.why if bounds.why is None or np.any(computed.why != np.array(None)) else bounds.why
        if isinstance(estimand.table, ScoreTable) and self.inference.clustered is None and bounds.why is not None:
            method = ""
        return Interval(
            estimand.named,
            plain(value),
            low,
            high,
            self.inference.level,
            method,
            bounds.undefined_share,
            bounds.bin_error,
            why,
        )

    def _bounds(self, estimand: Estimand, method: str, value: Array | float) -> Bounds:
        if isinstance(estimand.table, MultilabelTable):
            bounds = self._label_sets(estimand.table).bounds(estimand, np.asarray(value))
            return Bounds(bounds.low, bounds.high, why=bounds.why)
        if isinstance(estimand.table, ProbabilityTable):
            at_prevalence = replace(estimand, table=table_at(estimand.table, self.inference.prevalence))
            bounds = probability_bounds(at_prevalence, np.asarray(value), self.inference, self._of_class)
            return Bounds(bounds.low, bounds.high, why=bounds.why)
        if self.planned is not None and (drawn := self.planned.values(estimand)) is not None:
            return Bounds(np.nan, np.nan, why=drawn) if isinstance(drawn, str) else self._union(estimand, drawn, value)
        if isinstance(estimand.table, ScoreTable):
            return self._score_bounds(estimand, estimand.table, method, value)
        if estimand.options.average is None and isinstance(estimand.table, Confusion):
            return self._class_bounds(estimand, estimand.table, method, np.asarray(value))
        if (reason := estimand.unknown_class or self.tables.unknown_variation(estimand)) is not None:
            return Bounds(np.nan, np.nan, why=reason)
        if method in (*RATE_METHODS, "bca"):
            _check_unweighted(estimand, method)
        if method in RATE_METHODS:
            counts = estimand.positive_counts
            return Bounds(*rate_interval(estimand.metric, counts, method, self.inference.level))
        return self._count_bounds(estimand, method, value)

    def _count_bounds(self, estimand: Estimand, method: str, value: Array | float) -> Bounds:
        """The bounds by draws of the table: of those from its posterior, and of those around the observed value."""
        drawn = self.tables.values(estimand, method)
        if method == "bca":
            levels = draw_ends.quantile_levels(estimand, drawn.values, float(value), self.inference.tails)
            low, high = levels if np.isnan(levels).any() else quantiles(drawn.values, levels)
            return Bounds(low, high, float(np.isnan(drawn.values).mean()))
        union = self._union(estimand, drawn, value)
        if method != "deviance":
            return union
        return self._over_kinks(estimand, self.tables.tables(estimand, "deviance"), drawn.values, union)

    def _union(self, estimand: Estimand, drawn: DrawnValues, value: Array | float) -> Bounds:
        """The bounds that hold both the draws and, where they have a centre, the draws moved to the value."""
        low, high = quantiles(drawn.values, self.inference.tails)
        undefined = undefined_share(drawn.values)
        if drawn.centre is None:
            return Bounds(low, high, undefined)
        around = (low, high) if drawn.around is drawn.values else quantiles(drawn.around, self.inference.tails)
        limits, at = estimand.named.metric.range, np.asarray(value)
        half = HALF_WAY if drawn.least_shift else ALWAYS
        moved = [recentred(around, at, drawn.centre, limits, part, half) for part in (drawn.least_shift, 1.0)]
        if drawn.least_shift:  # of two classes the bias is within the half row
            moved.append(unbiased(moved[-1], at, drawn.around, drawn.centre, limits))
        for moved_low, moved_high in moved:
            low, high = np.fmin(low, moved_low), np.fmax(high, moved_high)
        return Bounds(low, high, undefined)

    def _class_bounds(self, estimand: Estimand, table: Confusion, method: str, value: Array) -> Bounds:
        """The bounds of every class against the rest, as if it were the only one."""
        if self.tables.cluster_tables is not None or method in ("bca", "plan"):  # one class after another
            parts = []
            for label, class_value in zip(table.labels, value, strict=True):
                options = replace(estimand.options, pos_label=label, average="native")
                parts.append(self._bounds(replace(estimand, options=options), method, class_value))
            return Bounds(
                np.array([part.low for part in parts], dtype=float),
                np.array([part.high for part in parts], dtype=float),
                float(np.mean([part.undefined_share for part in parts])),
                why=np.array([part.why for part in parts], dtype=object),
            )
        options = replace(estimand.options, pos_label=None, average="native")
        counts = table.one_vs_rest()
        of_all = replace(estimand, table=counts, options=options)
        if method in RATE_METHODS:
            _check_unweighted(replace(estimand, options=replace(options, pos_label=table.labels[0])), method)
            return Bounds(*rate_interval(estimand.metric, counts, method, self.inference.level))
        tables = self.tables.class_tables(table, method)
        drawn = DrawnValues.of(of_all, tables)
        union = self._union(of_all, drawn, value)
        return self._over_kinks(of_all, tables, drawn.values, union) if method == "deviance" else union

    def _score_bounds(self, estimand: Estimand, table: ScoreTable, method: str, value: Array | float) -> Bounds:
        calibration = is_calibration_error(estimand.metric) or is_isotonic(estimand.metric)
        if calibration and self.inference.clustered is not None:
            return Bounds(np.nan, np.nan, why=_CLUSTERED_CALIBRATION)
        if not (table.positive.n and table.negative.n):
            return Bounds(np.nan, np.nan)
        if (reason := why_no_interval(estimand.metric, self._table_at_prevalence(table))) is not None:  # type: ignore[arg-type]  # of scores
            return Bounds(np.nan, np.nan, why=reason)
        if calibration:
            return Bounds(*self.isotonic.bounds(estimand.metric, table))
        if self.inference.clustered is not None:
            (low, high), why = self.scores.cluster_bounds(estimand, table, self.inference.clustered, float(value))
            return Bounds(*self._at_least_independent(estimand, low, high, float(value)), why=why)
        if is_searched(estimand.metric):
            return Bounds(*searched_bounds(estimand.metric, estimand.parameters, table, float(value), self.inference))
        if method not in RANK_METHODS:
            return Bounds(*self.scores.bounds(estimand, table, method, float(value)))
        values, bin_error = self.ranks.values(estimand, float(value))
        drawn_low, drawn_high = quantiles(values, self.inference.tails)
        at_prevalence = replace(estimand, table=self._table_at_prevalence(table))
        low, high = widened(at_prevalence, float(drawn_low), float(drawn_high), self.inference.level)
        return Bounds(low, high, float(np.isnan(values).mean()), bin_error)

    def _at_least_independent(self, estimand: Estimand, low: float, high: float, value: float) -> tuple[float, float]:
        """The bounds of clustered rows; where draws show little or nothing, also those of independent rows.

        At a limit of its range a metric is the same in every draw. Then the rows of a cluster are taken for copies of
        one: the bounds of independent rows, whose distance goes with one over the number of rows there, are as many
        times as far as a cluster has rows.
        """
        varies = not high - low <= ROUNDING
        if varies and not is_of_highest(estimand.metric):
            return low, high
        assert self.scores.clusters is not None  # noqa: S101 - the bounds were of clusters
        factor = 1.0 if varies else self.scores.clusters.rows_each
        independent = self._of_class(estimand)
        down, up = factor * (value - independent.low), factor * (independent.high - value)
        return np.fmin(low, value - down), np.fmax(high, value + up)

    def _label_sets(self, table: MultilabelTable) -> LabelSetIntervals:
        """The intervals of one table of label sets, which share what they read."""
        if id(table) not in self.label_sets:
            requested = [estimand for estimand in self.scores.requested if estimand.table is table]
            draws = self.inference.draws or draw_count(len(table.labels), of_one=True)
            self.label_sets[id(table)] = LabelSetIntervals(
                self.inference, table, requested, lambda estimands: self._of_two_classes(estimands, draws)
            )
        return self.label_sets[id(table)]

    def _of_class(self, estimand: Estimand) -> Interval:
        """The interval of one column of scores, of independent rows."""
        return self._of_two_classes([estimand])[0]

    def _of_two_classes(self, estimands: Sequence[Estimand], draws: int | None = None) -> list[Interval]:
        """The intervals of one class or label against the rest, of independent rows; their draws are not shared."""
        independent = replace(self.inference, method="auto", clustered=None, prevalence=None)
        independent = independent if draws is None else replace(independent, draws=draws)
        if self.inference.prevalence is not None:  # the rows are weighted to its shares by now
            independent = replace(independent, design="stratified")
        return IntervalSampler(independent).intervals(estimands)

    def _over_kinks(self, estimand: Estimand, drawn: TableDraws, values: Array, union: Bounds) -> Bounds:
        """The range over the likely draws where the formula is not smooth among them, else the given bounds."""
        expression = estimand.metric.trace(**estimand.parameters)
        assert drawn.deviance is not None  # noqa: S101 - the method makes it
        near = near_kink(expression, Cells(*as_counts(drawn.cells)), values.shape[:-1])
        if not near.any():
            return union
        likely = np.where(drawn.deviance <= deviance_limit(self.inference.level), values, np.nan)
        lowest, highest = np.fmin.reduce(likely, axis=-1), np.fmax.reduce(likely, axis=-1)
        return union._replace(low=np.where(near, lowest, union.low), high=np.where(near, highest, union.high))


def _check_unweighted(estimand: Estimand, method: str) -> None:
    about_all = estimand.positive_place is None and not isinstance(estimand.table, Counts)
    if about_all or (isinstance(estimand.table, Confusion) and estimand.table.weighted):
        raise InputError(f"The method {method!r} counts rows of two classes without weights; use 'posterior'.")


# ---------------------------------------------------------------- intervals


_MOST_AT_ONCE = 20_000_000  # draws of a table at a time: four cells of 8 bytes each


@overload
def interval(
    metric: SpecLike,
    data: Counts[Array],
    /,
    *,
    method: str = "auto",
    prevalence: PrevalenceLike | None = None,
    level: float = 0.95,
    draws: int | None = None,
    rng: Rng = None,
) -> Interval[Array]: ...
@overload
def interval(
    metric: SpecLike,
    data: RowsLike = None,
    predicted: ArrayLike | None = None,
    /,
    *,
    method: str = "auto",
    prevalence: PrevalenceLike | None = None,
    level: float = 0.95,
    draws: int | None = None,
    rng: Rng = None,
    **rows: Unpack[RowOptions],
) -> Interval: ...
@overload
def interval(
    metric: list[SpecLike] | tuple[SpecLike, ...],
    data: RowsLike = None,
    predicted: ArrayLike | None = None,
    /,
    *,
    method: str = "auto",
    prevalence: PrevalenceLike | None = None,
    level: float = 0.95,
    draws: int | None = None,
    rng: Rng = None,
    **rows: Unpack[RowOptions],
) -> Rows[Interval]: ...
@question
def interval(
    metric: SpecLike | Iterable[SpecLike],
    data: Any = None,
    predicted: ArrayLike | None = None,
    /,
    *,
    method: str = "auto",
    prevalence: PrevalenceLike | None = None,
    level: float = 0.95,
    draws: int | None = None,
    rng: Rng = None,
    **rows: Unpack[RowOptions],
) -> Interval[Any] | Rows[Interval]:
    """The confidence interval of a metric on counts, a table, or labels and predictions or scores.

    The default draws tables from the posterior (1/2 row added to each cell of 2 x 2; of more classes a prior learnt
    from them) and holds those draws re-centred at the value too, which covers where the percentile bootstrap
    collapses; a kinked metric takes the range over the likely draws, roc_auc a score interval, other metrics of scores
    the influence of each row, and a Bayesian bootstrap where that is not known. `prevalence` reads the metric where
    that share of the rows is positive. Parameters and averages stand in the metric's written form, such as
    "f_beta[beta=2, average=macro]". A list of metrics shares one set of draws and gives Rows. Rows of one `cluster` are
    not independent, and rows of label sets are drawn whole. `method="anytime"` gives a confidence sequence: with the
    probability of the level its intervals hold at every look together while rows are added, so that one may look daily
    and stop when one likes; it is wider, and depends on the counts of independent rows alone.

    >>> from steelyard import Counts
    >>> interval("recall", Counts(tp=28, fn=23, fp=72, tn=2680))
    recall 54.9 % (41.4 to 68.1), 95 % posterior
    >>> interval("recall", Counts(tp=80, fn=20, fp=30, tn=870), method="anytime")
    recall 80.0 % (65.2 to 90.7), 95 % anytime (beta-binomial mixture)
    """
    of_many = isinstance(metric, (list, tuple))
    specs: list[MetricSpec] = MetricSpec.all_of(metric) if of_many else [MetricSpec.of(metric)]  # type: ignore[arg-type]  # one or several
    p = Predictions.of(data, predicted, **rows)
    if method == "anytime":
        if prevalence is not None or draws is not None:
            extra = "prevalence" if prevalence is not None else "draws"
            raise InputError(f"{extra}= has no place in an anytime interval, which is of the rows as they come.")
        found = Rows(_anytime_interval(spec, p, level) for spec in specs)
    elif isinstance(p.given.data, Counts) and p.given.data.shape:
        counts, inference = p.given.data, Inference(level, method, draws, rng, prevalence, None, p.design)
        estimands = [Estimand(spec, counts, spec.metric.parameters, spec.options(CallOptions())) for spec in specs]
        found = intervals_of(estimands, inference)
    else:
        found = Rows(asked_intervals(specs, p, Inference(level, method, draws, rng, prevalence)))
    return found if of_many else found[0]


def _anytime_interval(spec: MetricSpec, p: Predictions, level: float) -> Interval[Any]:
    """The interval of one metric that holds at every look."""
    refuse_unused(p, "an anytime interval", "weights", "cluster", "design", "by")
    if isinstance(p.given.data, Counts):
        return anytime_bounds(spec, p.given.data, level)
    if p.are_sets:
        raise InputTypeError("An anytime interval is of rows with one label each; give the rows of one label.")
    MetricSequence.of(spec)  # refuses a metric of scores
    table, options = asked_table(spec, p)
    assert isinstance(table, Confusion)  # noqa: S101 - of a metric of labels
    named = table if options.pos_label is None else table.with_positive(options.pos_label)
    found = anytime_bounds(spec, named, level)
    return replace(found, assumed=assumed_choices(p, [(table, options)]))


def asked_intervals(specs: Sequence[MetricSpec], p: Predictions, inference: Inference) -> list[Interval]:
    """The intervals of metrics on rows; the inference has what the rows say of their design and clusters."""
    refuse_unused(p, "an interval", "by")
    if not isinstance(p.design, str):
        estimands, inference = planned_estimands(specs, p, inference)
        labels = inference.planned.labels  # type: ignore[union-attr]  # which it has by then
        assumed = choice_sentences(p.given.pos_label, labels[1], labels)
        return [replace(each, assumed=assumed) for each in intervals_of(estimands, inference)]
    if p.are_sets:
        refuse_of_one_label(pos_label=p.given.pos_label, design=None if p.design == "random" else p.design)
        cluster = p.collect().given.cluster
        clusters = None if cluster is None else ClusteredRows((), None, cluster)
        table = p.multilabel_table(to_host=cluster is not None)
        return intervals_of(label_set_estimands(specs, table), replace(inference, clustered=clusters))
    counted = p.countable()
    tables = [asked_table(spec, counted) for spec in specs]
    labelled = counted.by_highest() if any(isinstance(table, Confusion) for table, _ in tables) else None
    clusters = clustered_rows(labelled or counted)
    if clusters is not None and labelled is not None:
        clusters = predicted_at_threshold(clusters, labelled.counted(), counted.given.y_score)
    estimands = [
        Estimand(spec, table, spec.metric.parameters, options)
        for spec, (table, options) in zip(specs, tables, strict=True)
    ]
    assumed = assumed_choices(counted, tables)
    inference = replace(inference, clustered=clusters, design=p.design)
    return [replace(each, assumed=assumed) for each in intervals_of(estimands, inference)]


def label_set_estimands(specs: Sequence[MetricSpec], table: MultilabelTable) -> list[Estimand]:
    """Each metric of rows that may have several labels each."""
    options = [spec.options(CallOptions()) for spec in specs]
    checked = [check_label_set_metric(spec, table) for spec in specs]
    return [Estimand(spec, table, spec.metric.parameters, call) for spec, call in zip(checked, options, strict=True)]


def table_intervals(
    specs: Sequence[MetricSpec], table: AnyTable, options: CallOptions, inference: Inference
) -> Rows[Interval]:
    """The intervals of metrics on one table that is counted already."""
    estimands = [Estimand(spec, table, spec.metric.parameters, spec.options(options)) for spec in specs]
    return intervals_of(estimands, inference)


def intervals_of(estimands: Sequence[Estimand], inference: Inference) -> Rows[Interval]:
    """The intervals of metrics, each on its table, by one set of draws."""
    if not estimands:
        return Rows()
    first = estimands[0].table
    draws = inference.draws or COUNT_DRAWS
    if isinstance(first, Counts) and first.shape and np.prod(first.shape) * draws > _MOST_AT_ONCE:
        return _by_blocks(estimands, first, replace(inference, draws=draws))
    clusters = None
    of_labels = next((each for each in estimands if isinstance(each.table, (Counts, Confusion))), None)
    if inference.clustered is not None and of_labels is not None:
        table, options = of_labels.label_table, of_labels.options
        options = replace(options, labels=table.labels) if isinstance(table, Confusion) else options
        clusters = cluster_tables(inference.clustered, options)
    return Rows(IntervalSampler(inference, clusters).intervals(estimands))


def _by_blocks(estimands: Sequence[Estimand], counts: Counts, inference: Inference) -> Rows[Interval]:
    """The intervals of very many tables, some at a time, so that their draws fit into memory."""
    flat = Counts.trusted(*(np.ravel(cell) for cell in counts))
    size = max(1, _MOST_AT_ONCE // (inference.draws or COUNT_DRAWS))
    blocks = []
    for start in range(0, len(flat.tp), size):
        of_block = [replace(estimand, table=flat[start : start + size]) for estimand in estimands]
        blocks.append(intervals_of(of_block, inference.in_role("block", start) if start else inference))
    joined: list[Interval[Any]] = []
    for parts in zip(*blocks, strict=True):  # those of one metric
        columns = {
            key: np.concatenate([getattr(part, key) for part in parts]).reshape(counts.shape)
            for key in ("value", "low", "high", "why")
        }
        sizes = [len(part.value) for part in parts]
        share = float(np.average([part.undefined_share for part in parts], weights=sizes))
        joined.append(replace(parts[0], undefined_share=share, **columns))
    return Rows(joined)
