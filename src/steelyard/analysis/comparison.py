"""Comparison: whether one model beats another on the same rows, by every measure. The floors below may use it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.analysis import auc, uncertainty
from steelyard.analysis import draws as drawing
from steelyard.analysis.prevalence import at_prevalence, scores_at
from steelyard.analysis.prevalence import shares as checked_shares
from steelyard.analysis.rows import Rows, table_text, three_digits
from steelyard.analysis.significance import McNemar, holm, mcnemar
from steelyard.errors import InputError, InputTypeError, did_you_mean
from steelyard.ingest import arrays, encoding
from steelyard.ingest import labels as ingest
from steelyard.metrics import calling
from steelyard.metrics.calling import ClassCells, Options
from steelyard.metrics.registry import get_metric
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.ordering import chunks
from steelyard.statistics.paired import Paired, check_size
from steelyard.statistics.scores import ScoreTable, Side

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from steelyard.metrics.metric import Metric

Array = np.ndarray[Any, Any]
TWO_CLASS = ("recall", "specificity", "precision", "f1", "balanced_accuracy", "tpnr", "g_mean", "ac_score", "mcc",
             "kappa", "accuracy")  # fmt: skip
MANY_CLASS = ("accuracy", "balanced_accuracy", "g_mean", "ac_score", "mcc", "kappa")
RANKED = ("roc_auc", "average_precision", "weighted_auc")
PREVALENCES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75)
PRIOR_MASS = 4.0  # 1/2 for each cell of 2 x 2 x 2; spread over K x K x K cells so that it does not drown them
MOST_WORK, AT_ONCE = 20_000_000, 2_000_000  # cells drawn in all, unless more draws are asked for, and at a time
RANK_WORK = 100_000_000  # the same for weights of rows
DRAWS, RANK_DRAWS = 10_000, 2_000  # at most, unless more are asked for
FEWEST = 10  # draws beyond 0 or beyond the difference seen, below which a normal tail tells more than their number
ROUNDING = 1e-12  # differences this small are none


# ---------------------------------------------------------------- the table of two models


def paired(
    y_true: Any,
    pred_a: Any,
    pred_b: Any,
    *,
    labels: Any = None,
    pos_label: Any = None,
    frequency: Any = None,
    sample_weight: Any = None,
) -> Paired:
    """Weigh the truth and the labels that two models predicted into one table, truth x A x B.

    `frequency` says how many rows a row stands for; weights of importance are refused.

    >>> paired([0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 1, 0])
    <Paired table of 4 rows, 2 labels: A alone is right in 1, B alone in 1>
    """
    _refuse_weights(sample_weight)
    times = arrays.weights(frequency, "frequency", whole=True)
    true = arrays.column(y_true, "y_true")
    models = {name: arrays.column(values, name) for name, values in (("pred_a", pred_a), ("pred_b", pred_b))}
    arrays.check_lengths(y_true=true, **models, frequency=times)
    (truth, a, b), known = _encoded(true, models, labels)
    return _weigh(truth, a, b, known, _positive(known, pos_label), times)


def _refuse_weights(sample_weight: Any) -> None:
    if sample_weight is not None:
        raise InputError(
            "sample_weight= is not taken in comparing models: their paired draws count rows. Leave it out, or say with "
            "frequency= of paired() how many rows a row stands for."
        )


def _encoded(true: Array, models: Mapping[str, Array], labels: Any) -> tuple[list[Array], tuple[Any, ...]]:
    """The codes of the truth and of each model, and the labels they share."""
    declared = ingest.declared_labels(labels)
    if not len(true) and declared is None:
        raise InputError("y_true is empty; give at least one row, or declare the labels with labels=.")
    found = {name: encoding.distinct(column, name) for name, column in {"y_true": true, **models}.items()}
    truth = found["y_true"][1]
    for name, (_, held) in found.items():
        if truth and held and isinstance(truth[0], str) != isinstance(held[0], str):
            told = f"y_true holds labels such as {truth[0]!r} and {name} such as {held[0]!r}"
            raise InputTypeError(f"{told}; give both the same labels.")
    known = tuple(sorted({label for _, held in found.values() for label in held})) if declared is None else declared
    return [encoding.recode(codes, held, known, name) for name, (codes, held) in found.items()], known


def _positive(labels: tuple[Any, ...], pos_label: Any) -> Any:
    if pos_label is None:
        return None
    return labels[Confusion.of_rows(labels, np.zeros((0, 0), dtype=np.int64)).index(pos_label)]


def _weigh(
    true: Array, a: Array, b: Array, labels: tuple[Any, ...], positive: Any, times: Array | None = None
) -> Paired:
    check_size(labels)
    k = len(labels)
    rows = np.zeros(k**3, dtype=np.int64)
    for part in chunks(len(true)):
        code = true[part].astype(np.intp)
        for model in (a, b):
            code *= k
            code += model[part].astype(np.intp, copy=False)
        if times is None:
            rows += np.bincount(code, minlength=k**3)
        else:
            np.add.at(rows, code, times[part])
    return Paired(labels, rows.reshape(k, k, k), positive)


# ---------------------------------------------------------------- results


@dataclass(frozen=True)
class Difference:
    """How much model a exceeds model b by one measure, the interval of that, and the test that it is 0."""

    a: str
    b: str
    metric: str
    value_a: float
    value_b: float
    difference: float
    low: float
    high: float
    p_value: float
    p_holm: float
    method: str
    undefined_share: float = 0.0
    why: str | None = None

    def row(self) -> dict[str, Any]:
        """The difference as a row of a table."""
        return dict(self.__dict__)


@dataclass(frozen=True)
class DeLong:
    """DeLong's paired test that two models have the same ROC AUC."""

    a: str
    b: str
    auc_a: float
    auc_b: float
    difference: float
    z: float
    p_value: float

    def row(self) -> dict[str, Any]:
        """The test as a row of a table."""
        return dict(self.__dict__)


