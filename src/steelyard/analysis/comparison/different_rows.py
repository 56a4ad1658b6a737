"""Different rows: models that were evaluated on rows of their own, compared by their tables; the test of a drop.

Tables of labels are drawn with one row more in each cell of 2 x 2, as Agresti and Caffo (2000), American Statistician
54, 280-288, propose for two shares: of equal recalls of 8 rows each, half a row would reject up to 8.2 % at 0.05, one
row 4.0 %; of 5 to 30 rows one row rejects 6.2 % at most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from steelyard.analysis.comparison.paired import by_draws, by_influence, not_judged
from steelyard.analysis.distributions import normal_below
from steelyard.analysis.intervals.design import ClassInfluence, StudentSpread, class_spread, welch
from steelyard.analysis.intervals.draws import (
    class_fold,
    draw_count,
    effective_cells,
    folded,
    generator,
    with_class_totals,
)
from steelyard.analysis.intervals.estimand import Estimand
from steelyard.analysis.intervals.inference import STRATIFIED
from steelyard.analysis.intervals.influence import score_influence
from steelyard.analysis.intervals.isotonic import why_no_interval
from steelyard.analysis.intervals.sampler import RankSampler
from steelyard.analysis.intervals.score_draws import binned
from steelyard.analysis.prevalence.prevalence import Prevalence, at_prevalence
from steelyard.analysis.results.formatting import percent_text
from steelyard.arrays.labels import label_texts
from steelyard.exceptions import InputError, InputTypeError
from steelyard.metrics.call_options import CallOptions
from steelyard.predictions import Predictions, check_rows, refuse_unused, saved_content
from steelyard.tables.class_scores import ClassScores
from steelyard.tables.confusion import Confusion, merge_labels
from steelyard.tables.counts import Counts
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steelyard._types import Array, Label, Rng
    from steelyard.analysis.comparison.comparison import ModelTables
    from steelyard.analysis.comparison.evidence import JudgedDifference
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.metrics.spec import MetricSpec
    from steelyard.predictions import RowOptions

    _Drawn: TypeAlias = Array | ScoreTable  # the cells of tables of labels, or tables of scores

_MORE_ROWS = 4.0  # in all cells: one in each of 2 x 2, shared by K x K so that they do not outweigh them
DIFFERENT_ROWS = (
    "The models were evaluated on different rows, taken as independent: no row or cluster is in two of them."
)


_Table = TypeVar("_Table", Confusion, ScoreTable)


# ---------------------------------------------------------------- models and their tables


@dataclass(frozen=True)
class CountedModel:
    """The tables of a model that was evaluated on rows of its own, as they were counted, and how they are read."""

    confusion: Confusion | None
    scores: ScoreTable | None
    prevalence: Any = None  # that they are read at
    has_chosen_sizes: bool = False  # whether so many rows of each class were chosen
    assumed: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, given: Any, rows: RowOptions) -> CountedModel:
        """The tables of an evaluation, of its file, of a table, or of rows, which are counted."""
        if isinstance(given, (str, PathLike)) and not {"true", "pred", "score"} & rows.keys():
            given = saved_content(given)
        is_table = isinstance(given, (Counts, Confusion, ScoreTable))
        if is_counted := is_table or (hasattr(given, "confusion") and not isinstance(given, Predictions)):
            refused = [each for each in rows if each not in ("pos_label", "threshold")]
            if refused:
                raise InputError(
                    f"Models of different rows are counted already, which have no {' or '.join(refused)} of their own; "
                    "give the rows instead."
                )
        if is_counted and "threshold" not in rows:
            return cls._of_tables(name, given)
        names_columns = bool({"true", "pred", "score", "long"} & rows.keys())
        if not is_counted and not names_columns and not isinstance(given, Predictions):
            raise InputTypeError(
                f"The model {name!r} is {type(given).__name__}; models of different rows are given as evaluations, "
                "tables or Predictions by name, and models of the same rows as compare(y_true, models)."
            )
        p = Predictions.of(given, **rows)
        if not is_counted and not p.given.is_table:
            check_rows(p, "compare")
        refuse_unused(p, "compare of different rows", "cluster", "by")
        if not isinstance(p.design, str):
            refuse_unused(p, "compare of different rows", "design")
        counted = p.counted()
        positive, stated = counted.positive_class(p.given.pos_label, is_stated=p.given.is_stated)
        table = _with_positive(counted.table, positive)
        return cls(table, counted.scores, None, p.design == "stratified", (*stated, *counted.assumed))

    @classmethod
    def _of_tables(cls, name: str, given: Any) -> CountedModel:
        if isinstance(given, Counts):
            return cls(Confusion.of_rows((0, 1), np.asarray(given.matrix()), 1), None)
        if isinstance(given, (Confusion, ScoreTable)):
            return cls(*((given, None) if isinstance(given, Confusion) else (None, given)))
        if any(getattr(row, "method", "") == "cluster" for row in getattr(given, "metrics", ())):
            raise InputError(
                f"The model {name!r} was evaluated by clusters, which its tables do not keep; compare the rows "
                "themselves."
            )
        table = _with_positive(given.confusion, getattr(given, "positive", None))
        is_chosen = STRATIFIED in getattr(given, "assumed", ())
        return cls(table, given.scores, getattr(given, "prevalence", None), is_chosen)

    def read(self, table: _Table) -> _Table:
        """A table at the prevalence that it is read at."""
        return table if self.prevalence is None else at_prevalence(table, self.prevalence)


def _with_positive(table: Confusion | None, positive: Label) -> Confusion | None:
    """The table with the positive class that is stated of it."""
    return table if table is None or positive is None or positive not in table.labels else table.with_positive(positive)


def counted_models(models: Mapping[str, CountedModel]) -> tuple[dict[str, Confusion], dict[str, ScoreTable]]:
    """The tables of labels and of scores of each model; all models have at least one of the two kinds."""
    if len(models) < 2:
        raise InputError(f"compare needs two or more models, not {len(models)}.")
    labels = {name: model.read(model.confusion) for name, model in models.items() if model.confusion is not None}
    scores = {name: model.read(model.scores) for name, model in models.items() if model.scores is not None}
    if len(labels) < len(models) and len(scores) < len(models):
        raise InputError("Some models have labels alone and some scores alone; evaluate all by one of the two.")
    if len({table.labels for table in labels.values()}) > 1:
        listed = "; ".join(f"{name!r}: {', '.join(map(str, table.labels))}" for name, table in labels.items())
        raise InputError(f"The models have different labels ({listed}); count each with the same labels=.")
    return labels if len(labels) == len(models) else {}, scores if len(scores) == len(models) else {}


def reading_sentences(models: Mapping[str, CountedModel], *, is_given: bool) -> tuple[str, ...]:
    """What is taken of models of different rows: that they are independent, and the prevalence they are read at."""
    first = next(iter(models.values()))
    stated = (DIFFERENT_ROWS, *dict.fromkeys(sentence for model in models.values() for sentence in model.assumed))
    if first.prevalence is None:
        return stated
    shares = ", ".join(percent_text(float(share)) for share in np.atleast_1d(first.prevalence))
    which = "a prevalence of" if is_given else "the prevalence they were evaluated at,"
    return *stated, f"All are read at {which} {shares}."


def fixed_sizes(models: Mapping[str, CountedModel]) -> dict[str, bool]:
    """Whether the class shares of each model are fixed: read at one prevalence, or drawn class by class."""
    prevalences = [model.prevalence for model in models.values()]
    if any(isinstance(prevalence, Prevalence) for prevalence in prevalences):
        raise InputError(
            "A Prevalence is uncertain for all models at once, which evaluations apart from each other do not show; "
            "evaluate each at one number, prevalence=float(prevalence)."
        )
    if len({() if one is None else tuple(np.atleast_1d(one).tolist()) for one in prevalences}) > 1:
        each = "; ".join(
            f"{name!r}: {'its own' if one is None else one}" for name, one in zip(models, prevalences, strict=True)
        )
        raise InputError(f"The models were evaluated at different prevalences ({each}); give all the same prevalence=.")
    return {name: model.prevalence is not None or model.has_chosen_sizes for name, model in models.items()}


# ---------------------------------------------------------------- differences


def unpaired_differences(
    tables: ModelTables, inference: Inference, fixed: Mapping[str, bool]
) -> Iterator[JudgedDifference]:
    """The differences of every pair of models by every metric: their variances add up."""
    models = list(tables.labels or tables.scores)
    sampler = ModelSampler(tables, inference, fixed)
    for spec in tables.specs:
        spreads = {name: sampler.spread(spec, name) for name in models}
        for a, b in combinations(models, 2):
            row, of_a, of_b = tables.difference(spec, a, b), spreads[a], spreads[b]
            reason = sampler.unknown_variation(spec, a) or sampler.unknown_variation(spec, b)
            if reason is not None:
                yield not_judged(row, reason, "")
            elif of_a is None or of_b is None:
                yield by_draws(row, sampler.values(spec, a) - sampler.values(spec, b), "unpaired draws")
            else:
                both = welch([of_a.variance, of_b.variance], [of_a.degrees, of_b.degrees])
                yield by_influence(row, both, "unpaired influence")


@dataclass
class ModelSampler:
    """The draws of each model's tables, made once."""

    tables: ModelTables
    inference: Inference
    fixed: Mapping[str, bool]  # whether the class shares of a model are fixed
    _cells: dict[tuple[str, int | None], Array] = field(default_factory=dict)

    def spread(self, spec: MetricSpec, model: str) -> StudentSpread | None:
        """The variance of a metric of scores by its influence; None of a metric without one, or of labels."""
        if not self.tables.reads_scores(spec):
            return None
        table = self.tables.scores[model]
        influence = score_influence(spec.metric, table, spec.metric.parameters)
        if influence is None:
            return None
        of_classes = []
        for of_class, side in zip(influence, (side.compact() for side in table.classes), strict=True):
            of_classes.append(ClassInfluence(of_class, side.weights, side.squares))
        return class_spread(*of_classes, fixed_shares=self.fixed[model])

    def unknown_variation(self, spec: MetricSpec, model: str) -> str | None:
        """Why a metric of scores has no interval on the model's table."""
        return why_no_interval(spec.metric, self.tables.scores[model]) if self.tables.reads_scores(spec) else None

    def values(self, spec: MetricSpec, model: str) -> Array:
        """The metric on draws of the model's table."""
        estimand = self.tables.estimand(spec, model)
        if isinstance(estimand.table, ScoreTable):
            share = estimand.table.positive.total / estimand.table.total if self.fixed[model] else None
            inference = replace(self.inference.in_role(self._index(model)), prevalence=share)
            sampler = RankSampler(inference, [estimand])
            return sampler.values(estimand, float(self.tables.value(spec, model).value))[0]
        place = estimand.positive_place
        if (model, place) not in self._cells:
            self._cells[model, place] = self._draw(model, place)
        return estimand.on_cells(self._cells[model, place])

    def _index(self, model: str) -> int:
        """Which of the models it is: their names move no number."""
        return list(self.tables.labels or self.tables.scores).index(model)

    def _draw(self, model: str, place: int | None) -> Array:
        table = self.tables.labels[model]
        k = len(table.labels)
        if place is not None:
            table = folded(table, place)
        draws = self.inference.draws or draw_count(k, of_one=place is not None)
        rows, row_weight = effective_cells(table)
        prior = _MORE_ROWS / rows.shape[-1] ** 2
        rng = self.inference.draws_of(self._index(model), place)
        cells = rng.standard_gamma(rows + prior, size=(draws, *rows.shape))
        return with_class_totals(cells, table.matrix.sum(-1)) if self.fixed[model] else np.asarray(cells * row_weight)


