"""Device functions: what NumPy's functions are on an array of a device, by the names of the array API standard."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.statistics import device_places
from steelyard.statistics.device_operands import as_kept, brought_all, is_device, natives, on_device

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from steelyard.statistics.device_library import DeviceLibrary, Native
    from steelyard.statistics.device_operands import DeviceOperand

# Functions of the standard by the names of NumPy's ufuncs.
_ARITHMETIC = {
    name: name for name in ("add", "subtract", "multiply", "maximum", "minimum", "floor_divide", "remainder")
}
_ARITHMETIC |= {"power": "pow", "negative": "negative", "absolute": "abs", "square": "square", "sign": "sign"}
_REAL = {name: name for name in ("sqrt", "exp", "log", "log1p", "floor", "trunc", "hypot")} | {"divide": "divide"}
_COMPARED = {name: name for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")}
_TESTS = {"isfinite": "isfinite", "isnan": "isnan", "isinf": "isinf"}
_LOGIC = {
    "logical_and": "logical_and",
    "logical_or": "logical_or",
    "logical_not": "logical_not",
    "bitwise_and": "bitwise_and",
    "bitwise_or": "bitwise_or",
    "invert": "bitwise_invert",
}
_FEW = 32  # stretches that are summed one by one


def run_ufunc(
    library: DeviceLibrary,
    ufunc: np.ufunc,
    method: str,
    inputs: Sequence[DeviceOperand],
    options: Mapping[str, DeviceOperand],
) -> Any:
    """A ufunc of NumPy on the device, or on NumPy's arrays where it has no counterpart."""
    name, xp = ufunc.__name__, library.xp
    if method == "reduceat" and name == "add":
        return _reduceat(library, library.wide(on_device(inputs[0], library)), inputs[1])
    if method != "__call__" or not set(options) <= {"dtype"}:
        return getattr(ufunc, method)(*map(brought_all, inputs), **{k: brought_all(v) for k, v in options.items()})
    real = name in _REAL or options.get("dtype") in (np.float64, float)
    if name == "matmul":
        return as_kept(library, xp.sum(xp.multiply(*natives(library, inputs)), axis=-1))
    if name == "power" and np.ndim(inputs[1]) == 0 and inputs[1] == 2:  # as NumPy does: a general power takes long
        return as_kept(library, xp.square(*natives(library, inputs[:1], real=real)))
    if name == "negative" and xp.isdtype(inputs[0].native.dtype, "real floating"):  # exact at every width
        return as_kept(library, xp.negative(inputs[0].native))
    if name in _COMPARED:
        return as_kept(library, getattr(xp, name)(*natives(library, inputs, narrow=True)))
    if name in _ARITHMETIC | _REAL:
        return as_kept(library, getattr(xp, (_ARITHMETIC | _REAL)[name])(*natives(library, inputs, real=real)))
    if name in _LOGIC | _TESTS:
        return as_kept(library, getattr(xp, (_LOGIC | _TESTS)[name])(*natives(library, inputs)))
    return ufunc(*map(brought_all, inputs), **options)


def _reduceat(library: DeviceLibrary, wide: Native, starts: DeviceOperand) -> Any:
    """The sums of the stretches that begin at ascending places, each up to the next."""
    xp, places = library.xp, on_device(starts, library)
    if not xp.isdtype(wide.dtype, "integral"):
        few = not is_device(starts) and len(starts) <= _FEW
        return as_kept(library, library.few_sums(wide, starts) if few else library.stretch_sums(wide, places))
    running = xp.cumulative_sum(wide, include_initial=True)
    ends = xp.concat([places[1:], xp.full((1,), wide.shape[-1], dtype=places.dtype, device=library.device)])
    return as_kept(library, library.take(running, ends) - library.take(running, places))


def run_function(
    library: DeviceLibrary, function: DeviceOperand, args: Sequence[DeviceOperand], options: Mapping[str, DeviceOperand]
) -> Any:
    """A function of NumPy on the device, or on NumPy's arrays where it has no counterpart."""
    if (own := _FUNCTIONS.get(function.__name__)) is not None:
        result = own(library, *args, **options)
        if result is not NotImplemented:
            return result
    return function(*map(brought_all, args), **{key: brought_all(value) for key, value in options.items()})


def cast(array: DeviceOperand, dtype: np.dtype[Any]) -> Any:
    """The values as booleans, int64 or float64."""
    xp, library = array.library.xp, array.library
    if dtype == array.dtype:
        return array
    wanted = {"b": xp.bool, "i": xp.int64, "u": xp.int64, "f": xp.float64}.get(dtype.kind)
    return array.brought().astype(dtype) if wanted is None else as_kept(library, array.as_kind(wanted))


# ---------------------------------------------------------------- functions by NumPy's names


