"""Search for a decision: the best rule for rows of probabilities, its value on new rows, and its gain on argmax."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from steelyard.analysis.decisions.best_decision_result import BestDecision, ClassDecision
from steelyard.analysis.decisions.decision_rule import DecisionRule, RiskCoverage, least_cost, limit_of_share
from steelyard.analysis.distributions import normal_reach
from steelyard.analysis.intervals.draws import dealt_folds, student_spread
from steelyard.analysis.levels import tails
from steelyard.exceptions import InputError, InputTypeError, UndefinedError
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.registry import default_metric
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.values import NO_MATRIX, ClassCells, class_values, count_values, positive_place
from steelyard.tables.counts import Counts

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.decisions.best_decision import DecidedRows, DecisionJudge
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.metrics.spec import SpecLike
    from steelyard.tables.confusion import Confusion


# ---------------------------------------------------------------- ClassAim
# The metric that decisions of many classes are to make best, on tables of any number of them at once.


_TIE = 1e-12  # what rounding may make of equal values


@dataclass(frozen=True, eq=False)
class ClassAim:
    """A metric as requested; of two classes that of the positive one, whose index is `positive`."""

    spec: MetricSpec
    positive: int | None = None

    @property
    def name(self) -> str:
        """The metric's written form."""
        return self.spec.name

    @property
    def sign(self) -> int:
        """1 where higher is better, -1 where lower is."""
        return self.spec.sign

    @cached_property
    def options(self) -> CallOptions:
        """How the classes enter the metric."""
        return self.spec.options(CallOptions())

    @cached_property
    def reads_matrix(self) -> bool:
        """Whether the metric reads every pair of classes, and not only each class against the rest."""
        if self.positive is not None or self.spec.metric.classes is None or self.options.average != "native":
            return False
        two = np.ones(2)
        try:
            self.values(ClassCells(two, two, two, two, None))  # type: ignore[arg-type]  # to see whether it is read
        except (TypeError, AttributeError):
            return True
        return False

    def values(self, cells: ClassCells) -> Array:
        """The value on tables whose classes are on the last axis."""
        metric = self.spec.metric
        if self.positive is not None:
            return count_values(
                metric, Counts.trusted(*(cell[..., self.positive] for cell in cells)), metric.parameters
            )
        return class_values(metric, cells, self.options, metric.parameters)

    def merits(self, cells: ClassCells) -> Array:
        """The same, higher being better, and lowest where it is undefined."""
        values = self.sign * np.asarray(self.values(cells), dtype=np.float64)
        return np.where(np.isnan(values), -np.inf, values)

    @property
    def tie(self) -> float:
        """The difference that rounding can make between equal values."""
        bounds = [abs(bound) for bound in self.spec.metric.range if np.isfinite(bound)]
        return _TIE * max([1.0, *bounds])


def read_class_aim(metric: SpecLike | None, table: Confusion) -> ClassAim:
    """The metric to make best on tables like this one; one without a best value, or not of such tables, is refused."""
    spec = MetricSpec.of(default_metric() if metric is None else metric)
    if spec.metric.function is None:
        raise InputTypeError(
            f"{spec.name} judges the probabilities themselves, which no decision changes; name a metric of labels."
        )
    if not spec.sign:
        raise InputError(f"No value of {spec.name} is best, so no decision is; name a metric with a direction.")
    options = spec.options(CallOptions())
    return ClassAim(spec, positive_place(spec.metric, table, options))


# ---------------------------------------------------------------- threshold ascent
# The thresholds of the classes at which a metric is best, one class after the other.
#
# With the other thresholds held, a class is decided in the rows whose odds against the best other class are high
# enough, so that all tables of its own threshold are cumulative sums over the rows in the order of these odds. Passes
# go on until none gains. One begins at the most probable class, one at classes of equal weight; the better one is
# taken.


_MOST_CELLS = 2**13  # of the tables of a step where there are three or more classes
_MOST_OF_TWO = 2**17  # of two, which take one step
_MOST_ROWS = 10_000  # on which thresholds are sought; of common classes some rows, of rare ones all
_LEAST_ROWS = 200  # of a common class
_MOST_PASSES, _LAST_PASSES = 8, 1  # on those rows, and then on all of them
_GAIN = 1e-4  # of a pass after which another is worth its time


