"""Paired comparison: two models on the same rows, by draws of truth x A x B or by influence, and its p-values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from math import nan
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

import numpy as np

from steelyard.analysis.comparison.classical_tests import delong_of_ranks
from steelyard.analysis.comparison.evidence import (
    FEWEST,
    DrawnEvidence,
    JudgedDifference,
    StudentEvidence,
    drawn_bounds,
)
from steelyard.analysis.distributions import normal_below
from steelyard.analysis.intervals.design import (
    ClassInfluence,
    RowInfluences,
    StudentSpread,
    class_names,
    class_spread,
    is_mean_of_scores,
    label_reason,
    score_reason,
    unknown_variation,
)
from steelyard.analysis.intervals.draws import folded, steps, student_spread, with_class_totals
from steelyard.analysis.intervals.influence import column_influence, part_influence, score_influence
from steelyard.analysis.intervals.isotonic import why_no_interval
from steelyard.analysis.intervals.score_draws import ClassRanks, binned_rows, score_deviations
from steelyard.analysis.intervals.score_intervals import MOST_BINS, is_whole_auc
from steelyard.analysis.results.formatting import ROUNDING
from steelyard.analysis.results.result import Flat, Rows
from steelyard.arrays import checks
from steelyard.arrays.labels import CONVENTION
from steelyard.arrays.numbers import weight_per_row
from steelyard.exceptions import InputError
from steelyard.metrics.call_options import NATIVE, CallOptions
from steelyard.metrics.registry import get_metrics, list_metrics
from steelyard.metrics.score_values import reads_columns
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.usual import ON_REQUEST, PER_CLASS_OF_SCORES
from steelyard.tables.array_tables import declared_labels, rows_of_both_classes
from steelyard.tables.confusion import Confusion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from steelyard._types import Array, Label, Labels
    from steelyard.analysis.comparison.comparison import Difference, ModelTables
    from steelyard.analysis.intervals.design import RowMass
    from steelyard.analysis.intervals.estimand import Estimand
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.tables.probability_table import ProbabilityTable
    from steelyard.tables.score_table import ScoreTable

    Thresholds: TypeAlias = float | Sequence[float] | Mapping[Any, float] | None  # of all models, or of each
    Margins = tuple["Array", "Array"]
    Kind: TypeAlias = Literal["posterior", "swapped"]

_PRIOR_WEIGHT = 4.0  # 1/2 for each cell of 2 x 2 x 2, shared by K x K x K cells so that it does not outweigh them
_MOST_CELLS = 50_000_000  # of the tables of all clusters, which are in memory together


class PairSample(Protocol):
    """The rows of two models; the tables of both are drawn together."""

    @property
    def cells(self) -> int:
        """The number of cells of truth x A x B, and of clusters that a draw has weights of."""

    def of_class(self, place: int) -> PairSample:
        """One class against the rest, that class first."""

    def posterior(self, draws: int, rng: np.random.Generator) -> Margins:
        """Truth x A and truth x B as they may be elsewhere, draws on a new first axis."""

    def swapped(self, draws: int, rng: np.random.Generator) -> Margins:
        """Truth x A and truth x B where the two predictions of a row or cluster are swapped or not, as a coin falls."""


# ---------------------------------------------------------------- tables


def weighted_confusion(true: Array, pred: Array, labels: Labels, positive: Label, mass: RowMass) -> Confusion:
    """The table of one model, of codes of labels."""
    k = len(labels)
    code = true.astype(np.intp) * k + pred

    def counted(column: Array | None) -> Array:
        return np.bincount(code, column, minlength=k * k).reshape(k, k)

    rows = counted(mass.times).astype(np.int64)
    if mass.weights is None:
        return Confusion.of_rows(labels, rows, positive)
    return Confusion(labels, rows, counted(mass.weights), counted(mass.squares), positive)


def weighted_pair(true: Array, a: Array, b: Array, k: int, mass: RowMass, level: float) -> PairSample:
    """The rows of two models with weights, in clusters, or both, of codes of labels."""
    code = (true.astype(np.intp) * k + a) * k + b
    if mass.clusters is None:
        weights, squares = (np.bincount(code, column, minlength=k**3) for column in (mass.weights, mass.squares))
        return WeightedPair(weights.reshape(k, k, k), squares.reshape(k, k, k))
    clusters = int(mass.clusters.max()) + 1
    if clusters * k**3 > _MOST_CELLS:
        raise InputError(
            f"{clusters:,} clusters of {k:,} labels have tables of more than {_MOST_CELLS:,} cells; name one class "
            "with pos_label=, merge rare labels, or leave cluster= out."
        )
    tables = np.bincount(mass.clusters.astype(np.intp) * k**3 + code, mass.mass, minlength=clusters * k**3)
    tables = tables.reshape(clusters, k, k, k)
    return ClusteredPair(tables[tables.any((1, 2, 3))] / mass.row_weight, level)


def one_class_first(cubes: Array, place: int) -> Array:
    """One class against the rest on the last three axes, that class first."""
    for axis in (-3, -2, -1):
        of_class = cubes.take([place], axis)
        cubes = np.concatenate([of_class, cubes.sum(axis, keepdims=True) - of_class], axis)
    return cubes


# ---------------------------------------------------------------- draws


@dataclass(frozen=True)
class CountedPair:
    """Rows that count alike: the posterior is Dirichlet's, and a swap falls as coins do."""

    rows: Array

    @property
    def cells(self) -> int:
        """Those of the table."""
        return int(self.rows.size)

    def of_class(self, place: int) -> CountedPair:
        """One class against the rest."""
        return CountedPair(one_class_first(self.rows, place))

    def posterior(self, draws: int, rng: np.random.Generator) -> Margins:
        """Draws of the Dirichlet posterior."""
        prior = _PRIOR_WEIGHT / self.rows.shape[-1] ** 3
        return _margins(lambda n: rng.standard_gamma(self.rows + prior, size=(n, *self.rows.shape)), self.cells, draws)

    def swapped(self, draws: int, rng: np.random.Generator) -> Margins:
        """A binomial draw a pair of cells."""
        return _swapped(self.rows, np.ones(()), draws, rng)


