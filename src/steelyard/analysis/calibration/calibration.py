"""Calibration: whether predicted probabilities agree with the shares of positives that are observed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard._types import Label
from steelyard.analysis.distributions import f_above
from steelyard.analysis.intervals.cluster_scores import ClusterScores
from steelyard.analysis.intervals.inference import ClusteredRows, Inference
from steelyard.analysis.intervals.influence import recalibration_influence
from steelyard.analysis.intervals.interval import Interval
from steelyard.analysis.intervals.interval_rows import IntervalRows
from steelyard.analysis.intervals.intervals import interval, table_intervals
from steelyard.analysis.intervals.score_draws import ScoreBins
from steelyard.analysis.prevalence.prevalence import at_prevalence, positive_share_draws, positive_shares
from steelyard.analysis.results.formatting import cell_text, filled, p_text, percent_text
from steelyard.analysis.results.result import Flat, Result, Rows, table_text
from steelyard.exceptions import InputError, UnknownNameError, did_you_mean
from steelyard.ingest import arrays
from steelyard.ingest.array_groups import grouped_tally
from steelyard.ingest.array_tables import score_table
from steelyard.ingest.frame_columns import FrameColumns
from steelyard.ingest.refused_keywords import refuses_other_keywords
from steelyard.ingest.score_matrix import counted_where_they_are, probability_table
from steelyard.metrics.calibration import isotonic_curve
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.frame_tables import given_scores
from steelyard.metrics.isotonic_curve import isotonic_shares
from steelyard.metrics.logistic_recalibration import logit_rows, recalibrated, why_no_recalibration
from steelyard.metrics.ranking import check_probabilities, missing
from steelyard.metrics.registry import list_metrics
from steelyard.metrics.score_values import class_of_columns
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.counts import Counts
from steelyard.statistics.effective_rows import weight_per_row
from steelyard.statistics.placed_values import one_each, taken
from steelyard.statistics.probability_table import SUM_OFF
from steelyard.statistics.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame, LabelSet, Rng, Weights
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.ingest.array_groups import By
    from steelyard.ingest.source import Source
    from steelyard.statistics.class_scores import ClassScores
    from steelyard.statistics.probability_table import ProbabilityTable
    from steelyard.statistics.score_table import ScoreTable


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
        found = [*self._confidence(), *self._in_the_large()]
        if np.isfinite(self.p_value) and not self.is_rejected:
            found = []
        if not found and (self.is_rejected or self.leaves_band):
            known = np.isfinite(self["calibration_slope"].value)
            found = [
                f"The probabilities are miscalibrated{', though not by slope or mean alone' * bool(known)}: see where "
                "the curve leaves its band, and recalibrate by isotonic regression (Recalibrator) on rows kept apart."
            ]
        return [*(found or self._no_sign()), *self._groups()]

    @property
    def _way(self) -> str:
        return f"{'logistic regression' if self.classes is None else 'a temperature'} (Recalibrator)"

    def _confidence(self) -> list[str]:
        slope = self["calibration_slope"]
        if slope.high < 1:
            return [
                f"Overconfident: the calibration slope is {slope.text()}, so high probabilities are too high and low "
                f"ones too low; recalibrate by {self._way} on rows kept apart, or regularise the model more."
            ]
        if slope.low > 1:
            return [
                f"Underconfident: the calibration slope is {slope.text()}, so high probabilities are too low and low "
                f"ones too high; recalibrate by {self._way} on rows kept apart."
            ]
        return []

    @property
    def _sums_to_one(self) -> bool:
        """Whether each row's probabilities of all classes do, so that they are right on average whatever they are."""
        return all(row.metric != "observed_to_expected" for row in self.metrics)

    def _in_the_large(self) -> list[str]:
        if self._sums_to_one:
            return []
        ratio = self["observed_to_expected"]
        ways = "correct_prior mends that of resampled training rows, else a Recalibrator fitted on rows kept apart"
        if ratio.high < 1:
            return [f"Too high on average: {ratio.text()} positives were observed for each one expected; {ways}."]
        if ratio.low > 1:
            return [f"Too low on average: {ratio.text()} positives were observed for each one expected; {ways}."]
        return []

    def _no_sign(self) -> list[str]:
        slope = self["calibration_slope"]
        sentence = "The test shows no miscalibration"
        if not np.isfinite(self.p_value):
            return ["No test of calibration applies; read the intervals and the curve."]
        if np.isnan(slope.low):
            return [f"{sentence}, yet there is no slope to read ({slope.why}); see the curve before relying on it."]
        if slope.high - slope.low > _WIDE or not slope.low <= 1 <= slope.high:
            return [
                f"{sentence}, and few positives ({self.positives:,}) would show only a large one: a slope from "
                f"{slope.low:.2f} to {slope.high:.2f} fits as well; collect more before relying on the probabilities."
            ]
        return [f"{sentence}: the slope is {slope.text()}, and the probabilities can be used as they are."]

    def _groups(self) -> list[str]:
        wrong = [name for name, part in self.groups.items() if part.is_rejected]
        untested = [name for name, part in self.groups.items() if np.isnan(part.p_value)]
        sentences = [f"Miscalibrated in {', '.join(wrong)}: read groups for each."] if wrong else []
        return sentences + ([f"No test of calibration applies in {', '.join(untested)}."] if untested else [])

    @property
    def notes(self) -> list[str]:
        """The verdict, why a metric has no value or interval, the test, the band and each group in sentences."""
        groups = (
            f"{row.pop('group')}: {', '.join(f'{key} {cell_text(key, row[key])}' for key in row)}."
            for row in self.group_rows()
        )
        return [*self._sentences(), *groups]

    def _sentences(self) -> list[str]:
        by = _TESTS.get(self.test)
        test = [] if by is None else [f"{by}: {p_text(self.p_value)}."]
        known = np.isfinite([point.low for point in self.curve]).all()
        where = "leaves" if self.leaves_band else "stays in"
        band = (
            f"the band holds the whole curve of a calibrated model in {100 * self.level:g} % of test sets, and this one"
        )
        apart = "rows in clusters" if self.classes is None else "the probabilities of one row"
        band = f"{band} {where} it" if known else f"no band: {apart} are not independent"
        return [
            *self.verdict,
            *self._missing(),
            *self._together(),
            *test,
            f"Reliability curve, {self.strategy}: {band}.",
        ]

    def _together(self) -> list[str]:
        """What the metrics of all columns together are of."""
        if self.classes is None:
            return []
        right = "; these sum to 1, so that their mean is right" if self._sums_to_one else ""
        return [
            f"Each row counts once for every class, by its probability of that class{right}; pos_label= judges one."
        ]

    def _missing(self) -> list[str]:
        """Why metrics have no value or no interval, those of one reason together."""
        reasons: dict[tuple[str, str], list[str]] = {}
        for row in self.metrics:
            if np.isnan(row.low):
                what, why = "" if np.isnan(row.value) else "interval of ", str(row.why).removeprefix("no interval: ")
                reasons.setdefault((what, why), []).append(row.metric)
        return [f"No {what}{', '.join(names)}: {why}." for (what, why), names in reasons.items()]

    @property
    def headline(self) -> str:
        """How many rows, and the first sentence of the verdict."""
        return self.verdict[0]

    def shown_rows(self) -> list[dict[str, Any]]:
        """The metrics with their intervals."""
        keys = ("metric", "value", "low", "high", "method")
        return [{key: row.row()[key] for key in keys} for row in self.metrics]

    def __repr__(self) -> str:
        at = "" if self.prevalence is None else f", read at a prevalence of {percent_text(self.prevalence)}"
        what = f"{self.positives:,} of them {self.positive!r}{at}"
        what = what if self.classes is None else f"all columns of {self.classes} classes together"
        groups = [table_text(self.group_rows())] if self.groups else []
        head = f"Calibration of {self.rows:,} rows, {what}"
        return "\n".join([head, table_text(self.shown_rows()), *groups, *map(filled, self._sentences())])

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
    """What is tested by, its statistic (of chi-square over its degrees of freedom) and the p-value."""

    name: str
    statistic: float
    p_value: float


