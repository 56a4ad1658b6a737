"""Device columns: arrays of torch, CuPy and JAX, as NumPy reads them or as columns that stay on their device."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from steelyard.exceptions import InputError, InputTypeError
from steelyard.statistics import device_array
from steelyard.statistics.device_array import DeviceArray
from steelyard.statistics.device_library import DeviceLibrary, is_on_host, library_name

if TYPE_CHECKING:
    from steelyard._types import Array, Labels
    from steelyard.statistics.device_library import Native

    Column: TypeAlias = Any  # of any library, or a list


def device_of(*columns: Column) -> DeviceLibrary | None:
    """The library and device of the first column that lies on one; None where all are, or must be, read by NumPy.

    Beside text, which no device holds, the other columns are brought, and so are short ones.
    """
    library = None
    if (there := next((values for values in columns if isinstance(values, DeviceArray)), None)) is not None:
        return there.library
    if all(library_name(values) is None for values in columns):
        return None
    for values in columns:
        if library_name(values) is None:
            if values is not None and np.asarray(values).dtype.kind not in "biuf":
                return None
        elif library is None and values.shape[:1] > (device_array.MOST_BROUGHT,) and _stays(values):
            library = DeviceLibrary.of(values)
    return library


def _stays(values: Native) -> bool:
    """Whether an array is computed with where it lies: not where NumPy reads it, nor where there is no float64."""
    if is_on_host(values) or getattr(values, "layout", None) not in (None, _strided()):
        return False
    return not (library_name(values) == "torch" and values.device.type in ("mps", "meta"))


def _strided() -> Any:
    import sys

    return getattr(sys.modules.get("torch"), "strided", None)


def as_numpy(values: Native) -> Array:
    """An array of such a library as one of NumPy: what lies in the processor's memory is not copied."""
    if library_name(values) == "torch":
        import torch

        plain = values.detach().resolve_conj().resolve_neg()  # views whose sign is turned when they are read
        plain = plain.float() if plain.dtype == torch.bfloat16 else plain
        return np.asarray((plain if plain.device.type == "cpu" else plain.cpu()).numpy())
    if not is_on_host(values):
        return DeviceLibrary.of(values).brought(values)
    array = np.asarray(values)
    array = array.astype(np.float32) if array.dtype.name == "bfloat16" else array
    if array.dtype.kind == "V":  # float8 and the like of JAX, which NumPy holds and does not compute with
        raise TypeError(f"NumPy has no numbers such as {array.dtype.name}.")
    return array


def unread_sentence(values: Column, name: str) -> str:
    """The sentence about a column that NumPy does not read: of a tensor, what it is."""
    if library_name(values) is None:
        return f"{name} cannot be read as a column: its rows differ in shape or kind."
    of_torch = library_name(values) == "torch"
    kind = f"{values.dtype}, {values.layout}, on {values.device.type!r}" if of_torch else str(values.dtype)
    return f"{name} is a tensor that NumPy cannot read ({kind}); give a dense one of floats, whole numbers or booleans."


def narrowed(values: Column) -> Column:
    """Whole numbers of a device that are all 0 or 1 as bytes, an eighth of what would travel; all else as it is."""
    if library_name(values) is None or not _stays(values) or not prod(values.shape):
        return values
    library = DeviceLibrary.of(values)
    if not library.xp.isdtype(values.dtype, "integral"):
        return values
    least, most = (int(end) for end in library.ends(values))
    return library.xp.astype(values, library.xp.uint8) if least >= 0 and most <= 1 else values


def device_column(library: DeviceLibrary, values: Column, name: str, ndim: int = 1) -> DeviceArray:
    """A column on the device; one that lies elsewhere is sent there."""
    if isinstance(values, DeviceArray):
        return values
    xp, there = library.xp, library_name(values) is not None
    native = values.detach() if library.name == "torch" and there else values
    if not there:
        native = library.native(np.asarray(values))
    elif library_name(values) != library.name or is_on_host(values):
        native = library.native(as_numpy(values))
    if not xp.isdtype(native.dtype, ("bool", "integral", "real floating")):
        raise InputTypeError(f"{name} holds {native.dtype} values; give floats, whole numbers or booleans.")
    if len(native.shape) != ndim:
        raise InputError(_shape_sentence(tuple(native.shape), name))
    return DeviceArray(library, native)


def _shape_sentence(shape: tuple[int, ...], name: str) -> str:
    from steelyard.ingest import arrays

    return arrays.shape_sentence(None, np.broadcast_to(np.int8(0), shape), name)


def device_weights(library: DeviceLibrary, values: Column, name: str, *, whole: bool = False) -> DeviceArray | None:
    """A column of weights on the device: finite, not negative, not all zero; whole numbers where they count rows."""
    from steelyard.ingest import arrays

    if values is None:
        return None
    column = device_column(library, values, name)
    if not len(column):
        return column
    if not np.isfinite(total := float(np.sum(column.astype(np.float64)))):
        arrays.weights(column.brought(), name, whole=whole)  # refuses them
    least, most = (float(end) for end in (column.min(), column.max()))
    arrays.check_weights(least, most, name)
    if not whole:
        return DeviceArray(library, library.xp.astype(column.native, library.xp.float64))
    if column.dtype.kind == "f" and bool((column != np.floor(column)).any()):
        raise InputError(arrays.not_whole(name))
    arrays.check_rows(total, name)
    return DeviceArray(library, library.xp.astype(column.native, library.xp.int64))


# ---------------------------------------------------------------- batches


def column_length(values: Column) -> int:
    """How many rows a column has, whatever it is."""
    shape = getattr(values, "shape", None)
    return int(shape[0]) if shape else np.size(values)


def batch_device(y_true: Column, other: Column, declared: Labels | None) -> DeviceLibrary | None:
    """The device on which a batch, of any length, is counted; None where NumPy counts it."""
    if all(library_name(values) is None for values in (y_true, other)):
        return None
    if declared is not None and not all(isinstance(label, int) for label in declared):
        return None
    there = next((values for values in (y_true, other) if library_name(values) is not None and _stays(values)), None)
    return None if there is None else DeviceLibrary.of(there)


def kept_column(library: DeviceLibrary, values: Column, name: str) -> DeviceArray | None:
    """A copy of a column on the device: a loop may write the next batch into the same memory."""
    if values is None:
        return None
    column = device_column(library, values, name)
    return DeviceArray(library, library.xp.asarray(column.native, copy=True))