def _reduced(
    name: str, library: DeviceLibrary, array: DeviceOperand, axis: DeviceOperand = None, **options: DeviceOperand
) -> Any:
    if set(options) - {"keepdims", "dtype", "initial"} or not array.size:
        return NotImplemented
    native = array.native if name in ("max", "min", "argmax", "argmin") else array.wide()
    if name in ("sum", "argmax", "argmin") and native.dtype == library.xp.bool:
        native = library.xp.astype(native, library.xp.int64)
    if name in ("any", "all") and native.dtype != library.xp.bool:
        native = native != 0
    result = getattr(library.xp, name)(native, axis=axis, keepdims=options.get("keepdims", False))
    if options.get("initial") is not None:
        result = library.xp.maximum(result, library.native(np.asarray(options["initial"], dtype=array.dtype)))
    return as_kept(library, result)


def _cumsum(
    library: DeviceLibrary,
    array: DeviceOperand,
    axis: DeviceOperand = None,
    dtype: DeviceOperand = None,
    **_: DeviceOperand,
) -> Any:
    native = array.wide() if dtype is None else cast(array, np.dtype(dtype)).native
    native = library.xp.astype(native, library.xp.int64) if native.dtype == library.xp.bool else native
    return as_kept(library, library.xp.cumulative_sum(native, axis=-1 if axis is None else axis))


def _concatenate(library: DeviceLibrary, arrays: Sequence[DeviceOperand], axis: int = 0) -> Any:
    filled = [array for array in arrays if np.shape(array)[axis]]
    return as_kept(library, library.xp.concat(natives(library, filled, narrow=True), axis=axis))


def _append(library: DeviceLibrary, array: DeviceOperand, values: DeviceOperand, **_: DeviceOperand) -> Any:
    flat = [np.reshape(part, -1) if is_device(part) else np.ravel(part) for part in (array, values)]
    return _concatenate(library, flat)


def _where(library: DeviceLibrary, condition: DeviceOperand, *values: DeviceOperand) -> Any:
    if not values:
        return NotImplemented
    return as_kept(library, library.xp.where(on_device(condition, library), *natives(library, values)))


def _clip(
    _library: DeviceLibrary,
    array: DeviceOperand,
    low: DeviceOperand = None,
    high: DeviceOperand = None,
    **_: DeviceOperand,
) -> Any:
    result = array
    result = result if low is None else np.maximum(result, low)
    return result if high is None else np.minimum(result, high)


def _diff(
    _library: DeviceLibrary,
    array: DeviceOperand,
    n: int = 1,
    axis: int = -1,
    prepend: DeviceOperand = None,
    append: DeviceOperand = None,
) -> Any:
    if n != 1 or axis not in (-1, array.ndim - 1):
        return NotImplemented
    before, after = ([] if end is None else [np.ravel(end)] for end in (prepend, append))
    whole = np.concatenate([*before, array, *after]) if before or after else array
    return whole[..., 1:] - whole[..., :-1]


def _stack(library: DeviceLibrary, arrays: Sequence[DeviceOperand], axis: int = 0) -> Any:
    return as_kept(library, library.xp.stack(natives(library, arrays, narrow=True), axis=axis))


def _reshape(library: DeviceLibrary, array: DeviceOperand, shape: DeviceOperand, **_: DeviceOperand) -> Any:
    return as_kept(library, library.xp.reshape(array.native, shape if isinstance(shape, tuple) else (shape,)))


def _trapezoid(_library: DeviceLibrary, y: DeviceOperand, x: DeviceOperand = None, **options: DeviceOperand) -> Any:
    if x is None or options:
        return NotImplemented
    return (np.diff(x) * (y[..., 1:] + y[..., :-1]) / 2).sum(-1)


def _average(
    _library: DeviceLibrary, array: DeviceOperand, axis: DeviceOperand = None, weights: DeviceOperand = None
) -> Any:
    if axis is not None or weights is None:
        return NotImplemented
    return (array * weights).sum() / weights.sum()


def _dot(_library: DeviceLibrary, a: DeviceOperand, b: DeviceOperand) -> Any:
    return (a * b).sum(-1)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: partial(_reduced, name) for name in ("sum", "max", "min", "any", "all", "argmax", "argmin")},
    **{f"a{name}": partial(_reduced, name) for name in ("max", "min")},
    "cumsum": _cumsum,
    "concatenate": _concatenate,
    "append": _append,
    "where": _where,
    "clip": _clip,
    "diff": _diff,
    "searchsorted": device_places.searchsorted_there,
    "flatnonzero": device_places.flatnonzero_there,
    "take": device_places.take_there,
    "stack": _stack,
    "reshape": _reshape,
    "bincount": device_places.bincount_there,
    "argsort": device_places.argsort_there,
    "sort": device_places.sort_there,
    "unique": device_places.unique_there,
    "trapezoid": _trapezoid,
    "dot": _dot,
    "average": _average,
    "take_along_axis": device_places.take_along_axis_there,
    "shape": lambda _, array: array.shape,
    "ndim": lambda _, array: array.ndim,
    "size": lambda _, array, axis=None: array.size if axis is None else array.shape[axis],
}
