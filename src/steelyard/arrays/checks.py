"""Checks of a user's columns: arrays of one dimension, of one length and in one order, or one sentence on why not.

They are NumPy's, or stay on their device: long tensors of torch, CuPy and JAX are counted where they lie.
"""

from __future__ import annotations

from collections import Counter
from math import prod
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from steelyard.arrays import backend
from steelyard.arrays.backend import DOUBLE, NUMPY, Backend, backend_of, finest, library_name
from steelyard.arrays.numbers import LARGEST, is_masked_array
from steelyard.exceptions import CountOverflowError, InputError, InputTypeError, file_hint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence, Sized

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label, Labels, LabelSet, Weights
    from steelyard.arrays.backend import Column, Native


_LARGE = 2**53  # from which whole numbers are no longer apart as float64
TEXTS = (str, bytes, np.str_, np.bytes_)


# ---------------------------------------------------------------- where columns lie


def backend_for(*columns: Any) -> Backend:
    """The backend of the first column that lies on a device; NumPy's where all are, or must be, read by it.

    Beside text, which no device holds, the other columns are brought, and so are short ones.
    """
    for values in columns:
        if not isinstance(values, (np.ndarray, list)):
            break
    else:
        return NUMPY
    there = backend_of(*columns)
    if there.is_device or all(library_name(values) is None for values in columns):
        return there
    for values in columns:
        if library_name(values) is None:
            if values is not None and np.asarray(values).dtype.kind not in "biuf":
                return NUMPY
        elif there is NUMPY and values.shape[:1] > (backend.MOST_BROUGHT,) and stays(values):
            there = Backend.of(values)
    return there


def stays(values: Native) -> bool:
    """Whether an array is computed with where it lies: not where NumPy reads it, nor where there is no float64."""
    if backend.is_on_host(values) or not _is_strided(values):
        return False
    return not (library_name(values) == "torch" and values.device.type in ("mps", "meta"))


def _is_strided(values: Any) -> bool:
    return str(getattr(values, "layout", "strided")).endswith("strided")


def as_numpy(values: Native) -> Array:
    """An array of such a library as one of NumPy: what lies in the processor's memory is not copied."""
    if library_name(values) == "torch":
        import torch

        plain = values.detach().resolve_conj().resolve_neg()  # views whose sign is turned when they are read
        plain = plain.float() if plain.dtype == torch.bfloat16 else plain
        return np.asarray((plain if plain.device.type == "cpu" else plain.cpu()).numpy())
    if not backend.is_on_host(values):
        return Backend.of(values).to_host(values)
    array = np.asarray(values)
    array = array.astype(np.float32) if array.dtype.name == "bfloat16" else array
    if array.dtype.kind == "V":  # float8 and the like of JAX, which NumPy holds and does not compute with
        raise TypeError(f"NumPy has no numbers such as {array.dtype.name}.")
    return array


def _unread_sentence(values: Any, name: str) -> str:
    """The sentence about a column that NumPy does not read: of a tensor, what it is."""
    if library_name(values) is None:
        return f"{name} cannot be read as a column: its rows differ in shape or kind."
    of_torch = library_name(values) == "torch"
    kind = f"{values.dtype}, {values.layout}, on {values.device.type!r}" if of_torch else str(values.dtype)
    return f"{name} is a tensor that NumPy cannot read ({kind}); give a dense one of floats, whole numbers or booleans."


def matrices_there(**columns: Any) -> dict[str, Any]:
    """Matrices of which one lies on a device as columns of it; all as they are where NumPy counts them.

    It counts frames, lists of labels and sparse matrices, whatever is beside them.
    """
    given = {name: values for name, values in columns.items() if values is not None}
    there = backend_for(*given.values()) if all(map(_is_dense, given.values())) else NUMPY
    if not there.is_device:
        return columns
    return {name: values if values is None else column(values, name, there, 2) for name, values in columns.items()}


def _is_dense(values: Any) -> bool:
    """Whether it is a matrix of numbers, of NumPy or of a library of tensors."""
    if len(getattr(values, "shape", ())) != 2:
        return False
    if type(values) is np.ndarray:
        return values.dtype.kind in "biuf"
    return library_name(values) is not None and _is_strided(values)


def narrowed(values: Any) -> Any:
    """Whole numbers of a device that are all 0 or 1 as bytes, an eighth of what would travel; all else as it is."""
    if library_name(values) is None or not stays(values) or not prod(values.shape):
        return values
    there = Backend.of(values)
    return there.as_bytes(values) if there.is_zero_one(values) else values


# ---------------------------------------------------------------- columns