def calibration_test(
    table: ScoreTable,
    shifted: ScoreTable | None = None,
    clusters: ClusterScores | None = None,
    logit_variance: float = 0.0,
) -> CalibrationTest:
    """Of a table of both classes; `shifted` is the table at another prevalence, where that is asked for.

    The intercept moves with the logit of that prevalence, whose variance is added where it is an estimate.
    """
    read = table if shifted is None else shifted
    if why_no_recalibration(read, slope=False):
        return _spiegelhalter(table) if shifted is None and clusters is None else _none()
    if shifted is None and clusters is None:
        return _score_test(table)
    if why_no_recalibration(read, slope=True):
        return _none()
    tested = _wald_test(read, clusters, logit_variance)
    return tested if np.isfinite(tested.p_value) else _none()


def _none() -> CalibrationTest:
    return CalibrationTest("none", np.nan, np.nan)


def _score_test(table: ScoreTable) -> CalibrationTest:
    """In 2,400 to 8,000 calibrated test sets each of 20, 60, 200 and 1,000 positives it rejected 4.2 to 5.7 % at 5 %.

    The likelihood-ratio test rejected 3.5 to 6.2 %.
    """
    rows, ends = logit_rows(table), [0, len(table.positive.scores), None]
    if not table.weighted:
        moments = rows.step(np.zeros(()), np.ones(()))
        return CalibrationTest("score", *_chi_square(moments[:2], moments[2:], np.inf))
    scores, information = np.zeros(2), np.zeros(3)
    for side, truth, start, end in zip(table.classes, (1, 0), ends, ends[1:], strict=False):
        logits = rows.logits[start:end]
        off, spread = side.weights * (truth - side.scores), side.squares * side.scores * (1 - side.scores)
        scores += off.sum(), off @ logits
        information += spread.sum(), spread @ logits, spread @ logits**2
    return CalibrationTest("score", *_chi_square(scores, information, np.inf))


