"""Thresholding: scores made labels at a threshold, four counts a confusion matrix, and the sentences on both."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.arrays.backend import as_read
from steelyard.arrays.labels import choice_sentences, conventional_label, unclear_sentence
from steelyard.exceptions import InputError
from steelyard.tables.confusion import Confusion
from steelyard.tables.score_table import bin_divided_at

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard._types import Array, Label, Labels
    from steelyard.tables.counts import Counts
    from steelyard.tables.score_table import ScoreTable


HALF = 0.5  # where probabilities are thresholded, unless another is given
ASSUMED_HALF = f"Scores were thresholded at {HALF}; operating_points compares it with others."
RANKED_ONLY = (
    "The scores order the rows and are not probabilities: take rows from the top, or give threshold= to predict labels."
)
MOST_POSITIVE = (
    "Most rows are positive: Counts takes tp, fn, fp, tn, and scikit-learn's confusion_matrix(...).ravel() gives tn, "
    "fp, fn, tp; Counts.from_matrix reads the matrix itself."
)
TWO_THRESHOLDS = "Predictions and a threshold together contradict each other; give scores and the threshold."


class CountedRows(NamedTuple):
    """The table of labels, the table of scores, the threshold between them, and what was assumed."""

    table: Confusion | None
    scores: ScoreTable | None = None
    threshold: float | None = None
    assumed: tuple[str, ...] = ()
    labels: Labels = ()

    def positive_class(self, pos_label: Label, *, is_stated: bool = False) -> tuple[Label, tuple[str, ...]]:
        """The positive class, named, clear or conventional, or None; and in words who chose it, or how to name it."""
        if self.scores is not None and (self.table is None or pos_label is not None):
            positive = self.scores.label
        elif self.table is None or self.table.positive is not None or pos_label is not None:
            positive = None if self.table is None else self.table.positive
        else:
            positive = conventional_label(self.table.labels)
        if pos_label is None and is_stated:
            return positive, ()
        labels = self.labels or (() if self.table is None else self.table.labels)
        if positive is None and self.table is not None and len(labels) == 2:
            return positive, (unclear_sentence(labels, self.table.true_rows),)
        return positive, choice_sentences(pos_label, positive, labels)


def as_confusion(data: Counts | Confusion, pos_label: Label) -> Confusion:
    """Four counts or a confusion matrix as the latter, with the class that is named as its positive one."""
    if isinstance(data, Confusion):
        return data if pos_label is None else data.with_positive(pos_label)
    if data.shape:
        raise InputError(
            f"One table is evaluated at a time, not {np.prod(data.shape):,} of them; take one by its index."
        )
    matrix = data.matrix()
    if matrix.dtype.kind == "i":
        return Confusion.of_rows((0, 1), matrix, 1)
    return Confusion((0, 1), np.round(np.minimum(matrix, 2.0**62)).astype(np.int64), matrix, matrix, 1)


def negative_label(labels: Iterable[Label], scores: ScoreTable) -> Label:
    """The one label that is not the positive one; None where there are none or more."""
    others = [label for label in labels if label != scores.label]
    return others[0] if len(others) == 1 else None


def thresholded(scores: ScoreTable, threshold: float | None, negative: Label) -> CountedRows:
    """Scores turned into labels: at the threshold, at 0.5 where they are probabilities, else not at all."""
    if threshold is None and not scores.has_probabilities:
        return CountedRows(None, scores, None, (RANKED_ONLY,))
    at = _checked_threshold(scores, HALF if threshold is None else threshold)
    assumed = (*([ASSUMED_HALF] if threshold is None else []), *threshold_sentences(scores, at))
    label = scores.label
    if negative is None:  # a name for the other class, whose labels the scores do not keep
        if isinstance(label, bool):
            negative = not label
        else:
            negative = 1 - label if isinstance(label, (int, float)) and label in (0, 1) else f"not {label}"
    labels, matrix = (negative, label), scores.at(at).matrix()
    if not scores.weighted:
        return CountedRows(Confusion.of_rows(labels, matrix, label), scores, at, assumed)
    rows, squares = (_cells_at(scores, as_read(at, scores.precision), key) for key in ("rows", "squares"))
    table = Confusion(labels, rows.astype(np.int64), matrix, squares, label)
    return CountedRows(table, scores, at, assumed)


def _checked_threshold(scores: ScoreTable, threshold: object) -> float:
    if not isinstance(threshold, (int, float, np.number)) or math.isnan(threshold):
        if hasattr(threshold, "threshold"):
            raise InputError(f"A threshold is a number, not a {type(threshold).__name__}; give its .threshold.")
        raise InputError(f"A threshold is a number, not {threshold!r}.")
    divided = bin_divided_at(scores.bins, as_read(float(threshold), scores.precision))
    if divided is not None:
        raise InputError(
            f"The scores were counted in bins, and {threshold:g} would divide the one from {divided[0]:.9g} to "
            f"{divided[1]:.9g}; take an end of it, or count the rows again with this threshold."
        )
    return float(threshold)


def _cells_at(scores: ScoreTable, threshold: float, column: str) -> Array:
    """The rows or squared weights of the four cells at a threshold, as scikit-learn lays them out."""
    cells = []
    for side in (scores.negative, scores.positive):
        values = getattr(side, column)
        above = float(values[side.scores >= threshold].sum())
        cells.append([float(values.sum()) - above, above])
    return np.array(cells)


def threshold_sentences(scores: ScoreTable, threshold: float) -> tuple[str, ...]:
    """What to know of a threshold of probabilities: that it lies beside them, or in how many rows argmax differs."""
    if not scores.has_probabilities or not math.isfinite(threshold):
        return ()
    if not 0 <= threshold <= 1:
        share = f"; as a percentage it would be {threshold / 100:g}" if 1 < threshold <= 100 else ""
        return (f"The threshold {threshold:g} lies outside 0 to 1, where all scores are{share}.",)
    at = _rows_at(scores, as_read(threshold, scores.precision)) if threshold == HALF and not len(scores.bins) else 0
    if not at:
        return ()
    rows = "1 row scores" if at == 1 else f"{at:,} rows score"
    return (
        f"{rows} exactly {HALF:g} and count as predicted positive; scikit-learn's argmax predicts the other class.",
    )


def _rows_at(scores: ScoreTable, score: float) -> int:
    """How many rows have a score."""
    ends = [[np.searchsorted(side.scores, score, end) for end in ("left", "right")] for side in scores.classes]
    return sum(int(side.rows[low:high].sum()) for side, (low, high) in zip(scores.classes, ends, strict=True))
