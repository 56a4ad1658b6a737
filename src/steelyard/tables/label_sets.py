"""Label sets: matrices of 0 and 1 and lists of labels as indicators of the same labels, and counted."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.arrays import checks, label_codes
from steelyard.arrays.backend import NUMPY, backend_of, library_name
from steelyard.arrays.checks import check_order
from steelyard.arrays.labels import sort_labels
from steelyard.exceptions import ArgumentKindError, InputError, InputTypeError, first_ten
from steelyard.tables.array_tables import Weighed, columns_by_name, declared_labels
from steelyard.tables.multilabel_table import MultilabelTable, is_sparse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard._types import Array, Labels, LabelSet, Weights
    from steelyard.arrays.backend import Backend, Column
    from steelyard.tables.multilabel_table import Indicators


_SETS = (set, frozenset, list, tuple, np.ndarray)


class GivenSets(NamedTuple):
    """The labels of each row as they were given: a matrix, or the places of the labels that occur, row by row."""

    name: str
    labels: Labels | None  # those that the columns of a matrix are called, or that occur
    matrix: Indicators
    in_order: bool = False  # whether the columns of a frame say which label is first


def are_label_sets(values: object) -> bool:
    """Whether rows have several labels each: a matrix of two columns or more, a sparse one, or lists of labels."""
    if hasattr(values, "tocsr"):
        return True
    shape = getattr(values, "shape", None)
    if shape is not None and len(shape) == 2:
        return bool(shape[1] > 1)
    if (type(values) is np.ndarray and values.dtype.kind != "O") or library_name(values) is not None:
        return False
    return _first_row_is_set(values)


def are_matrices(values: object) -> bool:
    """Whether label sets are given as a matrix, dense or sparse, and not as lists."""
    return (
        hasattr(values, "tocsr")
        or len(getattr(values, "shape", ())) == 2
        or _dense_matrix(values, "y_true") is not None
    )


def _first_row_is_set(values: Any) -> bool:
    if isinstance(values, (str, bytes, dict)) or not hasattr(values, "__len__") or not hasattr(values, "__iter__"):
        return False
    first = next(iter(values), None)
    return _is_row_of_labels(first) or _is_list_column(values)


def _is_row_of_labels(row: object) -> bool:
    """A set, or a list of labels; a list with lists in it, of one length or of several, is none."""
    if isinstance(row, (list, tuple)):
        return not any(isinstance(item, (list, tuple)) or getattr(item, "ndim", 0) for item in row)
    return isinstance(row, _SETS) and np.ndim(row) < 2  # type: ignore[arg-type]


def _is_list_column(values: Any) -> bool:
    """Whether a column of Polars or PyArrow holds lists."""
    kind = getattr(values, "dtype", None) or getattr(values, "type", None)
    return type(values).__module__.partition(".")[0] in ("polars", "pyarrow") and str(kind).lower().startswith("list")


def paired_sets(
    given: Sequence[tuple[object, str]], labels: LabelSet | None, of_scores: Labels | None = None
) -> tuple[list[Indicators], Labels]:
    """The indicators of the truth, and of what stands beside it, over the same labels, dense or sparse alike.

    `of_scores` are the names of the columns of scores, which say what the labels are where nothing else does.
    """
    declared = declared_labels(labels)
    read = [_read(values, name) for values, name in given]
    names = _common_labels(read, declared, of_scores)
    matrices = [_over(one, names) for one in read]
    if any(map(is_sparse, matrices)):
        matrices = [matrix if is_sparse(matrix) else _as_sparse(matrix) for matrix in matrices]
    return matrices, names


def _read(values: Any, name: str) -> GivenSets:
    if hasattr(values, "tocsr"):
        return GivenSets(name, None, _sparse_matrix(values, name))
    if (there := backend_of(values)).is_device:
        return GivenSets(name, None, _matrix_there(there, values, name))
    if (matrix := _dense_matrix(values, name)) is not None:
        columns = frame_labels(values)
        return GivenSets(name, columns, matrix, in_order=columns is not None)
    return _listed(values, name)


def frame_labels(values: Any) -> Labels | None:
    """The names of a frame's columns; None where they are only counted, as pandas does unasked."""
    columns = getattr(values, "columns", None)
    names = None if columns is None else tuple(columns)
    return None if names == tuple(range(len(names or ()))) else names


