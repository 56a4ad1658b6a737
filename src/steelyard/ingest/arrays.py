"""Columns of a user as one-dimensional NumPy arrays, or one sentence on why they cannot be."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from steelyard.exceptions import CountOverflowError, InputError, InputTypeError, file_hint
from steelyard.ingest.device_columns import as_numpy, unread_sentence
from steelyard.statistics.cell_values import LARGEST, is_masked_array
from steelyard.statistics.device_library import library_name
from steelyard.statistics.precision import DOUBLE, finest

if TYPE_CHECKING:
    from collections.abc import Sequence, Sized

    from numpy.typing import ArrayLike

    from steelyard._types import Array, LabelSet, Weights

_LARGE = 2**53  # from which whole numbers are no longer apart as float64
TEXTS = (str, bytes, np.str_, np.bytes_)


def column(values: LabelSet | None, name: str) -> Array:
    """The values as an array of one dimension: lists, arrays, series of pandas, Polars and PyArrow."""
    if hasattr(values, "toarray") or hasattr(values, "tocsr"):
        raise InputTypeError(f"{name} is sparse; labels and scores are dense columns. Give {name}.toarray().ravel().")
    if isinstance(values, (str, bytes, dict, set, PathLike)) or np.isscalar(values) or values is None:
        raise InputTypeError(f"{name} must be a column of values, not {_kind(values)}{file_hint(values)}.")
    try:
        array = values if type(values) is np.ndarray else _converted(values)
    except (TypeError, ValueError, RuntimeError, AttributeError):
        raise InputTypeError(unread_sentence(values, name)) from None
    if array.ndim != 1:
        raise InputError(shape_sentence(values, array, name))
    return array


def _converted(values: LabelSet) -> Array:
    if library_name(values) is not None:
        return as_numpy(values)
    if (given := categorical(values)) is not None:
        return _category_values(given)
    if is_masked_array(values):
        return np.array(
            [None if hidden else v for v, hidden in zip(values.data, np.ma.getmaskarray(values), strict=True)]
        )
    if isinstance(values, (list, tuple)):
        return _of_list(values)
    if str(getattr(values, "dtype", "")).endswith("Int128"):  # of Polars, which NumPy has no type for
        return _of_list(values.to_list())  # type: ignore[union-attr]  # a Series
    to_numpy = getattr(values, "to_numpy", None) if type(values).__module__.startswith("pyarrow") else None
    array = np.asarray(values) if to_numpy is None else np.asarray(to_numpy(zero_copy_only=False))
    if array.dtype.kind == "U" and hasattr(values, "to_list"):  # the texts of Polars, cut in the same way
        texts = values.to_list()
        return np.array(texts, dtype=object) if _hold_nul(texts) else array
    return array


def matrix(values: ArrayLike, name: str) -> Array:
    """Rows and columns as an array of NumPy, brought from a device where they lie on one."""
    if library_name(values) is None:
        return np.asarray(values)
    try:
        return as_numpy(values)
    except (TypeError, RuntimeError):
        raise InputTypeError(unread_sentence(values, name)) from None


def _of_list(values: Sequence[object]) -> Array:
    array = np.asarray(values)
    if array.dtype.kind in "US" and not all(type(v) is type(values[0]) and type(v) in TEXTS for v in values):
        return np.array(values, dtype=object)  # NumPy would turn [1, "a"] into ["1", "a"], an Enum into its name
    if array.dtype.kind in "US" and array.ndim == 1 and _hold_nul(values):
        return np.array(values, dtype=object)  # NumPy would turn ["a", "a\0"] into ["a", "a"]
    # float16 and float32 come of NumPy's own numbers, and of no whole ones
    is_double = array.dtype == np.float64 and array.ndim == 1
    if is_double and (np.abs(array) >= _LARGE).any() and any(map(_is_large, values)):
        return np.array(values, dtype=object)  # NumPy would turn [-1, 2**63, 2**63 + 1] into floats, two of them one
    return array


def _hold_nul(texts: Sequence[Any]) -> bool:
    """Whether the code of zero stands in some text, at whose end NumPy's arrays of texts drop it."""
    return "\0" in "".join(texts) if isinstance(next(iter(texts), ""), str) else b"\0" in b"".join(texts)


def _is_large(value: object) -> bool:
    """Whether it is a whole number beyond those that are apart as float64."""
    return isinstance(value, (int, np.integer)) and not -_LARGE < value < _LARGE


class Categorical(Protocol):
    """A categorical column of pandas, or its `.cat`."""

    categories: ArrayLike
    codes: ArrayLike
    ordered: bool


def categorical(values: LabelSet) -> Categorical | None:
    """The categories and codes of a categorical column of pandas; None of anything else."""
    inner: Any = getattr(values, "cat", values)
    return inner if hasattr(inner, "categories") else None


def _category_values(given: Categorical) -> Array:
    """The values of a pandas categorical, without building a Python object a row."""
    names, codes = np.asarray(given.categories), np.asarray(given.codes)
    values: Array = np.array([*names.tolist(), None], dtype=object) if (codes < 0).any() else names
    return np.asarray(values[codes])


def _kind(values: object) -> str:
    return "None" if values is None else f"the {type(values).__name__} {values!r}"[:60]


def shape_sentence(values: LabelSet | None, array: Array, name: str) -> str:
    """The refusal of what is no column, by its shape."""
    if array.ndim == 2 and (columns := getattr(values, "columns", None)) is not None:
        first = next(iter(columns), "")
        size = "one column" if array.shape[1] == 1 else f"{array.shape[1]} columns"
        column = f"{name} is a frame of {size}; give the column itself, such as frame[{str(first)!r}]"
        return f"{column}, or name the columns of the frame: evaluate(frame, true=, pred=, score=)."
    if array.ndim == 2 and array.shape[1] == 1:
        return f"{name} has shape {array.shape}, a column of one; give {name}.ravel()."
    if array.ndim == 2:
        return (
            f"{name} has shape {array.shape}: where each row has one label, give its argmax(axis=1); rows of several "
            "labels each (label sets) are taken by evaluate, compare, interval, cross_evaluate, the metrics and "
            "best_threshold; anything else takes one of their columns at a time."
        )
    return f"{name} has {array.ndim} dimensions; a column has one."


