"""Calibration: whether predicted probabilities agree with the shares of positives that are observed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from steelyard._types import Label
from steelyard.analysis.distributions import f_above
from steelyard.analysis.intervals.cluster_scores import ClusterScores
from steelyard.analysis.intervals.inference import ClusteredRows, Inference, clustered_rows
from steelyard.analysis.intervals.influence import recalibration_influence
from steelyard.analysis.intervals.interval import Interval
from steelyard.analysis.intervals.intervals import interval, table_intervals
from steelyard.analysis.intervals.score_draws import ScoreBins
from steelyard.analysis.prevalence.prevalence import at_prevalence, positive_share_draws, positive_shares
from steelyard.analysis.results.blocks import Table
from steelyard.analysis.results.formatting import p_text, percent_text
from steelyard.analysis.results.result import Flat, Result, Rows
from steelyard.arrays import checks
from steelyard.arrays.backend import one_each, taken
from steelyard.arrays.numbers import weight_per_row
from steelyard.exceptions import InputError, UnknownNameError, did_you_mean
from steelyard.metrics.calibration import isotonic_curve
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.isotonic_curve import isotonic_shares
from steelyard.metrics.logistic_recalibration import logit_rows, recalibrated, why_no_recalibration
from steelyard.metrics.ranking import check_probabilities, missing
from steelyard.metrics.registry import get_metrics
from steelyard.metrics.spec import MetricSpec
from steelyard.predictions import Predictions, question, refuse_bins, refuse_unused
from steelyard.tables.array_tables import check_both_classes, score_table
from steelyard.tables.counts import Counts
from steelyard.tables.probability_table import SUM_OFF
from steelyard.tables.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Rng
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.predictions import RowOptions, RowsLike
    from steelyard.tables.probability_table import ProbabilityTable
    from steelyard.tables.score_table import ScoreTable


# ---------------------------------------------------------------- calibration result
# The reliability curve with its band, the metrics of calibration, a test, and what to do next.


_TESTS = {
    "score": "Cox's score test of slope 1 and intercept 0",
    "wald": "Wald's test of slope 1 and intercept 0, with the sandwich variance",
    "spiegelhalter": "Spiegelhalter's test, as a probability of exactly 0 or 1 has no logit",
}
_WIDE = 0.5  # a slope known to no better than this says little about what a recalibration would do


@dataclass(frozen=True, eq=False)
class CalibrationPoint(Flat):
    """A predicted probability, the share of positives observed there, and where a calibrated model's would lie.

    `weight` is that of the rows from the point before up to this one, or of the bin.
    """

    probability: float
    observed: float
    low: float
    high: float
    weight: float


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Result[Interval]):
    """Whether probabilities agree with outcomes: metrics with intervals, the reliability curve, a test, a verdict.

    The rows are the metrics. `curve` is the reliability curve with its consistency band; `test` is what `p_value` is
    by. `groups` are those of `by=`, or the classes of a column of probabilities for each; `classes` is then how many.
    """

    metrics: Rows[Interval]
    curve: Rows[CalibrationPoint]
    test: str
    statistic: float
    p_value: float
    rows: int
    positives: int
    positive: Label
    level: float = 0.95
    strategy: str = "isotonic"
    prevalence: float | None = None
    groups: dict[str, Calibration] = field(default_factory=dict)
    classes: int | None = None
    assumed: tuple[str, ...] = ()

    also_saved = ("verdict",)

    def __iter__(self) -> Iterator[Interval]:
        return iter(self.metrics)

    def __getitem__(self, name: str) -> Interval:
        for row in self.metrics:
            if row.metric == name:
                return row
        names = [row.metric for row in self.metrics]
        raise UnknownNameError(f"There is no {name!r}; there are {', '.join(names)}.{did_you_mean(name, names)}")

    @property
    def is_rejected(self) -> bool:
        """Whether the test rejects calibration at the level."""
        return bool(self.p_value < 1 - self.level)

    @property
    def leaves_band(self) -> bool:
        """Whether the curve leaves the band of calibrated models."""
        return any(point.observed < point.low or point.observed > point.high for point in self.curve)

    @property
    def verdict(self) -> list[str]:
        """What was found, and what to do next, in sentences."""
        is_accepted = np.isfinite(self.p_value) and not self.is_rejected
        sentences = [] if is_accepted else self._signs()
        if not sentences and (self.is_rejected or self.leaves_band):
            known = np.isfinite(self["calibration_slope"].value)
            but = ", though not by slope or mean alone" if known else ""
            sentences = [
                f"The probabilities are miscalibrated{but}: see where "
                "the curve leaves its band, and recalibrate by isotonic regression (Recalibrator) on rows kept apart."
            ]
        if not sentences:
            sentences = [self._no_sign()]
        wrong = [name for name, part in self.groups.items() if part.is_rejected]
        if wrong:
            sentences.append(f"Miscalibrated in {', '.join(wrong)}: read groups for each.")
        untested = [name for name, part in self.groups.items() if np.isnan(part.p_value)]
        if untested:
            sentences.append(f"No test of calibration applies in {', '.join(untested)}.")
        return sentences

    @property
    def _sums_to_one(self) -> bool:
        """Whether the probabilities of each row sum to one, so that their mean is right in any case."""
        return all(row.metric != "observed_to_expected" for row in self.metrics)

    def _signs(self) -> list[str]:
        """What the intervals of the slope and of observed to expected show, where they exclude 1."""
        signs = []
        slope = self["calibration_slope"]
        model = f"{'logistic regression' if self.classes is None else 'a temperature'} (Recalibrator)"
        if slope.high < 1:
            signs.append(
                f"Overconfident: the calibration slope is {slope.text()}, so high probabilities are too high and low "
                f"ones too low; recalibrate by {model} on rows kept apart, or regularise the model more."
            )
        elif slope.low > 1:
            signs.append(
                f"Underconfident: the calibration slope is {slope.text()}, so high probabilities are too low and low "
                f"ones too high; recalibrate by {model} on rows kept apart."
            )
        if self._sums_to_one:
            return signs
        ratio = self["observed_to_expected"]
        ways = "correct_prior mends that of resampled training rows, else a Recalibrator fitted on rows kept apart"
        if ratio.high < 1:
            signs.append(f"Too high on average: {ratio.text()} positives were observed for each one expected; {ways}.")
        elif ratio.low > 1:
            signs.append(f"Too low on average: {ratio.text()} positives were observed for each one expected; {ways}.")
        return signs

    def _no_sign(self) -> str:
        slope = self["calibration_slope"]
        sentence = "The test shows no miscalibration"
        if not np.isfinite(self.p_value):
            return "No test of calibration applies; read the intervals and the curve."
        if np.isnan(slope.low):
            return f"{sentence}, yet there is no slope to read ({slope.why}); see the curve before relying on it."
        if slope.high - slope.low > _WIDE or not slope.low <= 1 <= slope.high:
            return (
                f"{sentence}, and few positives ({self.positives:,}) would show only a large one: a slope from "
                f"{slope.low:.2f} to {slope.high:.2f} fits as well; collect more before relying on the probabilities."
            )
        return f"{sentence}: the slope is {slope.text()}, and the probabilities can be used as they are."

    @property
    def lead(self) -> list[str]:
        """Of which rows, and what else was found."""
        what = f"all columns of {self.classes} classes together"
        if self.classes is None:
            at = "" if self.prevalence is None else f", read at a prevalence of {percent_text(self.prevalence)}"
            what = f"{self.positives:,} of them {self.positive!r}{at}"
        return [f"Calibration of {self.rows:,} rows, {what}.", *self.verdict[1:]]

    @property
    def notes(self) -> list[str]:
        """Why a metric has no value or interval, the test, and the band, in sentences."""
        sentences = []
        metrics_by_reason: dict[tuple[str, str], list[str]] = {}
        for row in self.metrics:
            if np.isnan(row.low):
                what = "" if np.isnan(row.value) else "interval of "
                why = str(row.why).removeprefix("no interval: ")
                metrics_by_reason.setdefault((what, why), []).append(row.metric)
        for (what, why), names in metrics_by_reason.items():
            sentences.append(f"No {what}{', '.join(names)}: {why}.")
        if self.classes is not None:
            right = "; these sum to 1, so that their mean is right" if self._sums_to_one else ""
            sentences.append(
                f"Each row counts once for every class, by its probability of that class{right}; pos_label= judges one."
            )
        if self.test in _TESTS:
            sentences.append(f"{_TESTS[self.test]}: {p_text(self.p_value)}.")
        if np.isfinite([point.low for point in self.curve]).all():
            where = "leaves" if self.leaves_band else "stays in"
            band = (
                f"the band holds the whole curve of a calibrated model in {100 * self.level:g} % of test sets, "
                f"and this one {where} it"
            )
        else:
            dependent = "rows in clusters" if self.classes is None else "the probabilities of one row"
            band = f"no band: {dependent} are not independent"
        return [*sentences, f"Reliability curve, {self.strategy}: {band}."]

    @property
    def headline(self) -> str:
        """The first sentence of the verdict."""
        return self.verdict[0]

    def shown_rows(self) -> list[dict[str, Any]]:
        """The metrics with their intervals."""
        keys = ("metric", "value", "low", "high", "method")
        return [{key: row.row()[key] for key in keys} for row in self.metrics]

    def shown_tables(self) -> list[Table]:
        """The metrics, and the groups."""
        return [Table.of(self), Table(self.group_rows(), "groups")]

    def group_rows(self) -> list[dict[str, Any]]:
        """One row a group: its rows and positives, slope and ratio with their intervals, and the test."""
        return [
            {
                "group": name,
                "rows": part.rows,
                "positives": part.positives,
                "slope": part["calibration_slope"].text(),
                "observed to expected": part["observed_to_expected"].text(),
                "p_value": part.p_value,
            }
            for name, part in self.groups.items()
        ]


# ---------------------------------------------------------------- the test of calibration
# Whether slope 1 and intercept 0 fit the outcomes, by Cox's score test.
#
# Where the probabilities are right the expected score is 0 and its variance is known, so nothing is fitted (Cox 1958).
# Weighted classes and clusters take the sandwich variance around the fit instead, and probabilities of exactly 0 or 1,
# which have no logit, Spiegelhalter's (1986, Statistics in Medicine 5, 421-433).


class CalibrationTest(NamedTuple):
    """The name of the test, its chi-square statistic and its p-value."""

    name: str
    statistic: float
    p_value: float


_NO_TEST = CalibrationTest("none", np.nan, np.nan)


def calibration_test(
    table: ScoreTable,
    shifted: ScoreTable | None = None,
    clusters: ClusterScores | None = None,
    logit_variance: float = 0.0,
) -> CalibrationTest:
    """The test of a table of both classes; `shifted` is the table at the requested prevalence, if there is one.

    The intercept moves with the logit of that prevalence. If the prevalence is an estimate, the variance of its logit
    is added.
    """
    read = table if shifted is None else shifted
    if why_no_recalibration(read, slope=False):
        return _spiegelhalter(table) if shifted is None and clusters is None else _NO_TEST
    if shifted is None and clusters is None:
        return _score_test(table)
    if why_no_recalibration(read, slope=True):
        return _NO_TEST
    tested = _wald_test(read, clusters, logit_variance)
    return tested if np.isfinite(tested.p_value) else _NO_TEST


def _score_test(table: ScoreTable) -> CalibrationTest:
    """In 2,400 to 8,000 calibrated test sets each of 20, 60, 200 and 1,000 positives it rejected 4.2 to 5.7 % at 5 %.

    The likelihood-ratio test rejected 3.5 to 6.2 %.
    """
    rows = logit_rows(table)
    if not table.weighted:
        moments = rows.step(np.zeros(()), np.ones(()))
        return CalibrationTest("score", *_chi_square(moments[:2], moments[2:], np.inf))
    scores, information = np.zeros(2), np.zeros(3)
    split = len(table.positive.scores)  # the rows of the positive class come first
    for side, truth, logits in zip(table.classes, (1, 0), (rows.logits[:split], rows.logits[split:]), strict=True):
        residuals, variances = side.weights * (truth - side.scores), side.squares * side.scores * (1 - side.scores)
        scores += residuals.sum(), residuals @ logits
        information += variances.sum(), variances @ logits, variances @ logits**2
    return CalibrationTest("score", *_chi_square(scores, information, np.inf))


def _spiegelhalter(table: ScoreTable) -> CalibrationTest:
    total, variance = 0.0, 0.0
    for side, truth in zip(table.classes, (1, 0), strict=True):
        slant = 1 - 2 * side.scores
        total += float(side.weights @ ((truth - side.scores) * slant))
        variance += float(side.squares @ (slant**2 * side.scores * (1 - side.scores)))
    if not variance:
        return _NO_TEST
    statistic = total**2 / variance
    return CalibrationTest("spiegelhalter", statistic, f_above(statistic, 1, np.inf))


def _wald_test(table: ScoreTable, clusters: ClusterScores | None, logit_variance: float) -> CalibrationTest:
    """Both parameters over the sandwich variance of their rows' influences, or of their clusters'."""
    intercept, slope = map(float, recalibrated(table))
    both = recalibration_influence(table, intercept, slope)
    if clusters is None:
        moments, degrees = _class_moments(table, both), min(side.effective_size for side in table.classes) - 1
    else:
        moments, degrees = _cluster_moments(table, both, clusters)
    deviations = np.array([intercept, slope - 1])
    return CalibrationTest("wald", *_chi_square(deviations, moments + np.array([logit_variance, 0, 0]), degrees))


def _class_moments(table: ScoreTable, both: tuple[tuple[Array, Array], ...]) -> Array:
    """The variances and the covariance, given the shares of the classes."""
    moments = np.zeros(3)
    for side, one, other in zip(table.classes, *both, strict=True):
        weights, squares = side.distinct[1], side.compact().squares
        one, other = (part - weights @ part / weights.sum() for part in (one, other))  # noqa: PLW2901 - centred
        moments += squares @ one**2, squares @ (one * other), squares @ other**2
    return moments


def _cluster_moments(
    table: ScoreTable, both: tuple[tuple[Array, Array], ...], rows: ClusterScores
) -> tuple[Array, float]:
    """The variances and the covariance of the sums of the influences over clusters, and the degrees of freedom."""
    codes, weights = rows.mass.clusters, rows.mass.weights
    assert codes is not None  # noqa: S101 - rows in clusters
    sums = []
    for influence in both:
        sides = zip((rows.positive, ~rows.positive), table.classes, influence, strict=True)
        by_row = rows.by_row(
            taken(values, np.searchsorted(side.distinct[0], rows.scores[of_class])) for of_class, side, values in sides
        )
        sums.append(np.bincount(codes, by_row if weights is None else by_row * weights))
    units = len(sums[0])
    moments = np.array([sums[0] @ sums[0], sums[0] @ sums[1], sums[1] @ sums[1]])
    return moments * units / max(units - 1, 1), max(units - 1, 1)


def _chi_square(deviations: Array, moments: Array, degrees: float) -> tuple[float, float]:
    """Two deviations over their variances and covariance: d' V^-1 d. If V is singular, the first deviation alone."""
    first, second = deviations
    variance, covariance, other_variance = map(float, moments)
    determinant = variance * other_variance - covariance * covariance
    if determinant <= 1e-12 * variance * other_variance:
        if not variance:
            return np.nan, np.nan
        return first**2 / variance, f_above(first**2 / variance, 1, degrees)
    squared = other_variance * first**2 - 2 * covariance * first * second + variance * second**2
    statistic = float(squared) / determinant
    return statistic, f_above(statistic / 2, 2, degrees)


