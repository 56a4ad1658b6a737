"""Worlds that unlabelled rows come from: normal scores, calibrated in the reference or far off, and a covariate shift.

A reference of 2,000 rows, 5 % of them positive, meets unlabelled rows of another prevalence. Scores are normal, two
standard deviations apart (ROC AUC .92), as probabilities that are right in the reference or far off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.stats import norm

from steelyard import Counts, score_table
from steelyard.analysis.prevalence.label_shift import UnlabelledPrevalence, range_count, two_class_cells

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard._types import Array

REFERENCE, HERE = 2_000, 0.05  # rows of the reference, and its share of positives
SHARES, ROWS = (0.005, 0.01, 0.15, 0.30), (50, 200, 1_000, 5_000)
ENOUGH = 5  # rows of a class that are expected where coverage is held to an upper bar as well
APART, DRAWS, SIMULATED = 2.0, 500, 199


class World(NamedTuple):
    """Where rows come from: scores of so many rows of each class, and what share of each is flagged in truth."""

    scores: Callable[[np.random.Generator, int, int], tuple[Array, Array]]
    rates: tuple[float, float]
    threshold: float

    def table(self, share: float) -> Counts:
        """The true table at a prevalence."""
        recall, false = self.rates
        return Counts(share * recall, share * (1 - recall), (1 - share) * false, (1 - share) * (1 - false))


def simulated(calibrated: bool, threshold: float = 0.5) -> World:
    """Normal scores as probabilities that are right in the reference; or those, stretched and moved."""
    stretch, move = (1.0, 0.0) if calibrated else (1.6, 2.0)
    prior = np.log(HERE / (1 - HERE)) - APART**2 / 2

    def scores(rng: np.random.Generator, positives: int, negatives: int) -> tuple[Array, Array]:
        drawn = rng.normal(APART, size=positives), rng.normal(size=negatives)
        both = [1 / (1 + np.exp(-(stretch * (prior + APART * part) + move))) for part in drawn]
        return both[0], both[1]

    logit = np.log(threshold / (1 - threshold))
    at = ((logit - move) / stretch - prior) / APART
    return World(scores, (float(norm.sf(at - APART)), float(norm.sf(at))), threshold)


class Sample(NamedTuple):
    """A reference, the unlabelled scores, and what they show."""

    truth: Array
    scores: Array
    new: Array
    prevalence: UnlabelledPrevalence


def sampled(world: World, share: float, rows: int, rng: np.random.Generator) -> Sample:
    """Both samples, drawn anew."""
    positives = max(int(rng.binomial(REFERENCE, HERE)), 2)
    known = world.scores(rng, positives, REFERENCE - positives)
    there = int(rng.binomial(rows, share))
    new = np.concatenate(world.scores(rng, there, rows - there))
    truth, scores = np.repeat([1, 0], [positives, REFERENCE - positives]), np.concatenate(known)
    table = score_table(truth, scores)
    ranged = two_class_cells(table, world.threshold, range_count(min(positives, REFERENCE - positives)))
    prevalence = UnlabelledPrevalence.of(ranged.cells, ranged.counted(new), (1, 0), rng, DRAWS)
    return Sample(truth, scores, new, prevalence)


def shifted_rows(world: World, rows: int, rng: np.random.Generator) -> Array:
    """Rows of the reference's population, those of a probability from 0.05 to 0.5 twice as common."""
    many = 6 * rows
    there = int(rng.binomial(many, HERE))
    scores = np.concatenate(world.scores(rng, there, many - there))
    weights = np.where((scores >= 0.05) & (scores < 0.5), 2.0, 1.0)
    return rng.choice(scores, rows, p=weights / weights.sum())
