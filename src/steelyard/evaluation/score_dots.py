"""Score dots: at most a thousand dots for the rows of the headline, by their scores and outcomes.

The page's script places them again when a slider moves, by the same rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.prevalence.prevalence import at_prevalence
from steelyard.analysis.results.denominator import denominator
from steelyard.arrays.backend import as_read
from steelyard.evaluation.verdict.sentences import Outcomes, dot_outcomes, whole_outcomes

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.tables.class_scores import ClassScores
    from steelyard.tables.counts import Counts
    from steelyard.tables.score_table import ScoreTable

DOTS = 1_000
RARE = 0.05  # the share of positives below which probabilities are seen in log-odds
_LEFT_BELOW = 0.01  # of the negatives, whose lowest probabilities the axis of log-odds leaves to its first bin
_LEAST, _MARGIN = 1e-6, 0.5  # of a probability on that axis, and beside the threshold, in log-odds


@dataclass(frozen=True, eq=False)
class ScoreDots:
    """The scores of the dots of each class, ascending, the threshold, and what becomes of them there.

    The highest are flagged, as many as the outcomes of the dots state. A dot that rounding leaves on the other side of
    the threshold stands at it. `stated` are the outcomes of the headline, of which a dot may be several rows.
    """

    positives: Array
    negatives: Array
    threshold: float
    outcomes: Outcomes
    stated: Outcomes

    @property
    def positives_flagged(self) -> Array:
        """Which of the positives are found."""
        return np.arange(len(self.positives)) >= self.outcomes.missed

    @property
    def negatives_flagged(self) -> Array:
        """Which of the negatives are false alarms."""
        return np.arange(len(self.negatives)) >= len(self.negatives) - self.outcomes.false_alarms


def score_dots(
    table: ScoreTable, threshold: float, prevalence: PrevalenceLike | None = None, dots: int = DOTS
) -> ScoreDots:
    """The dots of a score table at a threshold: so many as the headline speaks of rows, `dots` at most.

    >>> from steelyard import score_table
    >>> dots = score_dots(score_table([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 0.4)
    >>> dots.positives, dots.positives_flagged
    (array([0.35, 0.8 ]), array([False,  True]))
    >>> dots.outcomes
    Outcomes(base=4, found=1, missed=1, false_alarms=1, scant=frozenset())
    """
    shifted = table if prevalence is None else at_prevalence(table, prevalence)
    counts = shifted.at(threshold)
    own = prevalence is None and not table.weighted
    base = denominator(float(counts.positives / counts.total), table.n if own else None)
    outcomes = dot_outcomes(counts, min(base, dots))
    read = float(as_read(threshold, table.precision))
    positives, negatives = outcomes.positives, outcomes.base - outcomes.positives
    return ScoreDots(
        _on_their_side(dot_scores(table.positive, positives), outcomes.found, read),
        _on_their_side(dot_scores(table.negative, negatives), outcomes.false_alarms, read),
        threshold,
        outcomes,
        whole_outcomes(counts, base),
    )


def label_dots(counts: Counts, rows: int | None, dots: int = DOTS) -> ScoreDots:
    """The dots of labels, which have outcomes and no scores; `rows` are those that were evaluated, if it is they."""
    base = denominator(float(counts.positives / counts.total), rows)
    outcomes = dot_outcomes(counts, min(base, dots))
    positives, negatives = (np.full(n, np.nan) for n in (outcomes.positives, outcomes.base - outcomes.positives))
    return ScoreDots(positives, negatives, np.nan, outcomes, whole_outcomes(counts, base))


def dot_scores(side: ClassScores, dots: int) -> Array:
    """Scores of so many dots of a class, ascending: the k-th of m lies at the quantile (k - 0.5) / m."""
    if not dots or not side.size:
        return np.zeros(0)
    shares = (np.arange(dots) + 0.5) / dots
    if side.entry_weights is None:
        indices = (shares * side.size).astype(np.int64)
    else:
        running = np.cumsum(side.weights)
        indices = np.searchsorted(running, shares * running[-1])
    return np.asarray(side.scores[indices], dtype=np.float64)


def _on_their_side(scores: Array, flagged: int, threshold: float) -> Array:
    """The scores, those flagged at or above the threshold and the others below it."""
    unflagged = len(scores) - flagged
    below = np.minimum(scores[:unflagged], np.nextafter(threshold, -np.inf))
    return np.concatenate([below, np.maximum(scores[unflagged:], threshold)])


def score_range(table: ScoreTable) -> tuple[float, float]:
    """The lowest and the highest score; of probabilities 0 or 1 unless they end in its half."""
    low = float(min(side.scores[0] for side in table.classes))
    high = float(max(side.scores[-1] for side in table.classes))
    if table.has_probabilities:
        low, high = 0.0 if low <= 0.5 else low, 1.0 if high >= 0.5 else high
    return low, high if high > low else low + 1


@dataclass(frozen=True)
class ScoreAxis:
    """The axis of scores in bins: even, or even in log-odds, where probabilities are of rare positives."""

    low: float
    high: float
    is_logit: bool = False

    @classmethod
    def of(cls, table: ScoreTable, share: float, threshold: float | None = None) -> ScoreAxis:
        """The axis of a table of which that share is positive, a threshold between its ends in log-odds.

        >>> from steelyard import score_table
        >>> ScoreAxis.of(score_table([0] * 99 + [1], [0.001] * 99 + [0.2]), 0.01)
        ScoreAxis(low=0.001, high=0.2, is_logit=True)
        """
        low, high = score_range(table)
        if not table.has_probabilities or share >= RARE:
            return cls(low, high)
        first = dot_scores(table.negative, round(1 / _LEFT_BELOW))[0]
        ends = [first, max(float(side.scores[-1]) for side in table.classes)]
        if threshold is not None and 0 < threshold < 1:
            odds = threshold / (1 - threshold) * np.exp([-_MARGIN, _MARGIN])
            ends += (odds / (1 + odds)).tolist()
        low, high = (float(np.clip(end, _LEAST, 1 - _LEAST)) for end in (min(ends), max(ends)))
        return cls(low, high, is_logit=True) if low < high else cls(*score_range(table))

    def edges(self, bins: int) -> Array:
        """The edges of so many bins."""
        if not self.is_logit:
            return np.linspace(self.low, self.high, bins + 1)
        odds = np.geomspace(self.low / (1 - self.low), self.high / (1 - self.high), bins + 1)
        return np.asarray(odds / (1 + odds))

    def widths(self, edges: Array) -> Array:
        """How wide the bins are, as they are seen."""
        return np.diff(np.log(edges) - np.log1p(-edges)) if self.is_logit else np.diff(edges)


def bin_shares(side: ClassScores, edges: Array) -> Array:
    """The share of a class in each bin, its upper edge left to the next; the first and the last hold what is beyond."""
    below = np.r_[0.0, side.below(edges[1:-1]), side.total].astype(np.float64)
    return np.asarray(np.diff(below) / side.total)


def stacked_dots(scores: Array, edges: Array) -> tuple[Array, Array]:
    """The column of each of some ascending scores between edges, and its place in it, counted from 0."""
    columns = np.clip(np.searchsorted(edges, scores, side="right") - 1, 0, len(edges) - 2)
    return columns, np.arange(len(scores)) - np.searchsorted(columns, columns, side="left")