def check_one_column(y_score: ArrayLike) -> None:
    """Refuse scores of several columns where those of the positive class are needed."""
    shape = np.shape(y_score)
    if len(shape) == 2 and shape[1] != 1:
        one = ".iloc[:, 1]" if hasattr(y_score, "iloc") else "[:, 1]"
        raise InputError(f"y_score has {shape[1]} columns; give that of the positive class, such as y_score{one}.")
    if len(shape) == 2:
        column(y_score, "y_score")  # refuses it by its shape


def check_lengths(**columns: Sized | None) -> None:
    """Refuse columns of different lengths."""
    lengths = {name: len(values) for name, values in columns.items() if values is not None}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} has {n:,}" for name, n in lengths.items())
        raise InputError(f"The columns differ in length: {listed} rows; give one value per row in each.")


def numbers(values: ArrayLike, name: str) -> Array:
    """A column of finite float64 numbers."""
    array = column(values, name)
    if array.dtype.kind == "O":
        array = _from_objects(array, name)
    if array.dtype.kind not in "biuf":
        raise InputTypeError(f"{name} must hold numbers, not {_example(array)}.")
    return array if array.dtype == np.float64 else array.astype(np.float64)


def finite_scores(y_score: ArrayLike) -> Array:
    """The scores as float64, finite."""
    given = column(y_score, "y_score")
    scores = numbers(given, "y_score")
    with np.errstate(over="ignore"):
        total = scores.sum()  # one sum finds both; the slow look is for the sentence
    if not np.isfinite(total) and not np.isfinite(scores).all():
        row = int(np.flatnonzero(~np.isfinite(scores))[0])
        where = row_of_array(row)
        raise InputError(f"y_score holds {scores[row]} in {where}; a score is a finite number. Drop such rows first.")
    check_apart(given, scores, "y_score")
    return scores


def check_apart(given: Array, numbers: Array, name: str) -> None:
    """Refuse whole numbers so large that some become one as float64, in which scores are ranked."""
    if given.dtype.kind not in "iuOTU" or not len(given) or np.abs(numbers).max() < _LARGE:
        return
    large = np.abs(numbers) >= _LARGE
    if len({*given[large].tolist()}) != len({*numbers[large].tolist()}):
        raise InputError(
            f"{name} holds whole numbers beyond 2**53, some of which are one and the same as float64, in which scores "
            "are ranked; subtract their minimum first."
        )


def precision_of(scores: Array) -> str:
    """The precision that a column of scores is given in, in which a threshold is compared with them."""
    kinds = set(map(type, scores)) if scores.dtype.kind == "O" else {scores.dtype.type}
    return finest(*(np.dtype(kind).name if kind in (np.float16, np.float32) else DOUBLE for kind in kinds))


def row_of_array(index: int) -> str:
    """A row of an array by its number, counted from 1 as in frames and files, and by its index."""
    return f"row {index + 1:,} (index {index})"


def _from_objects(array: Array, name: str) -> Array:
    bad = next((value for value in array if isinstance(value, (str, bytes, complex))), None)
    if bad is not None:
        raise InputTypeError(f"{name} must hold numbers, not {bad!r}.")
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} holds a missing or unreadable value; drop or fill those rows first.") from None


def _example(array: Array) -> str:
    return f"values such as {array.flat[0]!r}" if array.size else f"{array.dtype}"


def weights(values: Weights, name: str, *, whole: bool = False) -> Array | None:
    """A column of weights: finite, not negative, not all zero; whole numbers where they count rows."""
    if values is None:
        return None
    array = _whole(values, name) if whole else numbers(values, name)
    if not np.isfinite(array).all():
        raise InputError(not_finite(name))
    if array.size:
        check_weights(float(array.min()), float(array.max()), name)
    return array


def not_finite(name: str) -> str:
    """The sentence about weights that are missing or infinite."""
    return f"{name} holds NaN, a null or an infinity; a weight is a finite number. Drop such rows first."


def check_weights(least: float, most: float, name: str) -> None:
    """Refuse finite weights that are negative or all zero, by the least and the most of them."""
    if least < 0:
        raise InputError(f"{name} holds {least:g}; a weight cannot be negative.")
    if most == 0:
        raise InputError(weightless(name))


def weightless(name: str) -> str:
    """The sentence about weights that are all zero."""
    return f"{name} is 0 in every row, so nothing would be counted; give some row a weight."


def _whole(values: ArrayLike, name: str) -> Array:
    """A column of whole numbers as int64, refused where their sum would not fit."""
    array = column(values, name)
    if array.dtype.kind not in "biu":
        array = numbers(array, name)
        if np.isfinite(array).all() and (array != np.floor(array)).any():
            raise InputError(not_whole(name))
    check_rows(float(np.abs(array.astype(np.float64)).sum()), name)
    return array if not np.isfinite(array).all() else array.astype(np.int64)


def not_whole(name: str) -> str:
    """The sentence about a frequency that is a share."""
    return f"{name} is how many rows a row counts for, a whole number; shares are sample weights instead."


def check_rows(total: float, name: str) -> None:
    """Refuse more rows than a whole count can hold."""
    if total > LARGEST / 2:
        raise CountOverflowError(
            f"{name} sums to more rows than {LARGEST}, the largest whole count; use weights instead."
        )
