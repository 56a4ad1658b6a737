"""Label sets: indicator matrices, sparse matrices and lists of labels of a user, as indicators of the same labels."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.exceptions import ArgumentKindError, InputError, InputTypeError, first_ten
from steelyard.ingest import arrays, label_codes
from steelyard.ingest.array_tables import declared_labels
from steelyard.statistics.backend import NUMPY, backend_of, library_name
from steelyard.statistics.confusion import sort_labels
from steelyard.statistics.indicators import is_sparse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard._types import Array, Labels, LabelSet
    from steelyard.statistics.backend import Backend, Column
    from steelyard.statistics.indicators import Indicators

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
        array = arrays.matrix(arrays.narrowed(values), name)
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
    codes, labels = label_codes.distinct(arrays.column(flat, name), name)
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
            raise InputError(f"{name}= is of rows with one label each, and these may have several; leave it out.")
