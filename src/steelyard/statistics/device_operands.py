"""Device operands: what NumPy's functions are given, as arrays of a device, and parts of such an array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.statistics.device_library import DeviceLibrary, Native

    DeviceOperand: TypeAlias = Any  # a number, an array of NumPy or a DeviceArray, or several of them


def is_device(value: object) -> bool:
    """Whether this is an array of a device."""
    return hasattr(value, "native") and hasattr(value, "library")


def as_kept(library: DeviceLibrary, native: Native) -> Any:
    """A result of the device, or of NumPy where it is small."""
    from steelyard.statistics.device_array import kept

    return kept(library, native)


def brought_all(value: DeviceOperand) -> Any:
    """Arguments with every array of a device as one of NumPy."""
    if is_device(value):
        return value.brought()
    return type(value)(map(brought_all, value)) if type(value) in (list, tuple) else value


def natives(
    library: DeviceLibrary, values: Sequence[DeviceOperand], *, real: bool = False, narrow: bool = False
) -> list[Native]:
    """Operands on the device as numbers of one kind: booleans, int64 or float64; narrow where all agree and may be."""
    given: list[Any] = [value if is_device(value) else np.asarray(value) for value in values]
    numbers = [_sent(library, value) for value in given]
    arrays = [native for native in numbers if not isinstance(native, np.ndarray)]
    if narrow and len(arrays) == len(numbers) and all(native.dtype == arrays[0].dtype for native in arrays):
        return arrays
    xp = library.xp
    kinds = [_kind(library, native) for native in numbers] + (["f"] if real else [])
    kind = next(kind for kind in "fib" if kind in kinds)
    wanted = {"f": xp.float64, "i": xp.int64, "b": xp.bool}[kind]
    return [
        value.as_kind(wanted) if is_device(value) else _as_kind(library, native, wanted)
        for value, native in zip(given, numbers, strict=True)
    ]


def _sent(library: DeviceLibrary, value: DeviceOperand) -> Any:
    """What lies on the device, or is sent there; a single number stays."""
    if is_device(value):
        return value.native
    return value if value.ndim == 0 else library.native(value)


def _kind(library: DeviceLibrary, native: Native) -> str:
    if isinstance(native, np.ndarray):
        return "i" if native.dtype.kind == "u" else native.dtype.kind
    names = {"b": "bool", "i": "integral", "f": "real floating"}
    return next(kind for kind, name in names.items() if library.xp.isdtype(native.dtype, name))


def _as_kind(library: DeviceLibrary, native: Native, wanted: Native) -> Native:
    if isinstance(native, np.ndarray):
        return library.number(native.item(), wanted)
    return native if native.dtype == wanted else library.xp.astype(native, wanted)


def on_device(array: DeviceOperand, library: DeviceLibrary) -> Native:
    """An array of the device, sent there where it is one of NumPy."""
    return array.native if is_device(array) else library.native(np.asarray(array))


# ---------------------------------------------------------------- parts of an array


def item(array: DeviceOperand, key: DeviceOperand) -> Any:
    """Some of the elements: by slices, places or booleans."""
    library, parts = array.library, list(key) if isinstance(key, tuple) else [key]
    native, axis = array.native, 0
    if any(part is None for part in parts):
        return array.brought()[key]
    for place, part in enumerate(parts):
        if part is Ellipsis:
            axis = native.ndim - (len(parts) - place - 1)
        elif isinstance(part, slice):
            native, axis = _sliced(library, native, part, axis), axis + 1
        elif isinstance(part, (int, np.integer)):
            native = native[(*(slice(None),) * axis, int(part), ...)]
        else:
            native, axis = _picked(library, native, part, axis), axis + 1
    return as_kept(library, native)


def _sliced(library: DeviceLibrary, native: Native, part: slice, axis: int) -> Native:
    """The elements of a slice; those of one that steps backwards, which torch has not, turned round."""
    every = range(native.shape[axis])[part]
    forward = every if every.step > 0 else every[::-1]
    if forward == range(native.shape[axis]):
        taken = native
    else:  # no place beyond the last is named, which the standard leaves open
        stop = None if forward.stop >= native.shape[axis] else forward.stop
        legal = slice(forward.start, stop, forward.step) if forward else slice(0, 0)
        taken = native[(*(slice(None),) * axis, legal)]
    return taken if every.step > 0 else library.xp.flip(taken, axis=axis)


def _picked(library: DeviceLibrary, native: Native, part: DeviceOperand, axis: int) -> Native:
    """The elements at places, or where booleans are true; places that count from the end come from the host alone."""
    if not is_device(part):
        given = np.asarray(part)
        part = given if given.dtype.kind == "b" else np.where(given < 0, given + native.shape[axis], given)
        if part.shape == (1,) and part.dtype.kind != "b":  # a slice, for which nothing is sent
            return native[(*(slice(None),) * axis, slice(int(part[0]), int(part[0]) + 1))]
    places = on_device(part, library)
    if places.dtype == library.xp.bool:
        places = library.xp.nonzero(places)[0]
    if len(places.shape) == 1:
        return library.take(native, places, axis)
    shape = (*native.shape[:axis], *places.shape, *native.shape[axis + 1 :])
    return library.xp.reshape(library.take(native, library.xp.reshape(places, (-1,)), axis), shape)
