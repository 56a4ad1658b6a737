"""Unlabelled rows: the scores or predicted labels of rows whose class is not known, of arrays, frames or tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.exceptions import InputError, InputTypeError, first_ten
from steelyard.ingest import arrays, label_codes
from steelyard.ingest.probability_columns import columns_by_class
from steelyard.ingest.rows import fetch_rows, matched_columns
from steelyard.ingest.score_matrix import columns_by_name
from steelyard.ingest.source import Source, names_class_columns
from steelyard.statistics.score_table import ScoreTable
from steelyard.statistics.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame, Label, Labels, Weights
    from steelyard.ingest.rows import FetchedRows


class UnlabelledScores(NamedTuple):
    """The scores of the positive class, or a column for each class, and how often each row counts."""

    scores: Array
    times: Array | None = None

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.scores) if self.times is None else int(self.times.sum())


def unlabelled_scores(
    given: ArrayLike | ScoreTable | Tally | Frame | Source,
    labels: Labels,
    score: str | Sequence[str] | None = None,
    frequency: Weights | str = None,
) -> UnlabelledScores:
    """The scores as given; of a table those of both classes together, whatever their labels say."""
    table = given.scores if isinstance(given, Tally) else given
    if isinstance(given, Tally) and table is None:
        raise InputError("This tally holds no scores, which the prevalence is estimated by; count them with score=.")
    if isinstance(table, ScoreTable):
        return _of_table(table)
    if score is not None and (
        isinstance(given, Source) or hasattr(given, "collect_schema") or hasattr(given, "columns")
    ):
        return _checked(_of_frame(Source.of(given), labels, score, frequency))  # type: ignore[arg-type]  # a frame
    if isinstance(frequency, str):
        raise InputTypeError("frequency= names a column of a frame; beside an array of scores give the numbers.")
    return _checked(_of_arrays(given, labels, frequency))  # type: ignore[arg-type]  # an array


def _of_table(table: ScoreTable) -> UnlabelledScores:
    sides = [side.compact() for side in table.classes]
    times = np.concatenate([np.broadcast_to(side.rows, len(side.scores)) for side in sides])
    return _checked(UnlabelledScores(np.concatenate([side.scores for side in sides]), times))


def _of_arrays(given: ArrayLike, labels: Labels, frequency: Weights) -> UnlabelledScores:
    times = arrays.weights(frequency, "frequency", whole=True)
    matrix = np.asarray(given)
    if matrix.ndim == 2 and matrix.shape[1] > 1:
        if matrix.shape[1] != len(labels):
            raise InputError(
                f"scores has {matrix.shape[1]} columns and the reference {len(labels)} classes; give one for each."
            )
        ordered = columns_by_name(matrix, given, labels)
        columns = [arrays.finite_scores(ordered[:, place]) for place in range(matrix.shape[1])]
        scores = np.column_stack(columns) if len(matrix) else np.zeros((0, len(labels)))
    else:
        scores = arrays.finite_scores(given)
    arrays.check_lengths(scores=scores, frequency=times)
    return UnlabelledScores(scores, times)


def _of_frame(source: Source, labels: Labels, score: str | Sequence[str], frequency: Weights | str) -> UnlabelledScores:
    """The columns that are named, brought here."""
    several = names_class_columns(score)
    names = columns_by_class(matched_columns(source, score), labels, score) if several else [str(score)]
    rows = fetch_rows(source, true=None, score=names, frequency=frequency if isinstance(frequency, str) else None)
    columns, times = [rows.scores[name].astype(np.float64) for name in names], _times(rows, frequency)
    arrays.check_lengths(scores=columns[0], frequency=times)
    return UnlabelledScores(np.column_stack(columns) if several else columns[0], times)


def _times(rows: FetchedRows, frequency: Weights | str) -> Array | None:
    """How often each row of a frame counts, by the column that is named or by numbers."""
    return rows.frequency if isinstance(frequency, str) else arrays.weights(frequency, "frequency", whole=True)


def _checked(given: UnlabelledScores) -> UnlabelledScores:
    """The rows, refused where there are none."""
    if not given.rows:
        raise InputError("There are no unlabelled rows; give the scores of one row or more.")
    return given


# ---------------------------------------------------------------- predictions


def unlabelled_predictions(
    given: ArrayLike | Frame | Source, labels: Labels, pred: str | None = None, frequency: Weights | str = None
) -> UnlabelledScores:
    """A column for each class, 1 where it is predicted, so that predictions are read as scores are."""
    if pred is not None:
        times_of = frequency if isinstance(frequency, str) else None
        rows = fetch_rows(Source.of(given), true=None, pred=[pred], frequency=times_of)  # type: ignore[arg-type]  # a frame
        column, times = rows.predicted[pred], _times(rows, frequency)
    elif isinstance(frequency, str):
        raise InputTypeError("frequency= names a column of a frame; beside an array of predictions give the numbers.")
    else:
        column, times = arrays.column(given, "scores"), arrays.weights(frequency, "frequency", whole=True)  # type: ignore[arg-type]  # an array
    arrays.check_lengths(scores=column, frequency=times)
    if column.dtype.kind == "f" and (fractions := column[column != np.floor(column)]).size:
        raise InputError(
            f"The reference has predicted labels and no scores, and the unlabelled rows hold scores such as "
            f"{fractions[0]:g}; give threshold= at which they are predicted positive, or give predicted labels."
        )
    codes, present = label_codes.distinct(column, "scores")
    places = np.array([_place(label, labels) for label in present], dtype=np.int64)
    return _checked(UnlabelledScores(np.eye(len(labels))[places[codes]] if len(column) else np.zeros((0, 2)), times))


def _place(label: Label, labels: Labels) -> int:
    """The place of the class that a predicted label names."""
    place = next((i for i, known in enumerate(labels) if known == label or str(known) == str(label)), None)
    if place is None:
        raise InputError(
            f"The unlabelled rows hold {label!r}, which is no class of the reference, {first_ten(labels)}. It has "
            "predicted labels and no scores: give predictions, or threshold= beside scores of the positive class."
        )
    return place
