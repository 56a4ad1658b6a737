"""Unlabelled: from labelled reference rows and unlabelled scores, the prevalence and every metric among the latter."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.intervals.draws import effective_cells, folded
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
from steelyard.evaluation.inputs import RowOptions
from steelyard.evaluation.table_evaluation import evaluate_tables
from steelyard.evaluation.unlabelled.covariate_estimate import CovariateEstimate
from steelyard.evaluation.unlabelled.reference import read_reference
from steelyard.evaluation.unlabelled.unlabelled_curve import curve_there
from steelyard.evaluation.unlabelled.unlabelled_result import Unlabelled
from steelyard.evaluation.unlabelled.unlabelled_rows import ClassShare
from steelyard.exceptions import InputError
from steelyard.ingest.frame_columns import FrameColumns
from steelyard.ingest.refused_keywords import refuses_other_keywords
from steelyard.ingest.unlabelled_predictions import unlabelled_predictions
from steelyard.ingest.unlabelled_scores import unlabelled_scores
from steelyard.statistics.score_table import ScoreTable
from steelyard.statistics.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Frame, Label, LabelSet, Rng, Weights
    from steelyard.analysis.prevalence.label_shift import RangedCells
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.evaluation.unlabelled.reference import LabelledReference
    from steelyard.ingest.source import Source
    from steelyard.ingest.unlabelled_scores import UnlabelledScores
    from steelyard.metrics.spec import SpecLike
    from steelyard.statistics.confusion import Confusion
    from steelyard.statistics.counts import Counts

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
