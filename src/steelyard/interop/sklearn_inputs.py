"""Inputs of scikit-learn's functions: those that our kernels can count, and the options; for all else its own."""

from __future__ import annotations

import inspect
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeGuard, get_args

import numpy as np

from steelyard.arrays import checks, label_codes
from steelyard.arrays.backend import NUMPY
from steelyard.arrays.checks import check_order
from steelyard.arrays.label_codes import check_label_number
from steelyard.arrays.sparse import MOST_DENSE_LABELS, SparseMatrix
from steelyard.exceptions import InputError, InputTypeError, SteelyardError
from steelyard.tables.array_tables import confusion
from steelyard.tables.counts import Counts
from steelyard.tables.multilabel_table import MultilabelTable, is_sparse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label, Labels, Weights
    from steelyard.tables.multilabel_table import Indicators


ClassAverage: TypeAlias = Literal["binary", "micro", "macro", "samples", "weighted"]
ScoreAverage: TypeAlias = Literal["micro", "macro", "samples", "weighted"]
ZeroDivision: TypeAlias = float | Literal["warn"]
Normalize: TypeAlias = Literal["true", "pred", "all"]
KappaWeights: TypeAlias = Literal["linear", "quadratic"]
MultiClass: TypeAlias = Literal["raise", "ovr", "ovo"]


class RateOptions(NamedTuple):
    """The options that scikit-learn's functions of one class at a time share."""

    labels: ArrayLike | None
    pos_label: Label | None
    average: ClassAverage | None
    sample_weight: Weights
    zero_division: ZeroDivision

    def are_usual(self, *, nan: bool = True) -> bool:
        """Whether every option is one that needs no check or warning of scikit-learn's."""
        if self.average != "binary" and not (self.pos_label is None or self.pos_label is True or self.pos_label == 1):
            return False
        return is_choice(self.average, ClassAverage) and is_zero_division(self.zero_division, nan=nan)


def is_choice(value: object, words: object) -> bool:
    """Whether an option is None or one of the words of a Literal."""
    return value is None or (type(value) is str and value in get_args(words))


def is_zero_division(value: object, *, nan: bool = True) -> TypeGuard[ZeroDivision]:
    """Whether a value is one that scikit-learn takes for a ratio without denominator."""
    if type(value) is str:
        return value == "warn"
    return isinstance(value, (int, float)) and (value in (0, 1) or (nan and bool(np.isnan(value))))


# ---------------------------------------------------------------- dropin inputs

# A function here gives None where the fast path does not apply: odd types, bad values, anything that scikit-learn would
# refuse or warn about. The drop-in then hands the whole call to the original, which knows what to say.


PANDAS = ("str", "string", "category")  # its own dtypes that we read as it does
LABEL_KINDS = {"b": "bool", "i": "int", "u": "int", "f": "float", "U": "text", "O": "text"}
EXACT = 2**53  # beyond it whole floats are not every whole number
ORIGINALS: dict[str, Callable[..., Any]] = {}  # the suite that patches scikit-learn keeps its functions here


def delegate(name: str, *columns: ArrayLike, **options: object) -> Any:
    """The same call by scikit-learn itself, which takes rows by position whatever their index."""
    original = ORIGINALS.get(name) or getattr(import_module("sklearn.metrics"), name)
    parameters = inspect.signature(original).parameters
    check_order(**dict(zip(parameters, columns, strict=False)), sample_weight=options.get("sample_weight"))
    if newer := options.keys() - parameters.keys():
        version = import_module("sklearn").__version__
        raise InputTypeError(
            f"{name} takes {newer.pop()}= only where scikit-learn does, and {version} does not; update it."
        )
    _check_apart(dict(zip(parameters, columns, strict=False)), options.get("labels"))
    return original(*columns, **options)