def _spiegelhalter(table: ScoreTable) -> CalibrationTest:
    total, variance = 0.0, 0.0
    for side, truth in zip(table.classes, (1, 0), strict=True):
        lean = 1 - 2 * side.scores
        total += float(side.weights @ ((truth - side.scores) * lean))
        variance += float(side.squares @ (lean**2 * side.scores * (1 - side.scores)))
    if not variance:
        return _none()
    return CalibrationTest("spiegelhalter", total**2 / variance, f_above(total**2 / variance, 1, np.inf))


def _wald_test(table: ScoreTable, clusters: ClusterScores | None, logit_variance: float) -> CalibrationTest:
    """Both parameters over the sandwich variance of their rows' influences, or of their clusters'."""
    intercept, slope = map(float, recalibrated(table))
    both = recalibration_influence(table, intercept, slope)
    if clusters is None:
        moments, degrees = _of_classes(table, both), min(side.effective_size for side in table.classes) - 1
    else:
        moments, degrees = _of_clusters(table, both, clusters)
    off = np.array([intercept, slope - 1])
    return CalibrationTest("wald", *_chi_square(off, moments + np.array([logit_variance, 0, 0]), degrees))


def _of_classes(table: ScoreTable, both: tuple[tuple[Array, Array], ...]) -> Array:
    """The variances and the covariance where the share of the classes is given."""
    moments = np.zeros(3)
    for side, one, other in zip(table.classes, *both, strict=True):
        weights, squares = side.distinct[1], side.compact().squares
        one, other = (part - weights @ part / weights.sum() for part in (one, other))  # noqa: PLW2901 - centred
        moments += squares @ one**2, squares @ (one * other), squares @ other**2
    return moments


def _of_clusters(table: ScoreTable, both: tuple[tuple[Array, Array], ...], rows: ClusterScores) -> tuple[Array, float]:
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


def _chi_square(off: Array, moments: Array, degrees: float) -> tuple[float, float]:
    """Of two numbers over the variances and the covariance; of rows that do not differ, one number alone."""
    a, b, c = map(float, moments)
    area = a * c - b * b
    if area <= 1e-12 * a * c:
        return (off[0] ** 2 / a, f_above(off[0] ** 2 / a, 1, degrees)) if a else (np.nan, np.nan)
    statistic = float(c * off[0] ** 2 - 2 * b * off[0] * off[1] + a * off[1] ** 2) / area
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
    """The ends of the band in each bin, of the isotonic curve or of the share in each bin, at a prevalence.

    `possible` are the prevalences, one for each of the `BAND_DRAWS`, that an estimated one may be.
    """
    weights = bins.class_weights(prevalence)
    true = weights if possible is None else bins.class_weights(possible[:, None])
    odds = bins.scores * true[1], (1 - bins.scores) * true[0]
    rows, positives = bins.drawn(odds[0] / (odds[0] + odds[1]), BAND_DRAWS, rng, fixed=True)
    found, missed = positives * weights[0], (rows - positives) * weights[1]
    curves = isotonic_shares(found, found + missed) if isotonic else found / (found + missed)
    return _simultaneous(curves, level)


