"""Device libraries: torch, CuPy, JAX and others of the array API standard, as far as tables are counted with them.

The one place that knows the libraries apart. array-api-compat gives all of them the names of the standard; what the
standard lacks (counts of codes), or has in a slower form (the distinct values with their counts), has a branch here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from steelyard.exceptions import InputError, MissingLibraryError
from steelyard.statistics import device_sums

if TYPE_CHECKING:
    from types import ModuleType

    from steelyard._types import Array

    Native: TypeAlias = Any  # an array of one of the libraries: of a type that is not imported here

_LIBRARIES = {"torch": "torch", "cupy": "cupy", "jax": "jax", "jaxlib": "jax", "array_api_strict": "array_api_strict"}
_MOST_UNIQUE = 2**31 - 1  # of which torch finds the distinct ones
_SHORT = "bfloat16"  # which NumPy has not: such numbers are as they are in float32
_LONG = 64  # numbers of a stretch from which on it is worth a block of threads


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
class DeviceLibrary:
    """A library and one of its devices."""

    name: str
    xp: Any  # the namespace of the standard
    device: Any

    @classmethod
    def of(cls, values: Native) -> DeviceLibrary:
        """That of an array; JAX without its 64-bit mode is refused, as its sums would be rounded."""
        compat, name = _compatibility(), library_name(values)
        if name == "jax":
            from jax import config

            if not config.jax_enable_x64:  # type: ignore[attr-defined]  # made by name
                raise InputError(
                    "JAX is in its 32-bit mode, in which counts and sums of many rows are rounded; call "
                    'jax.config.update("jax_enable_x64", True) at the start of the program.'
                )
        return cls(str(name), compat.array_namespace(values), compat.device(values))

    # ---------------------------------------------------------------- to and from the device

    def native(self, values: Array) -> Native:
        """An array of NumPy on the device; of one number it is filled in there, and nothing is sent."""
        if values.size == 1 and values.dtype in (np.int64, np.float64):
            kind = self.xp.int64 if values.dtype.kind == "i" else self.xp.float64
            return self.xp.full(values.shape, values.item(), dtype=kind, device=self.device)
        given = values if values.flags.c_contiguous and values.flags.writeable else values.copy(order="C")
        return self.xp.asarray(given, device=self.device)

    def brought(self, values: Native) -> Array:
        """An array of the device as one of NumPy."""
        match self.name:
            case "torch":
                plain = values.detach().cpu()
                return np.asarray((plain.float() if str(plain.dtype) == f"torch.{_SHORT}" else plain).numpy())
            case "cupy":
                return np.asarray(values.get())
            case "array_api_strict":
                return np.asarray(values.to_device(self.xp.Device("CPU_DEVICE")))
            case _:
                array = np.asarray(values)
                return array.astype(np.float32) if array.dtype.name == _SHORT else array

    def wide(self, values: Native) -> Native:
        """The values as int64, float64 or booleans, in which NumPy would compute."""
        xp = self.xp
        kinds = {"bool": xp.bool, "integral": xp.int64, "real floating": xp.float64}
        wanted = next(kind for name, kind in kinds.items() if xp.isdtype(values.dtype, name))
        return values if values.dtype == wanted else xp.astype(values, wanted)

    def number(self, value: float, kind: Native) -> Native:
        """One number beside arrays of the device; torch takes it from the processor's memory, and nothing is sent."""
        if self.name == "torch":
            return _torch_number(value, kind)
        return self.xp.full((), value, dtype=kind, device=self.device)

    def take(self, values: Native, places: Native, axis: int = 0) -> Native:
        """The values at places, none of which counts from the end; the wrapper of torch's would look for such first."""
        if self.name == "torch":
            return values.index_select(axis, places)
        return self.xp.take(values, places, axis=axis)

    def transposed(self, matrix: Native) -> Native:
        """The columns of a matrix as rows, each in one piece of memory."""
        turned = self.xp.permute_dims(matrix, (1, 0))
        match self.name:
            case "torch":
                return turned.contiguous()
            case "cupy":
                return turned.copy(order="C")
            case _:
                return turned

    def scattered(self, values: Native, places: Native, size: int) -> Native:
        """So many zeros with the values at distinct places."""
        xp = self.xp
        if self.name == "jax":
            return xp.zeros(size, dtype=values.dtype, device=self.device).at[places].set(values)
        if self.name in ("torch", "cupy"):
            spread = xp.zeros(size, dtype=values.dtype, device=self.device)
            spread[places] = values
            return spread
        return device_sums.standard_scattered(self, values, places, size)

    # ---------------------------------------------------------------- order

    def sort(self, values: Native) -> Native:
        """The values in ascending order."""
        return self.xp.sort(values)

    def unique_counts(self, values: Native) -> tuple[Native, Native]:
        """The distinct values in ascending order, and how often each occurs."""
        if self.name == "torch" and values.shape[0] <= _MOST_UNIQUE:
            import torch

            # Sorts the values alone, where torch.sort moves an index of 8 bytes along with each.
            distinct, counts = torch.unique(values, sorted=True, return_counts=True)
            return distinct, counts
        ordered = self.xp.sort(values)
        starts = self.run_starts(ordered)
        ends = self.xp.concat(
            [starts[1:], self.xp.full((1,), ordered.shape[0], dtype=starts.dtype, device=self.device)]
        )
        return self.take(ordered, starts), ends - starts

    def ends(self, values: Native) -> tuple[Native, Native]:
        """The least and the greatest value."""
        if self.name == "torch":
            least, most = values.aminmax()
            return least, most
        return self.xp.min(values), self.xp.max(values)

    def run_starts(self, ordered: Native) -> Native:
        """The places at which a new value begins among ordered ones."""
        first = self.xp.ones((min(1, ordered.shape[0]),), dtype=self.xp.bool, device=self.device)
        return self.xp.nonzero(self.xp.concat([first, ordered[1:] != ordered[:-1]]))[0]

    def places(self, ordered: Native, values: Native, side: str) -> Native:
        """How many of the ordered values are below each of some others, or with side="right" at or below."""
        if self.name == "torch":
            import torch

            return torch.searchsorted(ordered, values.contiguous(), right=side == "right")
        return self.xp.astype(self.xp.searchsorted(ordered, values, side=side), self.xp.int64)

    # ---------------------------------------------------------------- sums

    def count_true(self, cells: Native, axis: int) -> Native:
        """How many booleans are true along an axis, as int64."""
        if self.name == "torch":  # which adds them up as they are, and need not widen them first
            return cells.sum(axis)
        return self.xp.astype(self.xp.count_nonzero(cells, axis=axis), self.xp.int64)

    def code_sums(self, codes: Native, size: int, weights: Native | None = None) -> Native:
        """How often each of the codes 0 to size - 1 occurs, or the sum of their weights; nothing waits for the host.

        Whole numbers stay whole, which some libraries sum as floats.
        """
        sums = self._code_sums(codes, size, weights)
        whole = weights is None or self.xp.isdtype(weights.dtype, "integral")
        return self.xp.astype(sums, self.xp.int64, copy=False) if whole else sums

    def _code_sums(self, codes: Native, size: int, weights: Native | None) -> Native:
        match self.name:
            case "torch":
                return device_sums.torch_sums(codes, size, weights)
            case "jax":
                return self.xp.bincount(codes, weights, length=size)
            case "cupy":
                return self.xp.bincount(codes, weights, minlength=size)[:size]
            case _:
                return device_sums.standard_sums(self, codes, size, weights)

    def few_sums(self, values: Native, starts: Array) -> Native:
        """The sums of a few stretches that begin at ascending places, each up to the next and by all threads."""
        return self.xp.stack([self.xp.sum(values[i:j]) for i, j in pairwise([*starts.tolist(), None])])

    def stretch_sums(self, values: Native, starts: Native) -> Native:
        """The sums of the stretches of floats that begin at ascending places, each up to the next."""
        xp, n, size = self.xp, values.shape[-1], starts.shape[0]
        if self.name == "torch" and n >= _LONG * size:  # one pass, in which a block of threads adds up each stretch
            import torch

            ends = torch.cat([starts, torch.full((1,), n, dtype=starts.dtype, device=self.device)])
            return torch.segment_reduce(values.contiguous(), "sum", offsets=ends, unsafe=True)
        # Not by differences of running sums, which would round.
        stretch = xp.cumulative_sum(self.code_sums(starts, n)) - 1
        return self.code_sums(xp.where(stretch < 0, size, stretch), size + 1, values)[:size]


@cache
def _torch_number(value: float, kind: Native) -> Native:
    import torch

    return torch.tensor(value, dtype=kind)