@dataclass(frozen=True, repr=False)
class Comparison:
    """The differences of every pair of models by every measure, and the classical tests beside them."""

    models: tuple[str, ...]
    n: int
    level: float
    rows: Rows[Difference]
    mcnemar: Rows[McNemar]
    delong: Rows[DeLong]
    weighed: Weighed = field(repr=False, compare=False)

    def __repr__(self) -> str:
        head = f"{' against '.join(self.models)} on the same {self.n:,} rows"
        tests = [f"DeLong, {d.a} - {d.b}: z = {d.z:.3g}, p = {three_digits(d.p_value)}" for d in self.delong]
        table = table_text([self._shown(row) for row in self.rows])
        return "\n".join(
            [f"{head}: differences with {100 * self.level:g} % intervals", table, *map(repr, self.mcnemar), *tests]
        )

    def _shown(self, row: Difference) -> dict[str, Any]:
        """A row as it is printed: two models by their names alone."""
        pair = {"a": row.a, "b": row.b} if len(self.models) > 2 else {}
        names = ("value_a", "value_b") if pair else self.models
        rest = ("difference", "low", "high", "p_value", "p_holm", "why")
        values = dict(zip(names, (row.value_a, row.value_b), strict=True))
        return {"metric": row.metric, **pair, **values, **{key: getattr(row, key) for key in rest}}

    def to_frame(self, library: str | None = None) -> Any:
        """A data frame of the differences, of pandas or Polars."""
        return self.rows.to_frame(library)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for strict JSON: what is undefined or infinite is None."""
        parts = {"differences": self.rows, "mcnemar": self.mcnemar, "delong": self.delong}
        plain = {key: [_strict(row) for row in rows.to_dicts()] for key, rows in parts.items()}  # type: ignore[attr-defined]
        return {"models": list(self.models), "rows": self.n, "level": self.level, **plain}

    def ranking(
        self, a: str | None = None, b: str | None = None, *, prevalences: Sequence[float] | None = None
    ) -> Ranking:
        """The measures by how much they favour model a over b, here and at other prevalences (Wu and Cannistraci)."""
        if a is None and b is None and len(self.models) == 2:
            a, b = self.models
        for name in (a, b):
            if name not in self.models:
                told = did_you_mean(str(name), self.models)
                raise InputError(
                    f"ranking takes two of the models {', '.join(map(repr, self.models))}, not {name!r}.{told}"
                )
        return _ranking(str(a), str(b), self.weighed, prevalences)


def _strict(row: dict[str, Any]) -> dict[str, Any]:
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in row.items()}


# ---------------------------------------------------------------- compare


@dataclass(frozen=True, eq=False)
class Weighed:
    """What the values of a comparison come from: each model's tables, the measures, and how they are read."""

    measures: tuple[Metric, ...]
    options: Options
    tables: Mapping[str, Confusion] = field(default_factory=dict)
    scores: Mapping[str, ScoreTable] = field(default_factory=dict)

    def by_rank(self, measure: Metric) -> bool:
        """Whether the measure reads the scores and not the labels."""
        return bool(self.scores) and measure.scores is not None

    def answer(self, measure: Metric, model: str) -> calling.Answer:
        """The measure's answer for one model."""
        table = self.scores[model] if self.by_rank(measure) else self.tables[model]
        return calling.on_table(measure, table, self.options, measure.parameters)