def _simultaneous(curves: Array, level: float) -> tuple[Array, Array]:
    """The outer quantiles of half of the draws, stretched to hold that share of the other half as whole curves."""
    ordered, others = np.sort(curves[::2], axis=0), curves[1::2]
    out = round(_OUTER * len(ordered))
    middle = np.median(ordered, axis=0)
    reaches = middle - ordered[out], ordered[-1 - out] - middle
    widest = middle - ordered[0], ordered[-1] - middle  # where the outer quantile is the middle itself
    down, up = (
        np.maximum(np.where(reach > 0, reach, most), 1e-12) for reach, most in zip(reaches, widest, strict=True)
    )
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
    (positives, positive_scores), (negatives, negative_scores) = map(_sums, (table.positive, table.negative))
    used = positives + negatives > 0
    p, n = _effective(table, positives[used], negatives[used], used)
    share = interval("precision", Counts(p, 0 * p, n, 0 * n), level=level, method="jeffreys")
    columns = (positives[used], negatives[used], positive_scores[used], negative_scores[used], share.low, share.high)
    return Rows(ReliabilityBin(*map(float, cells)) for cells in zip(*columns, strict=True))


def _effective(table: ScoreTable, p: Array, n: Array, used: Array) -> tuple[Array, Array]:
    """The weight of each class in a bin as the rows that carry as much information: (sum of w)^2 / sum of w^2 of them.

    The share of positives stays that of the weights, so that the interval is about the point that is drawn.
    """
    squares = sum(np.bincount(_places(scores), scores.squares, minlength=_BINS) for scores in table.classes)
    per_row = weight_per_row(p + n, np.asarray(squares)[used])
    return p / per_row, n / per_row


def _places(side: ClassScores) -> Array:
    return np.minimum((side.scores * _BINS).astype(np.int64), _BINS - 1)


def _sums(side: ClassScores) -> tuple[Array, Array]:
    """In each bin the weight, and the weighted sum of the scores."""
    places, weights = _places(side), side.weights
    weight, score = (np.bincount(places, w, minlength=_BINS) for w in (weights, weights * side.scores))
    return weight, score


# ---------------------------------------------------------------- reliability curve
# The share of positives observed at each predicted probability, with its consistency band.


_STRATEGIES = ("isotonic", "uniform", "quantile")


@dataclass(frozen=True)
class CurveView:
    """How the curve is read: isotonic, or in so many bins of equal width or of equal mass."""

    strategy: str = "isotonic"
    bins: int = 10

    def __post_init__(self) -> None:
        if self.strategy not in _STRATEGIES:
            raise InputError(f"strategy is one of {', '.join(_STRATEGIES)}, not {self.strategy!r}.")
        if not isinstance(self.bins, (int, np.integer)) or self.bins < 1:
            raise InputError(f"bins is a whole number of 1 or more, not {self.bins!r}.")

    def starts(self, table: ScoreTable) -> Array:
        """The places of the first distinct score of each bin that holds any."""
        curve = isotonic_curve(table)
        scores, below = curve.scores, curve.weights
        place = scores if self.strategy == "uniform" else (below[1:] + below[:-1]) / 2 / below[-1]
        bins = np.minimum((place * self.bins).astype(np.int64), self.bins - 1)
        return np.append(0, np.flatnonzero(np.diff(bins)) + 1)


def reliability_curve(table: ScoreTable, view: CurveView, inference: Inference) -> Rows[CalibrationPoint]:
    """The points of the curve; isotonic, the most alike of many distinct probabilities are read as one."""
    prevalence = None if inference.prevalence is None else float(positive_shares(table, inference.prevalence))
    isotonic = view.strategy == "isotonic"
    bins = ScoreBins.of(table) if isotonic else ScoreBins.of_starts(table, view.starts(table))
    up, down = bins.class_weights(prevalence)
    positives, weights = bins.positives * up, bins.positives * up + (bins.weights - bins.positives) * down
    observed = isotonic_shares(positives, weights) if isotonic else positives / weights
    if inference.clustered is None:
        rng = inference.generator
        possible = positive_share_draws(table, inference.prevalence, BAND_DRAWS, rng)
        ends = consistency_band(bins, inference.level, rng, prevalence=prevalence, possible=possible, isotonic=isotonic)
    else:  # rows that are not independent have no such draws
        ends = np.full(len(observed), np.nan), np.full(len(observed), np.nan)
    return Rows(
        CalibrationPoint(*map(float, cells)) for cells in zip(bins.scores, observed, *ends, weights, strict=True)
    )


