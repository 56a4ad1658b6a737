"""The ends of intervals: one set of draws of a table, and from it the interval of any metric as asked."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.analysis import bca
from steelyard.analysis.calibrated_reference import beside_reference
from steelyard.analysis.class_shares import shares_in_use
from steelyard.analysis.cluster_tables import effective_clusters
from steelyard.analysis.draws import (
    as_counts,
    bootstrap_draws,
    cluster_draws,
    effective_cells,
    posterior_draws,
    student_spread,
    with_class_totals,
)
from steelyard.analysis.folded_tables import class_fold, folded
from steelyard.analysis.inference import RANK_METHODS, RATE_METHODS, REFERENCE_METHODS, Inference
from steelyard.analysis.interval import Interval
from steelyard.analysis.interval_methods import chosen_method
from steelyard.analysis.kinks import deviance_limit, deviances, near_kink
from steelyard.analysis.large_tables import draw_count, is_large, values_by_blocks
from steelyard.analysis.prevalence import at_prevalence
from steelyard.analysis.probability_intervals import probability_ends
from steelyard.analysis.quantiles import quantiles
from steelyard.analysis.rank_sampler import RankSampler
from steelyard.analysis.rate_intervals import rate_interval
from steelyard.analysis.score_intervals import ScoreIntervals
from steelyard.errors import InputError
from steelyard.metrics.metric_value import plain
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.counts import Cells, Counts
from steelyard.statistics.probability_table import ProbabilityTable
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.analysis.estimand import Estimand
    from steelyard.analysis.rate_intervals import Ends
    from steelyard.metrics.metric_value import MetricValue
    from steelyard.statistics.statistic import MetricTable


class Bounds(NamedTuple):
    """The ends, the share of draws that are undefined and, where scores were binned, the error of that."""

    low: Any
    high: Any
    undefined_share: float = 0.0
    bin_error: float | None = None


@dataclass
class IntervalSampler:
    """One set of draws for all metrics of one call; `cluster_tables` has the table of each cluster."""

    inference: Inference
    cluster_tables: Array | None = None
    rng: np.random.Generator = field(init=False)
    ranks: RankSampler = field(init=False)
    scores: ScoreIntervals = field(init=False)
    _drawn: dict[tuple[int | None, int | None, str], tuple[Array, Array | None]] = field(default_factory=dict)
    _asked: list[tuple[Estimand, str]] = field(default_factory=list)
    _large: dict[Estimand, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rng = self.inference.generator
        self.ranks = RankSampler(self.inference, self.rng)
        self.scores = ScoreIntervals(self.inference)

    def intervals(self, estimands: Sequence[Estimand]) -> list[Interval]:
        """The intervals of all estimands; all values come first, as draws are not kept for a next one."""
        values = [estimand.on(self._table_at_prevalence(estimand.table)) for estimand in estimands]
        methods = [chosen_method(estimand, self.inference) for estimand in estimands]
        pairs = zip(estimands, methods, strict=True)
        self._asked = list(zip(estimands, methods, strict=True))
        self.ranks.estimands = [estimand for estimand, method in pairs if method in RANK_METHODS]
        return [self._interval(*parts) for parts in zip(estimands, values, methods, strict=True)]

    def _table_at_prevalence(self, table: MetricTable) -> MetricTable:
        prevalence = self.inference.prevalence
        return table if prevalence is None or isinstance(table, ProbabilityTable) else at_prevalence(table, prevalence)

    def _interval(self, estimand: Estimand, computed: MetricValue, method: str) -> Interval[Any]:
        """The interval of one metric on one table, around the value it has there."""
        if method in REFERENCE_METHODS:
            table: ScoreTable = self._table_at_prevalence(estimand.table)  # type: ignore[assignment]  # a metric of scores
            return beside_reference(estimand, table, computed, self.inference.level, self.inference.generator)
        value, bounds = computed.value, self._bounds(estimand, method, computed.value)
        # The value belongs to its interval, also where all draws lie on one side of it, as at a recall of 1.
        undefined = np.isnan(value) | np.isnan(bounds.low) | np.isnan(bounds.high)
        limits = estimand.named.metric.range
        ends = (np.fmin(np.clip(bounds.low, *limits), value), np.fmax(np.clip(bounds.high, *limits), value))
        low, high = (plain(np.where(undefined, np.nan, end)) for end in ends)
        numbers: tuple[Any, Any, Any] = (plain(value), low, high)
        shares = (bounds.undefined_share, bounds.bin_error)
        return Interval(estimand.named, *numbers, self.inference.level, method, *shares, computed.why)

    def _bounds(self, estimand: Estimand, method: str, value: Array | float) -> Bounds:
        if isinstance(estimand.table, ProbabilityTable):
            return Bounds(
                *probability_ends(estimand, estimand.table, np.asarray(value), self.inference, self._of_class)
            )
        if isinstance(estimand.table, ScoreTable):
            return self._score_bounds(estimand, estimand.table, method, value)
        if estimand.options.average is None and isinstance(estimand.table, Confusion):
            return self._class_bounds(estimand, estimand.table, method, np.asarray(value))
        if method in (*RATE_METHODS, "bca"):
            _check_unweighted(estimand, method)
        if method in RATE_METHODS:
            counts = estimand.positive_counts
            return Bounds(*rate_interval(estimand.metric, counts, method, self.inference.level))
        return self._count_bounds(estimand, method, value)

    def _count_bounds(self, estimand: Estimand, method: str, value: Array | float) -> Bounds:
        """The ends by draws of the table."""
        if (values := self._large_values(estimand, method)) is not None:
            return Bounds(*quantiles(values, self.inference.tails), float(np.isnan(values).mean()))
        cells, deviance = self._cells(estimand, method)
        values = estimand.on_cells(cells)
        undefined = float(np.isnan(values).mean())
        if deviance is not None:
            return Bounds(*self._around_kinks(estimand, cells, deviance, values), undefined)
        if method == "bca":
            levels = bca.quantile_levels(estimand, values, float(value), self.inference.tails)
            low, high = levels if np.isnan(levels).any() else quantiles(values, levels)
            return Bounds(low, high, undefined)
        return Bounds(*quantiles(values, self.inference.tails), undefined)

    def _class_bounds(self, estimand: Estimand, table: Confusion, method: str, value: Array) -> Bounds:
        """The ends for every class, each against the rest as if it alone were asked for."""
        classes = (replace(estimand.options, pos_label=label, average="native") for label in table.labels)
        parts = [
            self._bounds(replace(estimand, options=options), method, class_value)
            for options, class_value in zip(classes, value, strict=True)
        ]
        low, high, undefined, _ = zip(*parts, strict=True)
        return Bounds(np.array(low, dtype=float), np.array(high, dtype=float), float(np.mean(undefined)))

    def _score_bounds(self, estimand: Estimand, table: ScoreTable, method: str, value: Array | float) -> Bounds:
        if not (table.positive.n and table.negative.n):
            return Bounds(np.nan, np.nan)
        if self.inference.clustered is not None:
            return Bounds(*self.scores.cluster_ends(estimand, table, self.inference.clustered, float(value)))
        if method not in RANK_METHODS:
            return Bounds(*self.scores.ends(estimand, table, method, float(value)))
        values, bin_error = self.ranks.values(estimand, float(value))
        return Bounds(*quantiles(values, self.inference.tails), float(np.isnan(values).mean()), bin_error)

    def _of_class(self, estimand: Estimand) -> Interval:
        """The interval of one column of scores, of independent rows."""
        return IntervalSampler(replace(self.inference, method="auto", clustered=None)).intervals([estimand])[0]

    def _around_kinks(self, estimand: Estimand, cells: Array, deviance: Array, values: Array) -> Ends:
        """The range over the likely draws where a kink lies among them, the quantiles where it does not."""
        expression = estimand.metric.trace(**estimand.parameters)
        near = near_kink(expression, Cells(*as_counts(cells)), values.shape[:-1])
        likely = np.where(deviance <= deviance_limit(self.inference.level), values, np.nan)
        low, high = quantiles(values, self.inference.tails)
        ranged = (np.fmin.reduce(likely, axis=-1), np.fmax.reduce(likely, axis=-1))
        return np.where(near, ranged[0], low), np.where(near, ranged[1], high)

    # ---------------------------------------------------------------- draws

    def _cells(self, estimand: Estimand, method: str) -> tuple[Array, Array | None]:
        """The draws of a table, or of one label of it against the rest, that label first; made once."""
        table, place = estimand.label_table, estimand.positive_place
        key = (id(table) if isinstance(table, Counts) else None, place, method)
        if key not in self._drawn:
            fold = None if isinstance(table, Counts) or place is None else class_fold(place, len(table.labels))
            self._drawn[key] = (
                (self._draw_clusters(self.cluster_tables, fold), None)
                if self.cluster_tables is not None
                else self._draw(table, fold, method)
            )
        return self._drawn[key]

    def _large_values(self, estimand: Estimand, method: str) -> Array | None:
        """The values on the draws of a table too large for them to be kept, of all metrics at once; None of others."""
        table = estimand.table
        if not isinstance(table, Confusion) or estimand.positive_place is not None or self.cluster_tables is not None:
            return None
        draws = self.inference.draws or draw_count(len(table.labels), of_one=False)
        if not is_large(len(table.labels), draws):
            return None
        if estimand not in self._large:
            alike = [other for other, its in self._asked if its == method and other.table is table]
            alike = [other for other in alike if other.options.average is not None and other.positive_place is None]
            self._large |= values_by_blocks(
                alike, lambda n: self._draw(table, None, method, n)[0], len(table.labels), draws
            )
        return self._large[estimand]

    def _draw(
        self, table: Counts | Confusion, fold: Array | None, method: str, draws: int | None = None
    ) -> tuple[Array, Array | None]:
        one = table if fold is None or isinstance(table, Counts) else folded(table, fold)
        rows, row_weight = effective_cells(one)
        k = len(table.labels) if isinstance(table, Confusion) else 2
        draws = draws or self.inference.draws or draw_count(k, of_one=fold is not None)
        if "bootstrap" in method or method == "bca":
            if (row_weight != 1).any() or rows.ndim > 2 or (rows != np.round(rows)).any():
                raise InputError(
                    f"The method {method!r} resamples rows, so it needs one unweighted table; use 'posterior'."
                )
            cells = bootstrap_draws(rows, draws, self.rng, stratified=method.startswith("stratified"))
            return self._at_prevalence(cells, rows.sum(), table, fold)[0], None
        cells = posterior_draws(rows, row_weight, draws, self.rng)
        deviance = deviances(cells / row_weight, rows) if method == "deviance" else None
        class_totals = (rows * row_weight).sum(-1)
        if method == "stratified":
            cells = with_class_totals(cells, class_totals)
        cells, further = self._at_prevalence(cells, class_totals.sum(-1, keepdims=True), table, fold)
        return cells, None if deviance is None else deviance + further

    def _at_prevalence(
        self, cells: Array, total: Array, table: Counts | Confusion, fold: Array | None
    ) -> tuple[Array, Array | float]:
        """The draws with the class shares in use, if others than the sample's are, and the deviance of drawn ones."""
        prevalence = self.inference.prevalence
        if prevalence is None:
            return cells, 0.0
        share, deviance = shares_in_use(table, prevalence, len(cells), self.rng)
        share = share if fold is None else share @ fold.T
        between = (1,) * (cells.ndim - 3) if share.ndim > 1 else ()
        return with_class_totals(cells, total * share.reshape(*share.shape[:-1], *between, -1)), deviance

    def _draw_clusters(self, tables: Array, fold: Array | None) -> Array:
        tables = tables if fold is None else fold @ tables @ fold.T
        spread = student_spread(effective_clusters(tables), self.inference.level)
        draws = self.inference.draws or draw_count(tables.shape[-1], of_one=False)
        return cluster_draws(tables, draws, self.rng, spread)


def _check_unweighted(estimand: Estimand, method: str) -> None:
    about_all = estimand.positive_place is None and not isinstance(estimand.table, Counts)
    if about_all or (isinstance(estimand.table, Confusion) and estimand.table.weighted):
        raise InputError(f"The method {method!r} counts rows of two classes without weights; use 'posterior'.")
