"""The no-skill baseline of a mean over runs: what a random predictor with the margins of each run scores on average.

The metric of a random predictor's expected table is not its expected metric: the square root in a G-mean makes it less,
and the fewer rows a run tests the more so. Here the true positives of a random predictor are drawn without replacement,
as they are when the labels are shuffled, all of them with their probabilities; of several classes, tables are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.chance.hypergeometric import TruePositives
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.protocol.runs import Run
    from steelyard.statistics.confusion import Confusion

_DRAWN, _FEWEST = 400, 50  # tables of several classes a run; where memory allows fewer than the second, none
MOST_CELLS = 20_000_000


@dataclass(frozen=True, eq=False)
class NoSkillTables:
    """The tables that a random predictor may give in each run, one run after the other, and their probabilities."""

    tables: Array
    masses: Array
    starts: Array

    def expected(self, values: Array) -> Array:
        """The mean over the random predictions of each run of the values on all tables, as far as they are finite."""
        finite = np.isfinite(values)
        sums, masses = (
            np.add.reduceat(np.where(finite, part, 0.0), self.starts) for part in (values * self.masses, self.masses)
        )
        with np.errstate(invalid="ignore"):
            mean = sums / masses
        # Of values that are all equal the mean may round to a neighbour of theirs, outside of an interval of no width.
        low = np.minimum.reduceat(np.where(finite, values, np.inf), self.starts)
        high = np.maximum.reduceat(np.where(finite, values, -np.inf), self.starts)
        return np.where(masses > 0, np.clip(mean, low, np.maximum(low, high)), np.nan)


def no_skill_tables(runs: Sequence[Run]) -> NoSkillTables | None:
    """The random predictors of all runs that ended; None where a run tests one class."""
    tables = [run.confusion for run in runs if run.confusion is not None]
    if not tables or any((table.rows.sum(1) > 0).sum() < 2 for table in tables):
        return None
    k = len(tables[0].labels)
    number = min(_DRAWN, MOST_CELLS // (k * k * len(tables)))
    if k > 2 and number < _FEWEST:
        return None
    rng = np.random.default_rng(0)
    pairs = [_enumerated(table) if k == 2 else _drawn(table, number, rng) for table in tables]
    starts = np.cumsum([0, *(len(masses) for _, masses in pairs)])[:-1]
    return NoSkillTables(np.concatenate([t for t, _ in pairs]), np.concatenate([m for _, m in pairs]), starts)


def _enumerated(table: Confusion) -> tuple[Array, Array]:
    """Every table of two classes with these margins that can matter, with its probability."""
    null = TruePositives.of(Counts.from_matrix(table.rows))
    tp = null.likely()
    masses = np.exp(null.log_mass(tp)) if len(tp) > 1 else np.ones(1)
    counts = null.tables(tp)
    cells = np.stack([np.stack([counts.tn, counts.fp], -1), np.stack([counts.fn, counts.tp], -1)], -2)
    return cells * _weight_of_a_row(table), masses


def _drawn(table: Confusion, number: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """So many tables with the margins of this one, at random."""
    from scipy.stats import random_table

    tables = random_table(table.rows.sum(1), table.rows.sum(0)).rvs(number, random_state=rng)
    return tables * _weight_of_a_row(table), np.full(number, 1 / number)


def _weight_of_a_row(table: Confusion) -> Array:
    """The mean weight of the rows of each true class: what a random predictor draws, blind to the weights."""
    rows, weights = (part.sum(1, keepdims=True).astype(np.float64) for part in (table.rows, table.weights))
    return np.asarray(np.divide(weights, rows, out=np.ones_like(weights), where=rows > 0))