@dataclass(frozen=True)
class WeightedPair:
    """Rows with weights: a cell counts as its effective number of rows, by its weight and the squares of it."""

    weights: Array
    squares: Array

    @property
    def cells(self) -> int:
        """Those of the table."""
        return int(self.weights.size)

    def of_class(self, place: int) -> WeightedPair:
        """One class against the rest."""
        return WeightedPair(one_class_first(self.weights, place), one_class_first(self.squares, place))

    def posterior(self, draws: int, rng: np.random.Generator) -> Margins:
        """Gamma draws with the mean and the variance that each cell's weights have; an empty cell has the prior's."""
        usual = weight_per_row(self.weights.sum((1, 2), keepdims=True), self.squares.sum((1, 2), keepdims=True))
        row_weight = np.where(self.weights > 0, self.squares / np.where(self.weights > 0, self.weights, 1), usual)
        shapes = self.weights / row_weight + _PRIOR_WEIGHT / self.weights.shape[-1] ** 3
        return _margins(lambda n: rng.standard_gamma(shapes, size=(n, *shapes.shape)) * row_weight, self.cells, draws)

    def swapped(self, draws: int, rng: np.random.Generator) -> Margins:
        """A binomial draw of the effective rows of a pair of cells."""
        both, squares = (cells + cells.swapaxes(-1, -2) for cells in (self.weights, self.squares))
        rows = np.maximum(np.round(both**2 / np.where(squares > 0, squares, 1)), both > 0)
        row_weight = np.where(rows > 0, both / np.where(rows > 0, rows, 1), 1)
        return _swapped(self.weights, row_weight, draws, rng)


