"""Unlabelled predictions: predicted labels of rows whose class is not known, as arrays or a column of a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.exceptions import InputError, InputTypeError, first_ten
from steelyard.ingest import arrays, label_codes, queries
from steelyard.ingest.source import ColumnNames, Source, check_columns
from steelyard.ingest.unlabelled_scores import UnlabelledScores, checked_rows, frame_times

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Frame, Label, Labels, Weights


def unlabelled_predictions(
    given: ArrayLike | Frame | Source, labels: Labels, pred: str | None = None, frequency: Weights | str = None
) -> UnlabelledScores:
    """A column for each class, 1 where it is predicted, so that predictions are read as scores are."""
    if pred is not None:
        source = Source.of(given)  # type: ignore[arg-type]  # a frame
        check_columns(source, ColumnNames(pred))
        column, times = queries.fetch_columns(source, [pred])[pred].to_numpy(), frame_times(source, frequency)
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
    return checked_rows(
        UnlabelledScores(np.eye(len(labels))[places[codes]] if len(column) else np.zeros((0, 2)), times)
    )


def _place(label: Label, labels: Labels) -> int:
    """The place of the class that a predicted label names."""
    place = next((i for i, known in enumerate(labels) if known == label or str(known) == str(label)), None)
    if place is None:
        raise InputError(
            f"The unlabelled rows hold {label!r}, which is no class of the reference, {first_ten(labels)}. It has "
            "predicted labels and no scores: give predictions, or threshold= beside scores of the positive class."
        )
    return place
