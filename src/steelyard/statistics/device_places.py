"""Device places: where values stand in an array of a device, and the values at places of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.statistics.device_operands import as_kept, is_device, on_device

if TYPE_CHECKING:
    from steelyard.statistics.device_library import DeviceLibrary
    from steelyard.statistics.device_operands import DeviceOperand


def searchsorted_there(
    library: DeviceLibrary,
    ordered: DeviceOperand,
    values: DeviceOperand,
    side: str = "left",
    sorter: DeviceOperand = None,
) -> Any:
    """How many are below each value, or at or below it; exact also where the ordered ones are narrower numbers."""
    if sorter is not None:
        return NotImplemented
    wanted: DeviceOperand = values if is_device(values) else np.asarray(values)
    if not is_device(ordered):
        return as_kept(library, library.places(library.native(ordered), library.wide(wanted.native), side))
    native, asked = ordered.native, on_device(_as_narrow(np.reshape(wanted, -1), ordered), library)
    if native.dtype == asked.dtype:
        found = library.places(native, asked, side)
    else:
        exact, near = library.wide(asked), library.xp.astype(asked, native.dtype)
        rounded = library.wide(near)
        below, up_to = (library.places(native, near, each) for each in ("left", "right"))
        passed = rounded < exact if side == "left" else rounded <= exact
        found = library.xp.where(passed, up_to, below)
    return as_kept(library, library.xp.reshape(found, wanted.shape))


def _as_narrow(values: DeviceOperand, ordered: DeviceOperand) -> Any:
    """Numbers of the host at the width of those on the device, where none is rounded: as scores of it are not."""
    name = str(ordered.native.dtype).rpartition(".")[2]
    if is_device(values) or values.dtype.kind != "f" or name not in ("float16", "float32"):
        return values
    with np.errstate(over="ignore"):
        narrow = values.astype(name)
    return narrow if (narrow == values).all() else values


def flatnonzero_there(library: DeviceLibrary, array: DeviceOperand) -> Any:
    """The places where values are not zero."""
    return as_kept(library, library.xp.nonzero(library.xp.reshape(array.native, (-1,)))[0])


def take_there(
    library: DeviceLibrary, array: DeviceOperand, places: DeviceOperand, mode: str = "raise", **_: DeviceOperand
) -> Any:
    """The values at places."""
    places = np.clip(places, 0, len(array) - 1) if mode == "clip" else places
    return (
        array[places] if is_device(array) else as_kept(library, library.take(on_device(array, library), places.native))
    )


def bincount_there(
    library: DeviceLibrary, codes: DeviceOperand, weights: DeviceOperand = None, minlength: int = 0
) -> Any:
    """How often each code occurs, or the sum of its weights."""
    size = max(int(np.max(codes)) + 1, minlength)
    wide = None if weights is None else library.xp.astype(on_device(weights, library), library.xp.float64)
    return as_kept(library, library.code_sums(on_device(codes, library), size, wide))


def sort_there(_library: DeviceLibrary, array: DeviceOperand, **_: DeviceOperand) -> Any:
    """The values in ascending order."""
    return array.ordered() if array.ndim == 1 else NotImplemented


def unique_there(
    _library: DeviceLibrary,
    array: DeviceOperand,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    **_: DeviceOperand,
) -> Any:
    """The distinct values in ascending order; with their places at each value, and how often each occurs."""
    if return_index or array.ndim != 1:
        return NotImplemented
    values, counts = array.distinct()
    asked = [*([np.searchsorted(values, array)] if return_inverse else []), *([counts] if return_counts else [])]
    return (values, *asked) if asked else values


def argsort_there(library: DeviceLibrary, array: DeviceOperand, **_: DeviceOperand) -> Any:
    """The places of the values in ascending order."""
    return as_kept(library, library.xp.argsort(array.native, stable=True))


def take_along_axis_there(library: DeviceLibrary, array: DeviceOperand, places: DeviceOperand, axis: int = -1) -> Any:
    """The values at places of the last axis: of a column, or one of each row."""
    if not is_device(array) or axis not in (-1, array.ndim - 1):
        return NotImplemented
    if array.ndim == 1:
        return array[places]
    if array.ndim != 2 or places.shape[1:] != (1,):
        return NotImplemented
    n, k = array.shape
    first = library.xp.arange(n, device=library.device) * k
    flat = first + library.xp.reshape(on_device(places, library), (-1,))
    return as_kept(library, library.xp.reshape(library.take(library.xp.reshape(array.native, (-1,)), flat), (-1, 1)))