# ---------------------------------------------------------------- consistency band
# Where the whole reliability curve of a calibrated model with these scores lies, at the level.
#
# Outcomes are drawn by the probabilities and the curve is read anew (Bröcker and Smith 2007, Weather and Forecasting
# 22, 651-661; Dimitriadis, Gneiting and Jordan 2021). The band is simultaneous: it holds the whole curve of that share
# of the draws.


# At 95 % the curve of a calibrated model left the band in 5, 4 and 8 % of 100, 100 and 50 test sets of 20, 200 and
# 1,600 positives; benchmarks/coverage_calibration.py simulates more.
BAND_DRAWS, _OUTER = 2_000, 0.005


def consistency_band(
    bins: ScoreBins,
    level: float,
    rng: np.random.Generator,
    *,
    prevalence: float | None = None,
    possible: Array | None = None,
    isotonic: bool = True,
) -> tuple[Array, Array]:
    """The bounds of the band in each bin, of the isotonic curve or of the share in each bin, at a prevalence.

    If the prevalence is an estimate, `possible` holds one draw of it for each of the `BAND_DRAWS`.
    """
    weights = bins.class_weights(prevalence)
    true = weights if possible is None else bins.class_weights(possible[:, None])
    positive, negative = bins.scores * true[1], (1 - bins.scores) * true[0]
    rows, positives = bins.drawn(positive / (positive + negative), BAND_DRAWS, rng, fixed=True)
    up, down = positives * weights[0], (rows - positives) * weights[1]
    curves = isotonic_shares(up, up + down) if isotonic else up / (up + down)
    return _simultaneous(curves, level)


