"""Unlabelled: from labelled reference rows and unlabelled scores, the prevalence and every metric among the latter."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from steelyard._types import Array, Label
from steelyard.analysis.intervals.draw_ends import quantiles
from steelyard.analysis.intervals.draws import class_fold, effective_cells, folded, generator
from steelyard.analysis.intervals.estimand import Estimand
from steelyard.analysis.intervals.inference import Inference
from steelyard.analysis.prevalence.label_shift import (
    MixtureTest,
    ScoreCells,
    UnlabelledPrevalence,
    class_cells,
    decided_cells,
    mixture_test,
    range_count,
    two_class_cells,
)
from steelyard.analysis.results.blocks import Figure, Point, Table, Track
from steelyard.analysis.results.formatting import (
    interval_text,
    listed,
    number_of,
    p_text,
    percent_interval,
    percent_text,
    value_text,
)
from steelyard.analysis.results.result import Flat, Result, Rows
from steelyard.analysis.thresholds.bands import confidence_band, thinned
from steelyard.arrays import checks, label_codes
from steelyard.evaluation.class_columns import given_columns
from steelyard.evaluation.evaluate import evaluate_tables
from steelyard.evaluation.evaluation import Evaluation
from steelyard.evaluation.verdict.sentences import positive_word, quoted_label
from steelyard.exceptions import InputError, InputTypeError, UnknownNameError, did_you_mean, first_ten
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.catalogue import precision
from steelyard.metrics.spec import MetricSpec
from steelyard.predictions import Model, Predictions, question, refuse_unused
from steelyard.tables.array_tables import columns_by_name
from steelyard.tables.confusion import Confusion
from steelyard.tables.counts import Counts
from steelyard.tables.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import ArrayLike

    from steelyard._types import Labels, Rng
    from steelyard.analysis.prevalence.label_shift import RangedCells
    from steelyard.analysis.results.blocks import Block
    from steelyard.analysis.thresholds.bands import BandPoint
    from steelyard.evaluation.evaluation import MetricRow
    from steelyard.metrics.registry import MetricLike
    from steelyard.metrics.spec import SpecLike
    from steelyard.predictions import RowOptions, RowsLike
    from steelyard.tables.probability_table import ProbabilityTable
    from steelyard.tables.score_table import ScoreTable


# ---------------------------------------------------------------- unlabelled rows in words and numbers
# The share of each class, and each metric, under label and covariate shift.


LABEL_SHIFT, COVARIATE_SHIFT, IF_IT_HELD = "label shift", "covariate shift", "label shift, if it held"


@dataclass(frozen=True, eq=False)
class ClassShare(Flat):
    """The share of a class: in the reference, and among the unlabelled rows with its interval.

    `likely` is the maximum of the likelihood; `value` is the same unless that is 0 or 1. `covariate` is the share under
    covariate shift.
    """

    label: Label
    reference: float
    value: float
    low: float
    high: float
    likely: float
    covariate: float = math.nan
    covariate_low: float = math.nan
    covariate_high: float = math.nan

    def text(self) -> str:
        """The share with its interval, in percent."""
        return percent_interval(self.value, self.low, self.high)

    def covariate_text(self) -> str:
        """The share under covariate shift with its interval, in percent."""
        return percent_interval(self.covariate, self.covariate_low, self.covariate_high)

    def shown_row(self, refused: bool = False) -> dict[str, Any]:
        """The row as people see it; where label shift is refused what it would give comes last."""
        both = {LABEL_SHIFT: self.text(), COVARIATE_SHIFT: self.covariate_text()}
        return {"class": str(self.label), "reference": percent_text(self.reference), **ordered_estimates(both, refused)}


@dataclass(frozen=True, eq=False)
class CurvePoint(Flat):
    """A threshold with both rates there, the precision in the reference, and that among the unlabelled rows."""

    threshold: float
    false_positive_rate: float
    recall: float
    reference: float
    value: float
    low: float
    high: float


def ordered_estimates(both: dict[str, str], refused: bool) -> dict[str, str]:
    """Both estimates; the covariate one first, and the other as what would be, where label shift is refused."""
    return {COVARIATE_SHIFT: both[COVARIATE_SHIFT], IF_IT_HELD: both[LABEL_SHIFT]} if refused else both


@dataclass(frozen=True, eq=False)
class UnlabelledMetric(Flat):
    """A metric: in the reference, among the unlabelled rows under label shift, and under covariate shift beside it."""

    spec: MetricSpec = field(metadata={"key": "metric"})
    reference: float
    value: float
    low: float
    high: float
    covariate: float = math.nan
    covariate_low: float = math.nan
    covariate_high: float = math.nan
    undefined: str | None = None
    is_first: bool = True  # whether it is shown without being asked for

    @property
    def metric(self) -> str:
        """The written form of the metric."""
        return self.spec.name

    @property
    def parts(self) -> bool:
        """Whether the two estimates exclude each other: neither value lies in the interval of the other."""
        bounds = (self.low, self.high, self.covariate_low, self.covariate_high)
        if not all(map(math.isfinite, bounds)):
            return False
        return not (self.low <= self.covariate <= self.high or self.covariate_low <= self.value <= self.covariate_high)

    def row(self) -> dict[str, Any]:
        """The metric as a row of a table."""
        numbers = {key: value for key, value in vars(self).items() if key not in ("spec", "is_first")}
        return {"metric": self.metric, **numbers, "parts": self.parts}

    def shown_row(self, refused: bool = False) -> dict[str, Any]:
        """The row as people see it; where label shift is refused what it would give comes last."""
        share = self.spec.is_share
        both = ((self.value, self.low, self.high), (self.covariate, self.covariate_low, self.covariate_high))
        label, covariate = (_estimate_text(*numbers, share=share) for numbers in both)
        return {
            "metric": self.metric,
            "reference": value_text(self.reference, share=share) if math.isfinite(self.reference) else "–",
            **ordered_estimates({LABEL_SHIFT: self.undefined or label, COVARIATE_SHIFT: covariate}, refused),
            "differ": "yes" if self.parts else "",
        }


def _estimate_text(value: float, low: float, high: float, *, share: bool) -> str:
    if not math.isfinite(value):
        return "–"
    return interval_text(value, low, high, share=share) if math.isfinite(low) else value_text(value, share=share)


# ---------------------------------------------------------------- unlabelled result


FIT_LEVEL = 0.05  # of the test of whether label shift explains the scores
_FAR_OUT = 0.01  # share of rows beyond all scores of the reference that is worth a sentence


@dataclass(frozen=True, eq=False, repr=False)
class Unlabelled(Result[UnlabelledMetric]):
    """What a classifier does among unlabelled rows, by their scores and a labelled reference.

    `shares` are the classes' shares there; the rows are the metrics. Where `fits` is false no class shares explain the
    scores: label shift is refused, and its values are what would be if it held. `curve` is the precision-recall curve
    there with its simultaneous band, of at most 100 thresholds; `band` gives that of any metric. `prevalence` goes
    wherever `prevalence=` does, and so does the result itself, which is refused there where it does not fit.
    """

    shares: Rows[ClassShare]
    metrics: Rows[UnlabelledMetric]
    statistic: float
    p_value: float
    rows: int
    reference_rows: int
    outside: int
    labels: tuple[Any, ...]
    positive: Label
    threshold: float | None
    level: float
    cells: Array
    decisions: Array
    unlabelled: Array
    curve: Rows[CurvePoint] = field(default_factory=Rows)
    assumed: tuple[str, ...] = ()
    evaluation: Evaluation | None = field(default=None, compare=False, metadata={"key": None})

    also_saved = ("verdict", "fits")

    def __iter__(self) -> Iterator[UnlabelledMetric]:
        return iter(self.metrics)

    def __getitem__(self, name: str) -> UnlabelledMetric:
        """The row of one metric, by name, alias or written form."""
        rows = {row.metric: row for row in self.metrics}
        if name in rows:
            return rows[name]
        try:
            return rows[MetricSpec.of(name).name]
        except KeyError:
            raise UnknownNameError(f"There is no {name!r} here.{did_you_mean(name, list(rows))}") from None

    @property
    def fits(self) -> bool | None:
        """Whether label shift explains the scores: the test does not reject it at 5 %; None where there is no test."""
        return None if math.isnan(self.p_value) else self.p_value >= FIT_LEVEL

    @cached_property
    def prevalence(self) -> UnlabelledPrevalence:
        """The prevalence with its uncertainty, for `prevalence=` of other functions, whether the scores fit or not."""
        cells = ScoreCells(np.asarray(self.cells, dtype=np.float64), np.asarray(self.decisions, dtype=np.int64))
        return UnlabelledPrevalence.of(cells, np.asarray(self.unlabelled, float), self.labels, generator(None))

    def usable_prevalence(self) -> UnlabelledPrevalence:
        """The same; refused where label shift does not explain the scores."""
        if self.fits is False:
            raise InputError(
                f"Label shift does not explain these scores ({p_text(self.p_value)}), so that their prevalence is not "
                "known; label some rows, or give its .prevalence to use it nevertheless."
            )
        return self.prevalence

    def band(self, metric: MetricLike = "precision", over: str = "recall") -> Rows[BandPoint]:
        """The curve of a metric at this prevalence with its simultaneous band, as `confidence_band` has it."""
        if self.evaluation is None or self.evaluation.scores is None:
            raise InputError(
                "A curve needs the scores of the reference, which a saved result and labels alone do not hold; run "
                "unlabelled again with a table of scores."
            )
        return confidence_band(
            self.evaluation.scores, metric=metric, over=over, level=self.level, prevalence=self.prevalence
        )

    # ---------------------------------------------------------------- in words

    @property
    def verdict(self) -> list[str]:
        """What was found and what to do next, in sentences; first what no test sees, or that label shift is refused."""
        test = f"likelihood-ratio test with both samples' noise, {p_text(self.p_value)}"
        if self.fits is False:
            sentences = self._refusal(test)
        else:
            sentences = [self._share_sentence()]
            if math.isnan(self.p_value):
                sentences.append(
                    "No test of label shift applies: the reference has no more ranges of scores than classes. It is "
                    "taken for granted here."
                )
            else:
                sentences.append(f"Label shift explains the scores ({test}).")
            differing = [row.spec.metric.phrase for row in self.metrics if row.parts and row.is_first]
            if differing:
                sentences.append(
                    "Covariate shift, under which each score means what it meant in the reference, gives other values "
                    f"of {_first_six(differing)}."
                )
            between = "decide between the two" if differing else "would check this"
            sentences.append(f"Labels of a few rows {between}; a label plan chooses them.")
        predicted = np.unique(np.asarray(self.decisions)[np.asarray(self.unlabelled) > 0])
        without = [row.spec.metric.phrase for row in self.metrics if row.is_first and math.isnan(row.covariate)]
        if self.threshold is not None and len(predicted) == 1 and without:
            sentences.append(
                f"All unlabelled rows are predicted as {quoted_label(self.labels[int(predicted[0])])}, so that "
                f"covariate shift shows no interval of {_first_six(without)}."
            )
        if self.outside > _FAR_OUT * self.rows:
            sentences.append(
                f"{self.outside:,} of the unlabelled rows have scores beyond all of the reference; they count as its "
                "most extreme ones."
            )
        return sentences

    def _share_sentence(self) -> str:
        """What no test of scores can see, and the classes' shares if nothing of that kind has happened."""
        if len(self.shares) == 2:
            unseen = (
                "Recall is the reference's by assumption: no test can see positives that have come to look like "
                "negatives"
            )
        else:
            unseen = (
                "The recall of each class is the reference's by assumption: no test can see rows of one class that "
                "have come to look like another's"
            )
        rows = " of the one unlabelled row" if self.rows == 1 else f" of the {self.rows:,} unlabelled rows"
        return f"{unseen}. If there are none, {self._shares_text(rows, covariate=False)}."

    def _shares_text(self, rows: str = "", *, covariate: bool) -> str:
        """The share of the positive class beside the reference's, or the share of each class."""
        texts = [(share.label, share.covariate_text() if covariate else share.text()) for share in self.shares]
        label, first = texts[0]
        if len(texts) == 2:
            there = percent_text(self.shares[0].reference)
            return f"{first}{rows} are {positive_word(label)}, against {there} in the reference"
        others = [f"{text} {quoted_label(label)}" for label, text in texts[1:]]
        return _first_six([f"{first}{rows} are {quoted_label(label)}", *others])

    def _refusal(self, test: str) -> list[str]:
        return [
            f"The prevalence of the {self.rows:,} unlabelled rows is not known: label shift does not explain their "
            f"scores ({test}).",
            "The classes themselves have changed, or the rows are others than in the reference. Label some rows.",
            f"Under covariate shift, if each score still means what it meant in the reference, "
            f"{self._shares_text(covariate=True)}.",
            f"Label shift, if it held, would give {self.shares[0].text()}."
            if len(self.shares) == 2
            else "What label shift would give, if it held, stands in the last column.",
        ]

    @property
    def lead(self) -> list[str]:
        """The verdict's further sentences."""
        return self.verdict[1:]

    @property
    def notes(self) -> list[str]:
        """How many rows there are, and by how many they are read."""
        return [f"The {number_of(self.rows, 'unlabelled row')} are read by {self.reference_rows:,} labelled ones."]

    @property
    def headline(self) -> str:
        """What is taken for granted and the prevalence in one sentence, or that it is not known."""
        return self.verdict[0]

    def shown_rows(self) -> list[dict[str, Any]]:
        """The metrics that are shown first, as people see them."""
        rows = [row.shown_row(refused=self.fits is False) for row in self.metrics if row.is_first]
        if self.fits is not False and any(row["differ"] for row in rows):
            return rows
        return [{name: cell for name, cell in row.items() if name != "differ"} for row in rows]

    def shown_tables(self) -> list[Block]:
        """The classes' shares where the headline does not have them, the metrics, and the curve as a picture."""
        is_said = len(self.shares) == 2 and self.fits is not False
        shares = [] if is_said else [share.shown_row(refused=self.fits is False) for share in self.shares]
        curve = Table((), "precision-recall curve", self.curve.to_dicts)
        tables = [Table(shares, "class shares", self.shares.to_dicts), curve, Table.of(self)]
        return [*tables, *([self._figure()] if self.curve else [])]

    def _figure(self) -> Figure:
        """Precision over recall in the reference and at the new prevalence; of the former without a band."""
        there = [Point(p.recall, p.value, p.low, p.high) for p in self.curve]
        here = [Point(p.recall, p.reference, math.nan, math.nan) for p in self.curve]
        name = "at the new prevalence" if self.fits is not False else "if label shift held"
        tracks = (Track(name, there, curve=True), Track("in the reference", here, second=True, curve=True))
        title = "Precision over recall, with the band of the whole curve"
        ticks = [(place / 4, f"{25 * place}") for place in range(5)]
        return Figure(title, ticks, tracks, 100, " %", shows=(0.0, 1.0), x_title="recall, %")


