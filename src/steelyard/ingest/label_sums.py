"""Sums of labels: batches on a device counted into a table that stays there until a result is asked for.

Nothing here waits for the device. What cannot be counted is counted apart, and refused when the table is brought.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import InputError, first_ten
from steelyard.ingest import arrays
from steelyard.statistics.backend import Backend, library_name
from steelyard.statistics.confusion import Confusion

if TYPE_CHECKING:
    from steelyard._types import Array, Labels
    from steelyard.statistics.backend import Column, Native

_SMALL = 64  # labels from 0 that are told apart where none are declared
# Cells behind those of the pairs, in which a row counts once; a row of no weight is as good as absent.
REFUSED = ("labels", "weights", "frequency", "absent")


@dataclass
class LabelSums:
    """The rows of each pair of labels on one device, and their weights where batches have some."""

    there: Backend
    declared: Labels | None
    rows: Native = None
    weights: Native | None = None
    squares: Native | None = None
    kinds: set[str] = field(default_factory=set)

    @property
    def labels(self) -> Labels:
        """The labels of the table: the declared ones, or small whole numbers."""
        return tuple(range(_SMALL)) if self.declared is None else self.declared

    def add(self, y_true: Column, y_pred: Column, sample_weight: Column, frequency: Column) -> None:
        """Count one more batch."""
        columns = self._columns(y_true, y_pred, sample_weight, frequency)
        codes, weight = self._codes(*columns), columns[2]
        times = None if columns[3] is None else self._times(codes, columns[3])
        size = len(self.labels) ** 2 + len(REFUSED)
        rows = self.there.code_sums(codes, size, times)
        if weight is not None and self.weights is None:  # those of batches before had the weight 1
            self.weights = self.squares = None if self.rows is None else self.there.real(self.rows)
        sums, squares = (self.there.real(rows),) * 2 if weight is None else self._weighted(codes, size, weight, times)
        if weight is not None or self.weights is not None:
            self.weights = sums if self.weights is None else self.weights + sums
            self.squares = squares if self.squares is None else self.squares + squares
        self.rows = rows if self.rows is None else self.rows + rows

    def _columns(self, y_true: Column, y_pred: Column, *weights: Column) -> list[Any]:
        given = {"y_true": y_true, "y_pred": y_pred, "sample_weight": weights[0], "frequency": weights[1]}
        columns = {
            name: None if values is None else arrays.column(values, name, self.there) for name, values in given.items()
        }
        arrays.check_lengths(**columns)
        self.kinds |= {columns[name].dtype.kind for name in ("y_true", "y_pred")}  # type: ignore[union-attr]  # given
        return list(columns.values())

    def _codes(self, true: Column, pred: Column, weight: Column | None, times: Column | None) -> Native:
        """The cell of each row: that of its pair of labels, or one of those for what is refused."""
        xp, k = self.there.xp, len(self.labels)
        (true_codes, is_true), (pred_codes, is_pred) = self._places(true), self._places(pred)
        codes = xp.where(is_true & is_pred, true_codes * k + pred_codes, k * k)
        refused = {name: k * k + place for place, name in enumerate(REFUSED)}
        given = [self.there.real(column.native) for column in (weight, times) if column is not None]
        for values in given:
            codes = xp.where(values == 0, refused["absent"], codes)
        if times is not None and times.dtype.kind == "f":
            codes = xp.where(given[-1] == xp.floor(given[-1]), codes, refused["frequency"])
        for values in given:
            codes = xp.where((values >= 0) & xp.isfinite(values), codes, refused["weights"])
        return codes

    def _times(self, codes: Native, frequency: Column) -> Native:
        """How many rows each row counts for; once where it is refused, so that no two make up for each other."""
        xp, is_counted = self.there.xp, codes < len(self.labels) ** 2
        if frequency.dtype.kind == "f":
            return xp.astype(xp.where(is_counted, self.there.real(frequency.native), 1.0), xp.int64)
        return xp.where(is_counted, xp.astype(frequency.native, xp.int64), 1)

    def _places(self, column: Column) -> tuple[Native, Native]:
        """The place of each row's label among the labels, and whether it is one of them."""
        xp, given = self.there.xp, column.native
        whole = xp.astype(given, xp.int64)
        known = whole == given if column.dtype.kind == "f" else None
        if self.declared is None:
            places, is_label = whole, (whole >= 0) & (whole < _SMALL)
        else:
            ordered, order = self._ordered
            near = xp.clip(self.there.search(ordered, whole), max=len(self.declared) - 1)
            places, is_label = self.there.take(order, near), self.there.take(ordered, near) == whole
        is_label = is_label if known is None else is_label & known
        return xp.where(is_label, places, 0), is_label

    @cached_property
    def _ordered(self) -> tuple[Native, Native]:
        """The declared labels in ascending order, and their places: sent to the device once."""
        labels = np.array(self.declared, dtype=np.int64)
        order = np.argsort(labels)
        return self.there.native(labels[order]), self.there.native(order)

    def _weighted(self, codes: Native, size: int, weight: Column, times: Native | None) -> tuple[Native, Native]:
        xp = self.there.xp
        real = self.there.real(weight.native)
        counted = xp.where(codes < size - len(REFUSED), real, 0.0)  # NaN would spoil the sums of its own cell alone
        scaled = counted if times is None else counted * self.there.real(times)
        return self.there.code_sums(codes, size, scaled), self.there.code_sums(codes, size, counted * scaled)

    def table(self) -> Confusion:
        """The table; refused where a batch held other labels, or weights that are none."""
        parts = (self.rows, self.weights, self.squares)
        rows, weights, squares = (None if part is None else self.there.to_host(part) for part in parts)
        assert rows is not None  # noqa: S101 - of batches
        return table_of_sums(self.labels, rows, weights, squares, self.declared is not None, self.kinds == {"b"})