def _simultaneous(curves: Array, level: float) -> tuple[Array, Array]:
    """The outer quantiles of half of the draws, stretched to hold that share of the other half as whole curves."""
    ordered, others = np.sort(curves[::2], axis=0), curves[1::2]
    out = round(_OUTER * len(ordered))
    middle = np.median(ordered, axis=0)
    below, above = middle - ordered[out], ordered[-1 - out] - middle
    # Where an outer quantile is the median itself, the most extreme draw takes its place.
    down = np.maximum(np.where(below > 0, below, middle - ordered[0]), 1e-12)
    up = np.maximum(np.where(above > 0, above, ordered[-1] - middle), 1e-12)
    further = np.maximum((middle - others) / down, (others - middle) / up).max(axis=1)
    stretch = float(np.quantile(further, level))
    return np.clip(middle - stretch * down, 0, 1), np.clip(middle + stretch * up, 0, 1)


# ---------------------------------------------------------------- reliability
# In bins of the predicted probability, the share of positives that was observed, with its interval.


_BINS = 10


@dataclass(frozen=True, eq=False)
class ReliabilityBin(Flat):
    """One bin: the weight and the summed score of each class, and the interval of the share of positives."""

    positives: float
    negatives: float
    positive_scores: float
    negative_scores: float
    low: float
    high: float