def _check_apart(columns: dict[str, ArrayLike], labels: Any) -> None:
    """Refuse whole numbers that NumPy would turn into floats, some of them into one and the same."""
    given = {name: values for name, values in columns.items() if name != "y_score"} | {"labels": labels}
    found = {name: _numbers(values) for name, values in given.items() if values is not None}
    kinds = {values.dtype.kind for values in found.values() if values is not None}
    mixed = [values.dtype for values in found.values() if values is not None and values.dtype.kind in "iuf"]
    becomes_float = bool(mixed) and np.result_type(*mixed).kind == "f"
    for name, values in found.items():
        if values is None or not becomes_float:
            continue
        exact = checks.column(given[name], name) if isinstance(given[name], (list, tuple)) else values
        if exact.dtype.kind not in "iuO" or kinds == {"O"}:
            continue
        large = next((v for v in exact.tolist() if isinstance(v, int) and not -EXACT < v < EXACT), None)
        if large is not None:
            raise InputError(
                f"{name} holds {large}, and beside the other columns NumPy turns it into a float, which holds whole "
                "numbers apart up to 2**53; give all columns as int64, as uint64 or as text."
            )


def _numbers(values: Any) -> Array | None:
    """A column as NumPy makes it; None where it is not one of numbers."""
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, RuntimeError):
        return None
    return array if array.ndim == 1 and array.dtype.kind in "iufO" else None


def warn_undefined(text: str) -> None:
    """scikit-learn's warning of a ratio without denominator, from the line that called the drop-in, or near it."""
    category = import_module("sklearn.exceptions").UndefinedMetricWarning
    warnings.warn(f"{text} Use `zero_division` parameter to control this behavior.", category, stacklevel=6)


def usable_column(values: ArrayLike | None) -> Array | None:
    """A column that is not empty, of booleans, numbers, text or objects."""
    if type(values) is np.ndarray:
        array: Array = values
    elif isinstance(values, (list, tuple)) or _is_series(values):
        try:
            array = checks.column(values, "values")
        except SteelyardError:
            return None
    else:
        return None
    return array if array.ndim == 1 and len(array) and _is_usual(array.dtype) else None


def _is_series(values: object) -> bool:
    """A series of pandas or Polars; not pandas' nullable numbers, which scikit-learn turns into floats."""
    library = type(values).__module__.partition(".")[0]
    dtype = getattr(values, "dtype", None)
    return library == "polars" or (library == "pandas" and (isinstance(dtype, np.dtype) or str(dtype) in PANDAS))


def _is_usual(dtype: np.dtype[Any]) -> bool:
    return dtype.isnative and dtype.kind in LABEL_KINDS and (dtype.kind != "f" or dtype.itemsize in (4, 8))


def weight_column(values: Weights, n: int) -> Array | None:
    """The weights of n rows: finite, not negative, not all zero."""
    array = usable_column(values)
    if array is None or len(array) != n or array.dtype.kind not in "biuf":
        return None
    low, total = array.min(), array.sum(dtype=np.float64)
    most = np.inf if array.dtype.kind == "f" else EXACT
    return array if low >= 0 and 0 < total < most else None


class LabelTable(NamedTuple):
    """A table of rows or weights over the labels that occur; `kind` is that of the labels, None where they mix."""

    labels: tuple[Any, ...]
    matrix: Array
    kind: str | None
    whole: bool  # whole weights make scikit-learn's matrix one of integers

    def positions(self, labels: ArrayLike) -> list[int] | None:
        """Where each of these labels stands, one past the last where it does not occur; None for odd or equal ones."""
        column = usable_column(labels)
        if column is None:
            return None
        wanted = column.tolist()
        if any(isinstance(label, str) != isinstance(self.labels[0], str) for label in wanted):
            return None
        try:
            if len(set(wanted)) != len(wanted) or not all(label == label for label in wanted):  # noqa: PLR0124 - NaN
                return None
        except TypeError:
            return None
        position = {label: i for i, label in enumerate(self.labels)}
        return [position.get(label, len(self.labels)) for label in wanted]

    def position(self, label: Label) -> int | None:
        """Where one label stands, None where it does not occur."""
        if isinstance(label, str) != isinstance(self.labels[0], str):
            return None
        return next((i for i, other in enumerate(self.labels) if other == label), None)

    def submatrix(self, positions: Sequence[int]) -> Array:
        """The matrix of some labels only, zeros for those that do not occur."""
        return np.asarray(with_absent(self.matrix)[np.ix_(positions, positions)])