def _first_six(words: list[str]) -> str:
    return listed([*words[:6], *(["others"] if len(words) > 6 else [])])


# ---------------------------------------------------------------- covariate estimate
# Metrics of unlabelled rows if every score still means what it meant in the reference.
#
# This is what estimates from confidences take for granted, such as NannyML's CBPE: the share of each class in a range
# of scores stays, and only how many rows are in the range has changed.


_DRAWS = 2_000


class CovariateEstimate(NamedTuple):
    """The tables that covariate shift makes likely: as expected, and draws of them."""

    known: LabelledReference
    expected: Array
    drawn: Array
    inference: Inference

    @classmethod
    def of(cls, known: LabelledReference, cells: ScoreCells, counts: Array, inference: Inference) -> CovariateEstimate:
        """Those of so many unlabelled rows in each range.

        The draws have the noise of both samples, with a prior of one row in all in each range.
        """
        shares = cells.rows / np.maximum(cells.rows.sum(0), 1e-300)
        expected = _by_decision(shares * counts, cells)
        rng, prior = inference.generator, cells.rows.sum(1, keepdims=True) / cells.rows.sum()
        classes = rng.standard_gamma(cells.rows + prior, (_DRAWS, *cells.rows.shape))
        drawn_shares = classes / np.maximum(classes.sum(1, keepdims=True), 1e-300)
        rows = rng.standard_gamma(np.maximum(counts, 1e-9), (_DRAWS, len(counts)))
        return cls(known, expected, _by_decision(drawn_shares * rows[:, None], cells), inference)

    @property
    def share_bounds(self) -> Array:
        """The share of each class and the bounds of its interval, a row each."""
        seen, drawn = (cells.sum(-1) / cells.sum((-1, -2))[..., None] for cells in (self.expected, self.drawn))
        low, high = np.quantile(drawn, self.inference.tails, axis=0)
        return np.stack([seen, np.minimum(low, seen), np.maximum(high, seen)], -1)

    def row(self, row: MetricRow, there: Evaluation, here: Evaluation) -> UnlabelledMetric:
        """A metric with all its values."""
        first = there.metrics_named or row in there.shown()
        reference = here[row.name].value if row.name in here else math.nan
        return UnlabelledMetric(
            row.spec,
            reference,
            row.value,
            row.low,
            row.high,
            *self._interval(row),
            undefined=row.undefined,
            is_first=first,
        )

    def _interval(self, row: MetricRow) -> tuple[float, float, float]:
        """The value and its interval under covariate shift; none of a metric of scores or one that cannot vary."""
        if self.known.table is None or row.spec.metric.function is None or row.spec.reads_scores(self.known.scores):
            return math.nan, math.nan, math.nan
        options: dict[str, Any] = {} if self.known.positive is None else {"pos_label": self.known.positive}
        call = row.spec.options(CallOptions(**options))
        estimand = Estimand(row.spec, self.known.table, row.spec.metric.parameters, call)
        tables = [self.expected[None], self.drawn]
        if self.known.positive is None and (positive := estimand.positive_place) is not None:  # against the rest
            fold = class_fold(positive, len(self.expected))
            tables = [fold @ cells @ fold.T for cells in tables]
        values, drawn = (estimand.on_cells(cells) for cells in tables)
        value = float(values[0])
        low, high = (float(bound) for bound in quantiles(drawn, self.inference.tails))
        if low == high or math.isnan(value):  # no row is predicted as some class: the draws vary nothing
            return math.nan, math.nan, math.nan
        least, most = row.spec.metric.range
        return value, max(min(low, value), least), min(max(high, value), most)


