"""Unlabelled: from labelled reference rows and unlabelled scores, the prevalence and every metric among the latter."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.analysis.intervals.draw_ends import quantiles
from steelyard.analysis.intervals.draws import class_fold, effective_cells, folded
from steelyard.analysis.intervals.estimand import Estimand
from steelyard.analysis.intervals.inference import Inference
from steelyard.analysis.prevalence.label_shift import (
    MixtureTest,
    UnlabelledPrevalence,
    class_cells,
    decided_cells,
    mixture_test,
    range_count,
    two_class_cells,
)
from steelyard.analysis.results.result import Rows
from steelyard.analysis.results.result_json import parsed
from steelyard.analysis.thresholds.bands import confidence_band, thinned
from steelyard.evaluation.class_columns import given_columns
from steelyard.evaluation.evaluation import Evaluation
from steelyard.evaluation.given_rows import GivenRows
from steelyard.evaluation.inputs import RowOptions, as_confusion, counted_inputs, thresholded
from steelyard.evaluation.table_evaluation import evaluate_tables
from steelyard.evaluation.unlabelled_result import ClassShare, CurvePoint, Unlabelled, UnlabelledMetric
from steelyard.exceptions import InputError, first_ten
from steelyard.ingest.frame_columns import FrameColumns
from steelyard.ingest.refused_keywords import refuses_other_keywords
from steelyard.ingest.unlabelled_predictions import unlabelled_predictions
from steelyard.ingest.unlabelled_scores import unlabelled_scores
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.catalogue import precision
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.counts import Counts
from steelyard.statistics.score_table import ScoreTable
from steelyard.statistics.tally import TALLY_TABLES, Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame, Label, Labels, LabelSet, Rng, Weights
    from steelyard.analysis.prevalence.label_shift import RangedCells, ScoreCells
    from steelyard.evaluation.evaluation import MetricRow
    from steelyard.ingest.source import Source
    from steelyard.ingest.unlabelled_scores import UnlabelledScores
    from steelyard.metrics.spec import SpecLike
    from steelyard.statistics.probability_table import ProbabilityTable


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
        """Those of so many unlabelled rows in each range."""
        return cls(known, _expected(cells, counts), _drawn(cells, counts, inference.generator), inference)

    @property
    def share_ends(self) -> Array:
        """The share of each class and the ends of its interval, a row each."""
        seen, drawn = (cells.sum(-1) / cells.sum((-1, -2))[..., None] for cells in (self.expected, self.drawn))
        low, high = np.quantile(drawn, self.inference.tails, axis=0)
        return np.stack([seen, np.minimum(low, seen), np.maximum(high, seen)], -1)

    def row(self, row: MetricRow, there: Evaluation, here: Evaluation) -> UnlabelledMetric:
        """A metric with all its values."""
        first = there.metrics_named or row in there.shown()
        reference = here[row.name].value if row.name in here else math.nan
        return UnlabelledMetric(
            row.spec, reference, row.value, row.low, row.high, *self._ends(row), undefined=row.undefined, is_first=first
        )

    def _ends(self, row: MetricRow) -> tuple[float, float, float]:
        """The value and its interval under covariate shift; none of a metric of scores or one that cannot vary."""
        if self.known.table is None or row.spec.metric.function is None or row.spec.reads_scores(self.known.scores):
            return math.nan, math.nan, math.nan
        options: dict[str, Any] = {} if self.known.positive is None else {"pos_label": self.known.positive}
        call = row.spec.options(CallOptions(**options))
        estimand = Estimand(row.spec, self.known.table, row.spec.metric.parameters, call)
        tables = [self.expected[None], self.drawn]
        if self.known.positive is None and (place := estimand.positive_place) is not None:
            fold = class_fold(place, len(self.expected))
            tables = [fold @ cells @ fold.T for cells in tables]
        value, drawn = (estimand.on_cells(cells) for cells in tables)
        low, high = (float(end) for end in quantiles(drawn, self.inference.tails))
        if low == high or math.isnan(value[0]):  # no row is predicted as some class: the draws vary nothing
            return math.nan, math.nan, math.nan
        limits = row.spec.metric.range
        return float(value[0]), max(min(low, float(value[0])), limits[0]), min(max(high, float(value[0])), limits[1])


def _expected(cells: ScoreCells, unlabelled: Array) -> Array:
    """The rows of each class, first axis, that are expected to be predicted as each class."""
    shares = cells.rows / np.maximum(cells.rows.sum(0), 1e-300)
    return _by_decision(shares * unlabelled, cells)


def _drawn(cells: ScoreCells, unlabelled: Array, rng: np.random.Generator, draws: int = _DRAWS) -> Array:
    """Draws of the same, on a first axis, with the noise of both samples: a row of prior in all in each range."""
    prior = cells.rows.sum(1, keepdims=True) / cells.rows.sum()
    mass = rng.standard_gamma(cells.rows + prior, (draws, *cells.rows.shape))
    shares = mass / np.maximum(mass.sum(1, keepdims=True), 1e-300)
    rows = rng.standard_gamma(np.maximum(unlabelled, 1e-9), (draws, len(unlabelled)))
    return _by_decision(shares * rows[:, None], cells)


def _by_decision(rows: Array, cells: ScoreCells) -> Array:
    predicted = cells.decisions[:, None] == np.arange(len(cells.rows))
    return np.asarray(rows @ predicted.astype(np.float64))


# ---------------------------------------------------------------- reference
# The labelled rows by which unlabelled scores are read, whatever they are given as.


_CLUSTERED = (
    "The rows of the reference are clustered, and these intervals take them as independent: they are too narrow."
)


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


def read_reference(given: Any, threshold: float | None, rows: RowOptions, columns: FrameColumns) -> LabelledReference:
    """The reference as given: an evaluation, a table, a tally, a file of one of them, rows, or columns of a frame."""
    if isinstance(given, (str, Path)):
        given = _saved(given)
    if isinstance(given, Evaluation):
        return _of_evaluation(given, threshold)
    given, y_score = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
    asked = GivenRows(given, None, y_score, rows, columns, None, None).of_class_columns()
    classes = given_columns(asked.data, None, asked.y_score, threshold, asked.rows, brought=True)  # type: ignore[arg-type]  # beside scores: rows
    brought = asked._replace(y_pred=classes.y_pred, y_score=classes.y_score)
    counted = brought.counted(threshold=threshold, exact=None)
    if isinstance(counted, Tally) and counted.scores is None and counted.confusion is not None:
        counted = counted.confusion
    if isinstance(counted, (Counts, Confusion)):
        return _of_table(as_confusion(counted, rows.pos_label), threshold)
    inputs = counted_inputs(counted, brought.y_pred, brought.y_score, threshold, brought.rows)
    if inputs.table is not None and classes.table is not None:
        _check_all_classes(inputs.table)
        return LabelledReference(inputs.table, None, classes.table, None, None, classes.assumed)
    if inputs.table is not None and inputs.scores is None:
        return _of_table(inputs.table, threshold)
    positive, stated = inputs.positive_class(rows.pos_label, given)
    return LabelledReference(inputs.table, inputs.scores, None, positive, inputs.threshold, (*stated, *inputs.assumed))


def _saved(path: str | Path) -> Evaluation | Tally | ScoreTable | Confusion | Counts:
    """What a file holds: a saved tally, a table of scores or labels, or an evaluation."""
    data = parsed(Path(path))
    kind = data.get("kind")
    if kind == "tally":
        return Tally.from_json(data)
    if kind == "counts":
        return Counts.from_json(data)
    if kind in ("scores", "confusion"):
        return TALLY_TABLES[str(kind)].from_json(data)  # type: ignore[return-value]  # one of both
    if kind == "evaluation":
        return Evaluation.from_json(data)
    what = f"a saved {str(kind).replace('_', ' ')}" if kind else "something else"
    raise InputError(f"{str(path)!r} holds {what}; a reference is what `tally` or `report --format json` saved.")


def _of_evaluation(given: Evaluation, threshold: float | None) -> LabelledReference:
    clustered = (_CLUSTERED,) if given.is_clustered else ()
    if given.scores is None:
        if given.confusion is None:
            raise InputError("This evaluation holds no table; evaluate the labelled rows again.")
        table = given.confusion if given.positive is None else given.confusion.with_positive(given.positive)
        return _of_table(table, threshold)._replace(assumed=clustered)
    at = given.threshold if threshold is None else threshold
    if at is None and given.confusion is not None:
        raise InputError(
            "This evaluation has predictions beside its scores, and which scores are predicted positive is not clear; "
            "give threshold=."
        )
    labels = given.labels or ()
    other = next((label for label in labels if label != given.scores.label), None)
    inputs = thresholded(given.scores, at, other)
    return LabelledReference(
        inputs.table, given.scores, None, given.scores.label, inputs.threshold, (*inputs.assumed, *clustered)
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
        CurvePoint(at.threshold, at.false_positive_rate, at.recall, float(here[place]), at.value, at.low, at.high)
        for place in thinned(fpr, recall, points=_MOST_POINTS)
        for at in [band[place]]
    )


# ---------------------------------------------------------------- unlabelled


_MOST_CLASSES = 50
_PREDICTED = 0.5  # between 0 and 1, which predicted labels are read as


@refuses_other_keywords
def unlabelled(
    reference: Evaluation
    | ScoreTable
    | Tally
    | Confusion
    | Counts
    | Frame
    | Source
    | tuple[ArrayLike, ArrayLike]
    | str,
    scores: ArrayLike | ScoreTable | Tally | Frame | Source,
    *,
    threshold: float | None = None,
    metrics: Iterable[SpecLike] | None = None,
    pos_label: Label = None,
    labels: LabelSet | None = None,
    level: float = 0.95,
    draws: int | None = None,
    rng: Rng = None,
    true: str | None = None,
    pred: str | None = None,
    score: str | Sequence[str] | None = None,
    weight: str | None = None,
    frequency: Weights | str = None,
) -> Unlabelled:
    """The prevalence among unlabelled rows by their scores, and every metric there, by a labelled reference.

    Label shift is taken for granted and tested: rows of each class have the scores that they have in the reference, and
    only the classes' shares have changed. Scores need not be probabilities. The shares are most likely by expectation
    maximisation over ranges of scores; intervals carry the noise of both samples. Where the test rejects label shift
    the result states that first, shows its values as what would be if it held, and is refused as `prevalence=`. Beside
    each metric stands its value under covariate shift, where every score means what it meant in the reference, as
    estimates from confidences have it. No test can see positives that have come to look like negatives: under label
    shift recall is the reference's by assumption, and the first sentence says so.

    `reference` is an Evaluation with scores, a ScoreTable, a Tally, a pair (y_true, y_score), the path of a saved tally
    or evaluation, or a frame with the names of its columns true and score; `scores` an array, a frame with the same
    column, or a table whose labels are not read. Of many classes both have a column for each; of a Confusion or an
    Evaluation of them the highest column alone is read. Beside Counts or a Confusion `scores` may be predicted labels,
    or a frame with their column pred: the prevalence is then that of Rogan and Gladen, by the flagged share, recall and
    specificity. Costs are metrics, such as "expected_cost[cost_fn=50]". `frequency` says how often each unlabelled row
    counts.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.random(4000) < 0.05
    >>> found = unlabelled((y_true, rng.normal(2.0 * y_true)), rng.normal(2.0 * (rng.random(3000) < 0.3)), threshold=2)
    >>> print(found.headline)
    Recall is ... of the 3,000 unlabelled rows 2... % (2... to 3...) are True, where the reference has ... %.
    >>> found.fits
    True
    >>> print(f"{found['precision'].reference:.2f}, now {found['precision'].value:.2f}")
    0.5..., now 0.9...
    """
    inference = Inference(level, "auto", draws, rng)
    columns = FrameColumns(true, None, score if true is not None else None, weight if true is not None else None)  # type: ignore[arg-type]  # several are brought
    known = read_reference(reference, threshold, RowOptions(pos_label, labels), columns)
    if known.table is not None and len(known.table.labels) > _MOST_CLASSES:
        raise InputError(f"{len(known.table.labels)} classes are too many for this; {_MOST_CLASSES} are the most.")
    order = known.table.labels if known.table is not None else known.labels
    if pred is not None and not known.reads_predictions:
        raise InputError("pred= names predicted labels, and the reference has scores; name theirs with score=.")
    if known.reads_predictions and (pred is not None or _is_one_column(scores)):
        given = unlabelled_predictions(scores, order, pred, frequency)  # type: ignore[arg-type]  # rows
    else:
        given = unlabelled_scores(scores, order, score, frequency)
    given = _of_positive(given, known)
    return _Reading(known, given, inference).result(metrics)


def _is_one_column(scores: object) -> bool:
    """Whether they are rows of one value each, which may be predicted labels."""
    return not isinstance(scores, (ScoreTable, Tally)) and np.ndim(scores) == 1  # type: ignore[arg-type]  # rows


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


class _Reading(NamedTuple):
    """The reference, the unlabelled scores, and how intervals are made."""

    known: LabelledReference
    given: UnlabelledScores
    inference: Inference

    def result(self, metrics: Iterable[SpecLike] | None) -> Unlabelled:
        """All that is found."""
        known, given, rng = self.known, self.given, self.inference.generator
        coarse, fine = self._cells(fine=False), self._cells(fine=True)
        counts = coarse.counted(*given)
        prevalence = UnlabelledPrevalence.of(coarse.cells, counts, known.labels, rng)
        there, here = (self._evaluated(metrics, at) for at in (prevalence, None))
        covariate = CovariateEstimate.of(known, fine.cells, fine.counted(*given), self.inference)
        return Unlabelled(
            shares=self._shares(prevalence, covariate),
            metrics=Rows(covariate.row(row, there, here) for row in there.metrics),
            **self._test(fine, rng)._asdict(),
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
        place = known.table.index(known.positive)
        at = _PREDICTED if known.threshold is None else known.threshold
        return decided_cells(effective_cells(folded(known.table, place))[0], at)

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
        ends = prevalence.class_ends(self.inference.level).tolist()
        columns = (
            (seen / seen.sum()).tolist(),
            values.tolist(),
            *np.transpose(ends).tolist(),
            prevalence.likely.tolist(),
            *covariate.share_ends.T.tolist(),
        )
        return Rows(map(ClassShare, self.known.labels, *columns))

    def _test(self, fine: RangedCells, rng: np.random.Generator) -> MixtureTest:
        """Whether label shift explains the scores; no test where there are no more ranges than classes."""
        rows, counts = fine.cells.rows, fine.counted(*self.given)
        used = (rows.sum(0) > 0) | (counts > 0)
        if used.sum() <= len(rows):
            return MixtureTest(math.nan, math.nan)
        return mixture_test(rows[:, used], counts[used], rng)

    def _outside(self) -> int:
        """How many unlabelled rows have scores beyond all of the reference."""
        scores, (given, times) = self.known.scores, self.given
        if scores is None or given.ndim > 1:
            return 0
        ends = [side.scores[[0, -1]] for side in scores.classes if len(side.scores)]
        out = (given < min(low for low, _ in ends)) | (given > max(high for _, high in ends))
        return int(out.sum() if times is None else times[out].sum())
