"""Device sums: codes counted and values placed by torch, and by what the array API standard alone has."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steelyard.statistics.device_library import DeviceLibrary, Native

_COPIES, _MOST_CELLS = 1_024, 2**22  # of a table into which weights are added, and of all its copies


def torch_sums(codes: Native, size: int, weights: Native | None) -> Native:
    """How often each code below the size occurs, or the sum of its weights, as torch counts quickest."""
    import torch

    codes = codes.to(torch.int64)
    if not codes.is_cuda:
        return torch.bincount(codes, weights, minlength=size)
    if weights is None:  # bincount would ask the device for the largest code, and wait
        return torch.histc(codes, bins=size, min=0, max=size)
    # Each cell many times over, as additions to one and the same place wait for each other.
    copies = max(1, min(_COPIES, _MOST_CELLS // size))
    spread = torch.arange(codes.shape[0], device=codes.device).remainder_(copies).mul_(size).add_(codes)
    sums = torch.zeros(copies * size, dtype=weights.dtype, device=codes.device)
    return sums.scatter_add_(0, spread, weights).reshape(copies, size).sum(0)


def standard_sums(library: DeviceLibrary, codes: Native, size: int, weights: Native | None) -> Native:
    """The same by what the standard has: the ends of the runs of ordered codes."""
    xp, every = library.xp, library.xp.arange(size, device=library.device)
    order = xp.argsort(codes)
    ends = xp.searchsorted(xp.take(codes, order), every, side="right")
    amounts = xp.ones(codes.shape, dtype=xp.int64, device=library.device) if weights is None else weights
    running = xp.cumulative_sum(xp.take(amounts, order), include_initial=True)
    totals = xp.take(running, ends)
    return xp.concat([totals[:1], totals[1:] - totals[:-1]])


def standard_scattered(library: DeviceLibrary, values: Native, places: Native, size: int) -> Native:
    """So many zeros with the values at distinct places, by the standard: each zero looks for a value of its own."""
    xp, every = library.xp, library.xp.arange(size, device=library.device)
    order = xp.argsort(places)
    ascending = xp.take(places, order)
    at = xp.minimum(xp.searchsorted(ascending, every), xp.asarray(places.shape[0] - 1, device=library.device))
    there = xp.take(xp.take(values, order), at)
    return xp.where(xp.take(ascending, at) == every, there, xp.zeros_like(there))