def _by_decision(rows: Array, cells: ScoreCells) -> Array:
    """The rows of each class, first axis, that are predicted as each class, by those in each range of scores."""
    predicted = cells.decisions[:, None] == np.arange(len(cells.rows))
    return np.asarray(rows @ predicted.astype(np.float64))


# ---------------------------------------------------------------- reference
# The labelled rows by which unlabelled scores are read, whatever they are given as.


class LabelledReference(NamedTuple):
    """The tables of the labelled rows: labels at a threshold, scores, and of many classes a column for each."""

    table: Confusion | None
    scores: ScoreTable | None
    columns: ProbabilityTable | None
    positive: Label
    threshold: float | None
    assumed: tuple[str, ...] = ()

    @property
    def labels(self) -> Labels:
        """The classes; of two the positive one first."""
        if self.table is None:
            return (self.positive, "rest")
        others = tuple(label for label in self.table.labels if label != self.positive)
        return self.table.labels if self.positive is None else (self.positive, *others)

    @property
    def reads_predictions(self) -> bool:
        """Whether there are predicted labels alone, and no threshold at which scores would be predicted positive."""
        return self.scores is None and self.columns is None and self.threshold is None

    @property
    def rows(self) -> int:
        """How many labelled rows there are."""
        if self.table is not None:
            return int(self.table.rows.sum())
        return 0 if self.scores is None else self.scores.n