def _dense_matrix(values: Any, name: str) -> Array | None:
    """A matrix of 0 and 1 as it is, or narrowed to bytes; None for lists of labels."""
    try:
        array = checks.matrix(checks.narrowed(values), name)
    except ValueError:  # lists of different lengths
        return None
    if (
        array.ndim == 2
        and array.dtype.kind not in "biuf"
        and (isinstance(values, np.ndarray) or hasattr(values, "columns"))
    ):
        array = _as_numbers(array, name)
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        return None
    if array.dtype.kind == "f":
        if not np.isin(array, (0, 1)).all():
            raise InputError(_no_indicator(array, name))
        return array.astype(np.uint8)
    if not NUMPY.is_zero_one(array.reshape(-1)):
        if isinstance(values, np.ndarray) or hasattr(values, "columns") or library_name(values) is not None:
            raise InputError(_no_indicator(array, name))
        return None  # lists of as many whole numbers each: labels
    return array.view(np.uint8) if array.dtype.kind == "b" else array


def _matrix_there(there: Backend, values: Column, name: str) -> Column:
    """A matrix of 0 and 1 on a device as booleans."""
    xp, native = there.xp, there.native(values)
    if not there.is_zero_one(native) and not bool(xp.all((native == 0) | (native == 1))):
        raise InputError(_no_indicator(there.to_host(native), name))
    return there.column(there.booleans(native))


def _as_numbers(array: Array, name: str) -> Array:
    """A matrix of Python's numbers, or of those of a nullable column, as numbers; text is no indicator."""
    example = next((cell for cell in array.ravel().tolist() if not isinstance(cell, (bool, int, float))), None)
    if example is not None or array.dtype.kind != "O":
        raise InputError(
            f"{name} is a matrix of {array.dtype} that holds {example!r:.40}; a column of it is a label, and holds "
            "1 where a row has it and 0 where not."
        )
    return array.astype(np.float64)


def _no_indicator(array: Array, name: str) -> str:
    other = array[~np.isin(array, (0, 1))][0]
    return (
        f"{name} has shape {array.shape} and holds {other}; a matrix has a column for each label that holds 1 where a "
        "row has it and 0 where not. Lists of labels are taken as well; scores are y_score."
    )


def _sparse_matrix(values: Any, name: str) -> Indicators:
    from scipy.sparse import csr_array

    matrix = csr_array(values)
    if matrix.ndim != 2:
        raise InputError(f"{name} is sparse with {matrix.ndim} dimensions; give a row for each row of data.")
    if not (matrix.has_canonical_format and (matrix.data == 1).all()):
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    if not (matrix.data == 1).all():
        other = matrix.data[matrix.data != 1][0]
        raise InputError(f"{name} is sparse and holds {other}; it holds 1 where a row has a label, and nothing else.")
    return matrix


def _listed(values: Any, name: str) -> GivenSets:
    """Lists or sets of labels, one a row."""
    from scipy.sparse import csr_array

    rows = [_row_labels(row, name, place) for place, row in enumerate(_rows(values, name))]
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    flat = list(chain.from_iterable(rows))
    if not flat:
        return GivenSets(name, (), csr_array((len(rows), 0), dtype=np.uint8))
    codes, labels = label_codes.distinct(checks.column(flat, name), name)
    ends = np.concatenate([[0], np.cumsum(lengths)])
    matrix = csr_array((np.ones(len(codes), np.uint8), codes.astype(np.int64), ends), shape=(len(rows), len(labels)))
    matrix.sort_indices()
    return GivenSets(name, labels, matrix)


def _rows(values: Any, name: str) -> Iterator[Any]:
    to_list = getattr(values, "to_list", None) or getattr(values, "to_pylist", None)
    if to_list is None and not isinstance(values, Iterable):
        raise ArgumentKindError(argument=name, expected="a matrix, or a list of labels for each row", given=values)
    return iter(values) if to_list is None else iter(to_list())


def _row_labels(row: Any, name: str, place: int) -> list[Any]:
    if isinstance(row, (str, bytes)) or not isinstance(row, _SETS):
        raise InputTypeError(
            f"{name} holds a list of labels in each row, and in row {place + 1} {row!r:.40}; give [] where a row has "
            "none."
        )
    return list(dict.fromkeys(row.tolist() if isinstance(row, np.ndarray) else row))


def _common_labels(read: list[GivenSets], declared: Labels | None, of_scores: Labels | None) -> Labels:
    """The labels that all are given over: declared, named by columns, or all that occur."""
    if declared is None:
        widths = (one.matrix.shape[1] for one in read if one.labels is None)
        named = (one.labels for one in read if one.in_order)
        declared = next(named, None) or of_scores or next((tuple(range(width)) for width in widths), None)
    for one in read:
        if one.labels is None and declared is not None and one.matrix.shape[1] != len(declared):
            raise InputError(
                f"{one.name} has {one.matrix.shape[1]:,} columns, and there are {len(declared):,} labels; give a "
                "column for each label, in their order."
            )
    if declared is None:  # the columns of a frame keep their order, in which scores stand beside them
        declared = next((one.labels for one in read if not is_sparse(one.matrix)), None)
    labels = declared or sort_labels(label for one in read for label in one.labels or ())
    if len(labels) < 2:
        raise InputError("Rows of label sets need two labels or more; declare them with labels=.")
    return labels