def with_absent(matrix: Any) -> Any:
    """The matrix, dense or sparse, with one class more, last, that does not occur."""
    if isinstance(matrix, SparseMatrix):
        return matrix.moved(range(matrix.size), matrix.size + 1)
    return np.pad(matrix, (0, 1))


def label_table(y_true: ArrayLike, y_pred: ArrayLike, sample_weight: Weights = None) -> LabelTable | None:
    """The table of two columns with at least two labels between them."""
    check_order(y_true=y_true, y_pred=y_pred, sample_weight=sample_weight)
    true, pred = usable_column(y_true), usable_column(y_pred)
    if true is None or pred is None or len(true) != len(pred):
        return None
    kinds = {LABEL_KINDS[true.dtype.kind], LABEL_KINDS[pred.dtype.kind]}
    kind = kinds.pop() if len(kinds) == 1 else None
    if sample_weight is None:
        if true.dtype.kind in "biu" and pred.dtype.kind in "biu" and (counts := _zero_one(true, pred)) is not None:
            return LabelTable((False, True) if kind == "bool" else (0, 1), counts, kind, True)
        return _counted(true, pred, None, kind)
    weight = weight_column(sample_weight, len(true))
    return None if weight is None else _counted(true, pred, weight, kind)


def _zero_one(true: Array, pred: Array) -> Array | None:
    """The table of 0/1 labels, both of which occur."""
    counts = label_codes.binary_counts(true, pred)
    both = counts is not None and counts[0, 0] < len(true) and counts[1, 1] < len(true)
    return counts if both else None


def _counted(true: Array, pred: Array, weight: Array | None, kind: str | None) -> LabelTable | None:
    try:
        if weight is None:
            table = confusion(true, pred)
            labels, matrix = table.labels, table.matrix
        else:
            labels, matrix = weighted_table(true, pred, weight)
    except SteelyardError:
        return None
    if len(labels) < 2 or not all(_is_plain(values, labels) for values in (true, pred)):
        return None
    return LabelTable(labels, matrix, kind, weight is None or weight.dtype.kind != "f")


def weighted_table(true: Array, pred: Array, weight: Array) -> tuple[Labels, Any]:
    """The labels of all rows and the weight of each pair: to scikit-learn a label of no weight is a label.

    To `confusion` a row of no weight is as good as absent.
    """
    true_codes, pred_codes, labels = label_codes.encode_pair(true, pred)
    check_label_number(len(labels), len(true))
    weights = weight.astype(np.float64, copy=False)
    return labels, label_codes.pair_counts(true_codes, pred_codes, len(labels), weights)[1]


def _is_plain(values: Array, labels: tuple[Any, ...]) -> bool:
    """Whether scikit-learn would take these labels too: objects are text, whole floats are exact."""
    if values.dtype.kind == "O":
        return all(type(label) is str for label in labels)
    return values.dtype.kind != "f" or all(-EXACT < label < EXACT for label in labels)


def true_codes(y_true: ArrayLike) -> tuple[Array, tuple[Any, ...]] | None:
    """The codes of the true labels, and the labels; 0 and 1 are taken to occur both where there is nothing else."""
    true = usable_column(y_true)
    if true is None:
        return None
    if true.dtype.kind in "biu" and NUMPY.is_zero_one(true):
        return true, (0, 1)
    try:
        codes, labels = label_codes.encode(true)
    except SteelyardError:
        return None
    return (codes, labels) if 2 <= len(labels) <= MOST_DENSE_LABELS and _is_plain(true, labels) else None


def score_column(y_score: ArrayLike) -> Array | None:
    """Scores that are numbers and exact as float64."""
    score = usable_column(y_score)
    if score is None or score.dtype.kind not in "iuf":
        return None
    if score.dtype.kind != "f" and not (score.min() > -EXACT and score.max() < EXACT):
        return None
    return score


# ---------------------------------------------------------------- dropin label sets


_FRAMES = ("pandas", "polars")