def read_reference(given: Any, **rows: Any) -> LabelledReference:
    """The reference as given: anything that Predictions are made of, or a pair (y_true, y_score)."""
    pair = given if isinstance(given, tuple) and len(given) == 2 else (given,)
    p = Predictions.of(*pair, second_is="y_score", **rows)
    refuse_unused(p, "a reference of unlabelled rows", "cluster", "design")
    if isinstance(table := p.given.data, Tally) and table.confusion is not None and table.scores is not None:
        if p.threshold is None:
            raise InputError(
                "The reference has predictions beside its scores, and which scores are predicted positive is not "
                "clear; give threshold=."
            )
        p = Predictions.of(replace(table, confusion=None), threshold=p.threshold)
    classes = given_columns(p)
    p = classes.rows
    if isinstance(p.given.data, (Counts, Confusion)) or (p.given.is_table and not p.has_scores):
        return _of_table(p.with_options(threshold=None).confusion(), p.threshold)
    counted = p.counted()
    if counted.table is not None and classes.table is not None:
        _check_all_classes(counted.table)
        return LabelledReference(counted.table, None, classes.table, None, None, classes.assumed)
    if counted.table is not None and counted.scores is None:
        return _of_table(counted.table, p.threshold)
    positive, stated = counted.positive_class(p.given.pos_label, is_stated=p.given.is_stated)
    return LabelledReference(
        counted.table, counted.scores, None, positive, counted.threshold, (*stated, *counted.assumed)
    )