def _over(given: GivenSets, labels: Labels) -> Indicators:
    """The indicators with a column for each of the labels, in their order."""
    if given.labels is None or given.labels == labels:
        return given.matrix
    place = {label: column for column, label in enumerate(labels)}
    if unknown := [label for label in given.labels if label not in place]:
        raise InputError(f"{given.name} holds {first_ten(unknown)}, none of the labels {first_ten(labels)}.")
    if not is_sparse(given.matrix):
        if len(given.labels) != len(labels):
            missing = [label for label in labels if label not in given.labels]
            raise InputError(f"{given.name} has no column for {first_ten(missing)}; give a column for each label.")
        return given.matrix[:, [given.labels.index(label) for label in labels]]
    from scipy.sparse import csr_array

    old: Any = given.matrix
    places = np.array([place[label] for label in given.labels], dtype=np.int64)
    moved = csr_array((old.data, places[old.indices], old.indptr), shape=(old.shape[0], len(labels)))
    moved.sort_indices()
    return moved


def _as_sparse(matrix: Any) -> Indicators:
    from scipy.sparse import csr_array

    return csr_array(matrix)


def refuse_of_one_label(**given: object) -> None:
    """Refuse what is of rows with one label each, such as a hierarchy, where they may have several."""
    for name, value in given.items():
        if value is not None:
            raise InputError(
                f"{name}= is of rows with one label each, and these may have several; leave it out.", argument=name
            )


# ---------------------------------------------------------------- multilabel tables


def label_set_table(
    y_true: Any,
    y_pred: Any = None,
    *,
    y_score: Any = None,
    labels: LabelSet | None = None,
    sample_weight: Weights = None,
    frequency: Weights = None,
) -> MultilabelTable:
    """The table of rows that are given as arrays, matrices or lists of labels."""
    check_order(y_true=y_true, y_pred=y_pred, y_score=y_score, sample_weight=sample_weight, frequency=frequency)
    if y_pred is None and y_score is None:
        raise InputError("y_true alone says nothing of a classifier; give y_pred, y_score or both.")
    given = [(y_true, "y_true")] + ([] if y_pred is None else [(y_pred, "y_pred")])
    matrices, names = paired_sets(given, labels, frame_labels(y_score))
    if y_score is not None and labels is None and not are_matrices(y_true) and frame_labels(y_score) is None:
        _check_counted(names)
    scores = None if y_score is None else _scores(y_score, names)
    there = backend_of(matrices[0])
    lengths = {name: np.empty(matrix.shape[0], bool) for (_, name), matrix in zip(given, matrices, strict=True)}
    lengths |= {} if scores is None else {"y_score": scores}
    weighed = Weighed.of(there, sample_weight, frequency, **lengths)
    if not matrices[0].shape[0]:
        raise InputError("y_true is empty; give at least one row.")
    return MultilabelTable(names, matrices[0], matrices[1] if y_pred is not None else None, scores, *weighed)


def label_sets_where_they_are(y_true: Any, y_pred: Any = None, *, y_score: Any = None, **rest: Any) -> MultilabelTable:
    """The same, of which matrices on a device stay there."""
    return label_set_table(**checks.matrices_there(y_true=y_true, y_pred=y_pred, y_score=y_score), **rest)


def _check_counted(labels: Labels) -> None:
    """Refuse columns of scores without names beside lists of labels: nothing says which column is of which label."""
    if labels != tuple(range(len(labels))):
        raise InputError(
            f"y_score has no names, and the labels of the lists are {first_ten(labels)}; declare them with labels= in "
            "the order of its columns, or give a frame."
        )


def _scores(y_score: Any, labels: Labels) -> Array:
    """A column of finite scores for each label; the columns of a frame by their names."""
    if hasattr(y_score, "toarray"):
        raise InputError("y_score is sparse; scores are dense, a column for each label. Give y_score.toarray().")
    matrix = checks.matrix(y_score, "y_score", backend_of(y_score))
    if matrix.ndim != 2 or matrix.shape[1] != len(labels):
        raise InputError(
            f"y_score has shape {matrix.shape}; with {len(labels):,} labels it needs a column for each, in their order."
        )
    return checks.finite_columns(columns_by_name(matrix, y_score, labels))