def reliability(table: ScoreTable, level: float) -> Rows[ReliabilityBin]:
    """The bins of equal width that hold rows, from the lowest probability up."""
    sides = [(side, np.minimum((side.scores * _BINS).astype(np.int64), _BINS - 1)) for side in table.classes]
    positives, negatives = (np.bincount(bins, side.weights, minlength=_BINS) for side, bins in sides)
    score_sums = [np.bincount(bins, side.weights * side.scores, minlength=_BINS) for side, bins in sides]
    squares = sum(np.bincount(bins, side.squares, minlength=_BINS) for side, bins in sides)
    used = positives + negatives > 0
    positives, negatives, positive_scores, negative_scores = (
        column[used] for column in (positives, negatives, *score_sums)
    )
    # The rows of equal weight that carry as much information; the share stays that of the weights, which is drawn.
    per_row = weight_per_row(positives + negatives, np.asarray(squares)[used])
    p, n = positives / per_row, negatives / per_row
    share = interval("precision", Counts(p, 0 * p, n, 0 * n), level=level, method="jeffreys")
    columns = (positives, negatives, positive_scores, negative_scores, share.low, share.high)
    return Rows(ReliabilityBin(*map(float, cells)) for cells in zip(*columns, strict=True))


# ---------------------------------------------------------------- reliability curve
# The share of positives observed at each predicted probability, with its consistency band.