def _of_table(table: Confusion, threshold: float | None) -> LabelledReference:
    _check_all_classes(table)
    if len(table.labels) > 2:
        return LabelledReference(table, None, None, None, None)
    at = None if threshold is None else float(threshold)
    return LabelledReference(table, None, None, table.positive_label(), at)


def _check_all_classes(table: Confusion) -> None:
    """Refuse a reference in which a class has no rows."""
    empty = [label for label, rows in zip(table.labels, table.true_rows, strict=True) if not rows]
    if empty:
        raise InputError(f"The reference has no rows of {first_ten(empty)}; it needs scores of every class.")


# ---------------------------------------------------------------- unlabelled curve
# Precision over recall at the prevalence of unlabelled rows, beside that of the reference.


_MOST_POINTS = 100


def curve_there(scores: ScoreTable | None, prevalence: UnlabelledPrevalence, level: float) -> Rows[CurvePoint]:
    """The precision-recall curve there with its band; none of labels alone, nor of many classes."""
    if scores is None:
        return Rows()
    band = confidence_band(scores, metric=precision, over="recall", level=level, prevalence=prevalence)
    fpr, recall = np.array([(point.false_positive_rate, point.recall) for point in band]).T
    positives, negatives = (float(side.total) for side in scores.classes)
    table = Counts(positives * recall, positives * (1 - recall), negatives * fpr, negatives * (1 - fpr))
    here = np.asarray(precision(table), dtype=np.float64)
    return Rows(
        CurvePoint(at.threshold, at.false_positive_rate, at.recall, float(here[i]), at.value, at.low, at.high)
        for i in thinned(fpr, recall, points=_MOST_POINTS)
        for at in [band[i]]
    )


