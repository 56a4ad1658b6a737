"""Unlabelled scores: those of rows whose class is not known, as arrays, columns of a frame, or a table of scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.exceptions import InputError, InputTypeError
from steelyard.ingest import arrays, bad_rows, queries
from steelyard.ingest.probability_columns import columns_by_class
from steelyard.ingest.rows import matched_columns, number_column
from steelyard.ingest.score_matrix import columns_by_name
from steelyard.ingest.source import ColumnNames, Source, check_columns, names_class_columns
from steelyard.statistics.score_table import ScoreTable
from steelyard.statistics.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame, Labels, Weights


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
        isinstance(given, Source) or hasattr(given, "columns") or hasattr(given, "collect_schema")
    ):
        return checked_rows(_of_frame(Source.of(given), labels, score, frequency))  # type: ignore[arg-type]  # a frame
    if isinstance(frequency, str):
        raise InputTypeError("frequency= names a column of a frame; beside an array of scores give the numbers.")
    return checked_rows(_of_arrays(given, labels, frequency))  # type: ignore[arg-type]  # an array


def _of_table(table: ScoreTable) -> UnlabelledScores:
    sides = [side.compact() for side in table.classes]
    times = np.concatenate([np.broadcast_to(side.rows, len(side.scores)) for side in sides])
    return checked_rows(UnlabelledScores(np.concatenate([side.scores for side in sides]), times))


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
    read = _numbers(source, names)
    columns, times = [arrays.finite_scores(read[name]) for name in names], frame_times(source, frequency)
    arrays.check_lengths(scores=columns[0], frequency=times)
    return UnlabelledScores(np.column_stack(columns) if several else columns[0], times)


def _numbers(source: Source, names: Sequence[str]) -> dict[str, Array]:
    for name in names:
        check_columns(source, ColumnNames(name, cost=(name,)))
    fetched = queries.fetch_columns(source, names)
    with bad_rows.naming_bad_numbers(source, *names):
        return {name: number_column(fetched[name], name) for name in names}


def frame_times(source: Source, frequency: Weights | str) -> Array | None:
    """How often each row of a frame counts, by the column that is named."""
    if not isinstance(frequency, str):
        return arrays.weights(frequency, "frequency", whole=True)
    return arrays.weights(_numbers(source, [frequency])[frequency], "frequency", whole=True)


def checked_rows(given: UnlabelledScores) -> UnlabelledScores:
    """The rows, refused where there are none."""
    if not given.rows:
        raise InputError("There are no unlabelled rows; give the scores of one row or more.")
    return given