_STRATEGIES = ("isotonic", "uniform", "quantile")


@dataclass(frozen=True)
class CurveView:
    """How the curve is read: isotonic, or in so many bins of equal width or of equal weight."""

    strategy: str = "isotonic"
    bins: int = 10

    def __post_init__(self) -> None:
        if self.strategy not in _STRATEGIES:
            raise InputError(argument="strategy", expected=f"one of {', '.join(_STRATEGIES)}", given=self.strategy)
        if not isinstance(self.bins, (int, np.integer)) or self.bins < 1:
            raise InputError(argument="n_bins", expected="a whole number of 1 or more", given=self.bins)

    def starts(self, table: ScoreTable) -> Array:
        """The index of the first distinct score in each bin that holds any."""
        curve = isotonic_curve(table)
        below = curve.weights
        position = curve.scores if self.strategy == "uniform" else (below[1:] + below[:-1]) / 2 / below[-1]
        bins = np.minimum((position * self.bins).astype(np.int64), self.bins - 1)
        return np.append(0, np.flatnonzero(np.diff(bins)) + 1)


def reliability_curve(table: ScoreTable, view: CurveView, inference: Inference) -> Rows[CalibrationPoint]:
    """The points of the curve; an isotonic curve reads the closest of very many distinct probabilities as one."""
    prevalence = None if inference.prevalence is None else float(positive_shares(table, inference.prevalence))
    isotonic = view.strategy == "isotonic"
    bins = ScoreBins.of(table) if isotonic else ScoreBins.of_starts(table, view.starts(table))
    up, down = bins.class_weights(prevalence)
    positives = bins.positives * up
    weights = positives + (bins.weights - bins.positives) * down
    observed = isotonic_shares(positives, weights) if isotonic else positives / weights
    if inference.clustered is None:
        rng = inference.generator
        possible = positive_share_draws(table, inference.prevalence, BAND_DRAWS, rng)
        band = consistency_band(bins, inference.level, rng, prevalence=prevalence, possible=possible, isotonic=isotonic)
    else:  # rows that are not independent have no such draws
        band = np.full(len(observed), np.nan), np.full(len(observed), np.nan)
    return Rows(
        CalibrationPoint(*map(float, cells)) for cells in zip(bins.scores, observed, *band, weights, strict=True)
    )