# ---------------------------------------------------------------- unlabelled


_MOST_CLASSES = 50
_PREDICTED = 0.5  # between 0 and 1, which predicted labels are read as
_OF_REFERENCE = ("true", "pred", "score", "weight", "label_sep", "long", "pos_label", "labels", "threshold")


@question
def unlabelled(
    data: RowsLike = None,
    /,
    *,
    reference: RowsLike | tuple[ArrayLike, ArrayLike],
    metrics: Iterable[SpecLike] | None = None,
    level: float = 0.95,
    draws: int | None = None,
    rng: Rng = None,
    **rows: Unpack[RowOptions],
) -> Unlabelled:
    """The prevalence among unlabelled rows by their scores, and every metric there, by a labelled reference.

    Label shift is taken for granted and tested: rows of each class have the scores that they have in the reference, and
    only the classes' shares have changed. Scores need not be probabilities. The shares are most likely by expectation
    maximisation over ranges of scores; intervals carry the noise of both samples. Where the test rejects label shift
    the result states that first, shows its values as what would be if it held, and is refused as `prevalence=`. Beside
    each metric stands its value under covariate shift, where every score means what it meant in the reference, as
    estimates from confidences have it. No test can see positives that have come to look like negatives: under label
    shift recall is the reference's by assumption, and the first sentence says so.

    The rows come first, without labels: an array of them is `y_score`; of a table the labels are not read. The
    `reference` is what Predictions are made of, or a pair (y_true, y_score); where `true` is named the columns are
    those of both. Of many classes both have a column for each; of a confusion matrix of them the highest column alone
    is read. Beside a reference of predicted labels the rows have `y_pred`, or `pred`: the prevalence is then that of
    Rogan and Gladen, by the flagged share, recall and specificity. Costs are metrics, such as
    "expected_cost[cost_fn=50]".

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.random(4000) < 0.05
    >>> reference = (y_true, rng.normal(2.0 * y_true))
    >>> found = unlabelled(rng.normal(2.0 * (rng.random(3000) < 0.3)), reference=reference, threshold=2)
    >>> print(found.headline)
    Recall is ... 2... % (2... to 3...) of the 3,000 unlabelled rows are positive, against ... % in the reference.
    >>> found.fits
    True
    >>> print(f"{found['precision'].reference:.2f}, now {found['precision'].value:.2f}")
    0.5..., now 0.9...
    """
    stated: dict[str, Any] = {name: value for name, value in rows.items() if value is not None}
    p = new_rows(data, stated)
    if reference is None:
        raise InputTypeError("reference= has the labelled rows by which these are read, such as a saved evaluation.")
    inference = Inference(level, "auto", draws, rng)
    known = read_reference(reference, **_of_reference(p, stated))
    if known.table is not None and len(known.table.labels) > _MOST_CLASSES:
        raise InputError(f"{len(known.table.labels)} classes are too many for this; {_MOST_CLASSES} are the most.")
    return _Question(known, _of_positive(unlabelled_scores(p, known), known), inference).answered(metrics)


def new_rows(data: Any, stated: dict[str, Any]) -> Predictions:
    """Rows without their labels, whatever is named of the reference beside them: with its truth, its weights too."""
    of_reference = ("true", "weight", "pos_label", "labels") if "true" in stated else ("pos_label", "labels")
    own = {name: value for name, value in stated.items() if name not in of_reference}
    p = Predictions.of(data, first_is="y_score", **own)
    refuse_unused(p, "unlabelled", "weights", "cluster", "by", "design", "columns")
    return p