# ---------------------------------------------------------------- table calibration
# The calibration of one table of probabilities, and that of a column of them for each class.


_DRAWS = 4_000  # of an estimated prevalence
_CELLS = "the probabilities of one row go wrong together, and how far that moves a calibration error is not known"


def table_calibration(table: ScoreTable, inference: Inference, view: CurveView) -> Calibration:
    """The calibration of a table of both classes."""
    check_probabilities("calibration", table)
    if len(table.bins):
        raise InputError(
            "These scores were counted in bins, and calibration needs each of them; count with exact=True."
        )
    specs = [MetricSpec.of(metric) for metric in list_metrics() if "calibration" in metric.roles]
    shifted = None if inference.prevalence is None else at_prevalence(table, inference.prevalence)
    rows = inference.clustered
    clusters = None if rows is None else ClusterScores.of(rows, table, inference)
    return Calibration(
        table_intervals(specs, table, CallOptions(), inference),
        reliability_curve(table, view, inference),
        *calibration_test(table, shifted, clusters, _logit_variance(table, inference)),
        table.n,
        table.positive.n,
        table.label,
        inference.level,
        view.strategy,
        None if inference.prevalence is None else float(positive_shares(table, inference.prevalence)),
    )


def _logit_variance(table: ScoreTable, inference: Inference) -> float:
    """Of a prevalence that is an estimate."""
    drawn = positive_share_draws(table, inference.prevalence, _DRAWS, inference.generator)
    return 0.0 if drawn is None else float(np.var(np.log(drawn) - np.log1p(-drawn)))


def columns_calibration(
    y_true: ArrayLike,
    y_score: ArrayLike,
    call: CallOptions,
    cluster: ArrayLike | None,
    inference: Inference,
    view: CurveView,
) -> Calibration:
    """One class by its column; or of several all columns together, the cells of a row clustered, and each class.

    All together is what a temperature would change; classes without a row of their own are left out of the groups.
    """
    rows = {"sample_weight": call.sample_weight, "frequency": call.frequency}
    counted = counted_where_they_are if cluster is None else probability_table
    table = counted(y_true, y_score, labels=call.labels, **rows)
    if call.pos_label is not None or len(table.labels) == 2:
        if cluster is not None:
            raise InputError("cluster= takes the probabilities of one class; give its column alone and pos_label=.")
        return table_calibration(class_of_columns(table, call.pos_label), inference, view)
    if inference.prevalence is not None:
        raise InputError("prevalence= is about one class, and there is a column for each; give pos_label=.")
    cells = _cells(table, None if cluster is None else arrays.column(cluster, "cluster"))
    together = score_table(cells.y_true, cells.y_score, sample_weight=cells.sample_weight, frequency=cells.frequency)  # type: ignore[arg-type]  # there are scores
    parts = {f"class = {part.name}": part.table for part in table.class_tables if missing(part.table) is None}
    groups = {name: table_calibration(part, inference, view) for name, part in parts.items()}
    whole = table_calibration(together, replace(inference, clustered=cells), view)
    metrics, n, k = _of_cells(whole, table), table.n, len(table.labels)
    return replace(whole, metrics=metrics, rows=n, positives=n, positive=None, groups=groups, classes=k)


def _cells(table: ProbabilityTable, cluster: Array | None) -> ClusteredRows:
    """Every column of every row as a row of its own; those of a row, or of its cluster, go together."""
    scores, k = table.probabilities.ravel(), len(table.labels)
    truth = (np.arange(k) == table.codes.reshape(-1, 1)).ravel()
    each = (np.cumsum(one_each(scores)) - 1) // k
    weight, times = (None if part is None else taken(part, each) for part in (table.sample_weight, table.frequency))
    members = each if cluster is None else taken(cluster, each)
    return ClusteredRows(truth, None, members, times, y_score=scores, sample_weight=weight)


