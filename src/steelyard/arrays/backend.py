"""Backends: NumPy, torch, CuPy, JAX and others of the array API standard, as far as tables are counted with them.

The one place that knows the libraries apart. What counts rows is written once, on the native arrays of a backend, and
hands back columns: arrays of NumPy, or `DeviceArray`s where they are large and lie on a device. array-api-compat gives
all libraries the names of the standard; what the standard lacks (counts of codes), or has in a slower form (the
distinct values with their counts), is a method here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np

from steelyard.arrays import sorting
from steelyard.exceptions import InputError, MissingLibraryError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType

    from steelyard._types import Array

    Native: TypeAlias = Any  # an array of one of the libraries: of a type that is not imported here
    Column: TypeAlias = Any  # an array of NumPy or a DeviceArray


DOUBLE = "float64"
PRECISIONS = ("float16", "float32", DOUBLE)


def finest(*precisions: str) -> str:
    """The precision of scores together, which is that of the finest."""
    return max(precisions, key=PRECISIONS.index, default=DOUBLE)


@overload
def as_read(threshold: float, precision: str) -> float: ...
@overload
def as_read(threshold: Array, precision: str) -> Array: ...
def as_read(threshold: float | Array, precision: str) -> float | Array:
    """A threshold, or several, in a precision.

    >>> as_read(0.7, "float64"), as_read(0.7, "float32")
    (0.7, 0.699999988079071)
    """
    with np.errstate(over="ignore"):
        read = np.asarray(threshold, dtype=np.float64).astype(precision).astype(np.float64)
    return read if isinstance(threshold, np.ndarray) else float(read)


# ---------------------------------------------------------------- backend


MOST_BROUGHT = 2**14  # elements that are brought from a device rather than kept there
largest_brought = 0  # the most elements brought at once so far, for those who measure
_LIBRARIES = {"torch": "torch", "cupy": "cupy", "jax": "jax", "jaxlib": "jax", "array_api_strict": "array_api_strict"}
_MOST_UNIQUE = 2**31 - 1  # of which torch finds the distinct ones
_SHORT = "bfloat16"  # which NumPy has not: such numbers are as they are in float32
_LONG = 64  # numbers of a stretch from which on it is worth a block of threads
_COPIES, _MOST_CELLS = 1_024, 2**22  # of a table into which torch adds weights, and of all its copies
_BYTES = 2**24  # rows a step of which bytes of two columns stay in the cache of a GPU
_LABEL_ROWS = 131_072  # rows a step on the host where nothing but the labels themselves is read twice
_FEW = 2_048  # rows that take the host no longer than the calls that count them


def library_name(values: object) -> str | None:
    """The library that an array is of, by the module of its type; None of anything else."""
    kind = type(values)
    if kind is np.ndarray or kind is list:
        return None
    return _LIBRARIES.get(kind.__module__.partition(".")[0]) if hasattr(values, "dtype") else None


def is_on_host(values: Native) -> bool:
    """Whether an array of such a library lies in the memory of the processor, where NumPy reads it without a copy."""
    match library_name(values):
        case "torch":
            return bool(values.device.type == "cpu")
        case "jax":
            return all(device.platform == "cpu" for device in values.devices())
        case "array_api_strict":
            return "CPU_DEVICE" in str(values.device)
        case _:
            return False


@cache
def _compatibility() -> ModuleType:
    try:
        import array_api_compat
    except ImportError:
        raise MissingLibraryError(
            "Arrays on a device are read through array-api-compat, which is not installed; install steelyard[tensors]."
        ) from None
    return array_api_compat


@dataclass(frozen=True)
class Backend:
    """A library and one of its devices, by the names of the standard alone; libraries and NumPy override what they can.

    Methods take and give native arrays, unless they say that they are of columns.
    """

    name: str
    xp: Any  # the namespace of the standard
    device: Any

    is_device = True
    cells = 1 << 25  # of a part whose cells become float64: a quarter of a gigabyte
    widest = 1 << 20  # values between the least and the greatest label that a table of them may hold

    @staticmethod
    def of(values: Native) -> Backend:
        """That of an array; JAX without its 64-bit mode is refused, as its sums would be rounded."""
        compat, name = _compatibility(), str(library_name(values))
        if name == "jax":
            from jax import config

            if not config.jax_enable_x64:  # type: ignore[attr-defined]  # made by name
                raise InputError(
                    "JAX is in its 32-bit mode, in which counts and sums of many rows are rounded; call "
                    'jax.config.update("jax_enable_x64", True) at the start of the program.'
                )
        kind = {"torch": _Torch, "cupy": _CuPy, "jax": _JAX}.get(name, Backend)
        return kind(name, compat.array_namespace(values), compat.device(values))

    # ---------------------------------------------------------------- to and from the device

    def native(self, values: Column, /) -> Native:
        """A column on the device; of NumPy it is sent, and of one number filled in there, for which nothing is."""
        if hasattr(values, "native"):
            return values.native
        values = np.asarray(values)
        if values.size == 1 and values.dtype in (np.int64, np.float64):
            kind = self.xp.int64 if values.dtype.kind == "i" else self.xp.float64
            return self.xp.full(values.shape, values.item(), dtype=kind, device=self.device)
        given = values if values.flags.c_contiguous and values.flags.writeable else values.copy(order="C")
        return self.xp.asarray(given, device=self.device)

    def to_host(self, values: Native, /) -> Array:
        """An array of the device as one of NumPy."""
        return self._to_host(values)

    def _to_host(self, values: Native) -> Array:
        return np.asarray(values.to_device(self.xp.Device("CPU_DEVICE")))

    def column(self, native: Native, /) -> Column:
        """An array as a column that stays on the device."""
        from steelyard.arrays.device_array import DeviceArray

        return DeviceArray(self, native)

    def kept(self, native: Native, /) -> Any:
        """An array as a column of the device, or of NumPy where it has few elements; a number where it has no axis."""
        if prod(native.shape) > MOST_BROUGHT:
            return self.column(native)
        values = self.brought(native)
        return values[()] if values.ndim == 0 else values

    def brought(self, native: Native, /) -> Array:
        """An array as one of NumPy, its numbers at the width in which they compute."""
        global largest_brought  # noqa: PLW0603 - a record
        largest_brought = max(largest_brought, prod(native.shape))
        values = self.to_host(native)
        kinds = {"i": np.int64, "u": np.int64, "f": np.float64}
        return values if values.dtype.kind not in kinds else values.astype(kinds[values.dtype.kind], copy=False)

    def sent(self, values: Array, /) -> Column:
        """A column of NumPy as one of the device."""
        return self.column(self.native(values))

    def wide(self, values: Native) -> Native:
        """The values as int64, float64 or booleans, in which NumPy would compute."""
        xp = self.xp
        kinds = {"bool": xp.bool, "integral": xp.int64, "real floating": xp.float64}
        wanted = next(kind for name, kind in kinds.items() if xp.isdtype(values.dtype, name))
        return values if values.dtype == wanted else xp.astype(values, wanted)

    def real(self, values: Native) -> Native:
        """The values as float64."""
        return self.xp.astype(values, self.xp.float64, copy=False)

    def booleans(self, values: Native) -> Native:
        """Whether numbers are not 0; booleans as they are."""
        return values if values.dtype == self.xp.bool else values != 0

    def running_sums(self, values: Native, axis: int) -> Native:
        """The running sums along an axis."""
        return self.xp.cumulative_sum(values, axis=axis)

    def precision(self, values: Native) -> str:
        """The precision in which scores are given, as NumPy reads them."""
        name = str(values.dtype).rpartition(".")[2]
        return "float32" if name == _SHORT else name if name in PRECISIONS else DOUBLE

    def number(self, value: float, kind: Native) -> Native:
        """One number beside arrays of the device."""
        return self.xp.full((), value, dtype=kind, device=self.device)

    def ones(self, n: int) -> Column:
        """A column of so many ones, whole numbers."""
        return self.column(self.xp.ones((n,), dtype=self.xp.int64, device=self.device))

    # ---------------------------------------------------------------- parts of the rows

    def chunks(self, n: int, size: int = sorting.CHUNK) -> Iterable[slice]:  # noqa: ARG002 - of the host
        """Slices of n rows that are read more than once: what stays in the host's cache; on a device all of them."""
        return (slice(None),)

    def parts(self, n: int, per_row: int = 1, most: int = 1 << 62) -> Iterator[slice]:
        """Slices of n rows, each of which becomes so many cells; of no rows one that is empty.

        None names a place beyond the last, which the standard leaves open.
        """
        size = max(1, min(self.cells, most) // max(1, per_row))
        return (slice(start, start + size if start + size < n else None) for start in range(0, max(n, 1), size))

    # ---------------------------------------------------------------- places

    def take(self, values: Native, places: Native, axis: int = 0) -> Native:
        """The values at places, none of which counts from the end."""
        return self.xp.take(values, places, axis=axis)

    def taken(self, values: Column, places: Column) -> Column:
        """The values at places of the last axis of a column; few of them are sent to the places."""
        xp, there, given = self.xp, self.native(places), self.native(values)
        flat = self.take(given, xp.reshape(there, (-1,)), len(given.shape) - 1)
        return self.kept(xp.reshape(flat, (*given.shape[:-1], *there.shape)))

    def transposed(self, matrix: Column, dtype: type) -> Column:  # noqa: ARG002 - of the host
        """The columns of a matrix as rows, each in one piece of memory; of a dtype in NumPy alone."""
        return self.kept(self._in_one_piece(self.xp.permute_dims(matrix.native, (1, 0))))

    def _in_one_piece(self, native: Native) -> Native:
        return native

    def scattered(self, values: Native, places: Native, size: int) -> Native:
        """So many zeros with the values at distinct places: by the standard each zero looks for a value of its own."""
        xp, every = self.xp, self.xp.arange(size, device=self.device)
        order = xp.argsort(places)
        ascending = xp.take(places, order)
        at = xp.minimum(xp.searchsorted(ascending, every), xp.asarray(places.shape[0] - 1, device=self.device))
        there = xp.take(xp.take(values, order), at)
        return xp.where(xp.take(ascending, at) == every, there, xp.zeros_like(there))

    def with_added(self, column: Column, places: Array, amounts: Array) -> Column:
        """A column with amounts added at a few places, of which some may be the same."""
        distinct, which = np.unique(np.asarray(places) % len(column), return_inverse=True)
        return column + scattered(np.bincount(which, amounts), self.sent(distinct), len(column))

    # ---------------------------------------------------------------- order

    def sort(self, values: Native) -> Native:
        """The values in ascending order; the array given may be overwritten."""
        return self.xp.sort(values)

    def sorted(self, column: Column, is_own: bool) -> Column:  # noqa: ARG002 - of the host, which sorts in place
        """A column in ascending order, which may be overwritten where it is the caller's own."""
        return self.kept(self.sort(column.native))

    def unique_counts(self, values: Native) -> tuple[Native, Native]:
        """The distinct values in ascending order, and how often each occurs."""
        ordered = self.xp.sort(values)
        starts = self._run_starts(ordered)
        last = self.xp.full((1,), ordered.shape[0], dtype=starts.dtype, device=self.device)
        return self.take(ordered, starts), self.xp.concat([starts[1:], last]) - starts

    def _run_starts(self, ordered: Native) -> Native:
        """The places at which a new value begins among ordered ones."""
        first = self.xp.ones((min(1, ordered.shape[0]),), dtype=self.xp.bool, device=self.device)
        return self.xp.nonzero(self.xp.concat([first, ordered[1:] != ordered[:-1]]))[0]

    def unique_places(self, values: Native) -> tuple[Native, Native, Native]:
        """The distinct values in ascending order, how often each occurs, and the place among them of each value."""
        distinct, counts = self.unique_counts(values)
        return distinct, counts, self.search(distinct, values)

    def distinct(self, column: Column) -> tuple[Column, Column]:
        """Both of a column."""
        values, counts = self.unique_counts(self.native(column))
        return self.kept(values), self.kept(counts)

    def ends(self, values: Native) -> tuple[Native, Native]:
        """The least and the greatest value."""
        return self.xp.min(values), self.xp.max(values)

    def is_finite(self, values: Native) -> bool:
        """Whether all floats are finite."""
        return not prod(values.shape) or bool(np.isfinite([float(end) for end in self.ends(values)]).all())

    def search(self, ordered: Native, values: Native, side: str = "left") -> Native:
        """How many of the ordered values are below each of some others, or with side="right" at or below."""
        return self.xp.astype(self.xp.searchsorted(ordered, values, side=side), self.xp.int64)

    def below(self, few: Column, ordered: Column) -> Column:
        """How many of an ordered column are below each of some ascending values."""
        return np.searchsorted(ordered, few)

    def up_to(self, few: Column, ordered: Column, lower: Column) -> Column:  # noqa: ARG002 - of the host
        """How many are at or below each, given how many are below."""
        return np.searchsorted(ordered, few, side="right")

    def around_unsorted(self, few: Column, scores: Column) -> tuple[Column, Column]:
        """Both for scores in no order, of which the few are a part: each occurs among the distinct ones."""
        distinct, counts = self.distinct(scores)
        places, running = np.searchsorted(distinct, few), np.cumsum(counts)
        reached = running[places]
        return reached - counts[places], reached

    def merged_descending(self, first: Column, second: Column) -> tuple[Column, list[Column]]:
        """Two distinct ascending columns as one of descending values, and where in it those of each are."""
        ascending = self.distinct(np.concatenate([first, second]))[0]
        below: list[Column] = [np.searchsorted(ascending, scores) for scores in (first, second)]
        return ascending[::-1], [(len(ascending) - 1 - places)[::-1] for places in below]

    def bin_starts(self, ordered: Column, bins: int) -> list[int]:
        """Where each of so many bins of [0, 1] but the first begins among ordered scores: one search of all."""
        starts: list[int] = np.searchsorted(ordered * bins, np.arange(1.0, bins)).tolist()
        return starts

    def bin_sums(self, column: Column, ends: list[int]) -> Array:
        """The sum of a column, along its last axis, between each two of the ends, in one pass."""
        return sorting.sums_between(column, np.array(ends))

    def reached(self, scores: Column, thresholds: Array) -> Column:
        """Where scores reach a threshold, one for all columns or for each; exact also where they are narrow numbers."""
        xp, native, exact = self.xp, scores.native, self.native(np.atleast_1d(np.asarray(thresholds, np.float64)))
        if not xp.isdtype(native.dtype, "real floating"):
            return self.column(self.real(native) >= exact)
        near = xp.astype(exact, native.dtype)
        is_above = self.real(near) >= exact
        return self.column((native > near) | ((native == near) & is_above))

    # ---------------------------------------------------------------- labels and counts

    def as_bytes(self, values: Native) -> Native:
        """Booleans, or numbers that are 0 and 1, as bytes."""
        return self.xp.astype(values, self.xp.uint8, copy=False)

    def is_zero_one(self, values: Native) -> bool:
        """Whether integers or booleans are all 0 or 1."""
        if values.dtype == self.xp.bool:
            return True
        if not self.xp.isdtype(values.dtype, "integral") or not prod(values.shape):
            return False
        least, most = (int(end) for end in self.ends(values))
        return least >= 0 and most <= 1

    def pair_ones(self, true: Native, pred: Native) -> tuple[int, int, int] | None:
        """The ones of two columns and those they share; None where other values than 0 and 1 occur."""
        if not (self.is_zero_one(true) and self.is_zero_one(pred)):
            return None
        xp, sums = self.xp, []
        for part in self.parts(true.shape[0], most=_BYTES):
            t, p = self.as_bytes(true[part]), self.as_bytes(pred[part])
            sums.append(xp.stack([xp.sum(each, dtype=xp.int64) for each in (t, p, t & p)]))
        n_true, n_pred, both = self.to_host(xp.stack(sums)).sum(0).tolist()
        return n_true, n_pred, both

    def code_type(self, labels: int) -> np.dtype[Any]:  # noqa: ARG002 - of the host
        """The kind of number of the codes of so many labels: libraries index by nothing narrower."""
        return np.dtype(np.int64)

    def occurring(self, values: Native, low: int, high: int) -> Array:
        """Which of the whole numbers from the least to the greatest occur, on the host."""
        return self.to_host(self.code_sums(self._offsets(values, low), high - low + 1)) > 0

    def codes_among(self, values: Native, low: int, seen: Array) -> Native:
        """The place of each whole number among those that occur, from the least on."""
        offsets = self._offsets(values, low)
        return offsets if seen.all() else self.take(self.native(np.cumsum(seen) - 1), offsets)

    def _offsets(self, values: Native, low: int) -> Native:
        whole = self.xp.astype(values, self.xp.int64, copy=False)
        return whole - low if low else whole

    def pair_codes(self, true: Native, pred: Native, k: int) -> Native:
        """One code for each pair of codes below k."""
        whole = (self.xp.astype(values, self.xp.int64, copy=False) for values in (true, pred))
        return next(whole) * k + next(whole)

    def count_true(self, cells: Native, axis: int) -> Native:
        """How many booleans are true along an axis, as int64."""
        return self.xp.astype(self.xp.count_nonzero(cells, axis=axis), self.xp.int64)

    def column_sums(self, cells: Native, weights: Native | None) -> Native:
        """How many of each column of booleans are true, or the sum of their rows' weights."""
        return self.count_true(cells, 0) if weights is None else self.xp.matmul(weights, self.real(cells))

    def marks(self, positive: Column, /) -> Column:
        """Which rows of a column of 0/1 values are 1; in NumPy the column itself."""
        return self.column(self.booleans(self.native(positive)))

    def of_class(self, scores: Column, positive: Column, is_positive: bool, size: int) -> Column:  # noqa: ARG002 - of the host
        """A copy of the scores of one class, whose size is known."""
        mask = self.booleans(self.native(positive))
        return self.kept(self.native(scores)[mask if is_positive else ~mask])

    def count_ones(self, positive: Native) -> int:
        """How many of 0/1 values are 1."""
        return int(self.xp.count_nonzero(positive))

    def code_sums(self, codes: Native, size: int, weights: Native | None = None) -> Native:
        """How often each of the codes 0 to size - 1 occurs, or the sum of their weights; nothing waits for the host.

        Whole numbers stay whole, which some libraries sum as floats.
        """
        sums = self._code_sums(codes, size, weights)
        whole = weights is None or self.xp.isdtype(weights.dtype, "integral")
        return self.xp.astype(sums, self.xp.int64, copy=False) if whole else sums

    def _code_sums(self, codes: Native, size: int, weights: Native | None) -> Native:
        """By the standard they are between the ends of the runs of ordered codes."""
        xp, every = self.xp, self.xp.arange(size, device=self.device)
        order = xp.argsort(codes)
        ends = xp.searchsorted(xp.take(codes, order), every, side="right")
        amounts = xp.ones(codes.shape, dtype=xp.int64, device=self.device) if weights is None else weights
        running = xp.cumulative_sum(xp.take(amounts, order), include_initial=True)
        totals = xp.take(running, ends)
        return xp.concat([totals[:1], totals[1:] - totals[:-1]])

    def few_sums(self, values: Native, starts: Array) -> Native:
        """The sums of a few stretches that begin at ascending places, each up to the next and by all threads."""
        return self.xp.stack([self.xp.sum(values[i:j]) for i, j in pairwise([*starts.tolist(), None])])

    def stretch_sums(self, values: Native, starts: Native) -> Native:
        """The sums of the stretches of floats that begin at ascending places, each up to the next."""
        xp, n, size = self.xp, values.shape[-1], starts.shape[0]
        # Not by differences of running sums, which would round.
        stretch = xp.cumulative_sum(self.code_sums(starts, n)) - 1
        return self.code_sums(xp.where(stretch < 0, size, stretch), size + 1, values)[:size]

    def greatest_of_rows(self, row: Column, column: Column, values: Column, shape: tuple[int, int]) -> Column:
        """The largest of the values, none negative, that stand in each row of so many; 0 where it has none."""
        by_cell = np.bincount(row * shape[1] + column, values, minlength=shape[0] * shape[1])
        return by_cell.reshape(shape).max(1)


class _Torch(Backend):
    """Tensors of torch, by the functions that are quickest on a GPU."""

    def _to_host(self, values: Native) -> Array:
        plain = values.detach().cpu()
        return np.asarray((plain.float() if str(plain.dtype) == f"torch.{_SHORT}" else plain).numpy())

    def number(self, value: float, kind: Native) -> Native:
        """One number beside tensors, which torch takes from the processor's memory: nothing is sent."""
        return _torch_number(value, kind)

    def take(self, values: Native, places: Native, axis: int = 0) -> Native:
        """The values at places; the wrapper of torch's own function would look for such as count from the end first."""
        return values.index_select(axis, places)

    def _in_one_piece(self, native: Native) -> Native:
        return native.contiguous()

    def scattered(self, values: Native, places: Native, size: int) -> Native:
        return _written(self, values, places, size)

    def unique_counts(self, values: Native) -> tuple[Native, Native]:
        """Both by a sort of the values alone, where torch.sort moves an index of 8 bytes along with each."""
        if values.shape[0] > _MOST_UNIQUE:
            return super().unique_counts(values)
        distinct, counts = self._torch.unique(values, sorted=True, return_counts=True)
        return distinct, counts

    def ends(self, values: Native) -> tuple[Native, Native]:
        """The least and the greatest value, in one pass."""
        least, most = values.aminmax()
        return least, most

    def search(self, ordered: Native, values: Native, side: str = "left") -> Native:
        return self._torch.searchsorted(ordered, values.contiguous(), right=side == "right")

    def pair_ones(self, true: Native, pred: Native) -> tuple[int, int, int] | None:
        """The ones of two columns and those they share, in one pass where Triton is there."""
        from steelyard.arrays.triton_counts import one_pass_counts

        counts = one_pass_counts(true, pred)
        return super().pair_ones(true, pred) if counts is None else counts or None  # type: ignore[return-value]  # three

    def count_true(self, cells: Native, axis: int) -> Native:
        """How many booleans are true along an axis, which torch adds up as they are."""
        return cells.sum(axis)

    def _code_sums(self, codes: Native, size: int, weights: Native | None) -> Native:
        torch, codes = self._torch, codes.to(self._torch.int64)
        if not codes.is_cuda:
            return torch.bincount(codes, weights, minlength=size)
        if weights is None:  # bincount would ask the device for the largest code, and wait
            return torch.histc(codes, bins=size, min=0, max=size)
        # Each cell many times over, as additions to one and the same place wait for each other.
        copies = max(1, min(_COPIES, _MOST_CELLS // size))
        spread = torch.arange(codes.shape[0], device=codes.device).remainder_(copies).mul_(size).add_(codes)
        sums = torch.zeros(copies * size, dtype=weights.dtype, device=codes.device)
        return sums.scatter_add_(0, spread, weights).reshape(copies, size).sum(0)

    def stretch_sums(self, values: Native, starts: Native) -> Native:
        """The sums of stretches, of long ones in one pass, in which a block of threads adds up each."""
        n = values.shape[-1]
        if n < _LONG * starts.shape[0]:
            return super().stretch_sums(values, starts)
        ends = self._torch.cat([starts, self._torch.full((1,), n, dtype=starts.dtype, device=self.device)])
        return self._torch.segment_reduce(values.contiguous(), "sum", offsets=ends, unsafe=True)

    @property
    def _torch(self) -> Any:
        import torch

        return torch


@cache
def _torch_number(value: float, kind: Native) -> Native:
    import torch

    return torch.tensor(value, dtype=kind)


class _CuPy(Backend):
    """Arrays of CuPy."""

    def _to_host(self, values: Native) -> Array:
        return np.asarray(values.get())

    def _in_one_piece(self, native: Native) -> Native:
        return native.copy(order="C")

    def scattered(self, values: Native, places: Native, size: int) -> Native:
        return _written(self, values, places, size)

    def _code_sums(self, codes: Native, size: int, weights: Native | None) -> Native:
        return self.xp.bincount(codes, weights, minlength=size)[:size]


class _JAX(Backend):
    """Arrays of JAX, which are never written to."""

    def _to_host(self, values: Native) -> Array:
        array = np.asarray(values)
        return array.astype(np.float32) if array.dtype.name == _SHORT else array

    def scattered(self, values: Native, places: Native, size: int) -> Native:
        return self.xp.zeros(size, dtype=values.dtype, device=self.device).at[places].set(values)

    def _code_sums(self, codes: Native, size: int, weights: Native | None) -> Native:
        return self.xp.bincount(codes, weights, length=size)


def _written(backend: Backend, values: Native, places: Native, size: int) -> Native:
    """So many zeros with the values written at places."""
    spread = backend.xp.zeros(size, dtype=values.dtype, device=backend.device)
    spread[places] = values
    return spread


class _NumPy(Backend):
    """Arrays of NumPy, in steps that stay in the processor's cache and by several threads where that is quicker."""

    is_device = False
    cells = 1 << 18  # of a part of matrices
    widest = 2 * sorting.CHUNK

    def native(self, values: Column, /) -> Native:
        return values

    to_host = column = kept = brought = sent = marks = native

    def real(self, values: Native) -> Native:
        return values if values.dtype == np.float64 else values.astype(np.float64)

    def precision(self, values: Native) -> str:
        return {"e": "float16", "f": "float32"}.get(values.dtype.char, DOUBLE)

    def running_sums(self, values: Native, axis: int) -> Native:
        return np.cumsum(values, axis=axis)

    def ones(self, n: int) -> Column:
        """So many ones: one number in memory, whatever the length."""
        return np.broadcast_to(np.int64(1), n)

    def chunks(self, n: int, size: int = sorting.CHUNK) -> Iterable[slice]:
        return sorting.chunks(n, size)

    def take(self, values: Native, places: Native, axis: int = 0) -> Native:
        return values.take(places, axis)

    def taken(self, values: Column, places: Column) -> Column:
        return values[..., places]

    def transposed(self, matrix: Column, dtype: type) -> Column:
        """The columns of a matrix as rows; copied in parts that stay in the cache: 65 ms against 170 for 1e6 x 20."""
        columns = np.empty(matrix.shape[::-1], dtype)
        for part in self.chunks(len(matrix)):
            columns[:, part] = matrix[part].T
        return columns

    def scattered(self, values: Native, places: Native, size: int) -> Native:
        """So many zeros with the values at distinct places, which may be booleans."""
        return _written(self, values, places, size)

    def with_added(self, column: Column, places: Array, amounts: Array) -> Column:
        result = column.copy()
        np.add.at(result, places, amounts)
        return result

    def sorted(self, column: Column, is_own: bool) -> Column:
        """A column in ascending order: in place only for its one owner, as other threads may be reading it."""
        return sorting.sort(column if is_own else column.copy())

    def unique_counts(self, values: Native) -> tuple[Native, Native]:
        return np.unique(values, return_counts=True)

    def unique_places(self, values: Native) -> tuple[Native, Native, Native]:
        distinct, places, counts = np.unique(values, return_inverse=True, return_counts=True)
        return distinct, counts, places

    def ends(self, values: Native) -> tuple[Native, Native]:
        return values.min(), values.max()

    def is_finite(self, values: Native) -> bool:
        """Whether all are finite: of many one sum finds both, unless it leaves what floats hold."""
        if len(values) <= _FEW:
            return bool(np.isfinite(values).all())
        with np.errstate(over="ignore"):
            return bool(np.isfinite(values.sum()) or np.isfinite(values).all())

    def search(self, ordered: Native, values: Native, side: str = "left") -> Native:
        return np.searchsorted(ordered, values, side=side)  # type: ignore[call-overload]  # one of two words

    below = staticmethod(sorting.below)
    up_to = staticmethod(sorting.up_to)
    around_unsorted = staticmethod(sorting.around_unsorted)
    merged_descending = staticmethod(sorting.merge_descending)
    bin_starts = staticmethod(sorting.bin_starts)

    def bin_sums(self, column: Column, ends: list[int]) -> Array:
        """The sum of a column, along its last axis, between each two of the ends: each a sum by pairs."""
        return np.stack([column[..., start:end].sum(-1) for start, end in pairwise(ends)], axis=-1)

    def reached(self, scores: Column, thresholds: Array) -> Column:
        return (scores >= thresholds).astype(np.uint8)

    def as_bytes(self, values: Native) -> Native:
        return values.view(np.uint8)

    def code_type(self, labels: int) -> np.dtype[Any]:
        return np.min_scalar_type(max(labels, 1))

    def is_zero_one(self, values: Native) -> bool:
        if values.dtype.kind == "b":
            return True
        # A negative value keeps its sign bit in the OR, a larger one some bit above the first.
        return values.dtype.kind in "iu" and all(
            0 <= np.bitwise_or.reduce(values[part]) <= 1 for part in self.chunks(len(values))
        )

    def pair_ones(self, true: Native, pred: Native) -> tuple[int, int, int] | None:
        """The ones of two columns and those they share; None as soon as a step holds other values than 0 and 1."""
        if len(true) <= _FEW:  # where the number of calls is what costs
            if not (_is_binary(true) and _is_binary(pred)):
                return None
            both = np.count_nonzero(np.logical_and(true, pred))
            return int(np.count_nonzero(true)), int(np.count_nonzero(pred)), int(both)
        true, pred = (each.view(np.uint8) if each.dtype.kind == "b" else each for each in (true, pred))
        shared = n_true = n_pred = 0
        # count_nonzero is the fastest count of narrow integers, a plain sum that of 8-byte ones.
        count_true, count_pred = (np.add.reduce if each.itemsize == 8 else np.count_nonzero for each in (true, pred))
        for part in self.chunks(len(true), _LABEL_ROWS):
            t, p = true[part], pred[part]
            if not (0 <= np.bitwise_or.reduce(t) <= 1 and 0 <= np.bitwise_or.reduce(p) <= 1):
                return None
            ones_true, ones_pred = int(count_true(t)), int(count_pred(p))
            n_true, n_pred = n_true + ones_true, n_pred + ones_pred
            shared += (ones_true + ones_pred - int(np.count_nonzero(t != p))) // 2
        return n_true, n_pred, shared

    def occurring(self, values: Native, low: int, high: int) -> Array:
        seen = np.zeros(high - low + 1, dtype=bool)
        for part in self.chunks(len(values)):
            seen[np.subtract(values[part], low, dtype=np.intp, casting="unsafe")] = True
        return seen

    def codes_among(self, values: Native, low: int, seen: Array) -> Native:
        """The place of each whole number among those that occur; the numbers themselves where they are that."""
        if low == 0 and seen.all():
            return values
        table = (np.cumsum(seen) - 1).astype(self.code_type(int(seen.sum())))
        codes = np.empty(len(values), dtype=table.dtype)
        for part in self.chunks(len(values)):
            places = np.subtract(values[part], low, dtype=np.intp, casting="unsafe")
            table.take(places, out=codes[part], mode="clip")
        return codes

    def pair_codes(self, true: Native, pred: Native, k: int) -> Native:
        codes = np.multiply(true, k, dtype=np.intp, casting="unsafe")
        codes += pred.astype(np.intp, copy=False)
        return codes

    def count_true(self, cells: Native, axis: int) -> Native:
        return np.add.reduce(cells, axis=axis, dtype=np.int64)

    def column_sums(self, cells: Native, weights: Native | None) -> Native:
        """How many of each column of 0 and 1 are 1, or the sum of their rows' weights, for which nothing is widened."""
        return self.count_true(cells, 0) if weights is None else weights @ cells

    def of_class(self, scores: Column, positive: Column, is_positive: bool, size: int) -> Column:
        """A copy of the scores of one class, taken chunk by chunk."""
        out, end = np.empty(size), 0
        for part in self.chunks(len(scores)):
            # Indices beat a boolean mask: NumPy finds them without branches.
            rows = np.flatnonzero(positive[part] != 0 if is_positive else positive[part] == 0)
            out[end : end + len(rows)] = scores[part].take(rows)
            end += len(rows)
        return out

    def count_ones(self, positive: Native) -> int:
        """How many of 0/1 values are 1: count_nonzero is quickest on narrow ones, a sum on 8-byte ones."""
        return int(np.count_nonzero(positive) if positive.itemsize < 8 else np.add.reduce(positive))

    def code_sums(self, codes: Native, size: int, weights: Native | None = None) -> Native:
        """How often each of the codes 0 to size - 1 occurs, or the sum of their weights, whole where they are."""
        codes = codes.astype(np.intp, copy=False)
        if weights is None or weights.dtype.kind == "f":
            return np.bincount(codes, weights, minlength=size)
        sums = np.zeros(size, dtype=np.int64)
        np.add.at(sums, codes, weights)
        return sums

    def greatest_of_rows(self, row: Column, column: Column, values: Column, shape: tuple[int, int]) -> Column:  # noqa: ARG002 - of a device
        largest = np.zeros(shape[0])
        np.maximum.at(largest, row, values)
        return largest


def _is_binary(values: Array) -> bool:
    return values.dtype.kind == "b" or bool(0 <= np.bitwise_or.reduce(values) <= 1)


NUMPY: Backend = _NumPy("numpy", np, "cpu")


def backend_of(*columns: object) -> Backend:
    """The backend of the first column that lies on a device; NumPy's of all else."""
    for values in columns:
        if type(values) is not np.ndarray and (there := getattr(values, "backend", None)) is not None:
            return there  # type: ignore[no-any-return]  # of a DeviceArray
    return NUMPY


def taken(values: Column, places: Column) -> Array:
    """The values at places of the last axis; few values are sent to places on a device, which NumPy would bring."""
    found: Array = backend_of(places).taken(values, places)
    return found


def scattered(values: Column, places: Column, size: int) -> Array:
    """So many zeros with the values at distinct places, which may be booleans in NumPy."""
    there = backend_of(values, places)
    spread: Array = there.kept(there.scattered(there.native(values), there.native(places), size))
    return spread


def with_added(column: Column, places: Array, amounts: Array) -> Array:
    """A column with amounts added at a few places, of which some may be the same."""
    changed: Array = backend_of(column).with_added(column, places, amounts)
    return changed


def one_each(column: Column) -> Array:
    """As many ones, whole numbers, where the column is."""
    ones: Array = backend_of(column).ones(len(column))
    return ones
