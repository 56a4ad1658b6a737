"""Samplers: the draws of a table of labels or of scores, made once for all metrics of a call, and their values."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.intervals.design import class_names, label_reason
from steelyard.analysis.intervals.draw_ends import deviances
from steelyard.analysis.intervals.draws import (
    COUNT_DRAWS,
    HALF_ROW,
    MOST_DENSE,
    ClassFolds,
    DrawnValues,
    ErrorCells,
    MarginSampler,
    TableDraws,
    as_counts,
    bootstrap_draws,
    class_fold,
    cluster_draws,
    draw_count,
    effective_cells,
    is_large,
    mapped,
    posterior_draws,
    rank_draws,
    stacked,
    values_by_blocks,
    with_class_totals,
)
from steelyard.analysis.intervals.operating_point import is_at_point, point_thresholds
from steelyard.analysis.intervals.score_draws import MOST_ENTRIES, binned, grouped_at
from steelyard.analysis.prevalence.prevalence import Prevalence, positive_shares, scores_at, shares_in_use
from steelyard.arrays.sorting import in_background
from steelyard.exceptions import InputError
from steelyard.tables.confusion import Confusion
from steelyard.tables.counts import Counts, SharedCells
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from concurrent.futures import Future

    from steelyard._types import Array
    from steelyard.analysis.intervals.estimand import Estimand
    from steelyard.analysis.intervals.inference import Inference


_BY_MARGINS = ("posterior", "stratified")  # methods that draw the margins of very many classes
_MOST_SHARED = 400_000  # cells of draws whose margins and rates are kept for the next metric
_MOST_CLUSTER_DRAWS = 10_000_000  # weights of clusters drawn in all, unless more draws are asked for


@dataclass
class TableSampler:
    """One set of draws for all metrics of labels of one call; `cluster_tables` has the table of each cluster."""

    inference: Inference
    cluster_tables: Array | None = None
    requested: Sequence[tuple[Estimand, str]] = ()  # every metric of the call with its method
    _drawn: dict[tuple[int | None, int | None, str], TableDraws] = field(default_factory=dict)
    _large: dict[Estimand, DrawnValues] = field(default_factory=dict)
    _shared: dict[int, SharedCells] = field(default_factory=dict)
    _pooled: Array | None = None

    def values(self, estimand: Estimand, method: str) -> DrawnValues:
        """The metric on the draws of its table."""
        independent = self.cluster_tables is None and self.inference.prevalence is None and method == "posterior"
        if independent and estimand.is_pooled and not estimand.class_table.weighted:
            return self._pooled_values(estimand)
        if (large := self._large_values(estimand, method)) is not None:
            return large
        drawn = self.tables(estimand, method)
        return DrawnValues.of(estimand, drawn, self._shared_cells(estimand, drawn))

    def tables(self, estimand: Estimand, method: str) -> TableDraws:
        """The draws of a table, or of one label of it against the rest, that label first; made once."""
        return self._once(estimand.label_table, estimand.positive_place, method)

    def class_tables(self, table: Confusion, method: str) -> TableDraws:
        """The draws of every class against the rest, classes on the second axis; made once."""
        key = (id(table), None, f"{method} of classes")
        if key not in self._drawn:
            k = len(table.labels)
            if k == 2:
                # The second one first, as the usual positive class: it has the draws of the metrics of that class.
                parts: Iterable[TableDraws] = [self._once(table, index, method) for index in (1, 0)][::-1]
            else:
                one_vs_rest = ClassFolds.of(table)
                parts = (
                    self._draw_cells(*one_vs_rest[index], table, index, method, self._generator(table, index, method))
                    for index in range(k)
                )
            self._drawn[key] = stacked(parts, k)
        return self._drawn[key]

    def _once(self, table: Counts | Confusion, index: int | None, method: str) -> TableDraws:
        """The draws of a table or of a class of it, made once; one of two classes has those of the other, swapped."""
        if method == "posterior" and self._reads_deviance:
            method = "deviance"  # the same draws, and how unlikely each is
        key = (id(table) if isinstance(table, Counts) else None, index, method)
        if key not in self._drawn:
            of_two = isinstance(table, Confusion) and len(table.labels) == 2
            other = self._drawn.get((None, 1 - index, method)) if index is not None and of_two else None
            if other is not None:
                self._drawn[key] = mapped(other, lambda cells: cells[..., ::-1, ::-1])
            elif self.cluster_tables is not None:
                self._drawn[key] = self._draw_clusters(self.cluster_tables, table, index)
            else:
                self._drawn[key] = self._draw(table, index, method, self._generator(table, index, method))
        return self._drawn[key]

    @cached_property
    def _reads_deviance(self) -> bool:
        """Whether a metric of the call asks how unlikely each draw is."""
        return any(method == "deviance" for _, method in self.requested)

    def _shared_cells(self, estimand: Estimand, drawn: TableDraws) -> SharedCells | None:
        """The draws of one table of two classes, for all metrics of them; None where there are many more."""
        of_one = isinstance(estimand.table, Counts) or estimand.positive_place is not None
        if not of_one or drawn.cells.ndim > 3 or drawn.cells.size > _MOST_SHARED:
            return None
        if id(drawn) not in self._shared:  # the draws stay in memory, so that no other ones get their id
            self._shared[id(drawn)] = SharedCells.of(as_counts(drawn.cells))
        return self._shared[id(drawn)]

    def unknown_variation(self, estimand: Estimand) -> str | None:
        """Why clusters give no interval of the metric: a class that it reads is in one of them alone."""
        if self.cluster_tables is None:
            return None
        index, tables = estimand.positive_place, self.cluster_tables
        if index is not None:
            fold = class_fold(index, tables.shape[-1])
            tables = fold @ tables @ fold.T
        fixed = self.inference.prevalence is not None or self.inference.keeps_class_sizes()
        return label_reason(estimand, tables, class_names(estimand), fixed_shares=fixed)

    def _pooled_values(self, estimand: Estimand) -> DrawnValues:
        """A metric that the numbers of right and of wrong rows determine, on draws of these."""
        rows = estimand.class_table.rows
        right = rows.trace()
        pooled = np.array([right, rows.sum() - right], dtype=np.float64) + HALF_ROW
        if self._pooled is None:
            self._pooled = self.inference.draws_of("rows that are right").standard_gamma(
                pooled, (self.inference.draws or COUNT_DRAWS, 2)
            )
        values = estimand.on_pooled(self._pooled)
        return DrawnValues(values, values, estimand.on_pooled(pooled[None])[0])

    def _large_values(self, estimand: Estimand, method: str) -> DrawnValues | None:
        """The values of all metrics at once where the draws of the table are too large to keep; else None."""
        table = estimand.table
        if not isinstance(table, Confusion) or estimand.positive_place is not None or self.cluster_tables is not None:
            return None
        by_margins = len(table.labels) > MOST_DENSE and method in _BY_MARGINS and estimand.reads_margins
        draws = self.inference.draws or draw_count(len(table.labels), of_one=False)
        if not (by_margins or is_large(len(table.labels), draws)):
            return None
        if estimand not in self._large and by_margins:
            alike = [
                other
                for other, other_method in self.requested
                if other_method == method
                and other.table is table
                and other.options.average is not None
                and other.positive_place is None
                and other.reads_margins
            ]
            self._large |= self._margin_values(alike, table, method)
        elif estimand not in self._large:
            rng = self._generator(table, None, method)
            self._large |= values_by_blocks(
                [estimand], lambda n: self._draw(table, None, method, rng, n), len(table.labels), draws
            )
        return self._large[estimand]

    def _margin_values(self, alike: Sequence[Estimand], table: Confusion, method: str) -> dict[Estimand, DrawnValues]:
        """The values on draws of the margins, with the class sizes in use."""
        cells = ErrorCells.of(table)
        draws, weights = self.inference.draws or cells.draw_count(), cells.totals * cells.row_weight
        prevalence, fixed = self.inference.prevalence, self.inference.keeps_class_sizes(method)
        rng = self.inference.draws_of("margins", method)
        if prevalence is None:
            sampler = MarginSampler(cells, lambda sizes: weights + 0 * sizes if fixed else sizes, lambda sizes: sizes)
            return sampler.values(alike, draws, rng)
        share, _ = shares_in_use(table, prevalence, draws, rng)
        totals = weights.sum() * np.broadcast_to(share, (draws, len(weights)))
        return MarginSampler(cells, lambda _: totals, lambda _: totals.mean(0)).values(alike, draws, rng)

    def _draw(
        self,
        table: Counts | Confusion,
        index: int | None,
        method: str,
        rng: np.random.Generator,
        draws: int | None = None,
    ) -> TableDraws:
        cells = effective_cells(table) if index is None or isinstance(table, Counts) else ClassFolds.of(table, index)[0]
        return self._draw_cells(*cells, table, index, method, rng, draws)

    def _draw_cells(
        self,
        rows: Array,
        row_weight: Array,
        table: Counts | Confusion,
        index: int | None,
        method: str,
        rng: np.random.Generator,
        draws: int | None = None,
    ) -> TableDraws:
        """Draws of a table of these effective sizes: the whole one, or one class against the rest."""
        k = len(table.labels) if isinstance(table, Confusion) else 2
        draws = draws or self.inference.draws or draw_count(k, of_one=index is not None)
        class_totals = (rows * row_weight).sum(-1)
        total = class_totals.sum(-1, keepdims=True)
        if "bootstrap" in method or method == "bca":
            if (row_weight != 1).any() or rows.ndim > 2 or (rows != np.round(rows)).any():
                raise InputError(
                    f"The method {method!r} resamples rows, so it needs one unweighted table; use 'posterior'."
                )
            cells = bootstrap_draws(rows, draws, rng, stratified=self.inference.keeps_class_sizes(method))
            return self._at_prevalence(TableDraws(cells, cells), total, table, index, rng)
        drawn = posterior_draws(rows, row_weight, draws, rng)
        if self.inference.keeps_class_sizes(method):
            drawn = mapped(drawn, lambda cells: with_class_totals(cells, class_totals))
        if method == "deviance":
            drawn = drawn._replace(deviance=deviances(drawn.cells / row_weight, rows))
        return self._at_prevalence(drawn, total, table, index, rng)

    def _generator(self, table: Counts | Confusion, index: int | None, method: str) -> np.random.Generator:
        """That of a table's draws; each of more than two classes has its own, against the rest."""
        k = len(table.labels) if isinstance(table, Confusion) else 2
        role = "posterior" if method == "deviance" else method  # the same draws, and how unlikely each is
        return self.inference.generator if k == 2 else self.inference.draws_of(role, index)

    def _at_prevalence(
        self, drawn: TableDraws, total: Array, table: Counts | Confusion, index: int | None, rng: np.random.Generator
    ) -> TableDraws:
        """The draws with the class shares in use, if others than the sample's are, and the deviance of drawn ones."""
        prevalence = self.inference.prevalence
        if prevalence is None:
            return drawn
        cells = _positive_first(drawn.cells, table, index)
        share, deviance = shares_in_use(table, prevalence, len(drawn.cells), rng, cells)
        share = share if index is None else np.stack([share[..., index], 1 - share[..., index]], -1)
        table_axes = (1,) * (drawn.cells.ndim - 3) if share.ndim > 1 else ()
        totals = total * share.reshape(*share.shape[:-1], *table_axes, -1)

        def moved(cells: Array) -> Array:
            """Each draw at its own shares, the centre at their mean."""
            return with_class_totals(cells, totals if len(cells) == len(totals) else totals.mean(0))

        drawn = mapped(drawn, moved if share.ndim > 1 else lambda cells: with_class_totals(cells, totals))
        return drawn if drawn.deviance is None else drawn._replace(deviance=drawn.deviance + deviance)

    def _draw_clusters(self, tables: Array, table: Counts | Confusion, index: int | None) -> TableDraws:
        if index is not None and isinstance(table, Confusion):
            fold = class_fold(index, len(table.labels))
            tables = fold @ tables @ fold.T
        most = max(_MOST_CLUSTER_DRAWS // len(tables), 1_000)
        draws = self.inference.draws or min(draw_count(tables.shape[-1], of_one=False), most)
        rng = self._generator(table, index, "cluster")
        drawn, totals = cluster_draws(tables, draws, rng, self.inference.level), tables.sum((0, 2))
        if self.inference.keeps_class_sizes():
            drawn = mapped(drawn, lambda cells: with_class_totals(cells, totals))
        return self._at_prevalence(drawn, totals.sum(keepdims=True), table, index, rng)


def _positive_first(cells: Array, table: Counts | Confusion, index: int | None) -> Array | None:
    """Draws of one table, those of two classes with the positive one first; None for several tables."""
    if cells.ndim != 3:
        return None
    if isinstance(table, Counts) or len(table.labels) != 2:
        return cells
    return cells if (index or 0) == table.index(table.positive_label()) else cells[:, ::-1, ::-1]


# ---------------------------------------------------------------- rank sampler
# Draws of the scores by the Bayesian bootstrap, and the metrics of ranks on each.


RANK_DRAWS, ENTRIES_AT_ONCE = 1_000, 1_000_000
_LONG = 10_000  # scores of a table from which on its draws are made in another thread
USUAL_DRAWS, USUAL_ENTRIES = 500, 256  # of the few metrics that are drawn unless another method is asked for
_THRESHOLDS, _USUAL_THRESHOLDS = 512, 40  # of a metric of one threshold, which draws do not move far


class _OnDraws(NamedTuple):
    """A metric on the table that was drawn from, and on every draw."""

    on_small: float
    values: Array


@dataclass
class RankSampler:
    """One set of draws of a table of scores for the metrics of ranks of one call; one threshold has its own draws."""

    inference: Inference
    estimands: Sequence[Estimand] = ()
    _drawn: dict[int, tuple[bool, list[_OnDraws]]] = field(default_factory=dict)
    _begun: dict[int, Future[tuple[bool, list[_OnDraws]]]] = field(default_factory=dict)

    def begin(self, requested: Sequence[Estimand]) -> None:
        """Draw in the background while the values of all requested metrics are computed.

        Only for long scores of one table: with several tables each would wait for the other.
        """
        tables = list({id(estimand.table): estimand.table for estimand in self._together}.values())
        sizes = [
            [side.size for side in estimand.table.classes] if isinstance(estimand.table, ScoreTable) else [0]
            for estimand in requested
        ]
        if len(tables) != 1 or not all(min(of_classes) > 0 and sum(of_classes) > _LONG for of_classes in sizes):
            return
        if isinstance(table := tables[0], ScoreTable):
            self._begun[id(table)] = in_background(partial(self._draw_together, table, self._small(table)))

    def is_begun(self, estimand: Estimand) -> bool:
        """Whether its draws are made in the background."""
        return id(estimand.table) in self._begun and any(other is estimand for other in self._together)

    def values(self, estimand: Estimand, value: float) -> tuple[Array, float | None]:
        """The metric on every draw, corrected for the change by binning the scores, and the size of that change."""
        table = estimand.score_table
        if self._is_of_point(estimand):
            most = _USUAL_THRESHOLDS if self._is_usual else _THRESHOLDS
            small = grouped_at(table, point_thresholds(estimand, table, self.inference.prevalence, most))
            is_binned, drawn = True, self._draw(small, [estimand])[0]
        else:
            if id(table) not in self._drawn:
                begun = self._begun.get(id(table))
                made = self._draw_together(table, self._small(table)) if begun is None else begun.result()
                self._drawn[id(table)] = made
            is_binned, on_draws = self._drawn[id(table)]
            drawn = on_draws[next(i for i, other in enumerate(self._together) if other is estimand)]
        change = value - drawn.on_small
        return drawn.values + (0.0 if math.isnan(change) else change), abs(change) if is_binned else None

    @property
    def _is_usual(self) -> bool:
        return self.inference.method == "auto"  # by name it takes its time

    def _is_of_point(self, estimand: Estimand) -> bool:
        """Whether the metric has its own thresholds drawn: not where a prevalence is uncertain, nor with few scores."""
        if not is_at_point(estimand.metric) or isinstance(self.inference.prevalence, Prevalence):
            return False
        sides = estimand.score_table.classes
        return max(len(side.distinct[0]) for side in sides) > self._most_entries

    @property
    def _together(self) -> list[Estimand]:
        return [estimand for estimand in self.estimands if not self._is_of_point(estimand)]

    @property
    def _most_entries(self) -> int:
        return USUAL_ENTRIES if self._is_usual else MOST_ENTRIES

    def _small(self, table: ScoreTable) -> ScoreTable:
        return binned(table, self._most_entries)

    def _draw_together(self, table: ScoreTable, small: ScoreTable) -> tuple[bool, list[_OnDraws]]:
        is_binned = sum(side.size for side in small.classes) < sum(len(side.distinct[0]) for side in table.classes)
        return is_binned, self._draw(small, self._together)

    def _draw(self, small: ScoreTable, estimands: Sequence[Estimand]) -> list[_OnDraws]:
        """Each metric on the table drawn from and on every draw, some at a time."""
        rng = self.inference.generator
        size = max(len(small.positive.scores), len(small.negative.scores), 1)
        draws = self.inference.draws or (USUAL_DRAWS if self._is_usual else RANK_DRAWS)
        steps = math.ceil(draws / max(1, ENTRIES_AT_ONCE // size))
        parts: list[list[Array]] = [[] for _ in estimands]
        for step in np.array_split(np.arange(draws), steps):
            drawn = self._at_prevalence(rank_draws(small, len(step), rng, self.inference.level), rng, len(step))
            for values, estimand in zip(parts, estimands, strict=True):
                values.append(estimand.on_scores(drawn))
        itself = self._at_prevalence(small)
        on_small = [float(estimand.on_scores(itself)[0]) for estimand in estimands]
        return [_OnDraws(*each) for each in zip(on_small, map(np.concatenate, parts), strict=True)]

    def _at_prevalence(
        self, table: ScoreTable, rng: np.random.Generator | None = None, draws: int | None = None
    ) -> ScoreTable:
        """The table at the deployment prevalence; draws of it each at a draw of that, where it is uncertain."""
        prevalence = self.inference.prevalence
        if prevalence is None:
            return table
        drawn = None
        if draws is not None and rng is not None and isinstance(prevalence, Prevalence):
            drawn = prevalence.draws(draws, rng)
        return scores_at(table, positive_shares(table, prevalence, drawn))