@dataclass(frozen=True)
class Plan:
    """How the differences are judged: the level of the intervals, the draws asked for, and where they come from."""

    level: float
    draws: int | None
    rng: np.random.Generator

    @property
    def tails(self) -> tuple[float, float]:
        """The two quantiles that cut the draws."""
        return (1 - self.level) / 2, (1 + self.level) / 2


def compare(
    y_true: Any,
    models: Any = None,
    *,
    scores: bool = False,
    threshold: Any = None,
    metrics: Iterable[Any] | None = None,
    level: float = 0.95,
    draws: int | None = None,
    rng: Any = None,
    pos_label: Any = None,
    labels: Any = None,
    average: str | None = "native",
    sample_weight: Any = None,
) -> Comparison:
    """Whether models differ on the same rows: every measure's difference with its paired interval and tests.

    `models` are named columns of predicted labels, or with scores=True of scores of the positive class, which
    `threshold` (a number, or one a model) cuts for the measures of labels. Or give a Paired table alone.

    The intervals draw truth x A x B from the posterior with 1/2 row in each cell. A p-value is the larger of that
    posterior's and of the mid-p of swapping the models' predictions at random; where few rows disagree it is
    conservative. `p_holm` holds for all rows of the result together. roc_auc is tested by DeLong, other measures of
    scores by a Bayesian bootstrap.

    >>> compare([0] * 90 + [1] * 10, {"A": [0] * 85 + [1] * 14 + [0], "B": [0] * 98 + [1] * 2}, metrics=["recall"])
    A against B on the same 100 rows: differences with 95 % intervals
    metric      A      B  difference    low   high  p_value  p_holm
    recall  0.900  0.200       0.700  0.139  0.888   0.0225  0.0225
    McNemar: A alone is right in 8 rows, B alone in 6; p = 0.607 (mid-p), 0.791 (exact)
    """
    uncertainty.check(level, "auto", draws)
    _refuse_weights(sample_weight)
    options = Options(pos_label, labels, average)
    if average is None:
        raise InputError("compare takes one value a measure: name a class with pos_label=, or average='macro'.")
    plan = Plan(level, draws, drawing.generator(rng))
    if isinstance(y_true, Paired):
        return _compare_table(y_true, models, _known(metrics), options, plan)
    true, columns = _columns(y_true, models)
    if scores:
        return _compare_scores(true, columns, threshold, _known(metrics), options, plan)
    if threshold is not None:
        told = "threshold= cuts scores, and predicted labels are cut already"
        raise InputError(f"{told}; say scores=True, or leave it out.")
    codes, known = _encoded(true, {f"the model {name!r}": column for name, column in columns.items()}, labels)
    return _compare_codes(list(columns), codes, known, _positive(known, pos_label), _known(metrics), options, plan)


def _known(metrics: Iterable[Any] | None) -> tuple[Metric, ...] | None:
    if isinstance(metrics, str):
        raise InputTypeError(f"metrics= takes a list of measures; write [{metrics!r}].")
    return None if metrics is None else tuple(get_metric(metric) for metric in metrics)


def _columns(y_true: Any, models: Any) -> tuple[Array, dict[str, Array]]:
    """The columns of the truth and of each model, of one length."""
    if not isinstance(models, Mapping):
        told = f"not {type(models).__name__}"
        raise InputTypeError(f'compare takes the models by name, such as {{"A": ..., "B": ...}}, {told}.')
    if len(models) < 2:
        raise InputError(f"compare needs two or more models, not {len(models)}; `interval` tells how sure one is.")
    true = arrays.column(y_true, "y_true")
    columns = {str(name): arrays.column(values, f"the model {name!r}") for name, values in models.items()}
    if len(columns) < len(models):
        raise InputError("Two models have one and the same name once written as text; give each its own.")
    for name, column in columns.items():
        if len(column) != len(true):
            told = f"The model {name!r} has {len(column):,} rows and y_true {len(true):,}"
            raise InputError(f"{told}; give one prediction for each row of y_true.")
    return true, columns


def _compare_codes(
    names: list[str],
    codes: list[Array],
    labels: tuple[Any, ...],
    positive: Any,
    measures: tuple[Metric, ...] | None,
    options: Options,
    plan: Plan,
) -> Comparison:
    if positive is not None and len(labels) > 2:  # one class against the rest, before any cube is built
        place = labels.index(positive)
        codes, labels = [code == place for code in codes], (f"not {positive}", positive)
    by_name = dict(zip(names, codes[1:], strict=True))
    pairs = ((a, b, _weigh(codes[0], by_name[a], by_name[b], labels, positive)) for a, b in combinations(names, 2))
    weighed = list(pairs)
    ingest.check_whole(weighed[0][2].confusion(0))
    return _compare_tables(names, weighed, measures, options, plan)


