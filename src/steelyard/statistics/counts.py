"""Counts: the four cells of a two-class confusion table, of any broadcast shape. Every floor may use it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import CountOverflowError, InputError, InputTypeError
from steelyard.statistics.saved_json import SCHEMA, Saved, read_table, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

CELLS = ("tp", "fn", "fp", "tn")
LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Four things that add and multiply, and their margins: what a formula sees.

    The cells may be floats, arrays, exact fractions or the symbols of a traced formula.
    """

    tp: Any
    fn: Any
    fp: Any
    tn: Any

    def __iter__(self) -> Iterator[Any]:
        return iter((self.tp, self.fn, self.fp, self.tn))

    @property
    def positives(self) -> Any:
        """Rows whose true class is the positive one: tp + fn."""
        return self.tp + self.fn

    @property
    def negatives(self) -> Any:
        """Rows whose true class is the negative one: fp + tn."""
        return self.fp + self.tn

    @property
    def predicted_positives(self) -> Any:
        """Rows predicted positive: tp + fp."""
        return self.tp + self.fp

    @property
    def predicted_negatives(self) -> Any:
        """Rows predicted negative: fn + tn."""
        return self.fn + self.tn

    @property
    def total(self) -> Any:
        """All rows: tp + fn + fp + tn."""
        return self.tp + self.fn + self.fp + self.tn