@dataclass(frozen=True, eq=False)
class AscentRows:
    """The rows that a search reads: the class of each, its probabilities by class and its weight."""

    codes: Array
    columns: Array  # the logarithms of the probabilities, a class on the first axis
    weights: Array

    @classmethod
    def of(cls, codes: Array, probabilities: Array, weights: Array) -> AscentRows:
        """The rows that have weight."""
        counted = np.flatnonzero(weights > 0)
        with np.errstate(divide="ignore"):
            columns = np.log(np.ascontiguousarray(probabilities[counted].T, dtype=np.float64))
        return cls(codes[counted], columns, weights[counted])

    def some(self) -> AscentRows:
        """All of them, or of very many some of each common class, with more weight each."""
        k = len(self.columns)
        if k == 2 or len(self.codes) <= _MOST_ROWS:
            return self
        most, parts, scaled = max(_MOST_ROWS // k, _LEAST_ROWS), [], []
        for code in range(k):
            rows = np.flatnonzero(self.codes == code)
            step = max(math.ceil(len(rows) / most), 1)
            part = rows[::step]
            parts.append(part)
            scaled.append(self.weights[part] * (self.weights[rows].sum() / max(self.weights[part].sum(), 1e-300)))
        chosen = np.concatenate(parts)
        return AscentRows(self.codes[chosen], np.ascontiguousarray(self.columns[:, chosen]), np.concatenate(scaled))

    @cached_property
    def totals(self) -> Array:
        """The weight of each class."""
        return np.bincount(self.codes, self.weights, minlength=len(self.columns))

    def cells(self, tp: Array, decided: Array, matrix: Array | None) -> ClassCells:
        """The cells of tables of these rows."""
        fn, fp = self.totals - tp, np.maximum(decided - tp, 0)
        return ClassCells(tp, fn, fp, self.totals.sum() - self.totals - fp, NO_MATRIX if matrix is None else matrix)


def best_class_thresholds(aim: ClassAim, codes: Array, probabilities: Array, weights: Array) -> Array | None:
    """The thresholds of the classes with the sum 1; None where the metric is undefined at all that were tried."""
    rows = AscentRows.of(codes, probabilities, weights)
    k, some = len(rows.columns), rows.some()
    starts = [np.zeros(k)]
    if k > 2 and (rows.totals > 0).all():
        starts.append(-np.log(rows.totals / rows.totals.sum()))
    best = max((_Ascent(aim, some, start).climbed(_MOST_PASSES) for start in starts), key=lambda each: each.merit)
    if some is not rows:
        moved = (_Ascent(aim, rows, offsets) for offsets in (starts[0], best.offsets))
        best = max(moved, key=lambda each: each.merit).climbed(_LAST_PASSES)
    if best.merit == -np.inf:
        return None
    thresholds = np.exp(best.offsets.min() - best.offsets)
    return np.asarray(thresholds / thresholds.sum())


class _Ascent:
    """The offsets of the classes' logarithms, as they are moved one by one."""

    def __init__(self, aim: ClassAim, rows: AscentRows, offsets: Array) -> None:
        self.aim, self.rows, self.offsets = aim, rows, offsets.copy()
        decided = (rows.columns + self.offsets[:, None]).argmax(0)
        k = len(offsets)
        pairs = np.bincount(rows.codes * k + decided, rows.weights, minlength=k * k).reshape(k, k)
        self.merit = float(aim.merits(ClassCells.of(pairs)))

    def climbed(self, most: int) -> _Ascent:
        """The same where no class gains any more, or after so many passes."""
        for _ in range(most):
            before = self.merit
            self._move_each_class()
            if not self.merit > before + _GAIN:
                break
        return self

    def _move_each_class(self) -> None:
        """Every class once; the best of the classes before it and after it are kept as it goes along."""
        columns, k = self.rows.columns, len(self.rows.columns)
        after = [self._nothing()]
        for code in range(k - 1, 0, -1):
            after.append(_better(after[-1], (columns[code] + self.offsets[code], code)))
        before = self._nothing()
        for code in range(k):
            if k > 2 or code:  # of two classes one threshold says all
                self._move(code, _better(before, after[k - 1 - code]))
            before = _better(before, (columns[code] + self.offsets[code], code))

    def _nothing(self) -> tuple[Array, Array]:
        n = len(self.rows.codes)
        return np.full(n, -np.inf), np.zeros(n, dtype=np.int64)

    def _move(self, code: int, others: tuple[Array, Array]) -> None:
        """The best offset of one class, the others held; it stays where nothing is better."""
        from scipy.special import expit

        best_other, rival = others
        chances = expit(self.rows.columns[code] - best_other)
        edges = self._edges(code, chances)
        merits = self.aim.merits(self._cells(code, rival, np.searchsorted(edges, chances, "left"), len(edges)))
        best = float(merits.max())
        if len(self.offsets) > 2 and not best > self.merit + self.aim.tie:
            return
        best_edges = np.flatnonzero(merits >= best - self.aim.tie)
        offsets = np.log1p(-edges[best_edges]) - np.log(edges[best_edges])
        # Of two classes the fewest are decided, as best_threshold does; of more the nearest to where it was.
        chosen = len(best_edges) - 1 if len(self.offsets) == 2 else int(np.abs(offsets - self.offsets[code]).argmin())
        self.merit, self.offsets[code] = best, float(offsets[chosen])

    def _edges(self, code: int, chances: Array) -> Array:
        """The thresholds to try, ascending: half-way between neighbours, and one beyond each end.

        Of many rows half of those tried are of the class itself, which may be rare.
        """
        k = len(self.offsets)
        most = _MOST_OF_TWO if k == 2 else max(_MOST_CELLS // (k * k if self.aim.reads_matrix else k), 64)
        if len(chances) > most:
            of_class = self.rows.codes == code
            parts = (chances[of_class], chances[~of_class])
            chances = np.concatenate([_evenly_by_rank(part, most // 2) for part in parts])
        seen = np.unique(chances)
        edges = [seen[0] / 2, *((seen[1:] + seen[:-1]) / 2), (1 + seen[-1]) / 2]
        return np.asarray(np.clip(edges, 1e-300, 1 - 2**-53))

    def _cells(self, code: int, rival: Array, bins: Array, edges: int) -> ClassCells:
        """The tables at every edge: rows above it are decided for the class, the others for the best other one."""
        rows, k = self.rows, len(self.offsets)
        at, size = bins * k + rival, (edges + 1) * k
        decided = np.bincount(at, rows.weights, minlength=size).reshape(-1, k).cumsum(0)[:-1]
        hits = rows.weights * (rows.codes == rival)
        tp = np.bincount(at, hits, minlength=size).reshape(-1, k).cumsum(0)[:-1]
        of_class = np.bincount(bins, rows.weights * (rows.codes == code), minlength=edges + 1).cumsum()
        decided[:, code] = rows.totals.sum() - decided.sum(1)
        tp[:, code] = of_class[-1] - of_class[:-1]
        if not self.aim.reads_matrix:
            return rows.cells(tp, decided, None)
        pairs = np.bincount(at * k + rows.codes, rows.weights, minlength=size * k)
        matrix = pairs.reshape(-1, k, k).cumsum(0)[:-1].swapaxes(1, 2)
        matrix[:, :, code] = rows.totals - matrix.sum(2)
        return rows.cells(tp, decided, matrix)


def _better(first: tuple[Array, Array], second: tuple[Array, Array | int]) -> tuple[Array, Array]:
    """The larger of two columns in each row and the class it is of; the first where they are equal."""
    higher = second[0] > first[0]
    return np.where(higher, second[0], first[0]), np.where(higher, second[1], first[1])


def _evenly_by_rank(values: Array, most: int) -> Array:
    """Some of the values, evenly over their ranks."""
    if len(values) <= most:
        return values
    ordered = np.sort(values)
    return np.asarray(ordered[np.linspace(0, len(ordered) - 1, most).astype(np.int64)])


# ---------------------------------------------------------------- cross-fitting
# Decisions for each row by a rule that was chosen without it.


class RuleChoice(Protocol):
    """How a rule is chosen on some of the rows."""

    def __call__(self, rows: DecidedRows, among: Array | None = None) -> DecisionRule | None:
        """The rule; None where the metric is undefined on those rows."""


@dataclass(frozen=True, eq=False)
class CrossFit:
    """The decision of each row by a rule chosen on the other folds, its risk, and whether it is sent to a person."""

    decisions: Array
    risks: Array
    sent: Array
    rules: tuple[DecisionRule, ...] = ()

    @classmethod
    def of_rule(cls, rule: DecisionRule, probabilities: Array) -> CrossFit:
        """The decisions of one rule for all rows."""
        return cls(rule.decisions(probabilities), rule.risks(probabilities), rule.sent(probabilities))


def cross_fitted(rows: DecidedRows, choose: RuleChoice, folds: Array) -> CrossFit | None:
    """Every row decided without it; None where a rule cannot be chosen on the rest."""
    n = len(folds)
    decisions, risks, sent = np.zeros(n, dtype=np.int64), np.zeros(n), np.zeros(n, dtype=bool)
    rules: list[DecisionRule] = []
    for fold in range(int(folds.max()) + 1):
        out = folds == fold
        rule = choose(rows, np.flatnonzero(~out))
        if rule is None:
            return None
        rules.append(rule)
        part = CrossFit.of_rule(rule, rows.table.probabilities[out])
        decisions[out], risks[out], sent[out] = part.decisions, part.risks, part.sent
    return CrossFit(decisions, risks, sent, tuple(rules))


# ---------------------------------------------------------------- paired gain
# By how much one way to decide is better than another on the same rows, with its interval.
#
# Rows that both decide alike vary in both values together, so that the interval is of the difference itself: a Bayesian
# bootstrap of the rows, counted by true class and both decisions. It is made wider by how much the value varies with
# the rows that choose the rule: the jackknife of the folds' rules on all rows, and what is lost by choosing.


_DRAWS = 1_000
_AT_ONCE = 2**22  # cells of the tables that are drawn at a time


def paired_gain_bounds(
    aim: ClassAim,
    rows: DecidedRows,
    both: tuple[Array, Array],
    k: int,
    level: float,
    rng: np.random.Generator,
    variance_of_choice: float,
) -> tuple[float, float] | None:
    """The bounds of what the first decisions, of k columns, gain on the second; None where too few draws have a value.

    `variance_of_choice` is that of the choice of the rule.
    """
    codes = rows.table.codes
    cells, cell_of_row = np.unique((codes * k + both[0]) * k + both[1], return_inverse=True)
    true, first, second = cells // (k * k), (cells // k) % k, cells % k
    weights, squares = (np.bincount(cell_of_row, column) for column in (rows.table.weights, rows.table.squares))

    # Gamma weights of the cells, each of its effective number of rows.
    counted = weights > 0
    weight_per_row = np.where(counted, squares / np.where(counted, weights, 1), 1)
    shapes = weights / weight_per_row * student_spread(float(weights.sum() ** 2 / squares.sum()), level)
    drawn = np.asarray(rng.standard_gamma(shapes, (_DRAWS, len(weights))) * weight_per_row)
    if rows.factors is not None:
        shares = np.stack([drawn[:, true == i].sum(1) for i in range(rows.k)], 1)
        drawn = drawn * (rows.shares / np.maximum(shares, 1e-300))[:, true]

    size = max(1, _AT_ONCE // (k * k))
    gains = []
    for start in range(0, _DRAWS, size):
        part = drawn[start : start + size]
        gains.append(_values(aim, part, true, first, k) - _values(aim, part, true, second, k))
    gain = np.concatenate(gains)
    defined = aim.sign * gain[np.isfinite(gain)]
    if len(defined) < _DRAWS / 2:
        return None
    middle, variance = float(np.median(defined)), float(np.var(defined))
    stretch = float(np.sqrt(1 + variance_of_choice / variance)) if variance > 0 else 1.0
    low, high = (middle + (bound - middle) * stretch for bound in np.quantile(defined, tails(level)).tolist())
    return low, high


def choice_variance(optimism: float, k: int) -> float:
    """The variance of what a rule of k thresholds loses against the best rule.

    Near its best a metric falls off by squares, so that the rule gains on the rows that choose it what it loses on new
    ones: half of the optimism. That varies as chi-square with k - 1 degrees: by 2 / (k - 1) of the square of its mean.
    """
    return (max(optimism, 0.0) / 2) ** 2 * 2 / (k - 1)


def jackknife_variance(values: Array) -> float:
    """The variance of a value by what it is without each fold."""
    return float(np.var(values)) * (len(values) - 1) if len(values) > 1 and np.isfinite(values).all() else 0.0


def _values(aim: ClassAim, drawn: Array, true: Array, decided: Array, k: int) -> Array:
    """The metric on the tables of draws."""
    matrices = np.zeros((len(drawn), k * k))
    cell, index = np.unique(true * k + decided, return_inverse=True)
    order = np.argsort(index, kind="stable")
    starts = np.searchsorted(index[order], np.arange(len(cell)))
    matrices[:, cell] = np.add.reduceat(drawn[:, order], starts, axis=1)
    return np.asarray(aim.values(ClassCells.of(matrices.reshape(-1, k, k))), dtype=np.float64)


# ---------------------------------------------------------------- decision search


@dataclass(frozen=True, eq=False)
class DecisionSearch:
    """How the decision is to be made: by costs or by thresholds that are sought, and which rows a person decides."""

    rows: DecidedRows
    judge: DecisionJudge
    costs: Array | None
    reject: float | None
    reject_cost: float | None

    def rule(self, rows: DecidedRows, among: Array | None = None) -> DecisionRule | None:
        """The best rule on some of the rows; None where the metric is undefined there."""
        some = slice(None) if among is None else among
        probabilities, weights = rows.table.probabilities[some], rows.weights[some]
        if self.costs is None:
            thresholds = best_class_thresholds(self.judge.aim, rows.table.codes[some], probabilities, weights)
            if thresholds is None:
                return None
        elif self.rows.factors is None:
            thresholds = DecisionRule.of_argmax(self.rows.k).thresholds
        else:  # which move the probabilities to the shares of the classes where decisions are made
            thresholds = np.asarray(1 / self.rows.factors / (1 / self.rows.factors).sum())
        rule = DecisionRule(thresholds, self.costs)
        if self.reject_cost is not None:
            return replace(rule, limit=self.reject_cost)
        if self.reject:
            return replace(rule, limit=limit_of_share(rule.risks(probabilities), weights, self.reject))
        return rule

    @property
    def _probabilities(self) -> Array:
        return self.rows.table.probabilities

    @property
    def _is_fitted(self) -> bool:
        """Whether the rows choose anything of the rule."""
        return self.costs is None or bool(self.reject)

    def best(self, clusters: Array | None, folds: int, rng: np.random.Generator) -> BestDecision:
        """The rule with all that is known of it."""
        rows, judge, rule = self.rows, self.judge, self.rule(self.rows)
        if rule is None:
            raise UndefinedError(f"{judge.aim.name} is undefined at every decision: {judge.reason()}.")
        here = CrossFit.of_rule(rule, self._probabilities)
        argmax = CrossFit.of_rule(DecisionRule.of_argmax(rows.k), self._probabilities)
        unseen: CrossFit | None = None
        assumed: tuple[str, ...] = ()
        if not self._is_fitted:  # no row chooses the rule
            unseen = here
        elif folds:
            unseen = cross_fitted(rows, self.rule, dealt_folds(rows.table.codes, clusters, folds, rng))
            if unseen is None:
                assumed = (
                    f"What the rule is worth on new rows is not known: without some of the rows {judge.aim.name} is "
                    "undefined, as a class has too few.",
                )
        value, of_argmax, kept = judge.interval(here), judge.interval(argmax), unseen or here
        best = BestDecision(
            classes=self._classes(rule, kept, argmax),
            metric=judge.aim.name,
            value=float(value.value),
            argmax_value=float(of_argmax.value),
            argmax_interval=_bounds(of_argmax),
            costs=self.costs,
            reject=self.reject,
            reject_cost=self.reject_cost,
            limit=rule.limit,
            coverage=1 - rows.share_of(here.sent),
            prevalence=None if rows.factors is None else tuple(rows.shares.tolist()),
            folds=folds if self._is_fitted else 0,
            level=judge.level,
            is_share=judge.aim.spec.is_share,
            curve=RiskCoverage.of(rows, kept, self.costs, judge.level, intervals=clusters is None),
            assumed=assumed,
            **self._of_costs(here),
        )
        return best if unseen is None else self._with_unseen(best, unseen, argmax, clusters, rng)

    def _with_unseen(
        self, best: BestDecision, unseen: CrossFit, argmax: CrossFit, clusters: Array | None, rng: np.random.Generator
    ) -> BestDecision:
        """The same with the value on rows that did not choose the rule, and what it gains on argmax there."""
        interval, sign = self.judge.interval(unseen), self.judge.aim.sign
        expected = float(interval.value)
        optimism = sign * (best.value - expected) if self._is_fitted else 0.0
        variance_of_choice = choice_variance(optimism, self.rows.k) if self.costs is None else 0.0
        best = replace(
            best,
            out_of_sample=expected,
            out_of_sample_interval=_widened(_bounds(interval), expected, variance_of_choice, self.judge),
            optimism=optimism,
            out_of_sample_coverage=1 - self.rows.share_of(unseen.sent),
        )
        gain = sign * (expected - best.argmax_value)
        if self.reject:  # other rows are judged
            return best
        if clusters is not None or np.isnan(gain):
            return replace(best, gain=gain)
        both = (self.judge.columns(unseen), self.judge.columns(argmax))
        of_rules = np.array([self.judge.value(CrossFit.of_rule(rule, self._probabilities)) for rule in unseen.rules])
        variance_of_choice += jackknife_variance(of_rules)
        bounds = paired_gain_bounds(
            self.judge.aim, self.rows, both, self.judge.k, self.judge.level, rng, variance_of_choice
        )
        if bounds is not None:
            bounds = (min(bounds[0], gain), max(bounds[1], gain))
        return replace(best, gain=gain, gain_interval=bounds)

    def _of_costs(self, here: CrossFit) -> dict[str, Any]:
        """What only decisions by cost have: the best possible cost, and the cost that the probabilities expect."""
        if self.costs is None:
            return {}
        weights, kept = self.rows.weights, ~here.sent
        risks = here.risks
        if self.reject_cost is not None:
            risks, kept = np.where(here.sent, self.reject_cost, risks), np.ones(len(weights), dtype=bool)
        expected = float(np.average(risks[kept], weights=weights[kept])) if weights[kept].any() else np.nan
        totals = np.bincount(self.rows.table.codes[kept], weights[kept], minlength=self.rows.k)
        shares = totals / max(totals.sum(), 1e-300)
        ratios = None if self.rows.factors is None else tuple(self.rows.factors.tolist())
        return {"best_possible": least_cost(self.costs, shares), "expected": expected, "prior_ratios": ratios}

    def _classes(self, rule: DecisionRule, decided: CrossFit, argmax: CrossFit) -> tuple[ClassDecision, ...]:
        table, k = self.rows.table, self.rows.k

        def recalls(each: CrossFit, among: Array) -> Array:
            codes, weights = table.codes[among], table.weights[among]
            totals = np.bincount(codes, weights, minlength=k)
            right = np.bincount(codes, weights * (each.decisions[among] == codes), minlength=k)
            return np.where(totals > 0, right / np.where(totals > 0, totals, 1), np.nan)

        every = np.arange(len(table.codes))
        counted = np.bincount(table.codes, table.frequency, minlength=k).astype(np.int64)
        weight = np.bincount(table.codes, table.weights, minlength=k)
        sent = np.bincount(table.codes, table.weights * decided.sent, minlength=k) / np.where(weight > 0, weight, 1)
        thresholds = rule.thresholds if rule.is_of_thresholds else np.full(k, None)
        recall, argmax_recall = recalls(decided, np.flatnonzero(~decided.sent)), recalls(argmax, every)
        columns = (column.tolist() for column in (counted, thresholds, recall, argmax_recall, sent))
        return tuple(ClassDecision(*row) for row in zip(table.labels, *columns, strict=True))


def _bounds(interval: Interval) -> tuple[float, float] | None:
    low, high = float(interval.low), float(interval.high)
    return None if np.isnan(low) or np.isnan(high) else (low, high)


def _widened(
    bounds: tuple[float, float] | None, value: float, variance: float, judge: DecisionJudge
) -> tuple[float, float] | None:
    """The bounds of a value that varies by so much more, inside the metric's range."""
    if bounds is None:
        return None
    more, (least, most) = variance * normal_reach(judge.level) ** 2, judge.aim.spec.metric.range
    below, above = (float(np.hypot(bound - value, np.sqrt(more))) for bound in bounds)
    return max(value - below, least), min(value + above, most)
