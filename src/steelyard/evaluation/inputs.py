"""Inputs: whatever is given to evaluate, as a table of labels and one of scores."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.exceptions import InputError, InputTypeError
from steelyard.ingest import array_tables as ingest
from steelyard.ingest import arrays
from steelyard.ingest.class_checks import check_both_classes, check_classes
from steelyard.ingest.label_tables import match_label
from steelyard.ingest.threshold_sentences import ASSUMED_HALF, HALF, threshold_sentences
from steelyard.metrics.binned_bounds import binned_bounds
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.counts import Counts
from steelyard.statistics.positive_class import CONVENTION, choice_sentences, conventional_label, unclear_sentence
from steelyard.statistics.precision import as_read
from steelyard.statistics.score_bins import bin_divided_at
from steelyard.statistics.score_table import ScoreTable
from steelyard.statistics.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label, Labels, LabelSet, Weights
    from steelyard.statistics.statistic import Statistic

RANKED_ONLY = "The scores are not probabilities: ranked only. Give threshold= to predict labels."
MOST_POSITIVE = (
    "Most rows are positive: Counts takes tp, fn, fp, tn, and scikit-learn's confusion_matrix(...).ravel() gives tn, "
    "fp, fn, tp; Counts.from_matrix reads the matrix itself."
)
TWO_THRESHOLDS = "Predictions and a threshold together contradict each other; give scores and the threshold."


class RowOptions(NamedTuple):
    """Options that concern rows that are not yet counted."""

    pos_label: Label = None
    labels: LabelSet | None = None
    sample_weight: Weights = None
    frequency: Weights = None


class CountedInputs(NamedTuple):
    """The table of labels, the table of scores, the threshold between them, and what was assumed."""

    table: Confusion | None
    scores: ScoreTable | None = None
    threshold: float | None = None
    assumed: tuple[str, ...] = ()
    labels: Labels = ()

    def positive_class(self, pos_label: Label, data: object) -> tuple[Label, tuple[str, ...]]:
        """The positive class, named, clear or conventional, or None; and in words who chose it, or how to name it."""
        if self.scores is not None and (self.table is None or pos_label is not None):
            positive = self.scores.label
        elif self.table is None or self.table.positive is not None or pos_label is not None:
            positive = None if self.table is None else self.table.positive
        else:
            positive = conventional_label(self.table.labels)
        if pos_label is None and _names_positive(data):
            return positive, ()
        labels = self.labels or (() if self.table is None else self.table.labels)
        if positive is None and self.table is not None and len(labels) == 2:
            return positive, (unclear_sentence(labels, self.table.true_rows),)
        return positive, choice_sentences(pos_label, positive, labels)


def counted_inputs(
    data: Statistic | Tally | ArrayLike,
    y_pred: ArrayLike | None,
    y_score: ArrayLike | None,
    threshold: float | None,
    rows: RowOptions,
) -> CountedInputs:
    """What was given to evaluate, as tables."""
    if isinstance(data, Tally):
        return _of_tally(data, threshold, rows.pos_label)
    if isinstance(data, (Counts, Confusion, ScoreTable)):
        if y_pred is not None or y_score is not None:
            raise InputTypeError("Give either a table or rows (y_true, y_pred or y_score=), not both.")
        if rows.labels is not None or rows.sample_weight is not None or rows.frequency is not None:
            raise InputError(
                "labels= and weights are about rows, and this is a table; give them when counting the rows."
            )
        if isinstance(data, ScoreTable):
            return thresholded(data, threshold, None)
        if threshold is not None:
            raise InputError("A confusion matrix holds predicted labels; a threshold= needs scores.")
        table = as_confusion(data, rows.pos_label)
        assumed = (MOST_POSITIVE,) if isinstance(data, Counts) and data.positives > 4 * data.negatives else ()
        return CountedInputs(table, assumed=assumed)
    if y_pred is not None and threshold is not None:
        raise InputError(TWO_THRESHOLDS)
    return _of_rows(data, y_pred, y_score, threshold, rows)


def _of_rows(
    y_true: ArrayLike, y_pred: ArrayLike | None, y_score: ArrayLike | None, threshold: float | None, rows: RowOptions
) -> CountedInputs:
    scores = None
    if y_score is not None:
        arrays.check_one_column(y_score)
        pos_label = CONVENTION if rows.pos_label is None else rows.pos_label
        scores = ingest.score_table(y_true, y_score, **rows._replace(pos_label=pos_label)._asdict())
        check_both_classes(scores)
    if y_pred is not None:
        table = ingest.confusion(y_true, y_pred, **rows._asdict())
        check_classes(table)
        return CountedInputs(table, scores)
    if scores is None and hasattr(y_true, "columns"):
        raise InputTypeError("A frame was given alone; name its columns with true=, and pred= or score=.")
    if scores is None:
        raise InputTypeError("There is nothing to evaluate: give y_pred (labels) or y_score= (scores) beside y_true.")
    labels = ingest.occurring_labels(y_true)
    return thresholded(scores, threshold, negative_label(labels, scores))._replace(labels=labels)


def _of_tally(data: Tally, threshold: float | None, pos_label: Label) -> CountedInputs:
    scores, table = data.scores, data.confusion
    assumed: tuple[str, ...] = ()
    if scores is not None:
        if len(scores.bins):
            bounds = {
                name: " and ".join(f"{bound:.6f}" for bound in pair) for name, pair in binned_bounds(scores).items()
            }
            ranges = ", ".join(f"{name} lies between {pair}" for name, pair in bounds.items())
            assumed = (f"Scores were counted in bins: {ranges}, whatever their order inside a bin.",)
        check_both_classes(scores)
    if table is None:
        if scores is None:
            raise InputError("This tally holds two models side by side; compare it instead.")
        inputs = thresholded(scores, threshold, negative_label(data.labels, scores))
        return inputs._replace(assumed=inputs.assumed + assumed, labels=data.labels)
    if threshold is not None:
        raise InputError(TWO_THRESHOLDS)
    table = table if pos_label is None else table.with_positive(match_label(pos_label, table.labels))
    check_classes(table)
    return CountedInputs(table, scores, None, assumed)


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
    return Confusion((0, 1), np.round(matrix).astype(np.int64), matrix, matrix, 1)


def negative_label(labels: Iterable[Label], scores: ScoreTable) -> Label:
    """The one label that is not the positive one; None where there are none or more."""
    others = [label for label in labels if label != scores.label]
    return others[0] if len(others) == 1 else None


def thresholded(scores: ScoreTable, threshold: float | None, negative: Label) -> CountedInputs:
    """Scores turned into labels: at the threshold, at 0.5 where they are probabilities, else not at all."""
    if threshold is None and not scores.has_probabilities:
        return CountedInputs(None, scores, None, (RANKED_ONLY,))
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
        return CountedInputs(Confusion.of_rows(labels, matrix, label), scores, at, assumed)
    rows, squares = (_cells_at(scores, as_read(at, scores.precision), key) for key in ("rows", "squares"))
    table = Confusion(labels, rows.astype(np.int64), matrix, squares, label)
    return CountedInputs(table, scores, at, assumed)


def _checked_threshold(scores: ScoreTable, threshold: object) -> float:
    if not isinstance(threshold, (int, float, np.number)) or math.isnan(threshold):
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


def _names_positive(data: object) -> bool:
    """Whether a table states its positive class, so that no convention is asked."""
    if isinstance(data, Tally):
        return data.confusion is None or _names_positive(data.confusion)
    return data.positive is not None if isinstance(data, Confusion) else isinstance(data, (Counts, ScoreTable))
