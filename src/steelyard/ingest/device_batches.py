"""Batches on a device: labels counted into a table that stays there, and scores kept there, until a result is asked.

Nothing here waits for the device. What cannot be counted is counted apart, and refused when the table is brought.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import InputError, first_ten
from steelyard.ingest import arrays
from steelyard.ingest.device_columns import device_column
from steelyard.statistics.confusion import Confusion

if TYPE_CHECKING:
    from steelyard._types import Array, Labels
    from steelyard.ingest.device_columns import Column
    from steelyard.statistics.device_array import DeviceArray
    from steelyard.statistics.device_library import DeviceLibrary, Native

_SMALL = 64  # labels from 0 that are told apart where none are declared
# Cells behind those of the pairs, in which a row counts once; a row of no weight is as good as absent.
REFUSED = ("labels", "weights", "frequency", "absent")


@dataclass
class LabelSums:
    """The rows of each pair of labels on one device, and their weights where batches have some."""

    library: DeviceLibrary
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
        rows = self.library.xp.astype(self.library.code_sums(codes, size, times), self.library.xp.int64)
        if weight is not None and self.weights is None:  # those of batches before had the weight 1
            self.weights = self.squares = None if self.rows is None else self._real(self.rows)
        sums, squares = (self._real(rows),) * 2 if weight is None else self._weighted(codes, size, weight, times)
        if weight is not None or self.weights is not None:
            self.weights = sums if self.weights is None else self.weights + sums
            self.squares = squares if self.squares is None else self.squares + squares
        self.rows = rows if self.rows is None else self.rows + rows

    def _real(self, values: Native) -> Native:
        return self.library.xp.astype(values, self.library.xp.float64)

    def _columns(self, y_true: Column, y_pred: Column, *weights: Column) -> list[Any]:
        given = {"y_true": y_true, "y_pred": y_pred, "sample_weight": weights[0], "frequency": weights[1]}
        columns = {
            name: None if values is None else device_column(self.library, values, name)
            for name, values in given.items()
        }
        arrays.check_lengths(**columns)
        self.kinds |= {columns[name].dtype.kind for name in ("y_true", "y_pred")}  # type: ignore[union-attr]  # given
        return list(columns.values())

    def _codes(
        self, true: DeviceArray, pred: DeviceArray, weight: DeviceArray | None, times: DeviceArray | None
    ) -> Native:
        """The cell of each row: that of its pair of labels, or one of those for what is refused."""
        xp, k = self.library.xp, len(self.labels)
        (true_codes, is_true), (pred_codes, is_pred) = self._places(true), self._places(pred)
        codes = xp.where(is_true & is_pred, true_codes * k + pred_codes, k * k)
        refused = {name: k * k + place for place, name in enumerate(REFUSED)}
        given = [self._real(column.native) for column in (weight, times) if column is not None]
        for values in given:
            codes = xp.where(values == 0, refused["absent"], codes)
        if times is not None and times.dtype.kind == "f":
            codes = xp.where(given[-1] == xp.floor(given[-1]), codes, refused["frequency"])
        for values in given:
            codes = xp.where((values >= 0) & xp.isfinite(values), codes, refused["weights"])
        return codes

    def _times(self, codes: Native, frequency: DeviceArray) -> Native:
        """How many rows each row counts for; once where it is refused, so that no two make up for each other."""
        xp, is_counted = self.library.xp, codes < len(self.labels) ** 2
        if frequency.dtype.kind == "f":
            return xp.astype(xp.where(is_counted, self._real(frequency.native), 1.0), xp.int64)
        return xp.where(is_counted, xp.astype(frequency.native, xp.int64), 1)

    def _places(self, column: DeviceArray) -> tuple[Native, Native]:
        """The place of each row's label among the labels, and whether it is one of them."""
        xp, given = self.library.xp, column.native
        whole = xp.astype(given, xp.int64)
        known = whole == given if column.dtype.kind == "f" else None
        if self.declared is None:
            places, is_label = whole, (whole >= 0) & (whole < _SMALL)
        else:
            ordered, order = self._ordered
            near = xp.clip(self.library.places(ordered, whole, "left"), max=len(self.declared) - 1)
            places, is_label = self.library.take(order, near), self.library.take(ordered, near) == whole
        is_label = is_label if known is None else is_label & known
        return xp.where(is_label, places, 0), is_label

    @cached_property
    def _ordered(self) -> tuple[Native, Native]:
        """The declared labels in ascending order, and their places: sent to the device once."""
        labels = np.array(self.declared, dtype=np.int64)
        order = np.argsort(labels)
        return self.library.native(labels[order]), self.library.native(order)

    def _weighted(self, codes: Native, size: int, weight: DeviceArray, times: Native | None) -> tuple[Native, Native]:
        xp = self.library.xp
        real = self._real(weight.native)
        counted = xp.where(codes < size - len(REFUSED), real, 0.0)  # NaN would spoil the sums of its own cell alone
        scaled = counted if times is None else counted * self._real(times)
        return self.library.code_sums(codes, size, scaled), self.library.code_sums(codes, size, counted * scaled)

    def brought(self) -> Confusion:
        """The table; refused where a batch held other labels, or weights that are none."""
        parts = (self.rows, self.weights, self.squares)
        rows, weights, squares = (None if part is None else self.library.brought(part) for part in parts)
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
