"""Period rows: each period's prevalence, share of flagged rows and scores, of labelled and of unlabelled rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.intervals.intervals import table_intervals
from steelyard.analysis.intervals.rate_intervals import RATE_INTERVALS
from steelyard.evaluation.drift.drift_rows import DriftChange, DriftPeriod
from steelyard.evaluation.inputs import thresholded
from steelyard.evaluation.unlabelled.unlabelled import unlabelled
from steelyard.exceptions import InputError
from steelyard.ingest.unlabelled_scores import unlabelled_scores
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.ranking import roc_auc
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Label
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.evaluation.unlabelled.unlabelled_result import Unlabelled
    from steelyard.evaluation.unlabelled.unlabelled_rows import UnlabelledMetric
    from steelyard.statistics.confusion import Confusion
    from steelyard.statistics.tally import Tally

_NO_SHARE = (math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class Period:
    """A period's tables: labels at the threshold of all, and scores."""

    name: Label
    table: Confusion | None
    scores: ScoreTable | None
    positive: Label
    threshold: float | None
    missing: str | None = None  # a class that has no rows

    @classmethod
    def of(cls, name: Label, tally: Tally, threshold: float | None, positive: Label) -> Period:
        """The tables that were counted of a period."""
        table, scores = tally.confusion, tally.scores
        if table is None and scores is not None and threshold is not None:
            other = next((label for label in tally.labels if label != scores.label), None)
            table = thresholded(scores, threshold, other).table
        return cls(name, table, scores, positive, threshold, _missing(table, scores))

    @property
    def rows(self) -> int:
        """How many rows there are."""
        if self.table is not None:
            return int(self.table.rows.sum())
        return 0 if self.scores is None else self.scores.n


def _missing(table: Confusion | None, scores: ScoreTable | None) -> str | None:
    if table is not None:
        empty = [label for label, rows in zip(table.labels, table.true_rows, strict=True) if not rows]
        return f"no rows of class {empty[0]!r}" if empty else None
    if scores is not None and not (scores.positive.n and scores.negative.n):
        return "rows of one class only"
    return None


def period_row(period: Period, first: Period, inference: Inference) -> DriftPeriod:
    """A period of labelled rows."""
    shares = _shares(period, inference.level)
    shift: tuple[float, ...] = (
        _score_shift(_every_score(period.scores), first, inference) if period is not first else _NO_SHARE
    )
    return DriftPeriod(period.name, period.rows, True, *shares[:3], *shares[3:], *shift)


def _shares(period: Period, level: float) -> tuple[float, ...]:
    """The prevalence and the share of flagged rows of the positive class, with Jeffreys' intervals."""
    if period.positive is None:
        return (*_NO_SHARE, *_NO_SHARE)
    if period.table is None:
        assert period.scores is not None  # noqa: S101 - one of them is there
        sizes = period.scores.positive.effective_size, period.scores.negative.effective_size
        return (*_share(sizes[0], sum(sizes), level), *_NO_SHARE)
    place, matrix = period.table.index(period.positive), np.asarray(period.table.matrix, dtype=np.float64)
    per_row = float(period.table.squares.sum() / max(matrix.sum(), 1e-300)) if period.table.weighted else 1.0
    total = matrix.sum() / per_row
    seen = (matrix[place].sum() / per_row, matrix[:, place].sum() / per_row)
    return (*_share(seen[0], total, level), *_share(seen[1], total, level))


def _share(hits: float, trials: float, level: float) -> tuple[float, float, float]:
    low, high = (float(end) for end in RATE_INTERVALS["jeffreys"](np.asarray(hits), np.asarray(trials), level))
    return float(hits / trials), low, high


def _every_score(scores: ScoreTable | None) -> ClassScores | None:
    """The scores of both classes together."""
    return None if scores is None else scores.positive + scores.negative


def _score_shift(scores: ClassScores | None, first: Period, inference: Inference) -> tuple[float, float, float]:
    """How often a score is above one of the reference period, as the area under a ROC curve of the two."""
    reference = _every_score(first.scores)
    if scores is None or reference is None or not (scores.n and reference.n):
        return _NO_SHARE
    table = ScoreTable(scores, reference, "period")
    (found,) = table_intervals([MetricSpec(roc_auc)], table, CallOptions(), inference)
    return float(found.value), float(found.low), float(found.high)


def unlabelled_period(
    name: Label,
    scores: ArrayLike | ScoreTable | Tally,
    first: Period,
    specs: Sequence[MetricSpec],
    inference: Inference,
) -> tuple[DriftPeriod, Unlabelled]:
    """A period of unlabelled rows, and what its scores show."""
    if first.scores is None:
        raise InputError("Periods without labels are read by their scores; give y_score= or score= of the others too.")
    options = {"level": inference.level, "draws": inference.draws, "rng": inference.rng}
    found = unlabelled(first.scores, scores, threshold=first.threshold, metrics=specs, **options)  # type: ignore[arg-type]  # of Inference
    given = unlabelled_scores(scores, found.labels)
    share, every = found.shares[0], ClassScores.of_rows(given.scores, None, given.times)
    flagged = _NO_SHARE
    if first.threshold is not None:
        flagged = _share(float((given.scores >= first.threshold).sum()), float(given.rows), inference.level)
    shift = _score_shift(every, first, inference)
    row = DriftPeriod(name, given.rows, False, share.value, share.low, share.high, *flagged, *shift, found.p_value)
    return row, found


def change_by_prevalence(
    name: Label, row: UnlabelledMetric, before: Sequence[float], moved: Sequence[float]
) -> DriftChange:
    """The change that the prevalence makes where the classifier does to each class what it did in the reference."""
    why = row.undefined or "the part by the classifier is not known without labels"
    return DriftChange.of(name, row.spec, (before, (row.value, row.low, row.high)), [_NO_SHARE, moved, _NO_SHARE], why)
