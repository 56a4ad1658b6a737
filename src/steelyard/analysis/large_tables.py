"""Large tables: metrics on draws of a table of very many classes, a few draws at a time, so that memory is bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steelyard._types import Array
    from steelyard.analysis.estimand import Estimand

DRAWS_AT_ONCE, LEAST_DRAWS, COUNT_DRAWS = 4_000_000, 200, 10_000


def draw_count(classes: int, *, of_one: bool) -> int:
    """How many draws a table gets: fewer where it has many cells, or where each of many classes keeps its own."""
    cells = 4 * classes if of_one else classes**2
    return int(np.clip(DRAWS_AT_ONCE // cells, LEAST_DRAWS, COUNT_DRAWS))


def is_large(classes: int, draws: int) -> bool:
    """Whether the draws of the whole table are more than are kept at once."""
    return classes**2 * draws > DRAWS_AT_ONCE


def values_by_blocks(
    estimands: Sequence[Estimand], draw: Callable[[int], Array], classes: int, draws: int
) -> dict[Estimand, Array]:
    """The values of all metrics on the same draws, which are made and forgotten block by block."""
    size = max(DRAWS_AT_ONCE // classes**2, 1)
    values: dict[Estimand, list[Array]] = {estimand: [] for estimand in estimands}
    for start in range(0, draws, size):
        cells = draw(min(size, draws - start))
        for estimand, parts in values.items():
            parts.append(estimand.on_cells(cells))
    return {estimand: np.concatenate(parts, axis=-1) for estimand, parts in values.items()}
