"""Given probabilities: those of one class or of every class, without the truth, as an array; or why they are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.exceptions import InputError, InputTypeError, file_hint
from steelyard.statistics.probability_table import SUM_OFF

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array


def given_probabilities(p: ArrayLike, name: str = "y_score") -> Array:
    """The probabilities of the positive class, or a column for each class, from 0 to 1 with the sum 1 in each row."""
    try:
        given = np.asarray(p, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputTypeError(f"{name} holds probabilities, not {_kind(p)}{file_hint(p)}.") from None
    if given.ndim not in (1, 2) or not given.size or (given.ndim == 2 and given.shape[1] < 2):
        raise InputError(
            f"{name} is one column of probabilities, or one for each of two classes or more, "
            f"not of shape {given.shape}."
        )
    if not ((given >= 0) & (given <= 1)).all():
        row = int(np.argmin(((given >= 0) & (given <= 1)).reshape(len(given), -1).all(1)))
        raise InputError(f"{name} holds probabilities from 0 to 1, not {given[row].tolist()} as in row {row + 1}.")
    if given.ndim == 2 and (off := np.abs(given.sum(1) - 1)).max() > SUM_OFF:
        row = int(off.argmax())
        raise InputError(
            f"The probabilities of a row sum to 1, and those of row {row + 1} to {given[row].sum():.4g}; divide by the "
            "sum, or give the column of one class."
        )
    return given


def _kind(p: object) -> str:
    return f"the {type(p).__name__} {p!r}"[:60] if isinstance(p, (str, bytes)) else f"a {type(p).__name__}"


def both_columns(given: Array) -> Array:
    """A column for each class; beside that of the positive class the one of the negative class."""
    return np.column_stack([1 - given, given]) if given.ndim == 1 else given