def _of_cells(whole: Calibration, table: ProbabilityTable) -> Rows[Interval]:
    """The metrics that say something of all columns together; where an interval is missing, with the reason why."""
    summed = bool((np.abs(table.probabilities.sum(1) - 1) <= SUM_OFF).all())
    kept = (row for row in whole.metrics if not (summed and "in the large" in row.spec.metric.roles))
    return Rows(replace(row, why=_CELLS) if np.isnan(row.low) and not np.isnan(row.value) else row for row in kept)


# ---------------------------------------------------------------- calibration


@refuses_other_keywords
def calibration(
    y_true: ScoreTable | Tally | Frame | Source | ArrayLike,
    y_score: ArrayLike | None = None,
    *,
    strategy: str = "isotonic",
    bins: int = 10,
    level: float = 0.95,
    prevalence: PrevalenceLike | None = None,
    rng: Rng = None,
    by: By | None = None,
    cluster: ArrayLike | str | None = None,
    pos_label: Label = None,
    labels: LabelSet | None = None,
    sample_weight: Weights = None,
    frequency: Weights | str = None,
    true: str | None = None,
    score: str | None = None,
    weight: str | None = None,
) -> Calibration:
    """Whether probabilities agree with outcomes: slope, intercept, curve, parts of the Brier score, and what to do.

    The curve is isotonic, or binned where `strategy` is "uniform" (equal width) or "quantile" (equal mass), with so
    many `bins`; its band holds the whole curve of a calibrated model at the level. `prevalence` reads all of it where
    that share of the rows is positive. Rows of one `cluster` are not independent; `by` reports groups as well. Of a
    column of probabilities for each class, `pos_label` names one against the rest; without it all columns are judged
    together and each class in `groups`. Other options as in roc_curve.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> logits = rng.normal(-2, 2, 2000)
    >>> y_true = rng.random(2000) < 1 / (1 + np.exp(1 - 0.5 * logits))
    >>> found = calibration(y_true, 1 / (1 + np.exp(-logits)))
    >>> print(found.verdict[0].partition(",")[0])
    Overconfident: the calibration slope is 0.5...
    """
    view = CurveView(strategy, bins)
    tally, y_true = (y_true, _scores_of(y_true)) if isinstance(y_true, Tally) else (None, y_true)
    columns = FrameColumns(true, None, score, weight)
    call = CallOptions(pos_label, labels, sample_weight=sample_weight, frequency=frequency)
    if y_score is not None and np.ndim(y_score) == 2:
        if by is not None:
            raise InputError("by= takes the probabilities of one class; give its column alone and pos_label=.")
        inference = Inference(level, rng=rng, prevalence=prevalence)
        return columns_calibration(y_true, y_score, call, cluster, inference, view)  # type: ignore[arg-type]  # rows
    rows = IntervalRows(y_true, None, y_score, cluster, columns, call).brought()
    inference = Inference(level, rng=rng, prevalence=prevalence, clustered=rows.clustered())
    table = given_scores(rows.y_true, rows.y_score, rows.call, rows.columns)  # type: ignore[arg-type]  # scores
    whole = table_calibration(table, inference, view)
    if by is not None and cluster is not None:
        raise InputError("by= and cluster= cannot be given together; give calibration the rows of one group.")
    tally = _grouped(y_true, y_score, columns, call, by) if by is not None else tally
    if tally is None:
        return whole
    named = {_name(tally, key): _scores_of(part) for key, part in tally.groups.items()}
    both = {name: part for name, part in named.items() if missing(part) is None}
    return replace(whole, groups={name: table_calibration(part, inference, view) for name, part in both.items()})


def _scores_of(tally: Tally) -> ScoreTable:
    if tally.scores is None:
        raise InputError("This tally holds no scores, which calibration is about; count them with score=.")
    return tally.scores


def _grouped(
    y_true: ScoreTable | Frame | Source | ArrayLike,
    y_score: ArrayLike | None,
    columns: FrameColumns,
    call: CallOptions,
    by: By,
) -> Tally:
    """The scores of each group, of a frame or of arrays."""
    if columns.true is not None:
        names = {"labels": call.labels, "frequency": call.frequency}
        return columns.tally(y_true, by=by, pos_label=call.pos_label, **names)  # type: ignore[arg-type]  # a frame
    weights = {"sample_weight": call.sample_weight, "frequency": call.frequency}
    return grouped_tally(y_true, None, y_score, by, pos_label=call.pos_label, labels=call.labels, **weights)  # type: ignore[arg-type]  # rows


def _name(tally: Tally, key: Sequence[Label]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in zip(tally.by, key, strict=True))
