"""Added rows: a table of scores with parts of rows more, as few rows show too little of how far a value scatters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.effective_rows import weight_per_row
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from steelyard._types import Array

# Rows of each class that are added. At 95 %, with 5 to 30 positives among 200 to 1,000 rows (normal, t2, tied scores;
# no skill to near-perfect; 300 to 400 runs a setting) half a row anywhere covers .94 to 1.00 for areas under the ROC
# curve and .87 to .99 for average precision, of which the precision of the first rows is the weak part: the part of a
# row at an end brings it to .92 to .99, at 1.1 times the width.
_ANYWHERE, _AT_AN_END = 0.5, 0.15


def with_added_rows(table: ScoreTable) -> list[ScoreTable]:
    """The table with half a row more of each class anywhere; with part of one at the lowest score; at the highest."""
    scores = np.union1d(*(side.scores for side in table.classes))
    columns = [_columns(side, scores) for side in table.classes]
    rows = columns[0][0] + columns[1][0]
    anywhere, places = rows / rows.sum(), np.arange(len(scores))
    lowest, highest = (1.0 * (places == end) for end in (0, len(scores) - 1))
    shapes = ((_ANYWHERE, anywhere), (_AT_AN_END, lowest), (_AT_AN_END, highest))
    both = ([_more(scores, column, mass * shape) for column in columns] for mass, shape in shapes)
    return [ScoreTable(positive, negative, table.label) for positive, negative in both]


def _columns(side: ClassScores, scores: Array) -> tuple[Array, Array, Array]:
    """The rows, weights and squared weights of a class at scores among which its own are."""
    given = np.zeros((3, len(scores)))
    given[:, np.searchsorted(scores, side.scores)] = side.rows, side.weights, side.squares
    return given[0], given[1], given[2]


def _more(scores: Array, columns: tuple[Array, Array, Array], rows: Array) -> ClassScores:
    """A class with parts of rows added, of its usual weight."""
    _, weights, squares = columns
    usual = float(weight_per_row(weights.sum(), squares.sum()))
    return ClassScores(scores, np.ones(len(scores)), weights + rows * usual, squares + rows * usual**2)
