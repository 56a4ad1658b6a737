"""DeviceArray: an array that stays on its device, and on which NumPy's functions run there.

Formulas are written in NumPy. Given such an array they run where it lies: NumPy hands its functions over to it, and
the names of the array API standard do the work. What is small is brought to NumPy at once, and so is what a function
needs that has no counterpart here: slower, never another value.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from steelyard.statistics import device_functions
from steelyard.statistics.device_operands import item

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard._types import Array
    from steelyard.statistics.device_library import DeviceLibrary, Native
    from steelyard.statistics.device_operands import DeviceOperand

MOST_BROUGHT = 2**14  # elements that are brought rather than kept
largest_brought = 0  # the most elements brought at once so far, for those who measure


def kept(library: DeviceLibrary, native: Native) -> Any:
    """An array of the device, or of NumPy where it has few elements; a number where it has no axis."""
    size = prod(native.shape)
    if size > MOST_BROUGHT:
        return DeviceArray(library, native)
    values = _bring(library, native)
    return values[()] if values.ndim == 0 else values


def _bring(library: DeviceLibrary, native: Native) -> Array:
    global largest_brought  # noqa: PLW0603 - a record
    largest_brought = max(largest_brought, prod(native.shape))
    values = library.brought(native)
    kinds = {"i": np.int64, "u": np.int64, "f": np.float64}
    return values if values.dtype.kind not in kinds else values.astype(kinds[values.dtype.kind], copy=False)


class DeviceArray(NDArrayOperatorsMixin):
    """An array on a device; numbers narrower than 64 bits keep their width in memory and compute as if they had it."""

    def __init__(self, library: DeviceLibrary, native: Native) -> None:
        self.library, self.native = library, native
        self._as_kinds: dict[Native, Native] = {}

    def brought(self) -> Array:
        """The same as an array of NumPy."""
        return _bring(self.library, self.native)

    def ordered(self) -> Any:
        """The values in ascending order."""
        return kept(self.library, self.library.sort(self.native))

    def distinct(self) -> tuple[Any, Any]:
        """The distinct values in ascending order, and how often each occurs."""
        values, counts = self.library.unique_counts(self.native)
        return kept(self.library, values), kept(self.library, counts)

    def joined(self, parts: Sequence[DeviceArray]) -> DeviceArray:
        """Arrays of the same kind one after another."""
        return DeviceArray(self.library, self.library.xp.concat([part.native for part in parts]))

    def as_kind(self, kind: Native) -> Native:
        """The numbers as those of a kind of the library, made once: formulas read a column again and again."""
        if self.native.dtype == kind:
            return self.native
        if kind not in self._as_kinds:
            self._as_kinds[kind] = self.library.xp.astype(self.native, kind)
        return self._as_kinds[kind]

    def wide(self) -> Native:
        """The numbers at the width in which they compute."""
        xp = self.library.xp
        return self.as_kind({"b": xp.bool, "i": xp.int64, "f": xp.float64}[self.dtype.kind])

    def ones(self) -> DeviceArray:
        """As many ones, whole numbers."""
        xp = self.library.xp
        return DeviceArray(self.library, xp.ones(self.shape, dtype=xp.int64, device=self.library.device))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        values = self.brought()
        return values if dtype is None else values.astype(dtype, copy=bool(copy))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: DeviceOperand, **options: DeviceOperand) -> Any:
        return device_functions.run_ufunc(self.library, ufunc, method, inputs, options)

    def __array_function__(
        self, function: DeviceOperand, types: DeviceOperand, args: DeviceOperand, options: DeviceOperand
    ) -> Any:
        return device_functions.run_function(self.library, function, args, options)

    # ---------------------------------------------------------------- what an array knows of itself

    @property
    def dtype(self) -> np.dtype[Any]:
        """The kind of number, at the width in which it computes."""
        xp, kind = self.library.xp, self.native.dtype
        return np.dtype(bool if kind == xp.bool else np.int64 if xp.isdtype(kind, "integral") else np.float64)

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return tuple(self.native.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.brought())

    def __getitem__(self, key: DeviceOperand) -> Any:
        return item(self, key)

    # ---------------------------------------------------------------- methods that NumPy's arrays have

    def astype(self, dtype: DeviceOperand, copy: bool = True) -> Any:  # noqa: ARG002 - NumPy's word; nothing is ever written
        """The values as numbers of another kind."""
        return device_functions.cast(self, np.dtype(dtype))

    def copy(self) -> DeviceArray:
        """The same: nothing is ever written in place."""
        return self

    def sum(self, axis: int | None = None, **options: DeviceOperand) -> Any:
        """The sum, of all or along an axis."""
        return np.sum(self, axis=axis, **options)

    def cumsum(self, axis: int | None = None, **options: DeviceOperand) -> Any:
        """The running sums."""
        return np.cumsum(self, axis=axis, **options)

    def max(self, axis: int | None = None, **options: DeviceOperand) -> Any:
        """The greatest value."""
        return np.max(self, axis=axis, **options)

    def min(self, axis: int | None = None, **options: DeviceOperand) -> Any:
        """The least value."""
        return np.min(self, axis=axis, **options)

    def any(self, axis: int | None = None) -> Any:
        """Whether one is true."""
        return np.any(self, axis=axis)

    def all(self, axis: int | None = None) -> Any:
        """Whether all are true."""
        return np.all(self, axis=axis)

    def argmax(self, axis: int | None = None) -> Any:
        """The place of the greatest value."""
        return np.argmax(self, axis=axis)

    def take(self, places: DeviceOperand, mode: str = "raise") -> Any:
        """The values at places."""
        return device_functions.run_function(self.library, np.take, (self, places), {"mode": mode})

    def reshape(self, *shape: DeviceOperand) -> Any:
        """The same values on other axes."""
        return np.reshape(self, shape[0] if len(shape) == 1 else shape)

    def ravel(self) -> Any:
        """The same values on one axis."""
        return np.reshape(self, -1)

    def tolist(self) -> list[Any]:
        """The values as a list."""
        listed: list[Any] = self.brought().tolist()
        return listed