def _compare_table(
    table: Paired, models: Any, measures: tuple[Metric, ...] | None, options: Options, plan: Plan
) -> Comparison:
    names = ["A", "B"] if models is None else [str(name) for name in models]
    if len(names) != 2:
        raise InputError(f"A paired table holds two models; name two, or none for 'A' and 'B', not {len(names)}.")
    if not table.n:
        raise InputError("The paired table holds no rows; there is nothing to compare.")
    if options.average == "native" and not (options.pos_label is None and table.positive is None):
        table = table.collapsed(options.pos_label)
    return _compare_tables(names, [(names[0], names[1], table)], measures, options, plan)


def _compare_tables(
    names: list[str],
    pairs: list[tuple[str, str, Paired]],
    measures: tuple[Metric, ...] | None,
    options: Options,
    plan: Plan,
) -> Comparison:
    tables = {name: table.confusion(i) for a, b, table in pairs for i, name in enumerate((a, b))}
    weighed = Weighed(_fitting(tables[names[0]], options) if measures is None else measures, options, tables)
    rows = [row for a, b, table in pairs for row in _label_rows(a, b, table, weighed, plan)]
    tests = Rows(mcnemar(table, (a, b)) for a, b, table in pairs)
    return Comparison(tuple(names), pairs[0][2].n, plan.level, _adjusted(rows), tests, Rows(), weighed)


def _fitting(table: Confusion, options: Options) -> tuple[Metric, ...]:
    """The usual measures for this table: those of two classes where one of them is the positive one."""
    try:
        names = TWO_CLASS if options.average != "native" or table.positive_label() is not None else MANY_CLASS
    except InputError:
        names = MANY_CLASS
    return tuple(get_metric(name) for name in names)


def _adjusted(rows: list[Difference]) -> Rows[Difference]:
    both = zip(rows, holm(row.p_value for row in rows), strict=True)
    return Rows(replace(row, p_holm=p) for row, p in both)


class Judgement(NamedTuple):
    """What the draws or a test say of a difference."""

    low: float
    high: float
    p_value: float
    undefined_share: float


def _row(
    a: str, b: str, measure: Metric, weighed: Weighed, judged: Callable[[float], Judgement], how: str
) -> Difference:
    """The row of one pair and measure; `judged` says what to think of its difference."""
    one, other = weighed.answer(measure, a), weighed.answer(measure, b)
    whys = [f"{name}: {answer.why}" for name, answer in ((a, one), (b, other)) if np.isnan(answer.value)]
    value_a, value_b = float(one.value), float(other.value)
    found = judged(value_a - value_b)
    return Difference(
        a, b, measure.name, value_a, value_b, value_a - value_b, found.low, found.high, found.p_value, math.nan, how,
        found.undefined_share, "; ".join(whys) or None,
    )  # fmt: skip


# ---------------------------------------------------------------- measures of labels