def _of_reference(p: Predictions, stated: dict[str, Any]) -> dict[str, Any]:
    """The options of the reference: the names of columns where its truth is named, and how labels are read."""
    options = {name: stated[name] for name in _OF_REFERENCE if name in stated}
    if "true" in options:
        model = p.given.model if p.given.is_frame else Model()
        options = {"pred": model.pred, "score": model.score} | options
    else:
        options = {name: value for name, value in options.items() if name in ("pos_label", "labels", "threshold")}
    if p.threshold is not None:
        options["threshold"] = p.threshold
    return options


class UnlabelledScores(NamedTuple):
    """The scores of the positive class, or a column for each class, and how often each row counts."""

    scores: Array
    times: Array | None = None

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.scores) if self.times is None else int(self.times.sum())


def unlabelled_scores(p: Predictions, known: LabelledReference) -> UnlabelledScores:
    """The scores as given; of a table those of both classes together; of predicted labels 1 in the column of each."""
    order = known.table.labels if known.table is not None else known.labels
    if p.given.is_table:
        sides = [side.compact() for side in p.score_table().classes]
        rows = np.concatenate([np.broadcast_to(side.rows, len(side.scores)) for side in sides])
        return _some_rows(np.concatenate([side.scores for side in sides]), rows)
    given = p.with_options(labels=order).collect().given
    times = checks.weights(given.frequency, "frequency", whole=True)
    if given.y_score is None:
        if given.y_pred is None:
            raise InputTypeError(
                "There is nothing to read: give the scores of the rows, y_score= or of a frame score=."
            )
        if not known.reads_predictions:
            raise InputError(
                "The rows have predicted labels, and the reference has scores; give theirs, y_score= or of a frame "
                "score=."
            )
        return _some_rows(_predicted_columns(given.y_pred, order, times), times)
    matrix = checks.matrix(given.y_score, "y_score")
    if matrix.ndim == 2 and matrix.shape[1] > 1:
        if matrix.shape[1] != len(order):
            raise InputError(
                f"y_score has {matrix.shape[1]} columns and the reference {len(order)} classes; give one for each."
            )
        ordered = columns_by_name(matrix, given.y_score, order)
        columns = [checks.finite_scores(ordered[:, place]) for place in range(matrix.shape[1])]
        scores = np.column_stack(columns) if len(matrix) else np.zeros((0, len(order)))
    elif known.reads_predictions:
        raise InputError(
            "The reference has predicted labels and no scores; give threshold= at which the scores of these rows are "
            "predicted positive, or give predicted labels: y_pred=, of a frame pred=."
        )
    else:
        scores = checks.finite_scores(given.y_score)
    checks.check_lengths(y_score=scores, frequency=times)
    return _some_rows(scores, times)


def _some_rows(scores: Array, times: Array | None) -> UnlabelledScores:
    given = UnlabelledScores(scores, times)
    if not given.rows:
        raise InputError("There are no unlabelled rows; give the scores of one row or more.")
    return given


def _predicted_columns(y_pred: ArrayLike, labels: Labels, times: Array | None) -> Array:
    """A column for each class, 1 where it is predicted, so that predictions are read as scores are."""
    column = checks.column(y_pred, "y_pred")
    checks.check_lengths(y_pred=column, frequency=times)
    codes, present = label_codes.distinct(column, "y_pred")
    places = np.array([_place(label, labels) for label in present], dtype=np.int64)
    return np.eye(len(labels))[places[codes]] if len(column) else np.zeros((0, len(labels)))


def _place(label: Label, labels: Labels) -> int:
    """The place of the class that a predicted label names."""
    place = next((i for i, known in enumerate(labels) if known == label or str(known) == str(label)), None)
    if place is None:
        raise InputError(
            f"The unlabelled rows hold {label!r}, which is no class of the reference, {first_ten(labels)}. It has "
            "predicted labels and no scores: give predictions, or threshold= beside scores of the positive class."
        )
    return place


def _of_positive(given: UnlabelledScores, known: LabelledReference) -> UnlabelledScores:
    """The column of the positive class where two were given; one where many classes need theirs is refused."""
    several = given.scores.ndim == 2
    if several and known.positive is not None and known.table is not None:
        return given._replace(scores=given.scores[:, known.table.index(known.positive)])
    if not several and known.positive is None:
        raise InputError(
            f"The reference has {len(known.labels)} classes and scores one column; give a column for each class."
        )
    return given


