"""Placed values: those at places of a column, put at places of zeros, or added at places, in NumPy or on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.statistics.device_array import DeviceArray, kept
from steelyard.statistics.device_operands import on_device

if TYPE_CHECKING:
    from steelyard._types import Array


def taken(values: Array, places: Array) -> Array:
    """The values at places of the last axis; few values are sent to places on a device, which NumPy would bring."""
    if isinstance(places, DeviceArray) and not isinstance(values, DeviceArray):
        library = places.library
        on_its_device: Array = kept(library, library.take(library.native(np.asarray(values)), places.native))
        return on_its_device
    return values[..., places]


def sent_beside(values: Array, column: Array) -> Array:
    """The values on the device of a column; as they are beside one of NumPy."""
    if not isinstance(column, DeviceArray):
        return values
    there: Any = DeviceArray(column.library, column.library.native(values))
    on_its_device: Array = there
    return on_its_device


def one_each(column: Array) -> Array:
    """As many ones, whole numbers, where the column is."""
    if isinstance(column, DeviceArray):
        there: Array = column.ones()
        return there
    return np.ones(len(column), dtype=np.int64)


def scattered(values: Array, places: Array, size: int) -> Array:
    """So many zeros with the values at distinct places, which may be booleans in NumPy."""
    given: tuple[Array | DeviceArray, ...] = (values, places)
    libraries = [part.library for part in given if isinstance(part, DeviceArray)]
    if not libraries:
        spread = np.zeros(size, dtype=values.dtype)
        spread[places] = values
        return spread
    library = libraries[0]
    on_its_device: Array = kept(
        library, library.scattered(on_device(values, library), on_device(places, library), size)
    )
    return on_its_device


def with_added(column: Array, places: Array, amounts: Array) -> Array:
    """A column with amounts added at a few places, of which some may be the same."""
    if not isinstance(column, DeviceArray):
        result = column.copy()
        np.add.at(result, places, amounts)
        return result
    distinct, which = np.unique(np.asarray(places) % len(column), return_inverse=True)
    return column + scattered(np.bincount(which, amounts), distinct, len(column))
