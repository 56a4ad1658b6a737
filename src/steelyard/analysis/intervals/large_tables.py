"""Large tables: metrics on draws of a table of very many classes, a few draws at a time, so that memory is bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steelyard._types import Array
    from steelyard.analysis.intervals.class_draws import TableDraws
    from steelyard.analysis.intervals.estimand import Estimand
    from steelyard.statistics.shared_cells import SharedCells

DRAWS_AT_ONCE, LEAST_DRAWS, COUNT_DRAWS = 4_000_000, 200, 10_000


class DrawnValues(NamedTuple):
    """The values of a metric on draws of its table, on draws around a centre, and at the centre; draws come last."""

    values: Array
    around: Array
    centre: Array | None
    least_shift: float = 0.0  # the share of the way from the centre to the value that the draws move at least

    @classmethod
    def of(cls, estimand: Estimand, drawn: TableDraws, shared: SharedCells | None = None) -> DrawnValues:
        """The values of a metric on the draws; those of one and the same draws are computed once."""
        values = estimand.on_cells(drawn.cells) if shared is None else estimand.on_counts(shared)
        around = values if drawn.around is drawn.cells else estimand.on_cells(drawn.around)
        centre = None if drawn.centre is None else estimand.on_cells(drawn.centre)[..., 0]
        return cls(values, around, centre, (1 - 2 / drawn.cells.shape[-1]) ** 2)


def draw_count(classes: int, *, of_one: bool) -> int:
    """How many draws a table gets: fewer where it has many cells, or where each of many classes keeps its own."""
    cells = 4 * classes if of_one else classes**2
    return int(np.clip(DRAWS_AT_ONCE // cells, LEAST_DRAWS, COUNT_DRAWS))


def is_large(classes: int, draws: int) -> bool:
    """Whether the draws of the whole table are more than are kept at once."""
    return classes**2 * draws > DRAWS_AT_ONCE


def values_by_blocks(
    estimands: Sequence[Estimand], draw: Callable[[int], TableDraws], classes: int, draws: int
) -> dict[Estimand, DrawnValues]:
    """The values of all metrics on the same draws, which are made and forgotten block by block."""
    size = max(DRAWS_AT_ONCE // classes**2, 1)
    values: dict[Estimand, list[DrawnValues]] = {estimand: [] for estimand in estimands}
    for start in range(0, draws, size):
        drawn = draw(min(size, draws - start))
        for estimand, parts in values.items():
            parts.append(DrawnValues.of(estimand, drawn))
    return {estimand: _joined(parts) for estimand, parts in values.items()}


def _joined(parts: Sequence[DrawnValues]) -> DrawnValues:
    values, around = (np.concatenate([part[i] for part in parts], axis=-1) for i in (0, 1))
    return parts[0]._replace(values=values, around=around)