def column(values: LabelSet | None, name: str, there: Backend = NUMPY, ndim: int = 1) -> Array:
    """The values as an array of one dimension: lists, arrays, series of pandas, Polars and PyArrow.

    On a device they become a column of it, of as many dimensions as are asked for.
    """
    if there.is_device:
        on_its_device: Array = _column_there(there, values, name, ndim)
        return on_its_device
    if hasattr(values, "toarray") or hasattr(values, "tocsr"):
        raise InputTypeError(f"{name} is sparse; labels and scores are dense columns. Give {name}.toarray().ravel().")
    if isinstance(values, (str, bytes, dict, set, PathLike)) or np.isscalar(values) or values is None:
        raise InputTypeError(f"{name} must be a column of values, not {_kind(values)}{file_hint(values)}.")
    try:
        array = values if type(values) is np.ndarray else _converted(values)
    except (TypeError, ValueError, RuntimeError, AttributeError):
        raise InputTypeError(_unread_sentence(values, name)) from None
    if array.ndim != 1:
        raise InputError(shape_sentence(values, array, name))
    return array


def _column_there(there: Backend, values: Any, name: str, ndim: int) -> Column:
    """A column on the device; one that lies elsewhere is sent there."""
    if backend_of(values).is_device:
        return values
    xp, library = there.xp, library_name(values)
    native = values.detach() if there.name == library == "torch" else values
    if library is None:
        native = there.native(np.asarray(values))
    elif library != there.name or backend.is_on_host(values):
        native = there.native(as_numpy(values))
    if not xp.isdtype(native.dtype, ("bool", "integral", "real floating")):
        raise InputTypeError(f"{name} holds {native.dtype} values; give floats, whole numbers or booleans.")
    if len(native.shape) != ndim:
        raise InputError(shape_sentence(None, np.broadcast_to(np.int8(0), tuple(native.shape)), name))
    return there.column(native)


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
    if array.dtype.kind == "U" and type(values).__module__.startswith("polars"):  # whose texts are cut in the same way
        series: Any = values
        return np.array(series.to_list(), dtype=object) if _holds_nul(series) else array
    return array


def _holds_nul(series: Any) -> bool:
    """The same of a Series of Polars, which looks without making a text of Python of each."""
    return bool(series.cast(str).str.contains("\0", literal=True).any())


def matrix(values: ArrayLike, name: str, there: Backend = NUMPY) -> Array:
    """Rows and columns as an array; brought from a device unless they are counted there."""
    if there.is_device:
        return column(values, name, there, 2)
    if library_name(values) is None:
        return np.asarray(values)
    try:
        return as_numpy(values)
    except (TypeError, RuntimeError):
        raise InputTypeError(_unread_sentence(values, name)) from None


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
    return _as_numbers(column(values, name), name)


def _as_numbers(array: Array, name: str) -> Array:
    """Numbers as float64; on a device as narrow as they are, but for booleans, which libraries do not search."""
    if array.dtype.kind == "O":
        array = _from_objects(array, name)
    if array.dtype.kind not in "biuf":
        raise InputTypeError(f"{name} must hold numbers, not {_example(array)}.")
    if (there := backend_of(array)).is_device:
        return there.column(there.as_bytes(there.native(array))) if array.dtype.kind == "b" else array
    return array if array.dtype == np.float64 else array.astype(np.float64)


def finite_scores(y_score: ArrayLike, there: Backend = NUMPY) -> Array:
    """The scores as float64, or as narrow as they are on a device; finite."""
    given = column(y_score, "y_score", there)
    scores = _as_numbers(given, "y_score")
    if not there.is_finite(there.native(scores)):
        _refuse_infinite(np.asarray(scores))
    check_apart(given, scores, "y_score")
    return scores


def finite_columns(matrix: Array) -> Array:
    """The same of a column of scores for each class or label."""
    there = backend_of(matrix)
    given = matrix if there.is_device else np.ascontiguousarray(matrix)  # row by row, as they are summed and ranked
    scores = _as_numbers(given, "y_score")
    if not there.is_finite(there.native(scores)):
        brought = np.asarray(scores)
        _refuse_infinite(brought[:, np.argmin(np.isfinite(brought).all(0))])
    check_apart(matrix, scores, "y_score")
    return scores


def _refuse_infinite(scores: Array) -> None:
    row = int(np.flatnonzero(~np.isfinite(scores))[0])
    where = row_of_array(row)
    raise InputError(f"y_score holds {scores[row]} in {where}; a score is a finite number. Drop such rows first.")


def check_apart(given: Array, numbers: Array, name: str) -> None:
    """Refuse whole numbers so large that some become one as float64, in which scores are ranked."""
    if given.dtype.kind not in "iuOTU" or not numbers.size:
        return
    there = backend_of(numbers)
    if max(abs(float(end)) for end in there.ends(there.native(numbers))) < _LARGE:
        return
    exact, floats = np.ravel(np.asarray(given)), np.ravel(np.asarray(numbers)).astype(np.float64, copy=False)
    large = np.abs(floats) >= _LARGE
    if len({*exact[large].tolist()}) != len({*floats[large].tolist()}):
        raise InputError(
            f"{name} holds whole numbers beyond 2**53, some of which are one and the same as float64, in which scores "
            "are ranked; subtract their minimum first."
        )