@dataclass
class PairDraws:
    """The draws of a pair's table and of its swaps, of one class against the rest or of all; made once each."""

    table: Paired
    plan: Plan
    _kept: dict[Any, tuple[Array, Array]] = field(default_factory=dict)

    def values(self, measure: Metric, options: Options, kind: str) -> Array:
        """The measure's differences on the draws, draws on the last axis."""
        place = calling.positive_place(measure, self.table.confusion(0), options)
        if (kind, place) not in self._kept:
            self._kept[kind, place] = self._drawn(kind, place)
        a, b = (_evaluated(measure, cells, place, options) for cells in self._kept[kind, place])
        return np.asarray(a - b)

    def _drawn(self, kind: str, place: int | None) -> tuple[Array, Array]:
        rows = positive_first(self.table, place)
        draws = self.plan.draws or int(np.clip(MOST_WORK // rows.size, 1_000, DRAWS))
        return (posterior if kind == "posterior" else swaps)(rows, draws, self.plan.rng)


def positive_first(table: Paired, place: int | None) -> Array:
    """The rows of one class against the rest, that class first; of all classes where none is meant."""
    return table.rows if place is None else table.collapsed(table.labels[place]).rows[::-1, ::-1, ::-1]


def posterior(rows: Array, draws: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draws of both models' tables from the Dirichlet posterior of truth x A x B, on a new first axis."""
    prior = PRIOR_MASS / rows.shape[-1] ** 3
    return _margins(lambda n: rng.standard_gamma(rows + prior, size=(n, *rows.shape)), rows.size, draws)


def swaps(rows: Array, draws: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draws of both models' tables where each row's two predictions are swapped or not, as a coin falls."""
    both = rows + rows.swapaxes(-1, -2)
    upper = np.triu(np.ones(rows.shape[-2:], dtype=bool), 1)

    def cells(n: int) -> Array:
        heads = rng.binomial(np.where(upper, both, 0), 0.5, size=(n, *rows.shape))
        tails = np.where(upper, both, 0) - heads
        alike: Array = rows * np.eye(rows.shape[-1], dtype=np.int64)
        return heads + tails.swapaxes(-1, -2) + alike

    return _margins(cells, rows.size, draws)


def _margins(cells: Callable[[int], Array], size: int, draws: int) -> tuple[Array, Array]:
    """Truth x A and truth x B of the draws, a part of them at a time."""
    parts = [(drawn.sum(-1), drawn.sum(-2)) for drawn in map(cells, _steps(draws, size))]
    a, b = (np.concatenate(side).astype(np.float64) for side in zip(*parts, strict=True))
    return a, b


def _steps(draws: int, size: int) -> Iterator[int]:
    step = max(1, AT_ONCE // max(size, 1))
    return (min(step, draws - start) for start in range(0, draws, step))


def _evaluated(measure: Metric, cells: Array, place: int | None, options: Options) -> Array:
    if place is not None:
        return np.asarray(calling.count_values(measure, drawing.as_counts(cells), measure.parameters))
    return np.moveaxis(calling.class_values(measure, ClassCells.of(cells), options, measure.parameters), 0, -1)


def _label_rows(a: str, b: str, table: Paired, weighed: Weighed, plan: Plan) -> Iterator[Difference]:
    draws = PairDraws(table, plan)
    for measure in weighed.measures:
        held, swapped = (draws.values(measure, weighed.options, kind) for kind in ("posterior", "swaps"))
        yield _row(a, b, measure, weighed, _by_table(held, swapped, plan), "posterior")


def _by_table(held: Array, swapped: Array, plan: Plan) -> Callable[[float], Judgement]:
    def judged(difference: float) -> Judgement:
        low, high, p = judge(difference, held, swapped, plan.tails)
        return Judgement(float(low), float(high), float(p), float(np.isnan(held).mean()))

    return judged


def judge(difference: Any, held: Array, swapped: Array, tails: tuple[float, float]) -> tuple[Any, Any, Any]:
    """The ends and the p-value of differences, given the draws of their posterior and of their swaps on a last axis.

    Of two models that are equal the posterior alone rejects up to 7 % at 0.05 where some eight rows disagree.
    """
    p = np.fmax(_beyond(held), _swapped(np.asarray(difference), swapped))
    p = np.where(np.abs(difference) <= ROUNDING, 1.0, p)
    return (*_ends(difference, held, tails), np.where(np.isnan(difference), np.nan, p))


def _ends(difference: Any, held: Array, tails: tuple[float, float]) -> tuple[Any, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a measure that no draw defines has no interval
        low, high = np.nanquantile(held, tails, axis=-1)
    lost = np.isnan(difference)
    return np.where(lost, np.nan, np.fmin(low, difference)), np.where(lost, np.nan, np.fmax(high, difference))


def _beyond(held: Array) -> Array:
    """Twice the share of the draws on the other side of 0; 0 where they are too few to be a share."""
    few = np.minimum((held <= 0).sum(-1), (held >= 0).sum(-1))
    share = 2 * (few + 1) / ((~np.isnan(held)).sum(-1) + 1)
    return np.where(few < FEWEST, 0.0, np.minimum(share, 1.0))


def _swapped(difference: Array, swapped: Array) -> Array:
    """The share of the swaps that differ more, equal ones by half; a normal tail where these are few."""
    far, seen = np.abs(swapped), np.abs(difference)[..., None]
    beyond = (far > seen + ROUNDING).sum(-1) + (np.abs(far - seen) <= ROUNDING).sum(-1) / 2
    defined = np.maximum((~np.isnan(far)).sum(-1), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.sqrt(np.nansum(far**2, -1) / defined)
        tail = _normal_tail(np.where(spread > 0, np.abs(difference) / spread, np.inf))
    return np.asarray(np.where(beyond >= FEWEST, beyond / defined, np.minimum(tail, FEWEST / defined)))


def _normal_tail(z: Array) -> Array:
    from scipy.stats import norm

    return np.asarray(2 * norm.sf(z))


# ---------------------------------------------------------------- measures of scores


def _compare_scores(
    true: Array,
    columns: dict[str, Array],
    threshold: Any,
    measures: tuple[Metric, ...] | None,
    options: Options,
    plan: Plan,
) -> Comparison:
    names, values = list(columns), {name: _finite(name, column) for name, column in columns.items()}
    positive, cuts = _positives(true, options), _cuts(threshold, names)
    chosen = _score_measures(measures, cuts)
    reading = Options(pos_label=True)
    weighed = Weighed(
        chosen, reading, {}, {name: ingest.score_table(positive, score) for name, score in values.items()}
    )
    rows, delong = _rank_rows(names, values, positive, weighed, plan)
    tests: Rows[McNemar] = Rows()
    if cuts:
        codes = [positive, *(values[name] >= cuts[name] for name in names)]
        of_labels = tuple(m for m in chosen if m.scores is None)
        labelled = _compare_codes(names, codes, (False, True), True, of_labels, reading, plan)
        tests, rows = labelled.mcnemar, [*rows, *labelled.rows]
        weighed = replace(weighed, tables=labelled.weighed.tables)
    pairs, order = list(combinations(names, 2)), [m.name for m in chosen]
    rows.sort(key=lambda row: (pairs.index((row.a, row.b)), order.index(row.metric)))
    return Comparison(tuple(names), len(positive), plan.level, _adjusted(rows), tests, delong, weighed)


def _finite(name: str, values: Array) -> Array:
    score = arrays.numbers(values, f"the model {name!r}")
    if not np.isfinite(score).all():
        row = int(np.flatnonzero(~np.isfinite(score))[0])
        raise InputError(f"The model {name!r} scores row {row} as {score[row]}; give finite numbers, or drop that row.")
    return score


def _positives(true: Array, options: Options) -> Array:
    held, label = ingest.is_positive(true, options.pos_label, ingest.declared_labels(options.labels))
    positive: Array = np.asarray(held) != 0
    if not positive.any() or positive.all():
        raise InputError(f"y_true holds one class only ({label!r} is the positive class); give rows of both classes.")
    return positive


def _cuts(threshold: Any, names: list[str]) -> dict[str, float]:
    """The cut of each model; none where no threshold is given."""
    if threshold is None:
        return {}
    given = threshold if isinstance(threshold, Mapping) else dict.fromkeys(names, threshold)
    for name in names:
        cut = given.get(name)
        if not isinstance(cut, (int, float, np.number)) or math.isnan(cut):
            raise InputError(f"threshold= is a number, or one for each model; for {name!r} it is {cut!r}.")
    return {name: float(given[name]) for name in names}


def _score_measures(measures: tuple[Metric, ...] | None, cuts: dict[str, float]) -> tuple[Metric, ...]:
    if measures is None:
        return tuple(get_metric(name) for name in (*RANKED, *(TWO_CLASS if cuts else ())))
    for measure in measures:
        if measure.scores is None and not cuts:
            raise InputError(f"{measure.name} is a measure of labels; give threshold= to cut the scores into them.")
    return measures


def _rank_rows(
    names: list[str], values: dict[str, Array], positive: Array, weighed: Weighed, plan: Plan
) -> tuple[list[Difference], Rows[DeLong]]:
    ranked = [m for m in weighed.measures if m.scores is not None]
    plain = [m for m in ranked if m.name == "roc_auc" and m.parameters.get("max_fpr") is None]
    moved = _deviations([m for m in ranked if m not in plain], values, positive, plan)
    rows, tests = [], []
    for a, b in combinations(names, 2):
        tested = auc.paired_delong(positive, values[a], values[b])
        tests.append(DeLong(a, b, tested.auc_a, tested.auc_b, tested.difference, tested.z, tested.p_value))
        for measure in ranked:
            if measure in plain:
                judged, method = _by_delong(tested, plan), "delong"
            else:
                judged, method = _by_draws(moved[a][measure.name] - moved[b][measure.name], plan), "bayesian-bootstrap"
            rows.append(_row(a, b, measure, weighed, judged, method))
    return rows, Rows(tests)


def _by_delong(tested: auc.PairedAuc, plan: Plan) -> Callable[[float], Judgement]:
    from scipy.stats import norm

    reach = float(norm.ppf(plan.tails[1])) * math.sqrt(tested.variance)
    low, high = max(tested.difference - reach, -1.0), min(tested.difference + reach, 1.0)
    return lambda _: Judgement(low, high, tested.p_value, 0.0)


def _by_draws(moved: Array, plan: Plan) -> Callable[[float], Judgement]:
    def judged(difference: float) -> Judgement:
        held = difference + moved
        low, high = _ends(difference, held, plan.tails)
        spread = float(np.nanstd(held))
        tail = float(_normal_tail(np.asarray(abs(difference) / spread if spread else math.inf)))
        p = max(float(_beyond(held)), min(tail, 2 * FEWEST / len(held)))
        p = math.nan if math.isnan(difference) else 1.0 if abs(difference) <= ROUNDING else p
        return Judgement(float(low), float(high), p, float(np.isnan(held).mean()))

    return judged


def _deviations(
    measures: list[Metric], values: dict[str, Array], positive: Array, plan: Plan
) -> dict[str, dict[str, Array]]:
    """How far each measure of each model moves under random weights of the rows, the same for all models.

    This is the Bayesian bootstrap, of scores that are binned where there are many.
    """
    n = len(positive)
    draws = plan.draws or int(np.clip(RANK_WORK // n, 500, RANK_DRAWS))
    models = {name: _entries(score, positive) for name, score in values.items()}
    spread = np.where(positive, _spread(positive.sum(), plan), _spread((~positive).sum(), plan))
    found: dict[str, dict[str, list[Array]]] = {name: {m.name: [] for m in measures} for name in values}
    for step in _steps(draws, n) if measures else ():
        weights = plan.rng.standard_gamma(spread, (step, n)) / spread
        for name, sides in models.items():
            table, usual = _table(sides, weights), _table(sides, np.ones((1, n)))
            for m in measures:
                moved = m.scores(table, **m.parameters) - m.scores(usual, **m.parameters)  # type: ignore[misc]
                found[name][m.name].append(np.broadcast_to(moved, (step,)))
    return {name: {key: np.concatenate(parts) for key, parts in by.items()} for name, by in found.items()}


def _spread(n: int, plan: Plan) -> float:
    """The gamma shape of a row's weight that gives a mean of n rows its variance, widened as Student's t widens it.

    With 40 positives the plain shape of 1 leaves 95 % intervals of average precision at a coverage of 92 %.
    """
    from scipy.stats import norm, t

    ratio = norm.ppf(plan.tails[1]) / t.ppf(plan.tails[1], max(n - 1, 1))
    return float(max(((n - 1) * ratio**2 - 1) / n, 0.1))


class Entries(NamedTuple):
    """The rows of one class in the order of their scores, where each entry begins among them, and its score."""

    rows: Array
    starts: Array
    scores: Array


def _entries(score: Array, positive: Array) -> list[Entries]:
    """The entries of the positives and of the negatives: distinct scores, or the bins of `draws.binned`."""
    classes = [np.flatnonzero(positive), np.flatnonzero(~positive)]
    edges, common = sorted((np.unique(score[rows]) for rows in classes), key=len)
    if len(common) <= drawing.MOST_ENTRIES:
        bins, which = np.unique(score, return_inverse=True)
    else:
        edges = edges[np.linspace(0, len(edges) - 1, min(len(edges), drawing.MOST_ENTRIES)).astype(np.int64)]
        which = np.searchsorted(edges, score, "left") + np.searchsorted(edges, score, "right")
        bins = np.bincount(which, score) / np.maximum(np.bincount(which), 1)
    return [_of_class(rows[np.argsort(which[rows], kind="stable")], which, bins) for rows in classes]


def _of_class(rows: Array, which: Array, bins: Array) -> Entries:
    held, starts = np.unique(which[rows], return_index=True)
    return Entries(rows, starts, bins[held])


def _table(sides: list[Entries], weights: Array) -> ScoreTable:
    masses = (np.add.reduceat(weights[:, side.rows], side.starts, axis=-1) for side in sides)
    held, rest = (Side(side.scores, mass, mass, mass) for side, mass in zip(sides, masses, strict=True))
    return ScoreTable(held, rest)


# ---------------------------------------------------------------- ranking of the measures


@dataclass(frozen=True)
class Standing:
    """The place of one measure in the order of the differences, here and over the prevalences."""

    metric: str
    difference: float
    rank: int | None
    sign: str
    favours: str | None
    lowest_rank: int | None
    highest_rank: int | None
    signs: str

    def row(self) -> dict[str, Any]:
        """The standing as a row of a table."""
        return dict(self.__dict__)


@dataclass(frozen=True)
class Place:
    """The difference of two models by one measure at one prevalence, and its rank there."""

    metric: str
    prevalence: float
    value_a: float
    value_b: float
    difference: float
    rank: int | None
    sign: str

    def row(self) -> dict[str, Any]:
        """The place as a row of a table."""
        return dict(self.__dict__)


@dataclass(frozen=True, repr=False)
class Ranking:
    """The measures in the order of the difference a - b, descending, and their places at other prevalences.

    `changes` names the first measure after each change of sign: from there on the other model is ahead.
    """

    a: str
    b: str
    prevalence: float | None
    order: Rows[Standing]
    changes: tuple[str, ...]
    places: Rows[Place]

    def __repr__(self) -> str:
        lines = table_text(self.order.to_dicts()).splitlines()
        for i, standing in reversed(list(enumerate(self.order, 1))):
            if standing.metric in self.changes:
                lines.insert(i, "-" * len(lines[0]))
        told = sorted({place.prevalence for place in self.places})
        over = f"; ranks and signs also at prevalences {', '.join(f'{p:g}' for p in told)}" if told else ""
        return "\n".join([f"Measures by {self.a} - {self.b}{over}", *lines])

    def to_frame(self, library: str | None = None) -> Any:
        """A data frame of every measure's place at every prevalence, or of the order where there are none."""
        return self.places.to_frame(library) if self.places else self.order.to_frame(library)


def _ranking(a: str, b: str, weighed: Weighed, prevalences: Sequence[float] | None) -> Ranking:
    measures = weighed.measures
    observed = [tuple(float(weighed.answer(m, name).value) for name in (a, b)) for m in measures]
    differences = np.array([one - other for one, other in observed])
    shares = _prevalences(weighed, prevalences)
    there = np.array([[_at(weighed, m, name, shares) for name in (a, b)] for m in measures])  # measure, model, share
    ranks, gaps = _ranks(differences), there[:, 0] - there[:, 1]
    ranks_there = np.stack([_ranks(column) for column in gaps.T], 1) if len(shares) else np.zeros((len(measures), 0))
    places = Rows(
        Place(m.name, float(p), float(there[i, 0, j]), float(there[i, 1, j]), float(gaps[i, j]),
              _whole(ranks_there[i, j]), _sign(gaps[i, j]))
        for i, m in enumerate(measures) for j, p in enumerate(shares)
    )  # fmt: skip
    standings = [
        _standing(m, differences[i], ranks[i], ranks_there[i], gaps[i], (a, b)) for i, m in enumerate(measures)
    ]
    order = sorted(standings, key=lambda s: (s.rank is None, s.rank))
    signed = [s for s in order if s.sign in ("+", "-")]
    changes = tuple(after.metric for before, after in pairwise(signed) if before.sign != after.sign)
    return Ranking(a, b, _prevalence(weighed, a), Rows(order), changes, places)


def _standing(
    measure: Metric, difference: float, rank: float, ranks: Array, gaps: Array, models: tuple[str, str]
) -> Standing:
    sign = _sign(difference)
    better = {"higher": "+", "lower": "-"}.get(str(measure.direction))
    favours = None if better is None or sign not in ("+", "-") else models[0] if sign == better else models[1]
    held = np.append(ranks, rank)
    held = held[~np.isnan(held)]
    low, high = (int(held.max()), int(held.min())) if len(held) else (None, None)
    return Standing(measure.name, float(difference), _whole(rank), sign, favours, low, high, "".join(map(_sign, gaps)))


def _sign(difference: float) -> str:
    if math.isnan(difference):
        return "?"
    return "0" if abs(difference) <= ROUNDING else "+" if difference > 0 else "-"


def _whole(rank: float) -> int | None:
    return None if math.isnan(rank) else int(rank)


def _ranks(differences: Array) -> Array:
    """1 for the largest difference; equal ones share the better rank, undefined ones have none."""
    larger = differences[None, :] > differences[:, None] + ROUNDING
    return np.where(np.isnan(differences), np.nan, 1.0 + larger.sum(1))


def _place(weighed: Weighed) -> int | None:
    """The place of the positive class in the models' tables; None where the measures are of all classes."""
    if weighed.scores:
        return 1
    table = next(iter(weighed.tables.values()))
    try:
        return table.index(table.positive_label()) if weighed.options.average == "native" else None
    except InputError:
        return None


def _prevalence(weighed: Weighed, model: str) -> float | None:
    if weighed.scores:
        table = weighed.scores[model]
        return table.positive.n / (table.positive.n + table.negative.n)
    place = _place(weighed)
    rows = weighed.tables[model].rows
    return None if place is None else float(rows[place].sum() / rows.sum())


def _prevalences(weighed: Weighed, prevalences: Sequence[float] | None) -> Array:
    if prevalences is not None and len(prevalences) and _place(weighed) is None:
        raise InputError("A prevalence is that of one class: compare with pos_label=, or leave prevalences= out.")
    shares = np.atleast_1d(checked_shares(PREVALENCES if prevalences is None else prevalences))
    return shares if _place(weighed) is not None else np.zeros(0)


def _at(weighed: Weighed, measure: Metric, model: str, shares: Array) -> Array:
    """The measure with the classes re-weighted to each prevalence."""
    if not len(shares):
        return np.zeros(0)
    if weighed.by_rank(measure):
        tables = (scores_at(weighed.scores[model], float(share)) for share in shares)
        return np.array([measure.scores(table, **measure.parameters) for table in tables], dtype=np.float64)  # type: ignore[misc]
    counts = at_prevalence(weighed.tables[model].one_vs_rest()[_place(weighed)], shares)
    return np.asarray(calling.count_values(measure, counts, measure.parameters))
