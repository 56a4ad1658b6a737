"""Sentences on the design of a test set: whether so many rows of each class were chosen, as its class sizes suggest."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steelyard.statistics.confusion import Confusion

_FEWEST = 20  # rows of each class, below which equal sizes may be chance


def design_sentences(table: Confusion | None, design: str) -> tuple[str, ...]:
    """What the result states of its design: that it was given, or that equal classes may have been chosen.

    >>> from steelyard import confusion
    >>> table = confusion([0, 1] * 30, [0, 1] * 30)
    >>> design_sentences(table, "random")[0]
    'Each class has 30 rows; if so many of each were chosen, design="stratified" gives narrower intervals.'
    """
    if design != "random":
        return ('The number of rows of each class is taken as chosen (design="stratified").',)
    if table is None:
        return ()
    sizes = table.rows.sum(1)
    if len(sizes) < 2 or sizes.min() < _FEWEST or sizes.min() < sizes.max():
        return ()
    return (
        f'Each class has {sizes[0]:,} rows; if so many of each were chosen, design="stratified" gives narrower intervals.',
    )
