"""Scores of several classes, a column for each: a ScoreTable for each class, or for each pair of classes."""

from __future__ import annotations

import re
from itertools import permutations
from os.path import commonprefix
from typing import TYPE_CHECKING

import numpy as np

from steelyard.errors import InputError, first_ten
from steelyard.ingest import arrays, label_codes
from steelyard.ingest.array_tables import declared_labels, score_table
from steelyard.ingest.row_order import check_order

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label, Labels, LabelSet, Weights
    from steelyard.statistics.score_table import ScoreTable

_SUM_OFF = 1e-3  # of the probabilities of a row: what single precision and rounding to three digits may leave


def tables_per_class(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    labels: LabelSet | None = None,
    sample_weight: Weights = None,
    frequency: Weights = None,
) -> tuple[list[Label], list[ScoreTable], list[float]]:
    """One ScoreTable a column of scores, its class against the rest: the labels, the tables, the classes' weights."""
    check_order(y_true=y_true, y_score=y_score, sample_weight=sample_weight, frequency=frequency)
    codes, classes, matrix = _encoded_matrix(y_true, y_score, labels)
    tables = [
        score_table(codes == i, matrix[:, i], sample_weight=sample_weight, frequency=frequency)
        for i in range(len(classes))
    ]
    return list(classes), tables, [float(table.positive.total) for table in tables]


def tables_per_pair(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    labels: LabelSet | None = None,
    sample_weight: Weights = None,
    frequency: Weights = None,
) -> tuple[list[tuple[Label, Label]], list[ScoreTable], list[float]]:
    """One ScoreTable an ordered pair of classes, by the column of the first (Hand and Till)."""
    check_order(y_true=y_true, y_score=y_score, sample_weight=sample_weight, frequency=frequency)
    codes, classes, matrix = _encoded_matrix(y_true, y_score, labels)
    weights = {
        key: None if column is None else arrays.column(column, key)
        for key, column in (("sample_weight", sample_weight), ("frequency", frequency))
    }
    pairs, tables = list(permutations(range(len(classes)), 2)), []
    for first, second in pairs:
        rows = (codes == first) | (codes == second)
        of_pair = {key: None if column is None else column[rows] for key, column in weights.items()}
        tables.append(score_table(codes[rows] == first, matrix[rows, first], **of_pair))
    names = [(classes[first], classes[second]) for first, second in pairs]
    return names, tables, [float(table.total) for table in tables]


def class_probabilities(
    y_true: ArrayLike,
    y_score: ArrayLike,
    who: str,
    *,
    labels: LabelSet | None = None,
    sample_weight: Weights = None,
    frequency: Weights = None,
) -> tuple[Array, Array, Array]:
    """The class of each row, the probabilities of the classes, which are checked to be such, and the row's weight."""
    check_order(y_true=y_true, y_score=y_score, sample_weight=sample_weight, frequency=frequency)
    codes, _, given = _encoded_matrix(y_true, y_score, labels)
    probabilities = arrays.numbers(given.ravel(), "y_score").reshape(given.shape)
    sums = probabilities.sum(1)
    if ((probabilities < 0) | (probabilities > 1)).any() or (np.abs(sums - 1) > _SUM_OFF).any():
        row = int(np.argmax(((probabilities < 0) | (probabilities > 1)).any(1) | (np.abs(sums - 1) > _SUM_OFF)))
        raise InputError(
            f"{who} needs probabilities: numbers from 0 to 1 that sum to 1 in each row; row {row + 1} sums to "
            f"{sums[row]:.6g} and lies between {probabilities[row].min():.6g} and {probabilities[row].max():.6g}."
        )
    weight, times = arrays.weights(sample_weight, "sample_weight"), arrays.weights(frequency, "frequency", whole=True)
    arrays.check_lengths(y_true=codes, sample_weight=weight, frequency=times)
    ones = np.ones(len(codes))
    return codes, probabilities, ones * (1 if weight is None else weight) * (1 if times is None else times)


def _encoded_matrix(y_true: ArrayLike, y_score: ArrayLike, labels: LabelSet | None) -> tuple[Array, Labels, Array]:
    if isinstance(y_score, np.ma.MaskedArray) and np.ma.is_masked(y_score):
        raise InputError("y_score holds masked values; a score is a finite number. Fill or drop such rows first.")
    true, matrix = arrays.column(y_true, "y_true"), np.asarray(y_score)
    arrays.check_lengths(y_true=true, y_score=matrix)
    codes, classes = label_codes.encode(true, declared_labels(labels))
    if matrix.ndim != 2 or matrix.shape[1] != len(classes):
        raise InputError(
            f"y_score has shape {matrix.shape}; with {len(classes)} classes it needs a column for each, in the order "
            f"{', '.join(map(repr, classes[:5]))}{' ...' if len(classes) > 5 else ''}. labels= declares another."
        )
    return codes, classes, matrix[:, _places_by_name(y_score, classes)]


def _places_by_name(y_score: ArrayLike, classes: Labels) -> list[int]:
    """The place of each class among the columns: by the names of a frame's columns where they are classes.

    What all names begin with, such as `p_` or `proba_`, is no part of a class.
    """
    names = [str(name) for name in getattr(y_score, "columns", ())]
    texts = [str(label) for label in classes]
    if {*names}.isdisjoint(texts):
        shared = re.match(r".*[^0-9A-Za-z]|", commonprefix(names), re.DOTALL)  # noqa: RUF071 - letters are meant
        names = [name.removeprefix(shared[0]) for name in names] if shared else names
    if {*names}.isdisjoint(texts):
        return list(range(len(classes)))
    if sorted(names) != sorted(texts):
        raise InputError(
            f"The columns of y_score are called {first_ten(names)} and the classes {first_ten(classes)}; name a column "
            "for each class, or give y_score.to_numpy() in the order of the classes."
        )
    return [names.index(text) for text in texts]
