"""The best decision of many classes: by thresholds, by costs, at deployment shares, and with rows sent to a person."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Unpack

import numpy as np

from steelyard.analysis.decisions.decision_rule import cost_metric, read_costs
from steelyard.analysis.decisions.search import ClassAim, DecisionSearch, read_class_aim
from steelyard.analysis.intervals.draws import generator
from steelyard.analysis.intervals.inference import ClusteredRows, Inference
from steelyard.analysis.intervals.intervals import table_intervals
from steelyard.analysis.levels import check_level
from steelyard.analysis.prevalence.prevalence import Prevalence, class_share_vector, stated_prevalence
from steelyard.arrays import checks
from steelyard.arrays.labels import choice_sentences, conventional_label
from steelyard.exceptions import InputError, InputTypeError, first_ten
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.values import ClassCells, on_confusion
from steelyard.predictions import Predictions, question, refuse_unused, rows_and_metric
from steelyard.tables.array_tables import needed_probabilities
from steelyard.tables.confusion import Confusion

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame, Label, Rng
    from steelyard.analysis.decisions.best_decision_result import BestDecision
    from steelyard.analysis.decisions.search import CrossFit
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike, SharesLike
    from steelyard.metrics.spec import SpecLike
    from steelyard.predictions import RowOptions, RowsLike
    from steelyard.tables.probability_table import ProbabilityTable


# ---------------------------------------------------------------- DecidedRows
# Rows with a column of probabilities for each class, and the tables that decisions make of them.


PERSON = "a person"  # who decides the rows that are sent


@dataclass(frozen=True, eq=False)
class DecidedRows:
    """A table of probabilities, and by how much each class is more common where decisions are made."""

    table: ProbabilityTable
    factors: Array | None = None

    @classmethod
    def of(cls, table: ProbabilityTable, shares: Array | None) -> DecidedRows:
        """The rows where classes have other shares."""
        table = replace(table, codes=table.codes.astype(np.int64))  # which are narrow, and multiplied here
        if shares is None:
            return cls(table)
        seen = table.class_shares
        return cls(table, np.divide(shares, seen, out=np.zeros(len(seen)), where=seen > 0))

    @property
    def k(self) -> int:
        """How many classes there are."""
        return len(self.table.labels)

    @cached_property
    def weights(self) -> Array:
        """The weight of each row where decisions are made."""
        weights = self.table.weights
        return weights if self.factors is None else weights * self.factors[self.table.codes]

    @property
    def shares(self) -> Array:
        """The share of each class there."""
        totals = np.bincount(self.table.codes, self.weights, minlength=self.k)
        return np.asarray(totals / totals.sum())

    def share_of(self, mask: Array) -> float:
        """The share of the rows that a mask holds."""
        return float(self.weights[mask].sum() / self.weights.sum())

    def confusion(self, decisions: Array, among: Array | None = None) -> Confusion:
        """The table of the rows as they were drawn, or of some of them."""
        return self._counted(decisions, self.table.labels, among)

    def confusion_with_person(self, decisions: Array, sent: Array) -> Confusion:
        """The table with one more column, of the rows that are sent to a person, and an empty row of its own."""
        labels = (*self.table.labels, PERSON)
        return self._counted(np.where(sent, self.k, decisions), labels, None)

    def _counted(self, decisions: Array, labels: tuple[object, ...], among: Array | None) -> Confusion:
        table, k = self.table, len(labels)
        rows = slice(None) if among is None else among
        cells = table.codes[rows] * k + decisions[rows]

        def summed(column: Array | None) -> Array:
            part = None if column is None else column[rows]
            return np.bincount(cells, part, minlength=k * k).reshape(k, k)

        counted = summed(table.frequency).astype(np.int64)
        if table.sample_weight is None:
            return Confusion.of_rows(labels, counted)
        return Confusion(labels, counted, summed(table.weights), summed(table.squares))

    def kept_prevalence(self, confusion: Confusion) -> Array | None:
        """The shares of the true classes of a table of some of the rows, where decisions are made."""
        if self.factors is None:
            return None
        weights = confusion.weights.sum(1) * np.append(self.factors, 0.0)[: len(confusion.labels)]
        return np.asarray(weights / weights.sum())


# ---------------------------------------------------------------- DecisionJudge
# The value of decisions by a metric, with its interval.


@dataclass(frozen=True, eq=False)
class DecisionJudge:
    """The rows, the metric, whether a person is one more column of the table, and how intervals are made."""

    rows: DecidedRows
    aim: ClassAim
    with_person: bool
    level: float
    rng: np.random.Generator
    positive: Label = None
    clusters: Array | None = None
    prevalence: PrevalenceLike | None = None

    @property
    def k(self) -> int:
        """The columns of a table of decisions."""
        return self.rows.k + self.with_person

    def columns(self, decided: CrossFit) -> Array:
        """The column of each row: the class that is decided, or a person."""
        return np.where(decided.sent, self.rows.k, decided.decisions) if self.with_person else decided.decisions

    def value(self, decided: CrossFit) -> float:
        """The value of decisions for all rows, without its interval."""
        k, codes = self.k, self.rows.table.codes
        cells = np.bincount(codes * k + self.columns(decided), self.rows.weights, minlength=k * k)
        return float(self.aim.values(ClassCells.of(cells.reshape(k, k))))

    def interval(self, decided: CrossFit) -> Interval:
        """The value of decisions with its interval: of the rows kept, or of all where a person has a cost."""
        among = None if self.with_person or not decided.sent.any() else np.flatnonzero(~decided.sent)
        if self.with_person:
            table = self.rows.confusion_with_person(decided.decisions, decided.sent)
        else:
            table = self.rows.confusion(decided.decisions, among)
            if self.positive is not None:
                table = table.with_positive(self.positive)
        prevalence = self.prevalence if among is None and not self.with_person else self.rows.kept_prevalence(table)
        clustered = None if self.clusters is None else self._clustered(decided, self.clusters, among)
        inference = Inference(self.level, rng=self.rng, prevalence=prevalence, clustered=clustered)
        return table_intervals([self.aim.spec], table, CallOptions(), inference)[0]

    def reason(self) -> str:
        """Why the most probable class has no value."""
        table, metric = self.rows.confusion(self.rows.table.most_probable), self.aim.spec.metric
        value = on_confusion(metric, table, self.aim.options, metric.parameters)
        return str(value.why or "too few rows")

    def _clustered(self, decided: CrossFit, clusters: Array, among: Array | None) -> ClusteredRows:
        """The rows one by one with their clusters."""
        table, rows = self.rows.table, slice(None) if among is None else among
        labels = np.empty(self.k, dtype=object)
        labels[:] = [*table.labels, PERSON][: self.k]
        frequency = None if table.frequency is None else table.frequency[rows]
        weight = None if table.sample_weight is None else table.sample_weight[rows]
        true, decision = labels[table.codes[rows]], labels[self.columns(decided)[rows]]
        return ClusteredRows(true, decision, clusters[rows], frequency, sample_weight=weight)


# ---------------------------------------------------------------- the best decision of many classes


_LEAST_FOLDS = 2


@question
def best_decision(
    data: RowsLike | ProbabilityTable = None,
    scored: ArrayLike | SpecLike | None = None,
    /,
    metric: SpecLike | None = None,
    *,
    cost_matrix: ArrayLike | Frame | None = None,
    reject: float | None = None,
    reject_cost: float | None = None,
    prevalence: SharesLike | None = None,
    folds: int = 5,
    level: float = 0.95,
    rng: Rng = None,
    **rows: Unpack[RowOptions],
) -> BestDecision:
    """How to decide between classes by their probabilities, a column of scores for each, and what it is worth.

    By a metric, which stands after the rows (a name such as "f1[average=macro]", "balanced_accuracy", "g_mean" or
    "accuracy"; by default the AC-score), each class gets a threshold: the class whose probability is the largest
    multiple of its threshold is decided, and the thresholds are those at which the metric is best. With a
    `cost_matrix` (K x K, rows true, columns decided, or a frame with the classes as names) nothing is sought: the
    decision of least expected cost is taken (Elkan 2001), which is best where the probabilities are calibrated.
    best_threshold asks the same of one column of scores, and sets limits; a rule of many classes has neither one
    threshold nor one curve, so that it is an answer of its own kind.

    `prevalence` are the shares of the classes where decisions are made, in their order or by label: rows count by them,
    and probabilities are moved to them (Saerens et al. 2002). `reject=0.05` sends the 5 % of the rows to a person whose
    decision is the least certain; `reject_cost` sends those whose decision is expected to cost more than that (Chow
    1970). Without a metric or costs, every error then costs 1.

    The rows are divided into `folds`, and each is decided by a rule chosen on the others: `out_of_sample` is the value
    of these decisions, beside that of the most probable class. 0 leaves it out. Rows of one `cluster` stay together.

    >>> p = [[0.6, 0.3, 0.1], [0.5, 0.4, 0.1], [0.4, 0.5, 0.1], [0.5, 0.2, 0.3], [0.4, 0.2, 0.4], [0.3, 0.3, 0.4]]
    >>> best = best_decision(["a", "b", "b", "c", "c", "c"], p, "balanced_accuracy", folds=0)
    >>> best.argmax_value.__round__(3), best.value
    (0.611, 1.0)
    >>> best = best_decision(["a", "b", "b", "c", "c", "c"], p, cost_matrix=[[0, 1, 1], [5, 0, 1], [5, 1, 0]])
    >>> best.decide(p).tolist()
    ['b', 'b', 'b', 'c', 'c', 'c']
    """
    check_level(level)
    scored, metric = rows_and_metric(data, scored, metric, rows)
    p = Predictions.of(data, scored, second_is="y_score", **rows)
    refuse_unused(p, "best_decision", "design", "by", "threshold", "columns")
    table, cluster = _class_table(p), p.clusters
    costs = _costs(cost_matrix, metric, reject, reject_cost, table)
    prevalence = stated_prevalence(prevalence)
    shares = None
    if prevalence is not None:
        shares = class_share_vector(prevalence, len(table.labels), "prevalence", table.labels)
        if (table.class_shares == 0).any():
            missing = table.labels[int(np.argmin(table.class_shares))]
            raise InputError(f"Class {missing!r} has no rows in y_true, so it cannot be given a share; leave it out.")
    decided, draws = DecidedRows.of(table, shares), generator(rng)
    positive = p.given.pos_label
    if positive is None:
        positive = conventional_label(table.labels) if len(table.labels) == 2 else None
    elif len(table.labels) != 2 or positive not in table.labels:
        raise InputError(f"pos_label={positive!r} is one of two classes, and these are {first_ten(table.labels)}.")
    aim = _aim(costs, metric, decided, positive, cost_matrix is not None, reject_cost)
    clusters = None if cluster is None else checks.column(cluster, "cluster")
    checks.check_lengths(y_true=table.codes, cluster=clusters)
    in_use = prevalence if isinstance(prevalence, Prevalence) else shares
    judge = DecisionJudge(decided, aim, reject_cost is not None, level, draws, positive, clusters, in_use)
    is_whole = isinstance(folds, (int, np.integer)) and not isinstance(folds, bool)
    if not is_whole or folds < 0 or 0 < folds < _LEAST_FOLDS:
        raise InputError(argument="folds", expected=f"a whole number, 0 or {_LEAST_FOLDS} and more", given=folds)
    best = DecisionSearch(decided, judge, costs, reject, reject_cost).best(clusters, int(folds), draws)
    return replace(best, assumed=(*choice_sentences(p.given.pos_label, positive, table.labels), *best.assumed))


def _aim(
    costs: Array | None,
    metric: SpecLike | None,
    rows: DecidedRows,
    positive: Label,
    are_given: bool,
    reject_cost: float | None,
) -> ClassAim:
    """What the decisions are to reach: the best metric, the least cost, or the fewest errors."""
    table = rows.table
    if costs is None:
        confusion = rows.confusion(table.most_probable)
        return read_class_aim(metric, confusion if positive is None else confusion.with_positive(positive))
    if not are_given and reject_cost is None:
        return ClassAim(MetricSpec.of("error_rate"))
    if reject_cost is not None:  # a person is one more column
        costs = np.pad(costs, ((0, 1), (0, 1)))
        costs[:, -1] = reject_cost
    return ClassAim(MetricSpec(cost_metric(costs, 1 if positive is None else table.labels.index(positive))))


def _class_table(p: Predictions) -> ProbabilityTable:
    """The rows with a column of probabilities for each class."""
    if p.are_sets:
        raise InputError("Rows that may have several labels each are decided label by label: use best_threshold.")
    if p.given.is_table or p.given.model.score is None:
        raise InputTypeError("best_decision takes y_true and y_score, a column of probabilities for each class.")
    if p.kind != "class scores":
        raise InputError("best_decision takes a column of probabilities for each class; of one use best_threshold.")
    table = p.probability_table()
    needed_probabilities(table, "best_decision")
    if np.count_nonzero(np.bincount(table.codes, table.weights)) < 2:
        raise InputError("The truth holds rows of one class only; a decision between classes needs rows of two.")
    return table


def _costs(
    matrix: ArrayLike | Frame | None,
    metric: SpecLike | None,
    reject: float | None,
    reject_cost: float | None,
    table: ProbabilityTable,
) -> Array | None:
    """The costs by which decisions are made; None where a metric's best thresholds are sought."""
    if matrix is not None and metric is not None:
        raise InputTypeError("metric= and cost_matrix= both say what is best; give one of them.")
    if reject is not None and reject_cost is not None:
        raise InputTypeError(
            argument="reject", expected="the share of the rows for a person, which reject_cost= sets", do="give one"
        )
    if reject is not None and not (_is_number(reject) and 0 <= reject < 1):
        raise InputError(
            argument="reject", expected="the share of the rows to send to a person, from 0 to below 1", given=reject
        )
    if reject_cost is not None and not (_is_number(reject_cost) and 0 <= reject_cost < np.inf):
        raise InputError(
            argument="reject_cost", expected="what a person costs per row, a number of 0 or more", given=reject_cost
        )
    if reject_cost is not None and metric is not None:
        raise InputTypeError("reject_cost= is counted in the costs of errors; give cost_matrix=, or no metric.")
    if matrix is not None:
        return read_costs(matrix, table.labels)
    if metric is None and (reject is not None or reject_cost is not None):
        return np.asarray(1 - np.eye(len(table.labels)))
    return None


def _is_number(given: object) -> bool:
    return isinstance(given, (int, float, np.number)) and not isinstance(given, bool)
