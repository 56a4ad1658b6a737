"""Chance tests: whether a table beats the no-skill baseline, by exact tests where they can be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

import numpy as np

from steelyard.analysis.chance.chance import collapsed, lacks_a_class, spec_and_options
from steelyard.analysis.chance.permutations import (
    TruePositives,
    agreement_tails,
    log_sum,
    normal_tails,
    normal_tails_of,
)
from steelyard.analysis.results.result import Flat
from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputError, InputTypeError
from steelyard.ingest.frame_columns import FrameColumns, refuse_groups
from steelyard.metrics.call_options import NATIVE, CallOptions, MetricOptions
from steelyard.metrics.frame_tables import given_table
from steelyard.metrics.multilabel_values import check_label_sets
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.counts import Counts
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Frame, Label, LabelSet, Weights
    from steelyard.ingest.source import Source
    from steelyard.metrics.metric import Metric
    from steelyard.metrics.spec import SpecLike
    from steelyard.statistics.statistic import Statistic

SMALLEST = 1e-300  # a smaller p-value is 0, and printed as below this
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

    def __repr__(self) -> str:
        if self.why:
            return f"better than a random predictor: undefined, {self.why} ({self.method})"
        p = f"p = {self.p_value:.2g}" if self.p_value >= SMALLEST else f"p < {SMALLEST:g}"
        share = f"; undefined with probability {self.undefined_share:.2g}" if self.undefined_share else ""
        return f"better than a random predictor: {p} ({self.method}{share})"


@names_wrong_arguments
def beats_chance(
    y_true: Statistic | Frame | Source | ArrayLike,
    y_pred: ArrayLike | None = None,
    *,
    y_score: ArrayLike | None = None,
    pos_label: Label = None,
    labels: LabelSet | None = None,
    sample_weight: Weights = None,
    frequency: Weights | str = None,
    true: str | None = None,
    pred: str | None = None,
    score: str | None = None,
    weight: str | None = None,
) -> ChanceTest:
    """Test whether a classifier is better than a random predictor with the same margins.

    Two classes: Fisher's exact test. More: the agreements beside those of 10,999 tables drawn with the same margins
    (fewer beyond 20 classes), which holds every level; far beyond all of these, an upper bound of the p-value. Scores:
    Mann and Whitney's test. Each counts rows; two-sided is twice the smaller tail. The options are those of `confusion`
    and `score_table`; of a frame name the columns: true, pred or score, weight.

    >>> from steelyard import Counts
    >>> beats_chance(Counts(tp=28, fn=23, fp=72, tn=2680))
    better than a random predictor: p = 5.6e-29 (Fisher's exact test)
    """
    columns = FrameColumns(true, pred, score, weight)
    call = CallOptions(pos_label, labels, NATIVE, sample_weight, frequency)
    table, call = given_table(y_true, y_pred, y_score, call, columns)
    rows, note = _rows(table)
    if isinstance(rows, Confusion):
        rows = collapsed(rows, call.pos_label)
    lacks_a_class(rows)
    match rows:
        case ScoreTable():
            return _rank_test(rows, note)
        case Counts():
            return _fisher_test(rows, note)
    present = np.flatnonzero(rows.rows.sum(0) + rows.rows.sum(1))
    matrix = rows.rows if rows.is_sparse else rows.rows[np.ix_(present, present)]
    # Of two classes either may be called positive: the test is the same.
    if len(present) <= 2:
        return _fisher_test(Counts.from_matrix(rows.rows[np.ix_(present, present)]), note)
    tails = agreement_tails(matrix)
    return _tested(*tails[:2], f"{tails.method}{note}")


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


@names_wrong_arguments
def chance_test(
    metric: SpecLike,
    y_true: Statistic | Frame | Source | ArrayLike,
    y_pred: ArrayLike | None = None,
    *,
    true: str | None = None,
    pred: str | None = None,
    weight: str | None = None,
    **options: Unpack[MetricOptions],
) -> ChanceTest:
    """Test one metric of two classes against its exact distribution over random predictions with the same margins.

    Random predictions on which it is undefined count as doing as well, and as badly; the result gives their share.

    >>> from steelyard import Counts
    >>> chance_test("diagnostic_odds_ratio", Counts(tp=4, fn=1, fp=2, tn=5))
    better than a random predictor: p = 0.12 (exact distribution of diagnostic_odds_ratio; undefined with ...)
    """
    refuse_groups("chance_test", **options)
    spec, call = spec_and_options(metric, {**options})
    tested = spec.metric
    if not tested.sign:
        raise InputError(
            f"{tested.name} only describes: no value of it is better, so none can beat a random predictor."
        )
    if tested.function is None:
        check_label_sets(tested)
        raise InputTypeError(f"{tested.name} is a metric of scores; beats_chance(y_true, y_score=...) tests those.")
    table, call = given_table(y_true, y_pred, None, call, FrameColumns(true, pred, None, weight))
    rows, note = _rows(table)
    counts = _two_classes(tested, rows, call)
    lacks_a_class(counts)
    return _enumerated(tested, counts, f"exact distribution of {spec.name}{note}")


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
