"""Counts: the four cells of a two-class confusion table, of any broadcast shape."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from operator import add
from typing import TYPE_CHECKING, Any, Generic, overload

import numpy as np

from steelyard.arguments import names_wrong_arguments
from steelyard.arrays.numbers import broadcast, check_total, checked_values, exact_sum
from steelyard.exceptions import InputError, InputTypeError
from steelyard.tables.saved import SCHEMA, Saved, read_table, to_strict_json
from steelyard.written_files import Saveable

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence
    from types import EllipsisType

    from numpy.typing import ArrayLike
    from typing_extensions import TypeVar  # every type checker brings it along

    from steelyard._types import Array, Scalar

    Part_co = TypeVar("Part_co", default=Any, covariant=True)
    Cell_co = TypeVar("Cell_co", bound=float | Array, default=float, covariant=True)
    IndexPart = int | slice | EllipsisType | Array | Sequence[int] | None
    Index = IndexPart | tuple[IndexPart, ...]

else:
    from typing import TypeVar

    Part_co, Cell_co = TypeVar("Part_co"), TypeVar("Cell_co")

CELLS = ("tp", "fn", "fp", "tn")


@dataclass(frozen=True, slots=True, eq=False)
class Cells(Generic[Part_co]):
    """Four things that add and multiply, and their margins: what a formula sees.

    The cells may be floats, arrays, exact fractions or the symbols of a traced formula.
    """

    tp: Part_co
    fn: Part_co
    fp: Part_co
    tn: Part_co

    def __iter__(self) -> Iterator[Part_co]:
        return iter((self.tp, self.fn, self.fp, self.tn))

    @property
    def positives(self) -> Part_co:
        """Rows whose true class is the positive one: tp + fn."""
        margin: Part_co = add(self.tp, self.fn)
        return margin

    @property
    def negatives(self) -> Part_co:
        """Rows whose true class is the negative one: fp + tn."""
        margin: Part_co = add(self.fp, self.tn)
        return margin

    @property
    def predicted_positives(self) -> Part_co:
        """Rows predicted positive: tp + fp."""
        margin: Part_co = add(self.tp, self.fp)
        return margin

    @property
    def predicted_negatives(self) -> Part_co:
        """Rows predicted negative: fn + tn."""
        margin: Part_co = add(self.fn, self.tn)
        return margin

    @property
    def total(self) -> Part_co:
        """All rows: tp + fn + fp + tn."""
        rows: Part_co = add(add(add(self.tp, self.fn), self.fp), self.tn)
        return rows


class Counts(Cells[Cell_co], Saveable, Generic[Cell_co]):
    """True positives, false negatives, false positives and true negatives, always in this order.

    scikit-learn's `confusion_matrix(...).ravel()` has another, tn, fp, fn, tp: `Counts.from_matrix` reads the matrix.
    Each cell is a number or an array; the four broadcast to one shape. Whole numbers stay
    64-bit integers and never wrap; weights make the cells floats. To a type checker `Counts` is one table, and
    `Counts[Array]` many of them.

    >>> counts = Counts(tp=28, fn=23, fp=72, tn=2680)
    >>> print(counts.positives, counts.total)
    51 2803
    >>> counts + counts.swapped()
    Counts(tp=2708, fn=95, fp=95, tn=2708)
    """

    __slots__ = ()

    @overload
    def __init__(self: Counts[float], tp: Scalar, fn: Scalar, fp: Scalar, tn: Scalar) -> None: ...
    @overload
    def __init__(self: Counts[Array], tp: ArrayLike, fn: ArrayLike, fp: ArrayLike, tn: ArrayLike) -> None: ...
    @names_wrong_arguments
    def __init__(self, tp: ArrayLike, fn: ArrayLike, fp: ArrayLike, tn: ArrayLike) -> None:
        cells = broadcast([checked_values(name, cell) for name, cell in zip(CELLS, (tp, fn, fp, tn), strict=True)])
        if all(cell.dtype.kind == "i" for cell in cells):
            check_total(cells)
        else:
            cells = [cell.astype(np.float64) for cell in cells]
        for name, cell in zip(CELLS, cells, strict=True):
            cell.flags.writeable = False
            object.__setattr__(self, name, cell[()])

    @classmethod
    def trusted(cls, tp: float | Array, fn: float | Array, fp: float | Array, tn: float | Array) -> Counts[Any]:
        """Counts of cells that are known to be finite, non-negative NumPy numbers, unchecked."""
        counts: Counts[Any] = cls.__new__(cls)
        for name, cell in zip(CELLS, (tp, fn, fp, tn), strict=True):
            object.__setattr__(counts, name, cell)
        return counts

    @classmethod
    @names_wrong_arguments
    def from_matrix(cls, m: ArrayLike, positive: int = 1) -> Counts:
        """The cells of a 2 x 2 matrix: rows true, columns predicted, `positive` the index of the positive class.

        >>> Counts.from_matrix([[2680, 72], [23, 28]])  # scikit-learn's [[tn, fp], [fn, tp]]
        Counts(tp=28, fn=23, fp=72, tn=2680)
        """
        matrix = checked_values("The matrix", m)
        if matrix.shape[-2:] != (2, 2):
            raise InputError(f"A 2 x 2 matrix was expected (rows true, columns predicted), not shape {matrix.shape}.")
        if positive not in (0, 1):
            raise InputError(argument="positive", expected="the index of the positive class, 0 or 1", given=positive)
        p, n = int(positive), 1 - int(positive)
        counts: Counts[Any] = cls(matrix[..., p, p], matrix[..., p, n], matrix[..., n, p], matrix[..., n, n])
        return counts

    @classmethod
    @names_wrong_arguments
    def stack(cls, tables: Iterable[Counts[Any]]) -> Counts[Array]:
        """One Counts with a first axis over the given ones."""
        tables = list(tables)
        if not all(isinstance(table, Counts) for table in tables):
            raise InputTypeError("stack takes Counts, several of them in a list.")
        if len({table.shape for table in tables}) != 1:
            raise InputError("Tables of one shape can be stacked, one or more of them.")
        return cls(*(np.stack([getattr(table, name) for table in tables]) for name in CELLS))

    @property
    def shape(self) -> tuple[int, ...]:
        """The common shape of the cells; () for one table."""
        return np.shape(self.tp)

    def matrix(self) -> Array:
        """The table as scikit-learn lays it out: [[tn, fp], [fn, tp]] on the last two axes."""
        rows = [np.stack([self.tn, self.fp], -1), np.stack([self.fn, self.tp], -1)]
        return np.stack(rows, -2)

    def swapped(self) -> Counts[Cell_co]:
        """The same table with the other class called positive."""
        return Counts.trusted(self.tn, self.fp, self.fn, self.tp)

    @overload
    def scaled(self, factor: Scalar = 1, *, positives: Scalar = 1, negatives: Scalar = 1) -> Counts[Cell_co]: ...
    @overload
    def scaled(self, factor: ArrayLike = 1, *, positives: ArrayLike = 1, negatives: ArrayLike = 1) -> Counts[Array]: ...
    @names_wrong_arguments
    def scaled(self, factor: ArrayLike = 1, *, positives: ArrayLike = 1, negatives: ArrayLike = 1) -> Counts[Any]:
        """Every cell times `factor`; the truly positive and negative rows times their own factor as well."""
        factors = [checked_values("factor", given) for given in (factor, positives, negatives)]
        exact = all(values.dtype.kind == "i" for values in (np.asarray(self.tp), *factors))
        # As Python integers a product cannot wrap; Counts refuses what 64 bits cannot hold.
        kind = object if exact else np.float64
        cells = broadcast([*map(np.asarray, self), *factors])
        tp, fn, fp, tn, k, p, n = (cell.astype(kind) for cell in cells)
        return Counts(tp * k * p, fn * k * p, fp * k * n, tn * k * n)

    @overload
    def sum(self, axis: None = None) -> Counts[float]: ...
    @overload
    def sum(self, axis: int | tuple[int, ...]) -> Counts[Any]: ...
    @names_wrong_arguments
    def sum(self, axis: int | tuple[int, ...] | None = None) -> Counts[Any]:
        """The table of all rows together, over one axis or all."""
        axes = axis if isinstance(axis, tuple) else () if axis is None else (axis,)
        if not all(isinstance(each, int) and -len(self.shape) <= each < len(self.shape) for each in axes):
            raise InputError(
                argument="axis", expected=f"one of the {len(self.shape)} axes, numbered from 0, or several", given=axis
            )
        return Counts(*(exact_sum(cell, axis) for cell in self))

    @overload
    def __add__(self, other: Counts[float]) -> Counts[Cell_co]: ...
    @overload
    def __add__(self, other: Counts[Array]) -> Counts[Array]: ...
    def __add__(self, other: object) -> Counts[Any]:
        if not isinstance(other, Counts):
            return NotImplemented
        cells = broadcast([np.asarray(cell) for cell in (*self, *other)])
        if all(cell.dtype.kind == "i" for cell in cells):
            # Two whole counts fit into 64 bits without a sign; Counts refuses what does not fit with one.
            cells = [cell.astype(np.uint64) for cell in cells]
        return Counts(*(a + b for a, b in zip(cells[:4], cells[4:], strict=True)))

    def __radd__(self, other: object) -> Counts[Cell_co]:
        return self if other == 0 else NotImplemented  # so that sum(tables) works

    def __getitem__(self, index: Index) -> Counts[Any]:
        tp, fn, fp, tn = map(np.asarray, (self.tp, self.fn, self.fp, self.tn))
        return Counts.trusted(tp[index], fn[index], fp[index], tn[index])

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
        return to_strict_json({"schema": SCHEMA, "kind": "counts", **self.to_dict()})

    @classmethod
    @names_wrong_arguments
    def from_json(cls, text: Saved) -> Counts:
        """The table that `to_json` wrote; anything else is refused."""
        return cls(**read_table(text, "counts", CELLS))


# ---------------------------------------------------------------- shared cells


@dataclass(frozen=True, eq=False)
class SharedCells(Cells[Any]):
    """Cells of an array of tables whose margins, and the metrics inside formulas, are computed once.

    Of 43 metrics nearly all read recall, specificity or precision: on 10,000 draws that is half of their work.
    """

    parts: dict[Hashable, Array | float] = field(default_factory=dict)

    @classmethod
    def of(cls, counts: Counts[Any]) -> SharedCells:
        """The cells of counts, as floats."""
        tp, fn, fp, tn = (np.asarray(cell, dtype=np.float64) for cell in counts)
        return cls(tp, fn, fp, tn)

    @property
    def shape(self) -> tuple[int, ...]:
        """The common shape of the cells."""
        return np.shape(self.tp)

    @cached_property
    def positives(self) -> Array:
        """Rows whose true class is the positive one."""
        return np.asarray(self.tp + self.fn)

    @cached_property
    def negatives(self) -> Array:
        """Rows whose true class is the negative one."""
        return np.asarray(self.fp + self.tn)

    @cached_property
    def predicted_positives(self) -> Array:
        """Rows predicted positive."""
        return np.asarray(self.tp + self.fp)

    @cached_property
    def predicted_negatives(self) -> Array:
        """Rows predicted negative."""
        return np.asarray(self.fn + self.tn)

    @cached_property
    def total(self) -> Array:
        """All rows."""
        return np.asarray(self.tp + self.fn + self.fp + self.tn)

    @cached_property
    def least_and_most(self) -> tuple[float, float]:
        """The fewest and the most rows of a table."""
        return float(self.total.min()), float(self.total.max())
