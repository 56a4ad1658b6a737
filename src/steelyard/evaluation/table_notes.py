"""Notes on a table: labels that look alike or hardly overlap, and whether so many rows of each class were chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.intervals.inference import STRATIFIED
from steelyard.ingest.label_overlap import lookalike_hints, overlap_problems

if TYPE_CHECKING:
    from steelyard.statistics.confusion import Confusion

_RANDOM_LOSSES = (
    "Mean losses and top-k accuracy of a column for each class take these numbers as random; their intervals are wider."
)
_FEWEST = 20  # rows of each class, below which equal sizes may be chance


def table_notes(table: Confusion | None, design: str, columns: int = 1) -> tuple[str, ...]:
    """What a result states of its table and of how the test set was drawn.

    >>> from steelyard import confusion
    >>> table_notes(confusion([0, 1] * 30, [0, 1] * 30), "random")[0]
    'Each class has 30 rows; if so many of each were chosen, design="stratified" gives narrower intervals.'
    """
    stated = () if design == "random" else (STRATIFIED, _RANDOM_LOSSES)[: 1 + (columns > 2)]
    if table is None:
        return stated
    equal = _equal_classes(table) if design == "random" else ()
    return (*overlap_problems(table), *lookalike_hints(table.labels), *stated, *equal)


def _equal_classes(table: Confusion) -> tuple[str, ...]:
    sizes = table.rows.sum(1)
    if len(sizes) < 2 or sizes.min() < _FEWEST or sizes.min() < sizes.max():
        return ()
    chosen = "if so many of each were chosen"
    return (f'Each class has {sizes[0]:,} rows; {chosen}, design="stratified" gives narrower intervals.',)