@dataclass(frozen=True)
class ClusteredPair:
    """The table of each cluster, on a first axis: whole clusters are weighted at random, or swapped."""

    tables: Array
    level: float = 0.95  # at which the draws are as wide as Student's t

    @property
    def cells(self) -> int:
        """Those of the table, or the clusters where they are more."""
        return int(max(self.tables[0].size, len(self.tables)))

    def of_class(self, place: int) -> ClusteredPair:
        """One class against the rest."""
        return ClusteredPair(one_class_first(self.tables, place), self.level)

    def posterior(self, draws: int, rng: np.random.Generator) -> Margins:
        """The Bayesian bootstrap of clusters, as wide as Student's t, with the prior's rows added."""
        sizes, shape = self.tables.sum((1, 2, 3)), self.tables.shape[1:]
        gamma_shape = student_spread(float(sizes.sum() ** 2 / (sizes**2).sum()), self.level)
        flat, prior = self.tables.reshape(len(sizes), -1), _PRIOR_WEIGHT / shape[-1] ** 3

        def cells(n: int) -> Array:
            drawn = rng.standard_gamma(gamma_shape, (n, len(sizes))) / gamma_shape @ flat
            return np.asarray(drawn.reshape(n, *shape) + rng.standard_gamma(prior, (n, *shape)))

        return _margins(cells, self.cells, draws)

    def swapped(self, draws: int, rng: np.random.Generator) -> Margins:
        """A coin a cluster."""
        shape, swapped = self.tables.shape[1:], self.tables.swapaxes(-1, -2)
        middle = (self.tables + swapped).sum(0) / 2
        half = ((self.tables - swapped) / 2).reshape(len(swapped), -1)
        half = half[half.any(1)]

        def cells(n: int) -> Array:
            return np.asarray(middle + (rng.choice([-1.0, 1.0], (n, len(half))) @ half).reshape(n, *shape))

        return _margins(cells, self.cells, draws)


def _swapped(rows: Array, row_weight: Array, draws: int, rng: np.random.Generator) -> Margins:
    """Draws where every row's two predictions change places or not; rows count `row_weight` each."""
    both = np.round((rows + rows.swapaxes(-1, -2)) / row_weight).astype(np.int64)
    upper = np.triu(np.ones(rows.shape[-2:], dtype=bool), 1)

    def cells(n: int) -> Array:
        heads = rng.binomial(np.where(upper, both, 0), 0.5, size=(n, *rows.shape))
        tails = np.where(upper, both, 0) - heads
        alike: Array = rows * np.eye(rows.shape[-1], dtype=np.int64)
        return np.asarray(heads * row_weight + (tails * row_weight).swapaxes(-1, -2) + alike)

    return _margins(cells, rows.size, draws)


def _margins(cells: Callable[[int], Array], size: int, draws: int) -> Margins:
    """Truth x A and truth x B of the draws, a part of them at a time."""
    parts = [(drawn.sum(-1), drawn.sum(-2)) for drawn in map(cells, steps(draws, size))]
    a, b = (np.concatenate(side).astype(np.float64) for side in zip(*parts, strict=True))
    return a, b


# ---------------------------------------------------------------- paired draws
# What draws of two models' tables say of their difference.


_MOST_WORK, _DRAWS = 20_000_000, 10_000  # cells drawn in all, and draws at most, unless more are requested


def label_differences(
    a: str, b: str, sample: PairSample, tables: ModelTables, inference: Inference, *, fixed: bool = False
) -> Iterator[JudgedDifference]:
    """The differences of two models by every metric of labels, tested; in `fixed` shares of the classes if asked."""
    draws = PairDraws(sample, inference, fixed)
    for spec in tables.specs:
        estimand = tables.estimand(spec, a)
        drawn, swapped = draws.values(estimand, "posterior"), draws.values(estimand, "swapped")
        row = tables.difference(spec, a, b)
        if isinstance(sample, ClusteredPair):  # a class that the metric reads may be in one cluster alone
            place = estimand.positive_place
            of_class = sample if place is None else sample.of_class(place)
            reason = label_reason(estimand, of_class.tables, class_names(estimand))
            if reason is not None:
                yield not_judged(row, reason, "posterior")
                continue
        p = float(judge(row.difference, drawn, swapped, inference.tails)[2])
        yield JudgedDifference(row, DrawnEvidence(row.difference, drawn), p, "posterior")