class Counts(Cells):
    """True positives, false negatives, false positives and true negatives, always in this order.

    Each cell is a number or an array; the four broadcast to one shape. Whole numbers stay
    64-bit integers and never wrap; weights make the cells floats.

    >>> counts = Counts(tp=28, fn=23, fp=72, tn=2680)
    >>> print(counts.positives, counts.total)
    51 2803
    >>> counts + counts.swapped()
    Counts(tp=2708, fn=95, fp=95, tn=2708)
    """

    __slots__ = ()

    def __init__(self, tp: Any, fn: Any, fp: Any, tn: Any) -> None:
        cells = _broadcast([_checked(name, cell) for name, cell in zip(CELLS, (tp, fn, fp, tn), strict=True)])
        if all(cell.dtype.kind == "i" for cell in cells):
            _check_total(cells)
        else:
            cells = [cell.astype(np.float64) for cell in cells]
        for name, cell in zip(CELLS, cells, strict=True):
            cell.flags.writeable = False
            object.__setattr__(self, name, cell[()])

    @classmethod
    def trusted(cls, tp: Any, fn: Any, fp: Any, tn: Any) -> Counts:
        """Counts of cells that are known to be finite, non-negative NumPy numbers: for the inside of the house."""
        counts = cls.__new__(cls)
        for name, cell in zip(CELLS, (tp, fn, fp, tn), strict=True):
            object.__setattr__(counts, name, cell)
        return counts

    @classmethod
    def from_matrix(cls, m: Any, positive: int = 1) -> Counts:
        """The cells of a 2 x 2 matrix: rows true, columns predicted, `positive` the index of the positive class.

        >>> Counts.from_matrix([[2680, 72], [23, 28]])  # scikit-learn's [[tn, fp], [fn, tp]]
        Counts(tp=28, fn=23, fp=72, tn=2680)
        """
        matrix = _checked("The matrix", m)
        if matrix.shape[-2:] != (2, 2):
            raise InputError(f"A 2 x 2 matrix was expected (rows true, columns predicted), not shape {matrix.shape}.")
        if positive not in (0, 1):
            raise InputError(f"positive is the index of the positive class, 0 or 1, not {positive!r}.")
        p, n = int(positive), 1 - int(positive)
        return cls(matrix[..., p, p], matrix[..., p, n], matrix[..., n, p], matrix[..., n, n])

    @classmethod
    def stack(cls, tables: Iterable[Counts]) -> Counts:
        """One Counts with a first axis over the given ones."""
        tables = list(tables)
        if len({table.shape for table in tables}) != 1:
            raise InputError("Tables of one shape can be stacked, one or more of them.")
        return cls(*(np.stack([getattr(table, name) for table in tables]) for name in CELLS))

    @property
    def shape(self) -> tuple[int, ...]:
        """The common shape of the cells; () for one table."""
        return np.shape(self.tp)

    def matrix(self) -> np.ndarray[Any, Any]:
        """The table as scikit-learn lays it out: [[tn, fp], [fn, tp]] on the last two axes."""
        rows = [np.stack([self.tn, self.fp], -1), np.stack([self.fn, self.tp], -1)]
        return np.stack(rows, -2)

    def swapped(self) -> Counts:
        """The same table with the other class called positive."""
        return Counts.trusted(self.tn, self.fp, self.fn, self.tp)

    def scaled(self, factor: Any = 1, *, positives: Any = 1, negatives: Any = 1) -> Counts:
        """Every cell times `factor`; the truly positive and negative rows times their own factor as well."""
        whole, by_class = _checked("factor", factor), [_checked("factor", f) for f in (positives, negatives)]
        exact = all(f.dtype.kind == "i" for f in (np.asarray(self.tp), whole, *by_class))
        # As Python integers a product cannot wrap; Counts refuses what 64 bits cannot hold.
        kind = object if exact else np.float64
        cells = _broadcast([np.asarray(cell) for cell in (*self, whole, *by_class)])
        tp, fn, fp, tn, k, p, n = (cell.astype(kind) for cell in cells)
        return Counts(tp * k * p, fn * k * p, fp * k * n, tn * k * n)

    def sum(self, axis: int | tuple[int, ...] | None = None) -> Counts:
        """The table of all rows together, over one axis or all."""
        return Counts(*(_exact_sum(cell, axis) for cell in self))

    def __add__(self, other: object) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        cells = _broadcast([np.asarray(cell) for cell in (*self, *other)])
        if all(cell.dtype.kind == "i" for cell in cells):
            # Two whole counts fit into 64 bits without a sign; Counts refuses what does not fit with one.
            cells = [cell.astype(np.uint64) for cell in cells]
        return Counts(*(a + b for a, b in zip(cells[:4], cells[4:], strict=True)))

    def __radd__(self, other: object) -> Counts:
        return self if other == 0 else NotImplemented  # so that sum(tables) works

    def __getitem__(self, index: Any) -> Counts:
        return Counts.trusted(*(cell[index] for cell in self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Counts) and all(np.array_equal(a, b) for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash((self.shape, *((np.asarray(cell, dtype=np.float64) + 0.0).tobytes() for cell in self)))

    def __reduce__(self) -> tuple[Any, ...]:
        return Counts.trusted, tuple(self)

    def __repr__(self) -> str:
        cells = (np.asarray(cell).tolist() for cell in self)
        return f"Counts({', '.join(f'{name}={cell}' for name, cell in zip(CELLS, cells, strict=True))})"

    def to_dict(self) -> dict[str, Any]:
        """The cells as plain numbers or nested lists."""
        return {name: np.asarray(cell).tolist() for name, cell in zip(CELLS, self, strict=True)}

    def to_json(self) -> str:
        """The table as strict JSON, with the number of its schema.

        >>> Counts.from_json(Counts(1, 2, 3, 4).to_json())
        Counts(tp=1, fn=2, fp=3, tn=4)
        """
        return written({"schema": SCHEMA, "kind": "counts", **self.to_dict()})

    @classmethod
    def from_json(cls, text: Saved) -> Counts:
        """The table that `to_json` wrote; anything else is refused."""
        return cls(**read_table(text, "counts", CELLS))


def _broadcast(cells: list[Any]) -> list[Any]:
    try:
        return list(np.broadcast_arrays(*cells))
    except ValueError:
        shapes = ", ".join(str(shape) for shape in dict.fromkeys(map(np.shape, cells)))
        raise InputError(f"Cells of the shapes {shapes} do not broadcast; give them one shape, or numbers.") from None


def _exact_sum(cell: Any, axis: int | tuple[int, ...] | None) -> Any:
    cell = np.asarray(cell)
    return cell.astype(object).sum(axis) if cell.dtype.kind == "i" else cell.sum(axis)


def _checked(name: str, cell: Any) -> np.ndarray[Any, Any]:
    """The cell as int64 or float64, or one sentence on what is wrong with it."""
    if isinstance(cell, np.ma.MaskedArray) and np.ma.is_masked(cell):
        raise InputError(f"{name} holds masked values; a cell is a finite number. Fill or drop them first.")
    try:
        array = np.asarray(cell)
        if array.dtype.kind == "O":
            array = _from_objects(name, array)
    except (TypeError, ValueError):
        msg = f"{name} must be a number or an array of numbers of one shape, not {_short(cell)}."
        raise InputTypeError(msg) from None
    if array.dtype.kind == "b":
        array = array.astype(np.int64)
    if array.dtype.kind not in "iuf":
        msg = f"{name} must be a number or an array of numbers, not {_short(cell)}."
        raise InputTypeError(msg)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        msg = f"{name} holds NaN or an infinity; a cell is a finite number. Leave such tables out first."
        raise InputError(msg)
    if (array < 0).any():
        msg = f"{name} holds {array.min()}; a cell counts rows or weight, so it cannot be negative."
        raise InputError(msg)
    if array.dtype.kind == "u" and (array > LARGEST).any():
        raise _too_large(name)
    return array.astype(np.int64 if array.dtype.kind in "iu" else np.float64)


def _from_objects(name: str, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if all(isinstance(item, (int, np.integer)) for item in array.flat):
        if any(item > LARGEST for item in array.flat):
            raise _too_large(name)
        return np.asarray(np.maximum(array, -1)).astype(np.int64)
    if not all(isinstance(item, (int, float, np.number)) for item in array.flat):
        raise TypeError
    return array.astype(np.float64)


def _too_large(name: str) -> CountOverflowError:
    return CountOverflowError(f"{name} exceeds {LARGEST}, the largest whole count; give the cells as floats.")


def _check_total(cells: list[np.ndarray[Any, Any]]) -> None:
    if any(cell.size and cell.max() > LARGEST // 4 for cell in cells):
        total = sum(cell.astype(object) for cell in cells)
        if np.any(np.asarray(total) > LARGEST):
            raise _too_large("The sum of the four cells")


def _short(thing: object) -> str:
    text = repr(thing)
    return text if len(text) <= 60 else f"{text[:57]}..."