def precision_of(scores: Array) -> str:
    """The precision that a column of scores is given in, in which a threshold is compared with them."""
    if scores.dtype.kind == "O":
        kinds = set(map(type, scores))
        return finest(*(np.dtype(kind).name if kind in (np.float16, np.float32) else DOUBLE for kind in kinds))
    there = backend_of(scores)
    return there.precision(there.native(scores))


def row_of_array(index: int) -> str:
    """A row of an array by its number, counted from 1 as in frames and files, and by its index."""
    return f"row {index + 1:,} (index {index})"


def _from_objects(array: Array, name: str) -> Array:
    bad = next((value for value in array.flat if isinstance(value, (str, bytes, complex))), None)
    if bad is not None:
        raise InputTypeError(f"{name} must hold numbers, not {bad!r}.")
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} holds a missing or unreadable value; drop or fill those rows first.") from None


def _example(array: Array) -> str:
    return f"values such as {array.flat[0]!r}" if array.size else f"{array.dtype}"


def weights(values: Weights, name: str, *, whole: bool = False, there: Backend = NUMPY) -> Array | None:
    """A column of weights: finite, not negative, not all zero; whole numbers where they count rows."""
    if values is None:
        return None
    given = column(values, name, there)
    if not whole or given.dtype.kind not in "biu":
        given = _as_numbers(given, name)
    xp, native = there.xp, there.native(given)
    real = there.real(native)
    least, most = (float(end) for end in there.ends(real)) if len(given) else (0.0, 1.0)
    is_finite = bool(np.isfinite(least) and np.isfinite(most))
    if whole:
        if is_finite and given.dtype.kind == "f" and bool(xp.any(real != xp.floor(real))):
            raise InputError(not_whole(name))
        check_rows(float(xp.sum(xp.abs(real))), name)
    if not is_finite:
        raise InputError(not_finite(name))
    check_weights(least, most, name)
    checked: Array = there.column(xp.astype(native, xp.int64, copy=False) if whole else real)
    return checked


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


def not_whole(name: str) -> str:
    """The sentence about a frequency that is a share."""
    return f"{name} is how many rows a row counts for, a whole number; shares are sample weights instead."


def check_rows(total: float, name: str) -> None:
    """Refuse more rows than a whole count can hold."""
    if total > LARGEST / 2:
        raise CountOverflowError(
            f"{name} sums to more rows than {LARGEST}, the largest whole count; use weights instead."
        )


# ---------------------------------------------------------------- category order


def is_ordered(values: ArrayLike) -> bool:
    """Whether this is a pandas categorical that states an order of its categories, or an Enum of Polars."""
    return _declared(values) is not None


def category_order(values: ArrayLike, *columns: Array) -> Labels | None:
    """The categories that occur, in the order that a categorical column declares; None where it declares none."""
    if (declared := _declared(values)) is None:
        return None
    present = {label for column in columns for label in set(column.tolist())}
    ordered = tuple(label for label in declared if label in present)
    return ordered if len(ordered) > 1 and present <= {*ordered} else None


def _declared(values: ArrayLike) -> list[Label] | None:
    """All categories in their order."""
    kind: Any = getattr(values, "dtype", None)
    if type(values).__module__.partition(".")[0] == "polars" and type(kind).__name__ == "Enum":
        listed: list[Label] = kind.categories.to_list()
        return listed
    return np.asarray(kind.categories).tolist() if getattr(kind, "ordered", False) else None


# ---------------------------------------------------------------- row order


class RowIndex(Protocol):
    """The index of a series or frame of pandas and its like."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Label]: ...

    def equals(self, other: object) -> bool:
        """Whether the other index holds the same in the same order."""


def check_order(**columns: object) -> None:
    """Refuse columns that have the same index in different orders: by position, other rows would meet."""
    # By their attribute, not by the protocol: asking a protocol costs more than counting a hundred rows.
    indexes: list[tuple[str, RowIndex]] = [
        (name, values.index)  # type: ignore[attr-defined]  # whose attribute this is
        for name, values in columns.items()
        if hasattr(getattr(values, "index", None), "equals")
    ]
    for name, index in indexes[1:]:
        first, other = indexes[0]
        if len(index) == len(other) and not index.equals(other) and Counter(index) == Counter(other):
            raise InputError(
                f"{first} and {name} have the same index in different orders, and rows are taken by position; give "
                f"{name}.reindex({first}.index), or both as .to_numpy() where they correspond row by row already."
            )