@dataclass
class PairDraws:
    """The draws of a pair's rows and of its swaps, of one class against the rest or of all; made once each."""

    sample: PairSample
    inference: Inference
    fixed: bool = False  # whether each draw has the class shares of the table
    _drawn: dict[tuple[Kind, int | None], Margins] = field(default_factory=dict)

    def values(self, estimand: Estimand, kind: Kind) -> Array:
        """The metric's differences on the draws of that kind, draws on the last axis."""
        place = estimand.positive_place
        if (kind, place) not in self._drawn:
            sample = self.sample if place is None else self.sample.of_class(place)
            draws = self.inference.draws or int(np.clip(_MOST_WORK // sample.cells, 1_000, _DRAWS))
            draw = sample.posterior if kind == "posterior" else sample.swapped
            self._drawn[kind, place] = draw(draws, self.inference.draws_of(kind, place))
        a, b = self._drawn[kind, place]
        if self.fixed:
            table = estimand.label_table
            assert isinstance(table, Confusion)  # noqa: S101 - of models that are compared
            totals = (table if place is None else folded(table, place)).matrix.sum(-1)
            a, b = (with_class_totals(cells, totals) for cells in (a, b))
        a, b = (estimand.on_cells(cells) for cells in (a, b))
        return np.asarray(a - b)


# ---------------------------------------------------------------- tests of a difference


def judge(
    difference: Array | float, drawn: Array, swapped: Array, tails: tuple[float, float]
) -> tuple[Array, Array, Array]:
    """The bounds and the p-value of differences, given the draws of their posterior and of their swaps on a last axis.

    The posterior alone would reject up to 7 % of equal models at 0.05 where some eight rows disagree.
    """
    return judge_beside(difference, drawn, _swap_p_value(np.asarray(difference), swapped), tails)


def judge_beside(
    difference: Array | float, drawn: Array, p: Array | float, tails: tuple[float, float]
) -> tuple[Array, Array, Array]:
    """The bounds and the p-value of differences, given their draws on a last axis; another p-value holds if larger.

    The p-value of the draws is twice their share on the other side of 0, or 0 where they are too few to be a share.
    """
    few = np.minimum((drawn <= 0).sum(-1), (drawn >= 0).sum(-1))
    share = 2 * (few + 1) / ((~np.isnan(drawn)).sum(-1) + 1)
    by_draws = np.where(few < FEWEST, 0.0, np.minimum(share, 1.0))
    p = np.where(np.abs(difference) <= ROUNDING, 1.0, np.fmax(by_draws, p))
    return (*drawn_bounds(difference, drawn, tails), np.where(np.isnan(difference), np.nan, p))


def by_draws(row: Difference, drawn: Array, method: str) -> JudgedDifference:
    """A difference judged by its draws: twice their share beyond 0, a normal tail where these are few."""
    evidence = DrawnEvidence(row.difference, drawn)
    tail = np.minimum(normal_tail(row.difference, evidence.error), 2 * FEWEST / len(drawn))
    return JudgedDifference(row, evidence, float(judge_beside(row.difference, drawn, tail, (0.5, 0.5))[2]), method)


def by_influence(row: Difference, spread: StudentSpread, method: str) -> JudgedDifference:
    """A difference judged by Student's t, within the metric's range."""
    low, high = row.spec.metric.range
    evidence = StudentEvidence(row.difference, spread, (low - high, high - low))
    return JudgedDifference(row, evidence, min(2 * spread.share_below(abs(row.difference)), 1.0), method)


def not_judged(row: Difference, reason: str, method: str) -> JudgedDifference:
    """A difference that has neither an interval nor a p-value, and why."""
    evidence = StudentEvidence(row.difference, StudentSpread(nan, 1.0), row.spec.metric.range)
    return JudgedDifference(replace(row, why=row.why or reason), evidence, nan, method)


def _swap_p_value(difference: Array, swapped: Array) -> Array:
    """The share of the swaps that differ more, equal ones by half; a normal tail where these are few."""
    by_swap, observed = np.abs(swapped), np.abs(difference)[..., None]
    beyond = (by_swap > observed + ROUNDING).sum(-1) + (np.abs(by_swap - observed) <= ROUNDING).sum(-1) / 2
    defined = np.maximum((~np.isnan(by_swap)).sum(-1), 1)
    tail = normal_tail(difference, np.sqrt(np.nansum(by_swap**2, -1) / defined))
    return np.asarray(np.where(beyond >= FEWEST, beyond / defined, np.minimum(tail, FEWEST / defined)))


def normal_tail(difference: Array | float, standard_error: Array | float) -> Array:
    """The share of a normal distribution around 0 beyond the difference, on both sides."""
    error = np.asarray(standard_error)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(2 * normal_below(-np.where(error > 0, np.abs(difference) / error, np.inf)))


# ---------------------------------------------------------------- score comparison
# How far models lie apart by the metrics that read their scores.


@dataclass(frozen=True, eq=False)
class DeLong(Flat):
    """DeLong's paired test that two models have the same ROC AUC."""

    a: str
    b: str
    auc_a: float
    auc_b: float
    difference: float
    z: float
    p_value: float
    degrees: float = math.inf


# ---------------------------------------------------------------- what is given


def finite(name: str, values: Array) -> Array:
    """The scores of one model as numbers."""
    score = checks.numbers(values, f"the model {name!r}")
    if not np.isfinite(score).all():
        row = int(np.flatnonzero(~np.isfinite(score))[0])
        where = checks.row_of_array(row)
        raise InputError(f"The model {name!r} scores {where} as {score[row]}; give finite numbers, or drop that row.")
    checks.check_apart(values, score, f"The model {name!r}")
    return score


def positives(true: Array, options: CallOptions) -> tuple[Array, Label]:
    """Which rows are positive, some but not all, and the label that says so, which a convention may take."""
    pos_label = CONVENTION if options.pos_label is None else options.pos_label
    return rows_of_both_classes(true, pos_label, declared_labels(options.labels))


def thresholds(threshold: Thresholds, names: list[str]) -> dict[str, float]:
    """The threshold of each model; none where none is given."""
    if threshold is None:
        return {}
    if isinstance(threshold, (list, tuple)) and len(threshold) == len(names):
        threshold = dict(zip(names, threshold, strict=True))
    given: Mapping[str, Any] = threshold if isinstance(threshold, Mapping) else dict.fromkeys(names, threshold)
    for name in names:
        value = given.get(name)
        if not isinstance(value, (int, float, np.number)) or math.isnan(value):
            raise InputError(f"threshold= is a number, or one for each model; for {name!r} it is {value!r}.")
    return {name: float(given[name]) for name in names}


# ---------------------------------------------------------------- differences


@dataclass(frozen=True)
class ScoredRows:
    """The rows that models scored: which are positive, each model's scores, and what each row counts for."""

    positive: Array
    values: dict[str, Array]
    mass: RowMass
    _entries: dict[str, tuple[ScoreTable, list[Array]]] = field(default_factory=dict)

    @cached_property
    def ranks(self) -> dict[str, ClassRanks]:
        """Each model's scores by class, in whose order they are looked up."""
        return {name: ClassRanks.of(score, self.positive) for name, score in self.values.items()}

    def influences(self, spec: MetricSpec, tables: ModelTables) -> dict[str, list[Array]] | None:
        """The influence of each positive and each negative on each model's value; None of a metric that has none."""
        by_model = {}
        for name, ranks in self.ranks.items():
            if name not in self._entries:
                self._entries[name] = binned_rows(tables.scores[name], ranks, MOST_BINS)
            table, entries = self._entries[name]
            influence = score_influence(spec.metric, table, spec.metric.parameters)
            if influence is None:
                return None
            by_model[name] = [of_class[at] for of_class, at in zip(influence, entries, strict=True)]
        return by_model

    def unknown_variation(self, spec: MetricSpec, table: ScoreTable) -> str | None:
        """Why a difference by the metric is not judged: its value has no interval, or a class is in one cluster."""
        return why_no_interval(spec.metric, table) or score_reason(
            spec.metric, spec.metric.parameters, self.mass.clusters, self.positive
        )

    def spread(
        self, spec: MetricSpec, a: list[Array], b: list[Array], fixed: ScoreTable | None = None
    ) -> StudentSpread:
        """The variance of a difference, given the influences of both classes on the values of a and of b.

        `fixed` is a table whose class shares all have.
        """
        with np.errstate(invalid="ignore"):  # between two infinite losses
            moved = [of_a - of_b for of_a, of_b in zip(a, b, strict=True)]
        if fixed is not None:
            own = np.ones(len(self.positive)) if self.mass.weights is None else self.mass.weights
            sides = zip(moved, (own[self.positive], own[~self.positive]), fixed.classes, strict=True)
            scaled = ((part, weights * (side.total / weights.sum())) for part, weights, side in sides)
            return class_spread(*(ClassInfluence(part, w, w**2) for part, w in scaled), fixed_shares=True)
        if self.mass.is_plain:
            return class_spread(*(ClassInfluence(part, np.ones(len(part)), np.ones(len(part))) for part in moved))
        by_row = np.empty(len(self.positive))
        by_row[self.positive], by_row[~self.positive] = moved
        influences = RowInfluences(by_row, self.positive, self.mass.weights, self.mass.clusters)
        row_mean = is_mean_of_scores(spec.metric, spec.metric.parameters)
        return influences.spread() if row_mean else influences.cautious_spread()


def score_differences(
    rows: ScoredRows, tables: ModelTables, inference: Inference, *, fixed: bool = False
) -> tuple[list[JudgedDifference], Rows[DeLong]]:
    """The differences of every pair of models by every metric of scores, judged, and DeLong's tests beside them.

    In `fixed` shares of the classes metrics without influence are not judged.
    """
    ranked = [spec for spec in tables.specs if tables.reads_scores(spec)]
    influences = {spec: rows.influences(spec, tables) for spec in ranked}
    reasons = {spec: rows.unknown_variation(spec, next(iter(tables.scores.values()))) for spec in ranked}
    if fixed:
        without = "no interval at another prevalence is known"
        reasons |= {spec: reasons[spec] or without for spec, by_model in influences.items() if by_model is None}
    drawn = [spec.metric for spec, by_model in influences.items() if by_model is None and reasons[spec] is None]
    moved = score_deviations(drawn, rows.values, rows.positive, rows.mass, inference)
    judged, tests = [], []
    for a, b in combinations(rows.values, 2):
        area = delong_of_ranks(rows.ranks[a], rows.ranks[b]) if rows.mass.is_plain else None
        if area is not None and any(_is_area(spec) for spec in ranked):
            tests.append(DeLong(a, b, area.auc_a, area.auc_b, area.difference, area.z, area.p_value, area.degrees))
        for spec, by_model in influences.items():
            row = tables.difference(spec, a, b)
            if (reason := reasons[spec]) is not None:
                judged.append(not_judged(row, reason, "" if rows.mass.clusters is None else "cluster"))
            elif by_model is None:
                drawn_differences = row.difference + (moved[a][spec.name] - moved[b][spec.name])
                judged.append(by_draws(row, drawn_differences, "bayesian-bootstrap"))
            elif area is not None and _is_area(spec):
                # It is counted in whole numbers, so that no rounding is left.
                spread = StudentSpread(area.variance, area.degrees)
                judged.append(by_influence(replace(row, difference=area.difference), spread, "delong"))
            else:
                method = "influence" if rows.mass.clusters is None else "cluster"
                table = next(iter(tables.scores.values())) if fixed else None
                judged.append(by_influence(row, rows.spread(spec, by_model[a], by_model[b], table), method))
    return judged, Rows(tests)


def _is_area(spec: MetricSpec) -> bool:
    return is_whole_auc(spec.metric, spec.metric.parameters)


# ---------------------------------------------------------------- column comparison
# How far models lie apart by metrics of a column of scores for each class, on the same rows.
#
# Of equal models (3 to 6 classes, 8 to 10 rows in the rarest of 80 to 200, alone and in 30 clusters; 300 runs) log
# loss, Brier score and D2 are rejected at 5 % in 4.3 to 6.7 %, averaged areas in 1.0 to 5.0 %, top-k accuracy in 1.3 to
# 5.0 %.


_FEWEST = 2  # rows of a class, of which one shows no spread


def usual_column_specs(tables: Mapping[str, ProbabilityTable]) -> tuple[MetricSpec, ...]:
    """The metrics of columns that are compared unless others are named: averaged areas, then the mean losses.

    A skill is left out, as it differs by a factor from its loss.
    """
    proper = all(table.first_improper is None for table in tables.values())
    areas = get_metrics(PER_CLASS_OF_SCORES)
    losses = [m for m in list_metrics() if m.columns is not None and not m.is_skill_of_columns]
    fitting = [m for m in losses if m.name not in ON_REQUEST and (proper or not m.of_probabilities)]
    return (*(MetricSpec(m, "macro") for m in areas), *map(MetricSpec, fitting))


@dataclass(frozen=True)
class ColumnRows:
    """The rows that models gave a column of scores for each class, and what each row counts for."""

    tables: Mapping[str, ProbabilityTable]
    mass: RowMass
    _influences: dict[tuple[MetricSpec, str], Array | None] = field(default_factory=dict)

    @property
    def codes(self) -> Array:
        """The index of each row's class."""
        return next(iter(self.tables.values())).codes

    def influence(self, spec: MetricSpec, model: str) -> Array | None:
        """How much each row moves the value of one model."""
        if (spec, model) not in self._influences:
            self._influences[spec, model] = self._computed_influence(spec, self.tables[model])
        return self._influences[spec, model]

    @staticmethod
    def _computed_influence(spec: MetricSpec, table: ProbabilityTable) -> Array | None:
        metric, parameters = spec.metric, spec.metric.parameters
        if spec.label is None:
            return column_influence(metric, table, spec.options(CallOptions()), parameters)
        part = table.class_tables[table.labels.index(spec.label)]
        of_part = part_influence(metric, part, parameters)
        if of_part is None:
            return None
        influence = np.zeros(len(table.codes))
        influence[np.concatenate(part.rows)] = of_part
        return influence

    def spread(self, spec: MetricSpec, moved: Array) -> StudentSpread:
        """The variance of a difference, given the influence of each row on it."""
        is_mean = spec.average == NATIVE and spec.label is None
        weights = np.ones(len(moved)) if self.mass.weights is None else self.mass.weights
        if self.mass.clusters is not None:
            rows = RowInfluences(moved, self._rarest, self.mass.weights, self.mass.clusters)
            return rows.spread() if is_mean else rows.cautious_spread()
        squares = weights**2 if self.mass.squares is None else self.mass.squares
        classes = [np.ones(len(moved), dtype=bool)] if is_mean else [self.codes == c for c in np.unique(self.codes)]
        return class_spread(*(ClassInfluence(moved[of], weights[of], squares[of]) for of in classes))

    @property
    def _rarest(self) -> Array:
        """Which rows are of the rarest class that has rows enough to show a spread."""
        counts = np.bincount(self.codes)
        return np.asarray(self.codes == np.argmin(np.where(counts >= _FEWEST, counts, len(self.codes) + 1)))

    def unknown_variation(self, spec: MetricSpec) -> str | None:
        """Why a difference is not judged: a class that the metric reads has one row, or is in one cluster alone."""
        if spec.average == NATIVE and spec.label is None:
            return None
        labels = next(iter(self.tables.values())).labels
        present = [code for code in range(len(labels)) if (self.codes == code).any()]
        single = [labels[code] for code in present if (self.codes == code).sum() < _FEWEST]
        if single:
            return f"class {single[0]!r} has one row, which shows no spread"
        clusters = self.mass.clusters
        if clusters is None:
            return None
        in_one_cluster = [labels[code] for code in present if len(np.unique(clusters[self.codes == code])) == 1]
        return unknown_variation([f"class {label}" for label in in_one_cluster]) if in_one_cluster else None


def column_differences(rows: ColumnRows, tables: ModelTables) -> Iterator[JudgedDifference]:
    """The differences of every pair of models by every metric of a column of scores for each class, tested."""
    method = "influence" if rows.mass.clusters is None else "cluster"
    for a, b in combinations(rows.tables, 2):
        for spec in (spec for spec in tables.specs if reads_columns(spec)):
            row = tables.difference(spec, a, b)
            if not np.isfinite(row.difference):
                yield not_judged(row, "a value is infinite", method)
                continue
            of_a, of_b = rows.influence(spec, a), rows.influence(spec, b)
            reason = rows.unknown_variation(spec)
            if reason is not None or of_a is None or of_b is None:
                yield not_judged(row, reason or f"the influence of rows on {spec.name} is not known", method)
            else:
                yield by_influence(row, rows.spread(spec, of_a - of_b), method)
