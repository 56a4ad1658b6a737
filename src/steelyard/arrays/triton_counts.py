"""Counts by Triton: two columns of 0 and 1 counted and checked in one pass by Triton, which torch for CUDA brings.

By torch's own functions each of the three sums, and the look for other values, reads the columns again: 25 ms for 1e9
rows on an H200, where two sums take 4. Little is kept in registers, so that many rows are on their way at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steelyard.arrays.backend import Native


try:
    import triton
    from triton import language as tl
except ImportError:  # as with builds of torch for processors
    triton = None


_BLOCK, _PROGRAMS = 1_024, 2_112
_FIELD = 20  # bits of each of three counts of one lane, which sees a row in two million


def one_pass_counts(true: Native, pred: Native) -> tuple[int, ...] | None:
    """The ones of each column and those they share, none of them where other values occur; None without Triton."""
    import torch

    if triton is None or not true.is_cuda or true.shape[0] >= _BLOCK * _PROGRAMS << _FIELD:
        return None
    true, pred = (
        (column.view(torch.uint8) if column.dtype == torch.bool else column).contiguous() for column in (true, pred)
    )
    sums = torch.zeros(4, dtype=torch.int64, device=true.device)
    try:
        with torch.cuda.device(true.device):
            _count[(_PROGRAMS,)](true, pred, sums, true.shape[0], _BLOCK, _PROGRAMS, _FIELD, num_warps=4)
    except Exception:  # noqa: BLE001 - Triton builds its kernel on first use, for which some machines lack a compiler
        return None
    *ones, others = sums.tolist()
    return () if others else tuple(ones)


if triton is not None:

    @triton.jit  # type: ignore[untyped-decorator]  # what Triton reads has types of its own
    def _count(true, pred, sums, n, block: tl.constexpr, programs: tl.constexpr, field: tl.constexpr):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        first = tl.program_id(0).to(tl.int64) * block
        ones = tl.zeros([block], dtype=tl.int64)  # of the truth, of the predictions and of both, side by side
        beside = tl.zeros([block], dtype=tl.int64)
        for start in range(first, n, block * programs):
            rows = start + tl.arange(0, block)
            t = tl.load(true + rows, mask=rows < n, other=0).to(tl.int64)
            p = tl.load(pred + rows, mask=rows < n, other=0).to(tl.int64)
            ones += t + (p << field) + ((t & p) << (2 * field))
            beside |= t | p
        lowest = (1 << field) - 1
        tl.atomic_add(sums, tl.sum(ones & lowest))
        tl.atomic_add(sums + 1, tl.sum((ones >> field) & lowest))
        tl.atomic_add(sums + 2, tl.sum(ones >> (2 * field)))
        tl.atomic_add(sums + 3, tl.sum(((beside & -2) != 0).to(tl.int64)))  # any bit but the lowest
