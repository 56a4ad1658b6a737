"""Chance tests: whether a table beats the no-skill baseline, by exact tests where they can be."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from steelyard.analysis.chance.chance import collapsed, lacks_a_class
from steelyard.analysis.chance.permutations import (
    TruePositives,
    agreement_tails,
    log_sum,
    normal_tails,
    normal_tails_of,
)
from steelyard.analysis.intervals.inference import Inference
from steelyard.analysis.results.formatting import p_text
from steelyard.analysis.results.result import Flat
from steelyard.exceptions import InputError, InputTypeError
from steelyard.metrics.asked_tables import asked_table, assumed_choices
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.multilabel_values import check_label_sets
from steelyard.metrics.spec import MetricSpec
from steelyard.predictions import Predictions, question, refuse_unused
from steelyard.tables.class_scores import ClassScores
from steelyard.tables.confusion import Confusion
from steelyard.tables.counts import Counts
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Label, Rng
    from steelyard.metrics.measure import Metric
    from steelyard.metrics.spec import SpecLike
    from steelyard.predictions import RowOptions, RowsLike
    from steelyard.tables.statistic import Statistic

SMALLEST = 1e-300  # a smaller p-value is 0
WIDEST = 1e6  # the standard deviation of tp beyond which enumerating takes too long: about 1e13 rows
FEW_PAIRS = 2_500  # pairs of a positive and a negative up to which the rank test is exact: milliseconds
BY_ROWS = ", by rows and not by weight"


@dataclass(frozen=True, eq=False, repr=False)
class ChanceTest(Flat):
    """Whether a random predictor with the same margins does as well: p-values, one-sided and two-sided, and the test.

    `undefined_share` is the probability of random predictions on which the metric is undefined; they count as doing as
    well. Where it is undefined on the table itself both p-values are NaN, and `why` gives the reason.
    """

    p_value: float
    p_two_sided: float
    method: str
    undefined_share: float = 0.0
    why: str | None = None
    assumed: tuple[str, ...] = ()

    def __repr__(self) -> str:
        if self.why:
            return f"better than a random predictor: undefined, {self.why} ({self.method})"
        share = f"; undefined with probability {self.undefined_share:.2g}" if self.undefined_share else ""
        return f"better than a random predictor: {p_text(self.p_value)} ({self.method}{share})"


@question
def beats_chance(
    data: RowsLike = None,
    predicted: ArrayLike | None = None,
    /,
    *,
    metric: SpecLike | None = None,
    draws: int | None = None,
    rng: Rng = None,
    **rows: Unpack[RowOptions],
) -> ChanceTest:
    """Test whether a classifier is better than a random predictor with the same margins.

    Two classes: Fisher's exact test. More: the agreements beside those of 10,999 tables drawn with the same margins
    (fewer beyond 20 classes, or `draws`), which holds every level; far beyond all of these, an upper bound of the
    p-value. Scores: Mann and Whitney's test. Each counts rows; two-sided is twice the smaller tail. With a `metric` of
    two classes it is that metric's exact distribution over random predictions; those on which it is undefined count as
    doing as well, and as badly, and the result gives their share.

    >>> from steelyard import Counts
    >>> beats_chance(Counts(tp=28, fn=23, fp=72, tn=2680))
    better than a random predictor: p < 0.001 (Fisher's exact test)
    >>> beats_chance(Counts(tp=4, fn=1, fp=2, tn=5), metric="diagnostic_odds_ratio")
    better than a random predictor: p = 0.12... (exact distribution of diagnostic_odds_ratio; undefined with ...)
    """
    p = Predictions.of(data, predicted, **rows)
    Inference(0.95, "auto", draws, rng)  # refuses odd draws
    refuse_unused(p, "beats_chance", "by", "cluster", "design")
    if isinstance(p.given.data, Counts) and p.threshold is not None:
        raise InputError("Counts hold predicted labels; a threshold= needs scores.")
    if metric is not None:
        return _metric_test(MetricSpec.of(metric), p)
    table = _one_table(p)
    rows_alone, note = _rows(table)
    found = _table_test(rows_alone, note, p.given.pos_label, draws, rng)
    return replace(found, assumed=assumed_choices(p, [(table, CallOptions())]))


def _table_test(table: Statistic, note: str, pos_label: Label, draws: int | None, rng: Rng) -> ChanceTest:
    """The test of a table whose rows each count once."""
    if isinstance(table, Confusion):
        table = collapsed(table, pos_label)
    lacks_a_class(table)
    match table:
        case ScoreTable():
            return _rank_test(table, note)
        case Counts():
            return _fisher_test(table, note)
    present = np.flatnonzero(table.rows.sum(0) + table.rows.sum(1))
    matrix = table.rows if table.is_sparse else table.rows[np.ix_(present, present)]
    # Of two classes either may be called positive: the test is the same.
    if len(present) <= 2:
        return _fisher_test(Counts.from_matrix(table.rows[np.ix_(present, present)]), note)
    tails = agreement_tails(matrix, draws, rng)
    return _tested(*tails[:2], f"{tails.method}{note}")


def _one_table(p: Predictions) -> Statistic:
    """The table of labels, or of scores where there are no labels."""
    if isinstance(p.given.data, Counts):
        return p.given.data
    counted = p.countable()
    if counted.has_scores and not counted.given.is_table and counted.given.model.pred is not None:
        raise InputError("Predictions and scores were given together, and one of them is asked of; give one.")
    if counted.has_scores and p.threshold is None:
        return counted.score_table()
    return counted.confusion()


def _rows(table: Statistic) -> tuple[Statistic, str]:
    """The same table with every row counted once, whatever its weight, and a remark where that makes a difference."""
    match table:
        case Confusion():
            return Confusion.of_rows(table.labels, table.rows, table.positive), BY_ROWS * table.weighted
        case ScoreTable():
            pos, neg = (
                s if s.given_weights is None else ClassScores(s.scores, s.rows)
                for s in (table.positive, table.negative)
            )
            return ScoreTable(pos, neg, table.label), BY_ROWS * table.weighted
    if table.shape:
        raise InputError(f"An array of tables of shape {table.shape} was given; test one table at a time.")
    if any(cell != math.floor(cell) for cell in table):
        raise InputError("These Counts hold weights, and the test counts rows; give a Confusion, which keeps both.")
    return Counts(*(int(cell) for cell in table)), ""


def _tested(log_better: float, log_worse: float, method: str, undefined_share: float = 0.0) -> ChanceTest:
    log_both = math.log(2) + min(log_better, log_worse)
    return ChanceTest(_probability(log_better), _probability(log_both), method, undefined_share)


def _probability(log: float) -> float:
    return math.exp(min(log, 0.0)) if log >= math.log(SMALLEST) else 0.0


def _fisher_test(counts: Counts, note: str) -> ChanceTest:
    """Fisher's exact test, or of more rows than can be enumerated the approximate one."""
    null = TruePositives.of(counts)
    if null.standard_deviation > WIDEST:
        tails = normal_tails_of(counts.matrix())
        return _tested(*tails[:2], f"{tails.method}{note}")
    return _tested(*null.tails(int(counts.tp)), f"Fisher's exact test{note}")


def _rank_test(table: ScoreTable, note: str) -> ChanceTest:
    """Mann and Whitney's test that positives score higher than negatives."""
    tp, fp = (np.asarray(cell, dtype=np.float64) for cell in (table.counts.tp, table.counts.fp))
    m, n = table.positive.n, table.negative.n
    tied = np.diff(tp + fp)
    if m * n <= FEW_PAIRS and tied.max() == 1:
        from scipy.stats import mannwhitneyu

        pair = (table.positive.scores, table.negative.scores)
        better, worse = (mannwhitneyu(*pair, alternative=a, method="exact").pvalue for a in ("greater", "less"))
        return _tested(math.log(better), math.log(worse), f"exact Mann-Whitney U test{note}")
    # Of the table, in which rows that tie are one entry; scipy's test takes the rows one by one.
    rows = float(m + n)
    variance = m * n / 12 * (rows + 1 - (tied**3 - tied).sum() / (rows * (rows - 1)))
    tails = normal_tails(float(np.trapezoid(tp, fp)), m * n / 2, math.sqrt(max(variance, 0.0)))
    return _tested(*tails, f"Mann-Whitney U test, normal approximation{note}")


def _metric_test(spec: MetricSpec, p: Predictions) -> ChanceTest:
    """The test of one metric of two classes."""
    tested = spec.metric
    if not tested.sign:
        raise InputError(
            f"{tested.name} only describes: no value of it is better, so none can beat a random predictor."
        )
    if tested.function is None:
        check_label_sets(tested)
        raise InputTypeError(
            f"{tested.name} is a metric of scores; beats_chance(y_true, y_score=...) without metric= tests those."
        )
    is_counts = isinstance(p.given.data, Counts)
    table: Any
    table, call = (p.given.data, spec.options(CallOptions())) if is_counts else asked_table(spec, p)
    rows, note = _rows(table)
    counts = _two_classes(tested, rows, call)
    lacks_a_class(counts)
    found = _enumerated(tested, counts, f"exact distribution of {spec.name}{note}")
    return found if is_counts else replace(found, assumed=assumed_choices(p, [(table, call)]))


def _two_classes(metric: Metric, rows: Statistic, call: CallOptions) -> Counts:
    match rows:
        case Counts():
            return rows
        case ScoreTable():
            raise InputTypeError(
                f"{metric.name} needs a threshold: give table.at(threshold), or labels in place of scores."
            )
    symmetric = metric.classes is not None and call.pos_label is None and rows.positive is None
    if call.average != "native" or (symmetric and len(rows.labels) > 2):
        raise InputError("The exact test is of one class; name it with pos_label=, or test all with beats_chance.")
    return rows.counts(rows.labels[-1] if symmetric and rows.labels else call.pos_label)


def _enumerated(metric: Metric, counts: Counts, method: str) -> ChanceTest:
    null, observed = TruePositives.of(counts), metric(counts)
    if math.isnan(observed):
        return ChanceTest(math.nan, math.nan, method, math.nan, metric.why(counts))
    if null.standard_deviation > WIDEST:
        raise InputError(f"{null.total:.2g} rows are too many to enumerate; beats_chance tests such a table.")
    rounding = 1e-14 + 1e-13 * abs(observed)
    logs = []
    for tp in null.support(int(counts.tp)):
        gain, log_probability = metric.sign * (metric(null.tables(tp)) - observed), null.log_mass(tp)
        undefined = np.isnan(gain)
        as_good, as_bad = undefined | (gain >= -rounding), undefined | (gain <= rounding)
        logs.append([log_sum(log_probability[which]) for which in (as_good, as_bad, undefined)])
    log_better, log_worse, log_undefined = (log_sum(np.array(column)) for column in zip(*logs, strict=True))
    return _tested(log_better, log_worse, method, _probability(log_undefined))
