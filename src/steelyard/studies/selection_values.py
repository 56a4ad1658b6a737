"""What one split of a set gives: every metric of every model, on the selection part and on the held-out rows.

A threshold is the default, 0.5; or tuned to the metric on the selection part; or promised: the one that flags fewest
while a recall of at least 0.8 holds on new rows with 90 % confidence. What a tuned model is chosen by is counted on
rows that did not tune it: each half of the selection part at the threshold that the other half gives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.thresholds.best_threshold import best_threshold
from steelyard.ingest.array_tables import score_table
from steelyard.metrics.registry import get_metric
from steelyard.statistics.counts import Counts
from steelyard.studies.selection_metrics import METRICS, REGIMES, THRESHOLDED, scored, threshold_values
from steelyard.studies.selection_models import PLAIN_ARM, fit_candidates

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.statistics.score_table import ScoreTable
    from steelyard.studies.selection_models import Fitted
    from steelyard.studies.selection_sets import BinarySet

DEFAULT_THRESHOLD = 0.5
PROMISE, CONFIDENCE = "recall >= 0.8", 0.9
MOST_TRAINED, MOST_SELECTED, MOST_HELD_OUT = 2000, 1000, 8000
_SHARES = (0.5, 0.25)  # of a class: trained on, selected on; the rest is held out


@dataclass(frozen=True, eq=False)
class Split:
    """The rows of a set in three parts, each with its share of the positives, and halves of the second."""

    train: Array
    selection: Array
    held_out: Array
    half: Array  # 0 or 1 for each row of the selection part

    @classmethod
    def drawn(cls, y: Array, rng: np.random.Generator) -> Split:
        """Half of each class to train, a quarter to select, the rest held out; large parts are limited."""
        parts: list[list[Array]] = [[], [], []]
        halves = []
        caps = np.array([MOST_TRAINED, MOST_SELECTED, MOST_HELD_OUT])
        for label in (0, 1):
            rows = rng.permutation(np.flatnonzero(y == label))
            sizes = np.minimum(np.floor(np.array(_SHARES) * len(rows)), np.floor(caps[:2] * len(rows) / len(y)))
            ends = np.cumsum(sizes).astype(int)
            last = ends[1] + int(caps[2] * len(rows) / len(y))
            for part, rows_of_part in zip(parts, np.split(rows[:last], ends), strict=True):
                part.append(rows_of_part)
            halves.append(np.arange(ends[1] - ends[0]) % 2)
        train, selection, held_out = (np.concatenate(part) for part in parts)
        return cls(train, selection, held_out, np.concatenate(halves))


@dataclass(frozen=True, eq=False)
class ArmValues:
    """Every metric by which models are chosen, and every metric of the held-out rows: regime, metric, model."""

    selection: Array
    held_out: Array


def split_scores(data: BinarySet, split: Split, arm: str, seed: int) -> dict[str, Fitted]:
    """The scores of every model of an arm."""
    training = data.X[split.train], data.y[split.train]
    return fit_candidates(arm, training, (data.X[split.selection], data.X[split.held_out]), seed)


def arm_values(data: BinarySet, split: Split, arm: str, fitted: dict[str, Fitted]) -> ArmValues:
    """Every metric of every model at every threshold; a promise is made for the plain models only."""
    prevalence = float(data.y[split.train].mean())
    truths = data.y[split.selection], data.y[split.held_out]
    models = [ScoredParts(truths, model, split.half) for model in fitted.values()]
    values = np.full((2, len(REGIMES), len(METRICS), len(models)), np.nan)
    for i, model in enumerate(models):
        values[:, :, len(THRESHOLDED) :, i] = model.scored(prevalence)[:, None]
        values[:, 0, : len(THRESHOLDED), i] = model.at(DEFAULT_THRESHOLD)
        values[:, 1, : len(THRESHOLDED), i] = model.tuned()
        if arm == PLAIN_ARM:
            values[:, 2, : len(THRESHOLDED), i] = model.at(model.promised())
    return ArmValues(*values)


class ScoredParts:
    """The scores of one model as tables: of the selection part, of its halves, and of the held-out rows."""

    def __init__(self, truths: tuple[Array, Array], fitted: Fitted, half: Array) -> None:
        self.selection = score_table(truths[0], fitted.selection)
        self.held_out = score_table(truths[1], fitted.held_out)
        self.halves = [score_table(truths[0][half == i], fitted.selection[half == i]) for i in (0, 1)]

    def scored(self, prevalence: float) -> Array:
        """The metrics of the scores on both parts."""
        return np.array([scored(table, prevalence) for table in (self.selection, self.held_out)])

    def at(self, threshold: float) -> Array:
        """The metrics of one threshold on both parts."""
        tables = (table.at(np.array([threshold])) for table in (self.selection, self.held_out))
        return np.array([threshold_values(counts)[:, 0] for counts in tables])

    def tuned(self) -> Array:
        """Each metric at its own threshold: crosswise on the halves, and on the held-out rows by the whole part."""
        first, second, whole = (tuned_thresholds(table) for table in (*self.halves, self.selection))
        crosswise = _sum(self.halves[0].at(second), self.halves[1].at(first))
        return np.array([_own(crosswise), _own(self.held_out.at(whole))])

    def promised(self) -> float:
        """The highest threshold at which the promise is kept on new rows with the confidence."""
        kept = best_threshold(self.selection, metric="specificity", where=PROMISE, confidence=CONFIDENCE, resamples=0)
        return float(kept.threshold)


def tuned_thresholds(table: ScoreTable) -> Array:
    """The best threshold for each metric, as `best_threshold` finds it, all of them from one pass over the table."""
    merits = np.nan_to_num(threshold_values(table.counts), nan=-np.inf)
    scores = table.thresholds[1:]
    between = np.concatenate([[np.inf], (scores[:-1] + scores[1:]) / 2, [0.0]])
    return np.asarray(between[merits.argmax(-1)])


def _sum(one: Counts[Array], other: Counts[Array]) -> Counts[Array]:
    return Counts(one.tp + other.tp, one.fn + other.fn, one.fp + other.fp, one.tn + other.tn)


def _own(counts: Counts[Array]) -> Array:
    """Of tables, one for each metric, that metric."""
    return np.array([get_metric(name)(counts)[i] for i, name in enumerate(THRESHOLDED)])
