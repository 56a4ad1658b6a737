"""Label influence on a device: the sums over rows of what they move values by, and of its square."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.statistics.device_array import DeviceArray
from steelyard.statistics.device_indicators import row_parts
from steelyard.statistics.device_operands import on_device

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.intervals.weighted_rows import WeightedRows


def influence_sums(
    true: DeviceArray, predicted: DeviceArray, moved: Array, base: Array, rows: WeightedRows
) -> tuple[Array, Array]:
    """Both for each value, the first by the rows' weights and the second by their squares.

    `moved` is what a label moves each value by that is true, predicted or both, one below the other.
    """
    library, xp = true.library, true.library.xp
    factors, least = library.native(moved), library.native(base)
    weights, squares = (xp.astype(on_device(column, library), xp.float64) for column in (rows.weights, rows.squares))
    first = second = xp.zeros(base.shape, dtype=xp.float64, device=library.device)
    for part in row_parts(true, max(3 * true.shape[1], len(base))):
        t, p = true.native[part, :], predicted.native[part, :]
        influence = least + xp.matmul(xp.astype(xp.concat([t, p, t & p], axis=1), xp.float64), factors)
        first = first + xp.matmul(weights[part], influence)
        second = second + xp.matmul(squares[part], influence * influence)
    sums = DeviceArray(library, xp.stack([first, second])).brought()
    return sums[0], sums[1]