def label_sets(y_true: ArrayLike, y_pred: ArrayLike, sample_weight: Weights = None) -> MultilabelTable | None:
    """The table of two indicator matrices of the same shape, of two columns or more."""
    true = _indicators(y_true)
    predicted = None if true is None else _indicators(y_pred)
    if true is None or predicted is None or true.shape != predicted.shape:
        return None
    if is_sparse(true) != is_sparse(predicted):
        true, predicted = _sparse(true), _sparse(predicted)
    return _weighted(MultilabelTable(tuple(range(true.shape[1])), true, predicted), y_true, y_pred, sample_weight)


def scored_sets(y_true: ArrayLike, y_score: ArrayLike, sample_weight: Weights = None) -> MultilabelTable | None:
    """The table of an indicator matrix and finite scores of the same shape, of two columns or more."""
    true = _indicators(y_true)
    scores = None if true is None else _matrix(y_score)
    if true is None or scores is None or true.shape != scores.shape or scores.dtype.kind not in "iuf":
        return None
    if scores.dtype.kind != "f" and not (scores.min() > -EXACT and scores.max() < EXACT):
        return None
    if not np.isfinite(scores).all():
        return None
    table = MultilabelTable(tuple(range(true.shape[1])), true, None, scores)
    return _weighted(table, y_true, y_score, sample_weight)


def columns_of(table: MultilabelTable, labels: ArrayLike | None) -> MultilabelTable | None:
    """The table of some of its columns; None for anything but different ones that are there."""
    if labels is None:
        return table
    places = np.asarray(labels)
    if places.ndim != 1 or places.dtype.kind not in "iu" or not len(places) or len(np.unique(places)) < len(places):
        return None
    if places.min() < 0 or places.max() >= len(table.labels):
        return None
    return table.of_labels(places.tolist())


def row_cells(table: MultilabelTable) -> Counts[Array]:
    """The cells of each row times its weight, as scikit-learn has them: a row of no weight has no rate."""
    weight = table.sample_weight
    return table.by_row if weight is None else Counts.trusted(*(cell * weight for cell in table.by_row))


def _weighted(table: MultilabelTable, y_true: Any, other: Any, sample_weight: Weights) -> MultilabelTable | None:
    check_order(y_true=y_true, y_pred=other, sample_weight=sample_weight)
    if sample_weight is None:
        return table
    weight = weight_column(sample_weight, table.true.shape[0])
    if weight is None or weight.dtype.kind == "b":  # whose products scikit-learn takes as truth values
        return None
    return MultilabelTable(table.labels, table.true, table.predicted, table.scores, weight.astype(np.float64))


def _indicators(values: Any) -> Indicators | None:
    """A matrix of 0 and 1 of two columns or more."""
    if hasattr(values, "tocsr"):
        return _sparse_ones(values)
    matrix = _matrix(values)
    if matrix is None or matrix.shape[1] < 2:
        return None
    if matrix.dtype.kind == "f":
        return matrix.astype(np.uint8) if ((matrix == 0) | (matrix == 1)).all() else None
    if matrix.dtype.kind == "b":
        return matrix.view(np.uint8) if matrix.flags.c_contiguous else matrix.astype(np.uint8)
    return matrix if NUMPY.is_zero_one(matrix.reshape(-1)) else None


def _matrix(values: Any) -> Array | None:
    """A matrix of booleans or numbers that has rows."""
    if type(values) is not np.ndarray:
        library = type(values).__module__.partition(".")[0]
        if not isinstance(values, (list, tuple)) and not (library in _FRAMES and hasattr(values, "columns")):
            return None
        try:
            values = np.asarray(values)
        except ValueError:  # lists of different lengths
            return None
    usual = values.ndim == 2 and values.size and values.dtype.kind in "biuf" and values.dtype.isnative
    return values if usual and (values.dtype.kind != "f" or values.dtype.itemsize in (4, 8)) else None


def _sparse_ones(values: Any) -> Indicators | None:
    if getattr(values, "ndim", 2) != 2 or values.shape[1] < 2 or not values.shape[0]:
        return None
    matrix = _sparse(values)
    if matrix.dtype.kind not in "biuf" or not (matrix.data == 1).all():
        return None
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix if (matrix.data == 1).all() else None


def _sparse(matrix: Any) -> Any:
    from scipy.sparse import csr_array

    return csr_array(matrix)