def table_of_sums(
    labels: Labels, rows: Array, weights: Array | None, squares: Array | None, declared: bool, booleans: bool = False
) -> Confusion:
    """The table of sums and of what was refused beside them."""
    k = len(labels)
    others, bad, broken, absent = rows[k * k :].tolist()
    if others:
        which = f"none of the labels {first_ten(labels)}" if declared else f"no whole numbers below {_SMALL}"
        raise InputError(f"{others:,} rows of the batches hold labels that are {which}; declare all with labels=.")
    if bad:
        raise InputError(f"{bad:,} rows of the batches have weights that are negative, infinite or NaN.")
    if broken:
        raise InputError(arrays.not_whole("frequency"))
    if absent and not rows[: k * k].any():
        raise InputError(arrays.weightless("The weight of the batches"))
    cells = [None if part is None else part[: k * k].reshape(k, k) for part in (rows, weights, squares)]
    if declared:
        return Confusion(labels, *cells)  # type: ignore[arg-type]  # there are always rows
    assert cells[0] is not None  # noqa: S101 - there are always rows
    present = np.flatnonzero(cells[0].sum(0) + cells[0].sum(1))
    small = [None if part is None else part[np.ix_(present, present)] for part in cells]
    return Confusion(tuple(map(bool if booleans else int, present)), *small)  # type: ignore[arg-type]  # rows


# ---------------------------------------------------------------- batches


def batch_device(y_true: Column, other: Column, declared: Labels | None) -> Backend | None:
    """The device on which a batch, of any length, is counted; None where NumPy counts it."""
    if declared is not None and not all(isinstance(label, int) for label in declared):
        return None
    given = (values for values in (y_true, other) if library_name(values) is not None)
    there = next((values for values in given if arrays.stays(values)), None)
    return None if there is None else Backend.of(there)


def kept_column(there: Backend, values: Column, name: str) -> Column:
    """A copy of a column on the device: a loop may write the next batch into the same memory."""
    if values is None:
        return None
    return there.column(there.xp.asarray(there.native(arrays.column(values, name, there)), copy=True))