# ---------------------------------------------------------------- table calibration
# The calibration of one table of probabilities, and that of a column of them for each class.


_METRICS = (
    "brier",
    "calibration_slope",
    "calibration_intercept",
    "observed_to_expected",
    "integrated_calibration_index",
    "brier_miscalibration",
    "brier_discrimination",
    "brier_uncertainty",
    "brier_skill_score",
)
# The mean probability is right whatever a row's are, where those of all classes sum to 1.
_IN_THE_LARGE = ("calibration_intercept", "observed_to_expected")
_DRAWS = 4_000  # of an estimated prevalence
_DEPENDENT_CELLS = (
    "the probabilities of one row go wrong together, and how far that moves a calibration error is not known"
)


def table_calibration(table: ScoreTable, inference: Inference, view: CurveView) -> Calibration:
    """The calibration of a table of both classes."""
    check_probabilities("calibration", table)
    if len(table.bins):
        raise InputError(
            "These scores were counted in bins, and calibration needs each of them; count with exact=True."
        )
    specs = [MetricSpec(metric) for metric in get_metrics(_METRICS)]
    prevalence = inference.prevalence
    shifted = None if prevalence is None else at_prevalence(table, prevalence)
    clusters = None if inference.clustered is None else ClusterScores.of(inference.clustered, table, inference)
    metrics = table_intervals(specs, table, CallOptions(), inference)
    curve = reliability_curve(table, view, inference)
    drawn = positive_share_draws(table, prevalence, _DRAWS, inference.generator)  # where the prevalence is an estimate
    logit_variance = 0.0 if drawn is None else float(np.var(np.log(drawn) - np.log1p(-drawn)))
    test = calibration_test(table, shifted, clusters, logit_variance)
    return Calibration(
        metrics,
        curve,
        test.name,
        test.statistic,
        test.p_value,
        rows=table.n,
        positives=table.positive.n,
        positive=table.label,
        level=inference.level,
        strategy=view.strategy,
        prevalence=None if prevalence is None else float(positive_shares(table, prevalence)),
    )


def columns_calibration(p: Predictions, inference: Inference, view: CurveView) -> Calibration:
    """All columns together, the cells of a row clustered, and each class.

    A temperature would change all columns together. Classes without rows are left out of the groups.
    """
    cluster = p.given.cluster
    table = p.probability_table(to_host=cluster is not None)
    if inference.prevalence is not None:
        raise InputError("prevalence= is about one class, and there is a column for each; give pos_label=.")
    cells = _cells(table, None if cluster is None else checks.column(cluster, "cluster"))
    together = score_table(cells.y_true, cells.y_score, sample_weight=cells.sample_weight, frequency=cells.frequency)  # type: ignore[arg-type]  # there are scores
    parts = {f"class = {part.name}": part.table for part in table.class_tables if missing(part.table) is None}
    groups = {name: table_calibration(part, inference, view) for name, part in parts.items()}
    whole = table_calibration(together, replace(inference, clustered=cells), view)
    sums_to_one = bool((np.abs(table.probabilities.sum(1) - 1) <= SUM_OFF).all())
    metrics = []
    for row in whole.metrics:
        if sums_to_one and row.spec.name in _IN_THE_LARGE:
            continue  # right in any case
        has_no_interval = np.isnan(row.low) and not np.isnan(row.value)
        metrics.append(replace(row, why=_DEPENDENT_CELLS) if has_no_interval else row)
    n, k = table.n, len(table.labels)
    return replace(whole, metrics=Rows(metrics), rows=n, positives=n, positive=None, groups=groups, classes=k)