class _Question(NamedTuple):
    """The reference, the unlabelled scores, and how intervals are made."""

    known: LabelledReference
    given: UnlabelledScores
    inference: Inference

    def answered(self, metrics: Iterable[SpecLike] | None) -> Unlabelled:
        """The prevalence, every metric there, and whether label shift explains the scores."""
        known, given, rng = self.known, self.given, self.inference.generator
        coarse, fine = self._cells(fine=False), self._cells(fine=True)
        counts, fine_counts = coarse.counted(*given), fine.counted(*given)
        prevalence = UnlabelledPrevalence.of(coarse.cells, counts, known.labels, rng)
        there, here = self._evaluated(metrics, prevalence), self._evaluated(metrics, None)
        covariate = CovariateEstimate.of(known, fine.cells, fine_counts, self.inference)
        shares = self._shares(prevalence, covariate)
        test = MixtureTest(math.nan, math.nan)  # none where there are no more ranges than classes
        used = (fine.cells.rows.sum(0) > 0) | (fine_counts > 0)
        if used.sum() > len(fine.cells.rows):
            test = mixture_test(fine.cells.rows[:, used], fine_counts[used], rng)
        return Unlabelled(
            shares=shares,
            metrics=Rows(covariate.row(row, there, here) for row in there.metrics),
            **test._asdict(),
            rows=given.rows,
            reference_rows=known.rows,
            outside=self._outside(),
            labels=known.labels,
            positive=known.positive,
            threshold=known.threshold,
            level=self.inference.level,
            cells=coarse.cells.rows,
            decisions=coarse.cells.decisions,
            unlabelled=counts,
            curve=curve_there(known.scores, prevalence, self.inference.level),
            assumed=(*known.assumed, *there.assumed),
            evaluation=there,
        )

    def _cells(self, *, fine: bool) -> RangedCells:
        """The labelled rows by class and range of scores."""
        known = self.known
        if known.scores is not None:
            fewest = min(side.effective_size for side in known.scores.classes)
            return two_class_cells(known.scores, known.threshold, range_count(fewest, fine=fine))
        if known.columns is not None:
            fewest = float(np.bincount(known.columns.codes).min())
            return class_cells(known.columns, int(np.clip(fewest / 40, 1, 4)))
        assert known.table is not None  # noqa: S101 - one of them is there
        if known.positive is None:
            return decided_cells(effective_cells(known.table)[0])
        positive = known.table.index(known.positive)
        at = _PREDICTED if known.threshold is None else known.threshold
        return decided_cells(effective_cells(folded(known.table, positive))[0], at)

    def _evaluated(self, metrics: Iterable[SpecLike] | None, prevalence: UnlabelledPrevalence | None) -> Evaluation:
        """The metrics at a prevalence, or at that of the reference."""
        base = self.inference
        inference = Inference(base.level, "auto", base.draws if prevalence is not None else 20, base.rng, prevalence)
        return evaluate_tables(
            self.known.table,
            self.known.scores,
            self.known.positive,
            threshold=self.known.threshold,
            metrics=metrics,
            inference=inference,
        )

    def _shares(self, prevalence: UnlabelledPrevalence, covariate: CovariateEstimate) -> Rows[ClassShare]:
        """The share of each class in the reference and among the unlabelled rows."""
        seen = prevalence.cells.rows.sum(1)
        values = (
            prevalence.likely if prevalence.counts is not None else np.array([float(prevalence), 1 - float(prevalence)])
        )
        bounds = prevalence.class_ends(self.inference.level)
        columns = (
            (seen / seen.sum()).tolist(),
            values.tolist(),
            *np.transpose(bounds).tolist(),
            prevalence.likely.tolist(),
            *covariate.share_bounds.T.tolist(),
        )
        return Rows(map(ClassShare, self.known.labels, *columns))

    def _outside(self) -> int:
        """How many unlabelled rows have scores beyond all of the reference."""
        reference, (scores, times) = self.known.scores, self.given
        if reference is None or scores.ndim > 1:
            return 0
        sides = [side.scores for side in reference.classes if len(side.scores)]
        is_outside = (scores < min(side[0] for side in sides)) | (scores > max(side[-1] for side in sides))
        return int(is_outside.sum() if times is None else times[is_outside].sum())