# ---------------------------------------------------------------- exchanged rows
# Two test sets of one classifier, whose rows within each true class could have been in either.
#
# An unchanged classifier predicts the rows of a class alike in both, so every way to assign them is as likely: the
# metrics of such tables show how far they differ by chance, whatever the class sizes of the two and the noise of both.


_MOST_SCORES = 512  # distinct scores of a class whose rows are assigned one by one


@dataclass(frozen=True, eq=False)
class LabelExchange:
    """The tables of labels of both test sets, in draws that exchange their rows."""

    before: Confusion
    after: Confusion
    positive: Label

    @classmethod
    def of(cls, before: Confusion, after: Confusion, positive: Label) -> LabelExchange:
        """Both with the same labels."""
        texts = label_texts(before.labels, after.labels)
        tables = [table.renamed(texts) for table in (before, after)]
        labels = merge_labels(tables[0].labels, tables[1].labels)
        named = next((label for label in labels if str(label) == str(positive)), positive)
        before, after = (table.relabelled(labels) for table in tables)
        return cls(before, after, named)

    def estimand(self, spec: MetricSpec, table: Confusion) -> Estimand:
        """The metric on one of the two."""
        options = CallOptions(pos_label=self.positive) if spec.label is None and spec.is_native else CallOptions()
        return Estimand(spec, table, spec.metric.parameters, spec.options(options))

    def observed(self, spec: MetricSpec) -> tuple[float, float]:
        """The values of both."""
        before, after = (float(self.estimand(spec, table).on(table).value) for table in (self.before, self.after))
        return before, after

    @cached_property
    def _effective_rows(self) -> list[tuple[Array, Array]]:
        """The effective rows of each cell of both tables, as whole numbers, and the weight of one."""
        both = (effective_cells(table) for table in (self.before, self.after))
        return [(np.round(rows).astype(np.int64), weight) for rows, weight in both]

    def drawn(self, draws: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Both tables with the rows of each true class assigned anew, draws on a first axis."""
        (before, _), (after, _) = self._effective_rows
        return self._weighted(*_exchanged(before, after, draws, rng))

    def after_drop(
        self, margin: float, runs: int, draws: int, rng: np.random.Generator
    ) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """Both tables of new rows where recall drops by the margin, in several runs; and the draws of each run."""
        rows_before, rows_after = (rows for rows, _ in self._effective_rows)
        rates = rows_before + rows_after + 1e-9
        rates = rates / rates.sum(1, keepdims=True)
        falling = range(len(rates)) if self.positive is None else [self.before.index(self.positive)]
        rates_after = np.stack([_lowered(rate, i, margin) if i in falling else rate for i, rate in enumerate(rates)])
        before = _resampled(rows_before.sum(1), rates, runs, rng)
        after = _resampled(rows_after.sum(1), rates_after, runs, rng)
        draws_of_runs = [_exchanged(*tables, draws, rng) for tables in zip(before, after, strict=True)]
        exchanged = (np.concatenate(parts) for parts in zip(*draws_of_runs, strict=True))
        return self._weighted(before, after), self._weighted(*exchanged)

    def _weighted(self, before: Array, after: Array) -> tuple[Array, Array]:
        (_, weight_before), (_, weight_after) = self._effective_rows
        return before * weight_before, after * weight_after

    def values(self, spec: MetricSpec, cells: Array) -> Array:
        """The metric on draws of a table."""
        estimand = self.estimand(spec, self.before)
        place = estimand.positive_place
        fold = None if place is None else class_fold(place, len(self.before.labels))
        return estimand.on_cells(cells if fold is None else fold @ cells @ fold.T)


def _exchanged(before: Array, after: Array, draws: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """The rows of each true class of both tables, assigned anew to them."""
    pooled = before + after
    by_class = zip(pooled, after.sum(1), strict=True)
    drawn = np.stack([rng.multivariate_hypergeometric(cells, n, size=draws) for cells, n in by_class], axis=1)
    return pooled - drawn, drawn


def _resampled(sizes: Array, rates: Array, draws: int, rng: np.random.Generator) -> Array:
    return np.stack([rng.multinomial(n, rate, size=draws) for n, rate in zip(sizes, rates, strict=True)], axis=1)


def _lowered(rates: Array, index: int, margin: float) -> Array:
    """The predictions of a class with fewer that are right, the others in their shares."""
    right, others = rates[index], np.delete(rates, index)
    lower = max(right - margin, 0.0)
    others = others / others.sum() if others.sum() else np.full(len(others), 1 / len(others))
    return np.insert(others * (1 - lower), index, lower)


@dataclass(frozen=True, eq=False)
class ScoreExchange:
    """The tables of scores of both test sets, in draws that exchange their rows."""

    before: ScoreTable
    after: ScoreTable

    def observed(self, spec: MetricSpec) -> tuple[float, float]:
        """The values of both."""
        options, parameters = CallOptions(), spec.metric.parameters
        tables = (self.before, self.after)
        before, after = (float(Estimand(spec, table, parameters, options).on(table).value) for table in tables)
        return before, after

    def drawn(self, draws: int, rng: np.random.Generator) -> tuple[ScoreTable, ScoreTable]:
        """Both tables with the rows of each class assigned anew, draws on a first axis of the weights."""
        pooled = binned(_even(self.before) + _even(self.after), _MOST_SCORES)
        scores = np.union1d(pooled.positive.scores, pooled.negative.scores)
        sides = []
        for side, before, after in zip(pooled.classes, self.before.classes, self.after.classes, strict=True):
            rows = np.maximum(np.round(side.weights**2 / side.squares), 1).astype(np.int64)  # effective rows
            share = after.n / max(before.n + after.n, 1)
            to_after = rng.multivariate_hypergeometric(rows, round(share * rows.sum()), size=draws)
            entries, row_weight = np.searchsorted(scores, side.scores), side.weights / rows
            of_class = []
            for assigned, total in ((rows - to_after, before.total), (to_after, after.total)):
                # They get the weight that the class has in its test set.
                weights = np.zeros((draws, len(scores)))
                sums = (assigned * row_weight).sum(1, keepdims=True)
                weights[:, entries] = assigned * row_weight * (total / np.where(sums > 0, sums, 1))
                of_class.append(ClassScores(scores, weights, weights, weights))
            sides.append(of_class)
        (positive_before, positive_after), (negative_before, negative_after) = sides
        label = self.before.label
        return ScoreTable(positive_before, negative_before, label), ScoreTable(positive_after, negative_after, label)

    def values(self, spec: MetricSpec, table: ScoreTable) -> Array:
        """The metric on draws of a table."""
        return Estimand(spec, table, spec.metric.parameters, CallOptions()).on_scores(table)


def _even(table: ScoreTable) -> ScoreTable:
    """The table with weights that are 1 on average in each class, so that two of other units can be exchanged."""
    if not table.weighted:
        return table
    scales = [side.n / side.total if side.total else 1.0 for side in table.classes]
    positive, negative = (
        ClassScores(side.scores, side.rows, side.weights * by, side.squares * by**2)
        for side, by in zip(table.classes, scales, strict=True)
    )
    return replace(table, positive=positive, negative=negative)


# ---------------------------------------------------------------- drop test
# Which metrics of a classifier fell from one test set to another by more than chance, all together.


_RUNS, _DRAWS_A_RUN = 200, 399  # by which the power is simulated
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Drop:
    """One metric on both test sets, and the largest drop that chance may explain."""

    spec: MetricSpec
    before: float
    after: float
    limit: float

    @property
    def size(self) -> float:
        """How much worse it became; below 0 where it became better."""
        return self.spec.metric.sign * (self.before - self.after)

    @property
    def is_shown(self) -> bool | None:
        """Whether it fell by more than chance explains; None where it is undefined."""
        return None if math.isnan(self.size) else self.size > self.limit + _ROUNDING


@dataclass(frozen=True)
class DropTest:
    """The drops of all metrics, and the power of the test; by chance any is shown in at most `error` of runs."""

    drops: Sequence[Drop]
    error: float
    margin: float = math.nan
    margin_of: str = ""
    power: float = math.nan


def drop_test(
    labels: LabelExchange | None,
    scores: ScoreExchange | None,
    specs: Sequence[MetricSpec],
    *,
    level: float = 0.95,
    margin: float | None = 0.05,
    draws: int = 1_999,
    rng: Rng = None,
) -> DropTest:
    """Which metrics fell by more than exchanging the rows of both test sets explains, and the power to show a drop.

    Limits are those of Westfall and Young's smallest p-value: an unchanged classifier passes any of them in at most
    1 - level of runs, whatever the metrics have in common (1993, Resampling-Based Multiple Testing). At settings drawn
    at random (200 to 20,000 rows, prevalence 0.01 to 0.5, 300 runs each, labels and scores) 2 to 5 % of unchanged
    classifiers fail by these limits; with the baseline taken as known and each metric for itself, 25 %.
    """
    random, error = generator(rng), 1 - level
    chance: dict[MetricSpec, Array] = {}
    observed: dict[MetricSpec, tuple[float, float]] = {}
    of_labels = [spec for spec in specs if spec.metric.scores is None]
    of_scores = [spec for spec in specs if spec.metric.scores is not None]
    for exchange, some in ((labels, of_labels), (scores, of_scores)):
        if exchange is not None and some:
            before, after = exchange.drawn(draws, random)
            chance |= {spec: _drops(exchange, spec, before, after) for spec in some}
            observed |= {spec: exchange.observed(spec) for spec in some}
    limits = _limits(chance, error)
    drops = [Drop(spec, *observed[spec], limit) for spec, limit in limits.items()]
    if margin is None:
        return DropTest(drops, error)
    if labels is None or not of_labels:  # there are scores alone: the first metric, whose drops are about normal
        spec, limit = next(iter(limits.items()))
        deviation = max(float(np.std(chance[spec])), _ROUNDING)
        return DropTest(drops, error, margin, spec.metric.phrase, float(normal_below((margin - limit) / deviation)))
    beside = {spec: chance[spec] for spec in chance if spec not in of_labels}
    return DropTest(drops, error, margin, *_power_of_labels(labels, of_labels, beside, error, margin, random))


def _drops(exchange: LabelExchange | ScoreExchange, spec: MetricSpec, before: _Drawn, after: _Drawn) -> Array:
    """How much worse each draw is; an undefined value is no drop."""
    drops = spec.metric.sign * (exchange.values(spec, before) - exchange.values(spec, after))  # type: ignore[arg-type]  # its own
    return np.where(np.isnan(drops), -np.inf, drops)


def _limits(chance: dict[MetricSpec, Array], error: float) -> dict[MetricSpec, float]:
    """The drop of each metric such that at most that share of draws passes any, equally extreme for all metrics."""
    drops = np.stack([*chance.values()])
    ordered, draws = np.sort(drops, axis=1), drops.shape[1]
    below = np.stack([np.searchsorted(row, drop - _ROUNDING) for row, drop in zip(ordered, drops, strict=True)])
    as_far = np.sort((draws - below).min(0)) - 1  # how many other draws are as extreme, by the most striking metric
    beyond = int(as_far[max(math.floor(error * (draws + 1) + _ROUNDING) - 1, 0)]) - 1
    limits = ordered[:, -1 - beyond] if beyond >= 0 else np.full(len(drops), np.inf)
    return dict(zip(chance, limits.tolist(), strict=True))


def _power_of_labels(
    labels: LabelExchange,
    specs: Sequence[MetricSpec],
    beside: dict[MetricSpec, Array],
    error: float,
    margin: float,
    rng: np.random.Generator,
) -> tuple[str, float]:
    """What drops, and in which share of runs a metric of labels then passes the limit that it has in that run."""
    runs = max(_RUNS // max(len(labels.before.labels) // 2, 1), _RUNS // 10)
    tables, exchanged = labels.after_drop(margin, runs, _DRAWS_A_RUN, rng)
    drops = {spec: _drops(labels, spec, *tables) for spec in specs}
    chance = {spec: _drops(labels, spec, *exchanged).reshape(runs, -1) for spec in specs}
    beside = {spec: by_chance[:_DRAWS_A_RUN] for spec, by_chance in beside.items()}
    caught = 0
    for run in range(runs):
        limits = _limits({spec: chance[spec][run] for spec in specs} | beside, error)
        caught += any(drops[spec][run] > limits[spec] + _ROUNDING for spec in specs)
    return "recall" if labels.positive is not None else "the recall of every class", caught / runs