def _cells(table: ProbabilityTable, cluster: Array | None) -> ClusteredRows:
    """Every cell of the table as a row; the cells of a row, or of its cluster, are one cluster."""
    scores, k = table.probabilities.ravel(), len(table.labels)
    truth = (np.arange(k) == table.codes.reshape(-1, 1)).ravel()
    row_of_cell = (np.cumsum(one_each(scores)) - 1) // k
    weight = None if table.sample_weight is None else taken(table.sample_weight, row_of_cell)
    frequency = None if table.frequency is None else taken(table.frequency, row_of_cell)
    members = row_of_cell if cluster is None else taken(cluster, row_of_cell)
    return ClusteredRows(truth, None, members, frequency, y_score=scores, sample_weight=weight)


# ---------------------------------------------------------------- calibration


@question
def calibration(
    data: RowsLike = None,
    scored: ArrayLike | None = None,
    /,
    *,
    strategy: str = "isotonic",
    n_bins: int = 10,
    prevalence: PrevalenceLike | None = None,
    level: float = 0.95,
    rng: Rng = None,
    **rows: Unpack[RowOptions],
) -> Calibration:
    """Whether probabilities agree with outcomes: slope, intercept, curve, parts of the Brier score, and what to do.

    The curve is isotonic, or binned where `strategy` is "uniform" (equal width) or "quantile" (equal mass), with so
    many bins (`n_bins`); its band holds the whole curve of a calibrated model at the level. `prevalence` reads all of
    it where that share of the rows is positive. Rows of one `cluster` are not independent; `by` reports groups as well.
    Of a column of probabilities for each class, `pos_label` names one against the rest; without it all columns are
    judged together and each class in `groups`.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> logits = rng.normal(-2, 2, 2000)
    >>> y_true = rng.random(2000) < 1 / (1 + np.exp(1 - 0.5 * logits))
    >>> found = calibration(y_true, 1 / (1 + np.exp(-logits)))
    >>> print(found.verdict[0].partition(",")[0])
    Overconfident: the calibration slope is 0.5...
    """
    view = CurveView(strategy, n_bins)
    p = Predictions.of(data, scored, second_is="y_score", **rows)
    refuse_unused(p, "calibration", "design", "threshold")
    refuse_bins(p, "calibration")
    inference = Inference(level, rng=rng, prevalence=prevalence)
    values = p.countable()
    if values.kind == "class scores":
        if "by" in p.given.in_call:
            raise InputError("by= takes the probabilities of one class; give its column alone and pos_label=.")
        return columns_calibration(values, inference, view)
    table = values.score_table()
    check_both_classes(table)
    whole = table_calibration(table, replace(inference, clustered=clustered_rows(values)), view)
    whole = replace(whole, assumed=values.assumed)
    if p.given.by is not None and p.given.cluster is not None:
        raise InputError("by= and cluster= cannot be given together; give calibration the rows of one group.")
    groups = {}
    if p.given.by is None and not isinstance(p.given.data, Tally):
        return whole
    tally = values.tally()
    for key, part in tally.groups.items():
        part_table = _scores_of(part)
        if missing(part_table) is None:
            name = ", ".join(f"{column} = {value}" for column, value in zip(tally.by, key, strict=True))
            groups[name] = table_calibration(part_table, inference, view)
    return replace(whole, groups=groups)


def _scores_of(tally: Tally) -> ScoreTable:
    if tally.scores is None:
        raise InputError("This tally holds no scores, which calibration is about; count them with score=.")
    return tally.scores
