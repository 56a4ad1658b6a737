"""Planned draws: the tables that all rows may have, where labels were chosen by a plan.

In each part the share of positives is drawn from its posterior, with a third of a row added to each class, and the
rows of the part around their number, as all rows are a sample of their population. With a half as with a third, draws
held also around the value seen cover 95 % and more at 5 %, 1 % and .2 % positives; a third is narrower.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.intervals.calibrated_reference import is_calibration_error
from steelyard.analysis.intervals.class_draws import TableDraws
from steelyard.analysis.intervals.draws import RANK_PRIOR, student_spread
from steelyard.analysis.intervals.isotonic_intervals import is_isotonic
from steelyard.analysis.intervals.large_tables import COUNT_DRAWS, DrawnValues
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Array
    from steelyard.analysis.intervals.estimand import Estimand
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.analysis.intervals.planned_rows import PlannedRows

_THIRD_ROW = 1 / 3
_SCORE_DRAWS, _AT_ONCE = 1_000, 2_000_000  # draws of scores, and weights of rows that are drawn at a time
_NO_CALIBRATION = "no interval: how far the choice of labels moves a calibration error is not known"


@dataclass
class PlannedIntervals:
    """The draws of one set of planned labels for all metrics of a call."""

    rows: PlannedRows
    inference: Inference
    _tables: dict[bool, TableDraws] = field(default_factory=dict)
    _scores: list[ScoreTable] = field(default_factory=list)

    @classmethod
    def of(cls, inference: Inference) -> PlannedIntervals | None:
        """Those of an inference; None where labels were chosen by no plan."""
        return None if inference.planned is None else cls(inference.planned, inference)

    def values(self, estimand: Estimand) -> DrawnValues | str | None:
        """The metric on draws of its table and at their centre, or why there are none; None of one for each class."""
        if not isinstance(estimand.table, ScoreTable):
            if estimand.options.average is None:
                return None
            return DrawnValues.of(estimand, self._labels_first(estimand))
        if is_calibration_error(estimand.metric) or is_isotonic(estimand.metric):
            return _NO_CALIBRATION
        self._scores = self._scores or [*self._score_draws()]
        values = np.concatenate([estimand.on_scores(table) for table in self._scores])
        centre = self.rows.score_table(self.rows.entries_at(_centre_shares(self.rows)))
        return DrawnValues(values, values, estimand.on_scores(centre)[0])

    def _labels_first(self, estimand: Estimand) -> TableDraws:
        """The draws of the confusion matrix, the label that the metric is about first."""
        if not self._tables:
            cells = table_draws(self.rows, self.inference.draws or COUNT_DRAWS, self.inference.generator)
            self._tables = {False: cells, True: TableDraws(*(_turned(each) for each in cells[:3]))}  # type: ignore[arg-type]  # there is a centre
        table, place = estimand.label_table, estimand.positive_place
        is_positive = isinstance(table, Confusion) and place is not None and table.labels[place] == self.rows.labels[1]
        return self._tables[is_positive or not isinstance(table, Confusion)]

    def _score_draws(self) -> Iterator[ScoreTable]:
        draws = self.inference.draws or _SCORE_DRAWS
        steps, rng = math.ceil(draws * len(self.rows.scores) / _AT_ONCE), self.inference.draws_of("scores")
        for step in np.array_split(np.arange(draws), steps):
            yield score_draws(self.rows, len(step), rng, self.inference.level)


def _turned(cells: Array) -> Array:
    """The same tables with the other label first."""
    return cells[:, ::-1, ::-1]


def _centre_shares(rows: PlannedRows) -> Array:
    return np.asarray((rows.parts.positives + _THIRD_ROW) / (rows.parts.labels + 2 * _THIRD_ROW))


def table_draws(rows: PlannedRows, draws: int, rng: np.random.Generator) -> TableDraws:
    """Draws of the confusion matrix of all rows, negatives first, and the table at their centre."""
    cells = _cells(rows, *_drawn_parts(rows, draws, rng))
    return TableDraws(cells, cells, _cells(rows, _centre_shares(rows)[None], rows.parts.rows[None]))


def _cells(rows: PlannedRows, shares: Array, masses: Array) -> Array:
    sides = np.stack([~rows.parts.flagged, rows.parts.flagged], -1).astype(np.float64)
    positives = shares * masses
    return np.asarray(np.stack([(masses - positives) @ sides, positives @ sides], -2))


def _drawn_parts(rows: PlannedRows, draws: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draws of the share of positives of each part, and of its rows."""
    parts = rows.parts
    found, others = parts.positives + _THIRD_ROW, parts.labels - parts.positives + _THIRD_ROW
    size = (draws, len(parts.labels))
    masses = rng.standard_gamma(np.where(parts.known, parts.rows, parts.labels + _THIRD_ROW), size)
    of_stratum = (parts.stratum[:, None] == np.arange(len(rows.sizes))).astype(np.float64)
    totals = rng.standard_gamma(rows.sizes.astype(np.float64), (draws, len(rows.sizes)))
    divided = masses / (masses @ of_stratum)[:, parts.stratum] * totals[:, parts.stratum]
    return rng.beta(found, others, size), np.where(parts.known, masses, divided)


def score_draws(rows: PlannedRows, draws: int, rng: np.random.Generator, level: float) -> ScoreTable:
    """Draws of the scores of all rows by class: in each part the rows of a class have random weights.

    To them a little is added at the score of a random row of that part, of either class: few rows, or none, do not show
    where others of their class are.
    """
    shares, masses = _drawn_parts(rows, draws, rng)
    scores, place = np.unique(rows.scores, return_inverse=True)
    sides = []
    for of, share in ((True, shares), (False, 1 - shares)):
        table = np.zeros((draws, len(scores)))
        for part, mass in enumerate((masses * share).T):
            there = rows.codes == part
            own = place[there & (rows.positive == of)]
            weights = _random_weights(own, place[there], draws, level, rng)
            _add_columns(table, own, weights[0] * mass[:, None])
            table[np.arange(draws), weights[1]] += weights[2] * mass
        per_weight = float((rows.positive == of).sum() / rows.sizes.sum())
        sides.append(ClassScores(scores, table * per_weight, table, table))
    return ScoreTable(sides[0], sides[1], rows.labels[1], precision=rows.precision)


def _random_weights(
    own: Array, all_rows: Array, draws: int, level: float, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Weights of rows that sum to 1 with that of another at random, the place of that one, and its weight."""
    spread = student_spread(len(own), level)
    drawn, more = rng.standard_gamma(spread, (draws, len(own))) / spread, rng.standard_gamma(RANK_PRIOR, draws)
    total = np.maximum(drawn.sum(1) + more, 1e-300)
    return drawn / total[:, None], rng.choice(all_rows, draws), more / total


def _add_columns(table: Array, places: Array, weights: Array) -> None:
    """Add weights at their places, several of which may be one."""
    if len(places):
        order = np.argsort(places, kind="stable")
        used, starts = np.unique(places[order], return_index=True)
        table[:, used] += np.add.reduceat(weights[:, order], starts, axis=1)
