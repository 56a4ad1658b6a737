"""Scores of several classes, a column for each, as a ProbabilityTable."""

from __future__ import annotations

import re
from os.path import commonprefix
from typing import TYPE_CHECKING

import numpy as np

from steelyard.exceptions import InputError, first_ten
from steelyard.ingest import arrays, label_codes
from steelyard.ingest.array_tables import Weighed, declared_labels
from steelyard.ingest.category_order import category_order
from steelyard.ingest.row_order import check_order
from steelyard.statistics.backend import NUMPY, Backend
from steelyard.statistics.cell_values import is_masked_array
from steelyard.statistics.probability_table import ProbabilityTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Labels, LabelSet, Weights

HIGHEST_TAKEN = "The class with the highest score of a row was taken as its predicted label."


def probability_table(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    labels: LabelSet | None = None,
    sample_weight: Weights = None,
    frequency: Weights = None,
) -> ProbabilityTable:
    """The rows with a column of scores for each class: by the names of a frame's columns, else in the labels' order."""
    check_order(y_true=y_true, y_score=y_score, sample_weight=sample_weight, frequency=frequency)
    return _table(NUMPY, y_true, y_score, labels, sample_weight, frequency)


def counted_where_they_are(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    labels: LabelSet | None = None,
    sample_weight: Weights = None,
    frequency: Weights = None,
) -> ProbabilityTable:
    """The same, of which columns on a device stay there."""
    check_order(y_true=y_true, y_score=y_score, sample_weight=sample_weight, frequency=frequency)
    return _table(arrays.backend_for(y_score, y_true), y_true, y_score, labels, sample_weight, frequency)


def _table(
    there: Backend,
    y_true: ArrayLike,
    y_score: ArrayLike,
    labels: LabelSet | None,
    sample_weight: Weights,
    frequency: Weights,
) -> ProbabilityTable:
    if is_masked_array(y_score) and np.ma.is_masked(y_score):
        raise InputError("y_score holds masked values; a score is a finite number. Fill or drop such rows first.")
    true, matrix = arrays.column(y_true, "y_true", there), arrays.matrix(y_score, "y_score", there)
    arrays.check_lengths(y_true=true, y_score=matrix)
    codes, classes = label_codes.encode(true, declared_labels(labels))
    if matrix.ndim != 2 or matrix.shape[1] != len(classes):
        _refuse_absent_class(y_score, classes)
        raise InputError(_other_columns(matrix.shape, classes))
    scores = arrays.finite_columns(columns_by_name(matrix, y_score, classes))
    weighed = Weighed.of(there, sample_weight, frequency, y_true=true)
    table = ProbabilityTable(classes, codes, scores, *weighed)
    order = None if labels is not None else category_order(y_true, true)
    return table if order is None else table.in_order(order)


def needed_probabilities(table: ProbabilityTable, who: str) -> Array:
    """The probabilities of the classes; anything else is refused, with the row that shows it."""
    if (why := improper_row(table)) is not None:
        raise InputError(f"{who} needs probabilities: numbers from 0 to 1 that sum to 1 in each row; {why}.")
    return table.probabilities


def improper_row(table: ProbabilityTable) -> str | None:
    """What the first row that holds no probabilities sums to, and lies between; None where there is none."""
    if (row := table.first_improper) is None:
        return None
    given = np.asarray(table.probabilities[row], np.float64)
    return f"row {row + 1} sums to {given.sum():.6g} and lies between {given.min():.6g} and {given.max():.6g}"


def _other_columns(shape: tuple[int, ...], classes: Labels) -> str:
    return (
        f"y_score has shape {shape}; with {len(classes)} classes it needs a column for each, in the order "
        f"{', '.join(map(repr, classes[:5]))}{' ...' if len(classes) > 5 else ''}. labels= declares another."
    )


def _refuse_absent_class(y_score: ArrayLike, classes: Labels) -> None:
    """Refuse named columns of which one is of a class without rows."""
    texts, names = {str(label) for label in classes}, [str(name) for name in getattr(y_score, "columns", ())]
    names = without_prefix(names) if texts.isdisjoint(names) else names
    if texts < {*names} and (absent := [name for name in names if name not in texts]):
        raise InputError(
            f"y_score has a column for {first_ten(absent)}, and y_true no such row; labels= declares classes without "
            "rows."
        )


def columns_by_name(matrix: Array, y_score: ArrayLike, classes: Labels) -> Array:
    """The columns of a matrix in the order of the classes, as they lie where that is theirs: a copy costs as a sort."""
    places = _places_by_name(y_score, classes)
    return matrix if places == list(range(matrix.shape[1])) else matrix[:, places]


def _places_by_name(y_score: ArrayLike, classes: Labels) -> list[int]:
    """The place of each class among the columns: by the names of a frame's columns where they are classes.

    What all names begin with, such as `p_` or `proba_`, is no part of a class.
    """
    names = [str(name) for name in getattr(y_score, "columns", ())]
    texts = [str(label) for label in classes]
    if {*names}.isdisjoint(texts):
        names = without_prefix(names)
    if names == [str(place) for place in range(len(names))] and {*names}.isdisjoint(texts):  # counted, not named
        return list(range(len(classes)))
    if sorted(names) != sorted(texts):
        raise InputError(
            f"The columns of y_score are called {first_ten(names)} and the classes {first_ten(classes)}; name a column "
            "for each class, or give y_score.to_numpy() in the order of the classes."
        )
    return [names.index(text) for text in texts]


def without_prefix(names: Sequence[str]) -> list[str]:
    """The names of columns without what all begin with, such as `p_` or `proba_`."""
    shared = re.match(r".*[^0-9A-Za-z]|", commonprefix(names), re.DOTALL)  # noqa: RUF071 - letters are meant
    return [name.removeprefix(shared[0]) for name in names] if shared else list(names)
